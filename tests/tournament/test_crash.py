"""An organiser's computer stops at any moment: what a command said that it entered is there, and nothing twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from referee.tournament.check import check_event
from referee.tournament.file import EventFile
from tests.cli.inside import referee


def killed(path: Path, rng: random.Random) -> int:
    """Let an organiser enter some, kill it in the middle of the next; return the last that it acknowledged."""
    acknowledged = 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.tournament.busy", path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(rng.randint(1, 4)):
            acknowledged = int(process.stdout.readline())
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:
            acknowledged = int(line)
    return acknowledged


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.long)])
def test_kills(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "spring.eventlog"
    assert referee("event", "new", path, "--rules", "kingdomino").returncode == 0
    rng = random.Random(1)
    for _ in range(kills):
        acknowledged = killed(path, rng)
        event = EventFile.read_only(path)
        there = sorted(event.log.state.entrants)
        # One more may be there, which was never reported.
        assert there in ([*range(1, acknowledged + 1)], [*range(1, acknowledged + 2)])
        assert [event.names[number] for number in there] == [f"Player {number}" for number in there]
    key = VerifierKey.parse(path.with_suffix(".vkey").read_text(encoding="ascii").strip())
    assert check_event(path, Policy(verifier=key), None, Policy()).exit_code == Verdict.PREFIX


def test_a_crash_between_names_and_log_leaves_nothing(tmp_path: Path) -> None:
    """The names are written first: a name without an entry belongs to no player."""
    path = tmp_path / "spring.eventlog"
    assert referee("event", "new", path, "--rules", "kingdomino").returncode == 0
    before = path.read_bytes()
    assert referee("event", "enter", path, "Anna").returncode == 0
    path.write_bytes(before)
    assert referee("event", "enter", path, "Anna").stdout == "entered 1 player: 1\n"
    assert EventFile.read_only(path).names[1] == "Anna"
