"""``referee prove-decided`` on files of games: answers, in words and as JSON, exit codes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import referee

FROZEN = Path(__file__).parent.parent.parent / "frozen"
WHOLE = FROZEN / "kingdomino-1-dealt-4.gamelog"
ABORTED = FROZEN / "kingdomino-1-aborted.gamelog"


def test_a_game_that_is_decided() -> None:
    done = referee("prove-decided", WHOLE, "--at", "117")
    assert (done.returncode, done.stderr) == (0, "")
    head, empty, *table = done.stdout.splitlines()
    assert head == "DECIDED player 4 wins (after entry 117; player 2 ends at least 15 points behind player 4)"
    assert empty == ""
    assert table[:4] == [
        "player 1 ends at least 30 points behind player 4",
        "  -31  points of player 1 now, less those of player 4",
        "   +3  areas of player 1 grow, with 1 domino to come, at the most",
        "   -2  areas of player 4 grow, with 1 domino to come, at the least",
    ]


def test_a_game_that_was_broken_off_as_json() -> None:
    """It has no result, whatever its position; that before its end is looked at when it is asked for."""
    told = json.loads(referee("prove-decided", ABORTED, "--json").stdout)
    assert told == {"entry": 30, "ended": True, "waits": False, "winners": [], "places": []}
    done = referee("prove-decided", ABORTED, "--rlimit", "10000", "--json", "--at", "28")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (11, "", 1)
    found = json.loads(done.stdout)
    assert list(found) == ["entry", "ended", "decided", "leader", "gaps", "ms"]
    assert (found["entry"], found["ended"], found["decided"]) == (28, False, False)
    (gap,) = found["gaps"]
    assert gap["most"] == sum(part["points"] for part in gap["parts"]) > 0
    assert gap["seat"] == 1 - found["leader"]


def test_an_open_game_in_words() -> None:
    done = referee("prove-decided", ABORTED, "--rlimit", "1", "--at", "28")
    assert done.returncode == 11
    head, _, *table = done.stdout.splitlines()
    assert head.startswith("OPEN: player ")
    assert head.endswith(" points ahead of player 1, by this bound (after entry 28)")
    assert head == f"OPEN: {table[0]} (after entry 28)"


def test_a_game_of_alhambra() -> None:
    done = referee("prove-decided", FROZEN / "alhambra-1-dealt-3.gamelog", "--at", "60")
    assert done.returncode in (0, 11)
    assert done.stdout.startswith(("DECIDED player ", "OPEN: player "))


def test_who_has_won() -> None:
    done = referee("prove-decided", WHOLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ENDED: player 4 wins; end (rules): player 1: 8 points, place 4; ")
    found = json.loads(referee("prove-decided", WHOLE, "--json").stdout)
    assert (found["ended"], found["winners"], found["places"]) == (True, [3], [4, 2, 3, 1])


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    rollwrite = FROZEN / "rollwrite-1-aborted.gamelog"
    text = tmp_path / "text.gamelog"
    text.write_text("no game")
    torn = tmp_path / "torn.gamelog"
    torn.write_bytes(ABORTED.read_bytes()[:-40])
    not_offered = "position: a game of rollwrite; expected one of alhambra and kingdomino"
    cases: list[tuple[list[str | Path], int, str]] = [
        ([rollwrite, "--at", "9"], 2, f"{rollwrite}: {not_offered}"),
        ([WHOLE, "--at", "1000"], 2, f"{WHOLE}: --at 1000: the file has entries 0 to "),
        ([tmp_path / "none.gamelog"], 2, f"{tmp_path / 'none.gamelog'}: No such file or directory"),
        ([text], 4, f"{text}: "),
        ([torn, "--rlimit", "1"], 3, f"{torn}: "),
        ([WHOLE, "--timeout", "0"], 2, "--timeout"),
    ]
    for words, code, message in cases:
        done = referee("prove-decided", *words)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == code, (words, done)
        assert last.startswith("referee: "), last
        assert message in last
    assert referee("prove-decided", torn).stdout.startswith("ENDED: no result: the organiser aborted the game")


def test_no_longer_than_there_is_time() -> None:
    for seconds in ("2", "8", "32", "128"):
        # A busy machine may need more than it is left to report its result.
        done = referee("prove-decided", WHOLE, "--at", "30", "--timeout", seconds, "--rlimit", "4000000000")
        if done.returncode == 11:
            assert done.stdout.startswith("OPEN: ")
            return
        assert done.returncode == 1, done
        assert f"--timeout {seconds}: no answer in time" in done.stderr or "no worker was ready in time" in done.stderr
    pytest.fail("no answer in 128 s")
