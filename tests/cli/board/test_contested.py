"""Texts of contested games as their users have them: every command that reads one says who won, and the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.log.keys import PrivateKey
from referee.text.notation.game_text import GameText, write
from tests.cli.inside import referee
from tests.frozen.report import HERE
from tests.text.notation.contested import contested

LOGS = [
    "kingdomino-1-dealt-3-contested",
    "alhambra-1-declared-3-corrected",
    "kingdomino-1-declared-3-corrected",
]
"""A game that forfeits ended; one with a given result; one in which a wrong move stands as well."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("scribe", "referee", "arbiter", "second"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    return folder


def made(keys: Path, *names: str) -> list[str | Path]:
    options = {"scribe": "--key", "referee": "--referee-key", "arbiter": "--arbiter-key", "second": "--arbiter-key"}
    return [word for name in names for word in (options[name], keys / f"{name}.pem")]


def result_in(told: str) -> str:
    (found,) = re.findall("^result: (.*)$", told, re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("name", LOGS)
def test_every_reader_says_the_same_of_a_contested_game(name: str, tmp_path: Path) -> None:
    log, text, position = HERE / f"{name}.gamelog", tmp_path / "game.txt", tmp_path / "position.txt"
    text.write_text(referee("show", log, "--notation").stdout, encoding="utf-8")
    position.write_text(referee("show", log, "--position").stdout, encoding="utf-8")
    words = result_in(referee("show", log).stdout)
    assert re.match(r"player \d wins: ", words)
    places = []
    for file in (log, text, position):
        assert result_in(referee("show", file).stdout) == words
        scored = referee("score", file)
        assert (scored.returncode, scored.stderr) == (0, "")
        assert f"{words[0].upper()}{words[1:]}." in " ".join(scored.stdout.split())
        found = json.loads(referee("score", file, "--json").stdout)
        assert found["outcome"] == words
        assert [player["place"] for player in found["players"][: len(found["places"])]] == found["places"]
        places.append((found["result"], found["places"]))
    assert places[0] == places[1] == places[2]
    assert referee("show", text, "--notation").stdout == text.read_text(encoding="utf-8")
    assert referee("show", position, "--position").stdout == position.read_text(encoding="utf-8")

    judged = referee("adjudicate", text)
    assert (judged.returncode, judged.stderr) == (0, "")
    assert f"{words[0].upper()}{words[1:]}." in " ".join(judged.stdout.split())
    assert "A wrong result" not in judged.stdout


@pytest.mark.parametrize("name", LOGS)
def test_a_contested_game_is_recorded_again(name: str, keys: Path, tmp_path: Path) -> None:
    log, text = HERE / f"{name}.gamelog", tmp_path / "game.txt"
    text.write_text(referee("show", log, "--notation").stdout, encoding="utf-8")
    words = result_in(referee("show", log).stdout)
    out = tmp_path / "again.gamelog"
    refused = referee("record", text, *made(keys, "scribe", "referee"), "--out", out)
    assert (refused.returncode, refused.stdout) == (2, "")
    if re.search(r"^arbiter.* (clock|time) ", text.read_text(encoding="utf-8"), re.MULTILINE):
        assert "this needs a clock, which a game that is recorded from a text does not have" in refused.stderr
        return
    assert "nothing recorded, because this text needs an arbiter's rulings: " in refused.stderr
    assert "expected --arbiter-key\n" in refused.stderr
    refused = referee("adjudicate", text, *made(keys, "scribe", "referee"), "--out", out)
    assert (refused.returncode, refused.stdout, out.exists()) == (2, "", False)
    assert "the record has an arbiter's rulings: --out needs --arbiter-key" in refused.stderr
    signed = made(keys, "scribe", "referee", "arbiter", "second")
    done = referee("adjudicate", text, *signed, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    # A person who records a game has no clock: a forfeit by one is then a ruling.
    expected = text.read_text(encoding="utf-8").replace("referee: forfeit", "arbiter: forfeit")
    assert referee("show", out, "--notation").stdout == expected
    recorded = referee("record", text, *signed, "--out", tmp_path / "recorded.gamelog")
    assert (recorded.returncode, recorded.stderr) == (0, "")
    assert referee("show", tmp_path / "recorded.gamelog", "--notation").stdout == expected
    assert result_in(referee("show", out).stdout) == words
    vkey = re.findall(r"^verifier key +(\S+)$", done.stdout, re.MULTILINE)
    audit = referee("audit", out, "--key", vkey[0])
    assert audit.stdout.split("\n")[0] == "COMPLETE"


def test_a_game_whose_end_is_not_entered_yet_has_its_result(tmp_path: Path) -> None:
    """All moves are made, and its text is read: the points are those of the position."""
    log, text = HERE / "kingdomino-1-dealt-4.gamelog", tmp_path / "game.txt"
    text.write_text(referee("show", log, "--at", "121", "--notation").stdout, encoding="utf-8")
    assert '[Result "8 24 22 39"]' in text.read_text(encoding="utf-8")
    assert referee("show", text).returncode == 0
    assert referee("adjudicate", text).returncode == 0
    # Here no protest was possible, so it does not wait either.
    assert result_in(referee("show", log, "--at", "121").stdout) == "player 4 wins"


def test_a_result_that_waits_is_told(tmp_path: Path) -> None:
    log = HERE / "kingdomino-1-dealt-3-contested.gamelog"
    entries = len(referee("show", log, "--moves").stdout.split("\n\n")[1].splitlines())
    told = ""
    for at in range(entries - 2, 0, -1):
        told = referee("show", log, "--at", str(at)).stdout
        if "; the result is not final yet\n" in told:
            break
    assert result_in(told).endswith("; this waits for protests")


def test_a_text_with_an_accepted_move_is_recorded_by_an_arbiter_alone(keys: Path, tmp_path: Path) -> None:
    setup, events = contested("kingdomino", 2, 0)
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(write(GameText(setup, events)), encoding="utf-8")
    refused = referee("record", text, *made(keys, "scribe", "referee"), "--out", out)
    assert (refused.returncode, out.exists()) == (2, False)
    assert re.search(r"line \d+ has a move that stands against the rules; expected --arbiter-key", refused.stderr)
    done = referee("adjudicate", text, *made(keys, "scribe", "referee", "arbiter"), "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert " against KDO-1" in referee("show", out, "--moves").stdout
    assert referee("show", out, "--notation").stdout == text.read_text(encoding="utf-8")
