"""``referee event desk`` at a terminal, on a file of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from referee.tournament.file import EventFile
from tests.cli.inside import referee
from tests.cli.terminal import at_a_terminal
from tests.clients.event_desk.event_desk import make


@pytest.mark.long
def test_what_is_entered_stays_when_the_desk_is_killed_and_there_is_one_desk(tmp_path: Path) -> None:
    path = make(tmp_path)
    with at_a_terminal("event", "desk", path, draws=True, errors=tmp_path / "log") as terminal:
        terminal.wait_for("Type a name or a number")
        terminal.press("checkin all\r")
        terminal.wait_for("Entered: 7 entrants who are not there yet check in.")
        done = referee("event", "desk", path)
        assert (done.returncode, done.stderr) == (
            2,
            "referee: the desk needs a terminal; expected one, or the commands of `referee event`\n",
        )
        with at_a_terminal("event", "desk", path, draws=True) as second:
            second.wait_for("another command, or a desk, is entering something")
            assert second.process.wait() == 1
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait()
    assert all(each.is_there for each in EventFile.read_only(path).log.state.entrants.values())
    with at_a_terminal("event", "desk", path, draws=True, errors=tmp_path / "log") as terminal:
        terminal.wait_for("7 entrants, 7 there")
        terminal.press("\x11")  # Ctrl+Q
        assert terminal.process.wait() == 0
    assert not (tmp_path / "log").read_text(encoding="utf-8")
