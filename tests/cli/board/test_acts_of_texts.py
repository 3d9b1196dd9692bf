"""Every command judges the acts in a text that are no moves as it judges those of a log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.log.keys import PrivateKey
from referee.text.notation.game_text import write
from tests.cli.acts_of_texts import BASE, WRONG
from tests.cli.inside import referee
from tests.text.notation.setups import PLAIN, play, text_of


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with three keys."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("scribe", "referee", "arbiter"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    return folder


def signed(keys: Path, out: Path) -> tuple[str | Path, ...]:
    """Return the words that write a log."""
    named = ("--key", keys / "scribe.pem", "--referee-key", keys / "referee.pem", "--arbiter-key", keys / "arbiter.pem")
    return (*named, "--out", out)


@pytest.mark.parametrize(("lines", "said"), WRONG.values(), ids=WRONG)
def test_what_no_log_has_is_refused_with_its_line_by_every_command_alike(
    lines: str, said: str, keys: Path, tmp_path: Path
) -> None:
    """An adjudication lists the refused line, and continues without it if an arbiter says so."""
    text, out, rulings = tmp_path / "game.txt", tmp_path / "game.gamelog", tmp_path / "rulings.txt"
    text.write_text(f"{BASE}{lines}\n", encoding="utf-8")
    line = (BASE + lines).count("\n") + 1
    for words in (("score",), ("show",), ("record", *signed(keys, out))):
        done = referee(words[0], text, *words[1:])
        assert (done.returncode, done.stdout) == (8, ""), words
        assert f"line {line}, column 1: illegal: " in done.stderr, words
        assert said in done.stderr, words
        assert done.stderr.count("\n") == 1
        assert not out.exists()
    *_, act = lines.splitlines()
    for words in (("adjudicate",), ("adjudicate", "--list")):
        done = referee(words[0], text, *words[1:])
        assert (done.returncode, done.stderr) == (8, ""), words
        told = " ".join(done.stdout.split())
        assert f"line {line}: {act} " in told, words
        assert said.rpartition(": ")[2] in told, words
    rulings.write_text(f"{line}: skip ; the scribe's slip\n", encoding="utf-8")
    done = referee("adjudicate", text, "--rulings", rulings, *signed(keys, out))
    assert (done.returncode, done.stderr) == (0, "")
    assert "-> ruled: does not count\n" in done.stdout
    assert f"line {line} of the record: skip" in referee("show", out, "--moves").stdout
    assert " ".join(referee("score", out).stdout.split()) in " ".join(
        referee("score", without(text, line)).stdout.split()
    )


def without(text: Path, line: int) -> Path:
    """Return a file with the text without this line."""
    lines = text.read_text(encoding="utf-8").splitlines()
    other = text.with_name("without.txt")
    other.write_text("\n".join([*lines[: line - 1], *lines[line:], ""]), encoding="utf-8")
    return other


def test_a_result_that_waits_for_a_ruling_is_said_to_wait(keys: Path, tmp_path: Path) -> None:
    """In the text, in its adjudication and in its log."""
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(f"{BASE}1: protest against 5 TBL-9\n1: resign\n", encoding="utf-8")
    assert referee("record", text, *signed(keys, out)).returncode == 0
    for words in (("score", text), ("show", text), ("adjudicate", text), ("score", out), ("show", out)):
        assert "layer 1 wins: player 2 resigned; this waits for a ruling" in referee(*words).stdout, words


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ('[Forfeits "0 resigned"]', "1: resign", "which is not what the lines below say; expected 1 resigned"),
        ('[Penalties "2 0"]', "arbiter: penalty seat 0 points 3", "not what the lines below say; expected 3 0"),
    ],
)
def test_headers_that_contradict_the_lines_are_refused_by_every_command_alike(
    header: str, line: str, said: str, keys: Path, tmp_path: Path
) -> None:
    text = tmp_path / "game.txt"
    head, _, body = BASE.partition("\n\n")
    text.write_text(f"{head}\n{header}\n\n{body}{line}\n", encoding="utf-8")
    for words in (("score",), ("show",), ("adjudicate",), ("record", *signed(keys, tmp_path / "game.gamelog"))):
        done = referee(words[0], text, *words[1:])
        assert (done.returncode, done.stdout, said in done.stderr) == (8, "", True), words
        assert "line 3, column " in done.stderr


GIVEN = {
    "after a penalty": (
        "arbiter: penalty seat 1 points 3\narbiter: result places 2 1 points 10 20",
        (
            "layer 2 wins: an arbiter adjudicated the game; "
            "the result counts as it was given, without 3 points off player 2"
        ),
    ),
    "against its points": (
        "arbiter: result places 2 1 points 20 10",
        "layer 2 wins: an arbiter adjudicated the game; its places are not those of its points",
    ),
    "after another": (
        "arbiter: void\narbiter: result places 1 2",
        "layer 1 wins: an arbiter adjudicated the game; before that, an arbiter voided the game",
    ),
}


@pytest.mark.parametrize(("lines", "said"), GIVEN.values(), ids=GIVEN)
def test_what_is_odd_about_a_given_result_is_said_by_every_tool_alike(
    lines: str, said: str, keys: Path, tmp_path: Path
) -> None:
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(f"{BASE}{lines}\n", encoding="utf-8")
    done = referee("record", text, *signed(keys, out))
    (verifier,) = re.findall(r"^verifier key (.*)$", done.stdout, re.MULTILINE)
    for words in (
        ("score", text),
        ("show", text),
        ("adjudicate", text),
        ("audit", out, "--key", verifier),
        ("show", out),
        ("score", out),
        ("report", out, "--key", verifier),
    ):
        assert said in " ".join(referee(*words).stdout.split()), words


def test_a_penalised_game_has_the_points_of_its_moves_as_such(tmp_path: Path) -> None:
    """The result has those that count."""
    text = tmp_path / "game.txt"
    game = write(text_of(PLAIN[1], play(PLAIN[1], seed=3)))
    points = re.findall(r'\[Result "(.*) (.*)"\]', game)[0]
    text.write_text(re.sub(r"\[Result.*\n", "", game) + "arbiter: penalty seat 1 points 2\n", encoding="utf-8")
    shown = referee("show", text).stdout
    assert f'[Result "{points[0]} {int(points[1]) - 2}"]\n' in shown
    assert f"\nover (rules), by the moves alone: player 1: {points[0]} points, player 2: {points[1]}\n" in shown
