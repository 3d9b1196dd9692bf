"""``referee desk`` at a terminal, with a referee of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.inside import referee
from tests.cli.terminal import at_a_terminal


@pytest.mark.long
def test_the_desk_has_a_referee_of_its_own_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "club"
    with at_a_terminal("desk", "--folder", folder, draws=True, errors=tmp_path / "log") as terminal:
        terminal.wait_for("New game")
        terminal.press("\r")
        terminal.wait_for("A new game at the table")
        terminal.press("\x1bOQ")  # F2: Alhambra for two, as it is proposed
        terminal.wait_for("The draw: the tiles drawn for the neutral player")
        terminal.press("tower-12 garden-10 tower-11 garden-11 arcades-9 chambers-11\r")
        terminal.wait_for("Accepted as entry 1:")
        second = referee("desk", "--folder", folder)
        assert (second.returncode, second.stderr) == (
            2,
            "referee: the desk needs a terminal; expected one, or `referee record` for the text of a game\n",
        )
        with at_a_terminal("desk", "--folder", folder, draws=True) as other:
            other.wait_for("another referee")
            assert other.process.wait() == 1
        os.kill(terminal.process.pid, signal.SIGKILL)  # as when its window is closed, or the power goes
        terminal.process.wait()
    with at_a_terminal("desk", "--folder", folder, draws=True, errors=tmp_path / "log") as terminal:
        terminal.wait_for("2 entries, in progress")
        terminal.press("\r")
        terminal.wait_for("2 entries so far")
        terminal.press("\x11")  # Ctrl+Q
        assert terminal.process.wait() == 0
    assert not list(folder.glob("*.gamelog"))
    assert not (tmp_path / "log").read_text(encoding="utf-8")
    with at_a_terminal("desk", "--folder", folder) as terminal:  # its output goes elsewhere
        terminal.wait_for("the desk needs a terminal")
        assert terminal.process.wait() == 2


@pytest.mark.long
def test_options_that_say_nothing_together_are_refused(tmp_path: Path) -> None:
    for words, told in (
        (("--token-file", "t"), "expected --server with them"),
        (("--server", "127.0.0.1:1", "--origin", "club.example"), "already has a name"),
        (("--server", "nowhere"), "expected HOST:PORT"),
    ):
        with at_a_terminal("desk", "--folder", tmp_path, *words, draws=True) as terminal:
            terminal.wait_for(told)
            assert terminal.process.wait() in (1, 2)
