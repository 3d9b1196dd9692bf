"""What a text has beside its moves is judged as its log would be, by every command that reads the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.log.keys import PrivateKey
from tests.cli.inside import referee

BASE = """\
[Game "kingdomino"]
[Seats "2"]

0: castle 4,1
1: castle 3,0
first order: 1 0 1 0
line: 18 31 34 43
1: choose 18
0: choose 31
"""

WRONG = {
    "an abort after the end": ("1: resign\norganiser: abort", "organiser: abort: the game has come to its end"),
    "a move in a pause": ("arbiter: pause\n1: choose 43", "1: choose 43 wheat/swamp:2: the game is paused (TBL-32)"),
    "a move after a result": ("arbiter: result places 1 2\n1: choose 43", "1: choose 43 wheat/swamp:2: "),
    "too many points": ("arbiter: penalty seat 1 points 5000", "the penalty is 5000 points (TBL-33); expected at most"),
    "a rule that is none": ("1: protest against 5 KDO-99", "there is no rule 'KDO-99' (TBL-30)"),
    "no way back": ("1: back to 6", "1: back to 6: the game cannot go back to entry 6 (TBL-22)"),
}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with three keys."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    return folder


def signed(keys: Path, out: Path) -> tuple[str | Path, ...]:
    """The words that write a log."""
    named = ("--key", keys / "scribe.pem", "--referee-key", keys / "referee.pem", "--arbiter-key", keys / "arbiter.pem")
    return (*named, "--out", out)


@pytest.mark.parametrize(("lines", "said"), WRONG.values(), ids=WRONG)
def test_what_no_log_has_is_refused_by_every_command_alike(lines: str, said: str, keys: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(f"{BASE}{lines}\n", encoding="utf-8")
    for words in (
        ("score",),
        ("show",),
        ("adjudicate",),
        ("adjudicate", *signed(keys, out)),
        ("record", *signed(keys, out)),
    ):
        done = referee(words[0], text, *words[1:])
        assert (done.returncode, done.stdout) == (8, ""), words
        assert said in done.stderr, words
        assert done.stderr.count("\n") == 1
        assert not out.exists()


def test_a_result_that_waits_for_a_ruling_is_said_to_wait(keys: Path, tmp_path: Path) -> None:
    """In the text, in its adjudication and in its log."""
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(f"{BASE}1: protest against 5 TBL-9\n1: resign\n", encoding="utf-8")
    assert referee("record", text, *signed(keys, out)).returncode == 0
    for words in (("score", text), ("show", text), ("adjudicate", text), ("score", out), ("show", out)):
        assert "eat 0 wins: seat 1 resigned; this waits for a ruling" in referee(*words).stdout, words
