"""``referee prove`` about Kingdomino: verdicts that are those of ``inspect``, and questions that are wrong."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.text.notation.kingdomino.claims import claim, describe, written
from referee.text.notation.questions import QueryError
from tests.cli.inside import referee
from tests.cli.prove import FIELDS, lines, prove

FRAME = {"size": 5, "castle": [2, 2]}
KINGDOM = [[20, 1, 0, 2, 0]]
PLACE = {"game": "kingdomino", "frame": FRAME, "kingdom": KINGDOM, "place": [48, 0, 1, 0, 2]}
DISCARD = {"game": "kingdomino", "frame": {"size": 5, "castle": None}, "kingdom": KINGDOM, "discard": 48}
OTHER = {**DISCARD, "dominoes": {"20": ["mine:3", "lake"], "48": ["swamp", "swamp:1"]}}


def test_the_forms_of_answers() -> None:
    legal, illegal, fails = prove([PLACE, {"id": 7, **PLACE, "place": [48, 2, 0, 3, 0]}, DISCARD])
    assert [list(each) for each in (legal, illegal)] == [FIELDS, ["id", *FIELDS]]
    assert (legal["verdict"], legal["rules"], legal["core"]) == ("legal", [], [])
    assert (illegal["id"], illegal["verdict"], illegal["rules"]) == (7, "illegal", ["KDO-16", "KDO-18"])
    assert illegal["reasons"][0].startswith("KDO-16 at 3,0: ")
    assert illegal["core"] == ["KDO-16 right"]
    assert (fails["verdict"], fails["rules"]) == ("fails", ["KDO-13"])
    assert fails["counterexample"] == {"place": [48, -2, 0, -1, 0]}


def test_verdicts_are_those_of_inspect() -> None:
    """Every place around a kingdom, and of every domino whether there is one."""
    rng = random.Random(3)
    questions, expected = [], []
    for frame in (FRAME, {"size": 5, "castle": None}):
        for number in rng.sample(range(21, 49), 1):
            base: dict[str, Any] = {"frame": frame, "kingdom": KINGDOM}
            done = referee("inspect", stdin=json.dumps({"game": "kingdomino", **base, "domino": number}) + "\n")
            places = json.loads(done.stdout)["placements"]
            for x in range(-2, 4):
                for y in range(-2, 3):
                    for bx, by in ((x + 1, y), (x, y + 1)):
                        questions.append({**base, "place": [number, x, y, bx, by]})
                        expected.append("legal" if [x, y, bx, by] in places else "illegal")
            questions.append({**base, "discard": number})
            expected.append("fails")
    answers = prove([{"game": "kingdomino", **question} for question in questions])
    assert [answer["verdict"] for answer in answers] == expected
    assert {"legal", "illegal"} < set(expected)


def test_certificates_tell_their_claims(tmp_path: Path) -> None:
    questions = [PLACE, DISCARD, OTHER]
    file = tmp_path / "answers.jsonl"
    file.write_text(lines(prove(questions)))
    done = referee("prove", "--check", file)
    assert (done.returncode, done.stderr) == (0, "")
    checked = [json.loads(line) for line in done.stdout.splitlines()]
    assert [found["claim"] for found in checked] == questions
    assert [found["verdict"] for found in checked] == ["legal", "fails", "fails"]


def test_for_people_and_as_files(tmp_path: Path) -> None:
    done = referee("prove", "--text", "--smt-lib", tmp_path, stdin=lines([PLACE, DISCARD]))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("line 1: place 48 wheat/mine:3 0,1 0,2: legal\n")
    assert "line 2: no place for 48 wheat/mine:3: fails\nKDO-13 at " in done.stdout
    assert "│ castle │" in done.stdout
    assert {path.suffix for path in tmp_path.iterdir()} == {".smt2"}


@pytest.mark.parametrize("question", [PLACE, DISCARD, OTHER])
def test_written_as_it_was_asked(question: dict[str, Any]) -> None:
    asked = {name: value for name, value in question.items() if name != "game"}
    assert written(claim(asked)) == asked
    assert "48 " in describe(claim(asked))


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in PLACE.items() if key != name}


HOSTILE: list[tuple[dict[str, Any], str]] = [
    (without("place"), "claim: none; expected exactly one of place, discard"),
    ({**PLACE, "discard": 3}, "claim: place and discard; expected exactly one of place, discard"),
    (without("frame"), "line: frame is missing"),
    ({**PLACE, "frame": {"size": 6, "castle": None}}, "frame.size: 6; expected 5 or 7"),
    ({**PLACE, "frame": {"size": 5}}, "frame: castle is missing"),
    ({**PLACE, "frame": {"size": 5, "castle": [5, 0]}}, "frame.castle[0]: 5; expected an integer from 0 to 4"),
    ({**PLACE, "frame": {"size": 5, "castle": [1]}}, "frame.castle: [1]; expected [column,row], or null"),
    ({**PLACE, "place": [48, 0, 1, 0]}, "place: [48, 0, 1, 0]; expected [domino,ax,ay,bx,by]"),
    ({**PLACE, "place": [49, 0, 1, 0, 2]}, "place[0]: 49; expected an integer from 1 to 48"),
    ({**PLACE, "place": [48, 0, 1.5, 0, 2]}, "place[2]: 1.5; expected an integer"),
    ({**PLACE, "place": [20, 0, 1, 0, 2]}, "kingdom: domino 20 twice, expected each domino once"),
    ({**PLACE, "kingdom": [[20, 1, 1, 2, 1]]}, "kingdom[0]: breaks KDO-14 at (1, 1) and (2, 1)"),
    ({**PLACE, "dominoes": {"0": ["wheat", "wheat"]}}, 'dominoes: "0"; expected the number of a domino, 1 to 48'),
    ({**PLACE, "dominoes": {"1": ["wheat"]}}, 'dominoes.1: ["wheat"]; expected two halves'),
    ({**PLACE, "dominoes": {"1": ["wheat", "sea"]}}, "dominoes.1: half 'sea': expected terrain"),
    ({**PLACE, "layout": {}}, 'unknown field "layout"'),
]


def test_what_is_wrong_is_said() -> None:
    done = referee("prove", "--strict", stdin=lines([question for question, _ in HOSTILE]))
    assert (done.returncode, done.stderr) == (1, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for (question, message), answer in zip(HOSTILE, answers, strict=True):
        assert answer["error"].startswith(message), question


def test_a_claim_is_read_without_a_game() -> None:
    with pytest.raises(QueryError, match='unknown field "game"'):
        claim(dict(PLACE))
