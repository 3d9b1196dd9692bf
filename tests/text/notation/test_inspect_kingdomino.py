"""Questions about kingdoms: the answers' form, that they are the engine's, and that they are true."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.notation.questions import answer, encode
from tests.cli.inside import referee
from tests.sizes import campaign

CENTRE = {"size": 5, "castle": [2, 2]}
RELATIVE = {"size": 5, "castle": None}
NOTHING = {"score": 0, "areas": [], "largest_area": 0, "crowns": 0}


def ask(**question: Any) -> dict[str, Any]:
    """The answer as a reader of the line would have it."""
    found = json.loads(encode(answer(json.dumps({"game": "kingdomino", **question}).encode())))
    assert isinstance(found, dict)
    return found


def frame(kingdom: Kingdom) -> dict[str, Any]:
    return {"size": kingdom.frame_size, "castle": kingdom.castle and [*kingdom.castle]}


def placements(kingdom: Kingdom) -> list[list[int]]:
    """The kingdom as a question has it."""
    return [[number, *left, *right] for number, left, right in kingdom.dominoes]


def random_kingdom(rng: random.Random) -> Kingdom:
    """Dominoes in any order, each where it fits if it does."""
    size = rng.choice((5, 7))
    kingdom = Kingdom(size, rng.choice((None, (rng.randrange(size), rng.randrange(size)))))
    for domino in rng.sample(DOMINOES, rng.randrange(size * size // 2)):
        if places := kingdom.placements(domino):
            ax, ay, bx, by = rng.choice(places)
            kingdom = kingdom.placed(domino, (ax, ay), (bx, by))
    return kingdom


# The rules once more, cell by cell, from their text


class Slow:
    """Squares by cell, terrain and crowns each; nothing of it is the engine's."""

    def __init__(self, size: int, castle: list[int] | None, placed: list[list[int]]) -> None:
        self.size, self.castle = size, castle
        self.squares: dict[Cell, tuple[str, int]] = {}
        self.bad: list[int] = []
        self.left_out: list[int] = []
        """The bad ones that cannot lie there; one that only touches nothing that fits lies all the same."""
        for i, (number, ax, ay, bx, by) in enumerate(placed):
            if not self.fits(number, (ax, ay), (bx, by)):
                self.bad.append(i)
            if self.is_free((ax, ay), (bx, by)):
                self.squares |= dict(zip(((ax, ay), (bx, by)), halves(number), strict=True))
            else:
                self.left_out.append(i)

    def is_free(self, left: Cell, right: Cell) -> bool:
        """Two empty neighbouring cells of the frame."""
        taken = {(0, 0), *self.squares}
        if left in taken or right in taken or right not in around(left):
            return False
        if self.castle is not None:
            cells = [(left[0] + self.castle[0], left[1] + self.castle[1])]
            cells += [(right[0] + self.castle[0], right[1] + self.castle[1])]
            if any(not 0 <= number < self.size for cell in cells for number in cell):
                return False
        for axis in (0, 1):
            lying = [cell[axis] for cell in {*taken, left, right}]
            if max(lying) - min(lying) >= self.size:
                return False
        return True

    def fits(self, number: int, left: Cell, right: Cell) -> bool:
        """On such cells, a half beside the castle or its own terrain."""
        return self.is_free(left, right) and any(
            near == (0, 0) or self.squares.get(near, ("", 0))[0] == terrain
            for cell, (terrain, _) in zip((left, right), halves(number), strict=True)
            for near in around(cell)
        )

    def placements(self, number: int) -> list[list[int]]:
        near = range(-self.size, self.size + 1)
        one, other = halves(number)
        return [
            [*left, *right]
            for left in [(x, y) for x in near for y in near]
            for right in sorted(around(left))
            if (one != other or left < right) and self.fits(number, left, right)
        ]

    def areas(self) -> list[dict[str, Any]]:
        found, left = [], dict(self.squares)
        while left:
            start, (terrain, crowns) = left.popitem()
            edge, squares = [start], 1
            while edge:
                for cell in around(edge.pop()):
                    if left.get(cell, ("", 0))[0] == terrain:
                        crowns += left.pop(cell)[1]
                        squares += 1
                        edge.append(cell)
            found.append({"terrain": terrain, "squares": squares, "crowns": crowns})
        return found


def around(cell: Cell) -> list[Cell]:
    x, y = cell
    return [(x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)]


def halves(number: int) -> list[tuple[str, int]]:
    """Return the domino's halves by the engine's table, which has tests of its own."""
    return [(TERRAINS[half.terrain], half.crowns) for half in DOMINOES[number - 1][1:]]


def in_order(areas: list[dict[str, Any]]) -> list[Any]:
    return sorted(tuple(area.values()) for area in areas)


def agreed(question: dict[str, Any]) -> bool:
    """Return whether the kingdom is legal; check that the answer agrees with the slow rules, for illegal ones, too."""
    found = ask(**question)
    slow = Slow(**question["frame"], placed=question["kingdom"])
    assert found["valid"] == (not slow.bad)
    assert list(dict.fromkeys(each["placement"] for each in found["violations"])) == slow.bad
    if slow.left_out:
        assert list(found) == ["valid", "violations", "left_out"]
        assert found["left_out"] == slow.left_out
        return False
    areas = slow.areas()
    assert in_order(found["areas"]) == in_order(areas)
    assert found["score"] == sum(area["squares"] * area["crowns"] for area in areas)
    assert found["largest_area"] == max((area["squares"] for area in areas), default=0)
    assert found["crowns"] == sum(area["crowns"] for area in areas)
    if "domino" in question:
        assert found["placements"] == slow.placements(question["domino"])
    return not slow.bad


@pytest.mark.parametrize("seed", range(40))
def test_random_kingdoms_are_legal_and_worth_what_the_rules_say(seed: int) -> None:
    rng = random.Random(seed)
    kingdom = random_kingdom(rng)
    lying = {number for number, _, _ in kingdom.dominoes}
    domino = rng.choice([number for number in range(1, 49) if number not in lying])
    assert agreed({"frame": frame(kingdom), "kingdom": placements(kingdom), "domino": domino})


@pytest.mark.parametrize("seed", range(10))
def test_with_one_placement_changed(seed: int) -> None:
    """Near the border between legal and not: one moved, turned, given other cells, left out or put earlier."""
    rng = random.Random(100 + seed)
    legal = 0
    for _ in range(20):
        kingdom = random_kingdom(rng)
        lying = placements(kingdom)
        if len(lying) < 3:
            continue
        i = rng.randrange(len(lying))
        each = lying[i]
        match rng.randrange(5):
            case 0:
                each[1:] = [number + rng.choice((-1, 0, 0, 1)) for number in each[1:]]
            case 1:
                each[1:] = [*each[3:], *each[1:3]]
            case 2:
                each[3:] = rng.choice(around((each[1], each[2])))
            case 3:
                lying.pop(i)
            case 4:
                lying.insert(rng.randrange(len(lying)), lying.pop(i))
        legal += agreed({"frame": frame(kingdom), "kingdom": lying})
    assert 0 < legal < 20


cells = st.integers(-3, 3)
rough = st.lists(st.tuples(st.integers(1, 48), cells, cells, cells, cells), max_size=4, unique_by=lambda one: one[0])


@given(st.sampled_from([CENTRE, RELATIVE, {"size": 7, "castle": [0, 6]}]), rough)
def test_dominoes_anywhere(within: dict[str, Any], placed: list[tuple[int, ...]]) -> None:
    agreed(
        {"frame": within, "kingdom": [[*each] for each in placed], "domino": 1}
        if 1 not in next(zip(*placed, strict=True), ())
        else {"frame": within, "kingdom": [[*each] for each in placed]}
    )


# The form


def test_the_castle_alone() -> None:
    assert ask(frame=RELATIVE) == {"valid": True, "violations": [], **NOTHING}
    assert ask(frame=RELATIVE, kingdom=[]) == ask(frame=RELATIVE)


def test_a_domino_with_equal_halves_is_listed_once() -> None:
    """KDO-19: 12 ways to lay the first one, and 24 for one with different halves."""
    alike, different = (ask(frame=RELATIVE, domino=number)["placements"] for number in (1, 13))
    assert len(alike) == 12
    assert len(different) == 24
    assert all(each[:2] < each[2:] for each in alike)
    assert alike == sorted(alike)
    assert different == sorted(different)


def test_either_half_may_be_named_the_left_one() -> None:
    one, other = ask(frame=CENTRE, kingdom=[[1, 0, 1, 0, 2]]), ask(frame=CENTRE, kingdom=[[1, 0, 2, 0, 1]])
    assert one == other
    assert one["valid"]


def test_what_fits_nowhere_has_no_placements() -> None:
    kingdom = [[48, 1, 0, 1, 1], [47, 0, 2, 0, 1]]
    assert ask(frame={"size": 5, "castle": [0, 0]}, kingdom=kingdom, domino=7)["placements"] == []


def test_every_bad_placement_is_named_with_all_that_it_breaks() -> None:
    found = ask(frame=CENTRE, kingdom=[[48, 0, 1, 1, 1], [1, 0, 1, 0, 3], [2, 9, 9, 9, 10]], domino=3)
    assert list(found) == ["valid", "violations", "left_out"]
    assert found["valid"] is False
    assert found["left_out"] == [1, 2]
    assert [(each["rule"], each["placement"], each["domino"]) for each in found["violations"]] == [
        ("KDO-16", 1, 1),
        ("KDO-18", 1, 1),
        ("KDO-19", 1, 1),
        ("KDO-14", 2, 2),
        ("KDO-16", 2, 2),
    ]
    outside, taken, apart, _, _ = found["violations"]
    assert (outside["cells"], taken["cells"], apart["cells"]) == ([[0, 3]], [[0, 1]], [[0, 1], [0, 3]])
    assert outside["frame"] == "5x5"
    assert taken["text"].startswith("KDO-18 at 0,1 (found: a cell that is taken): ")


def test_neither_half_touches_its_terrain() -> None:
    (found,) = ask(frame=CENTRE, kingdom=[[48, 1, 1, 2, 1]])["violations"]
    assert {key: found[key] for key in found if key != "text"} == {
        "rule": "KDO-14",
        "placement": 0,
        "domino": 48,
        "cells": [[1, 1], [2, 1]],
        "left": "wheat",
        "right": "mine",
    }


def test_what_an_arbiter_may_let_lie_is_scored_and_built_on() -> None:
    """TBL-7: a domino that touches nothing that fits lies all the same; the cells that it takes are taken."""
    kingdom = [[48, 1, 1, 2, 1], [1, 1, 0, 1, -1]]
    found = ask(frame=CENTRE, kingdom=kingdom, domino=2)
    assert [(each["rule"], each["placement"]) for each in found["violations"]] == [("KDO-14", 0)]
    assert (found["valid"], found["score"], found["largest_area"]) == (False, 3, 3)
    assert [0, 1, 0, 2] in found["placements"]
    assert not any([1, 1] in (each[:2], each[2:]) for each in found["placements"])
    overlap = ask(frame=CENTRE, kingdom=[*kingdom, [2, 1, 0, 2, 0]])
    assert [(each["rule"], each["placement"]) for each in overlap["violations"]] == [("KDO-14", 0), ("KDO-18", 2)]


def test_dominoes_of_another_edition() -> None:
    """Three of the Czech rule text's examples, which are none of the 48."""
    dominoes = {"1": ["lake:2", "wheat"], "2": ["meadow:1", "mine"], "3": ["swamp:3", "forest"]}
    kingdom = [[1, 1, 0, 1, 1], [2, 0, 1, 0, 2]]
    found = ask(frame=CENTRE, kingdom=kingdom, dominoes=dominoes, domino=3)
    assert found["areas"] == [
        {"terrain": "wheat", "squares": 1, "crowns": 0},
        {"terrain": "lake", "squares": 1, "crowns": 2},
        {"terrain": "meadow", "squares": 1, "crowns": 1},
        {"terrain": "mine", "squares": 1, "crowns": 0},
    ]
    assert (found["score"], found["crowns"]) == (3, 3)
    assert [-1, 0, -2, 0] in found["placements"]
    beside = ([-1, 0], [0, -1])
    assert all(each[:2] in beside or each[2:] in beside for each in found["placements"])
    (violation,) = ask(frame=CENTRE, kingdom=[[3, 1, 1, 2, 1]], dominoes=dominoes)["violations"]
    assert (violation["left"], violation["right"]) == ("swamp", "forest")
    assert ask(frame=CENTRE, dominoes={}) == ask(frame=CENTRE)


def test_a_fixed_frame_and_a_relative_one_differ() -> None:
    """KDO-16: three cells west of the castle are one too many only if two are kept for the east."""
    kingdom = [[1, -1, 0, -2, 0], [13, -3, 0, -4, 0]]
    assert ask(frame=RELATIVE, kingdom=kingdom)["valid"]
    assert [each["rule"] for each in ask(frame=CENTRE, kingdom=kingdom)["violations"]] == ["KDO-16"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "line: frame is missing"),
        (
            {"frame": RELATIVE, "layout": {}},
            'unknown field "layout"; expected any_order, cells, domino, dominoes, frame, kingdom',
        ),
        ({"frame": None}, "frame: null; expected an object"),
        ({"frame": {"castle": None}}, "frame: size is missing"),
        ({"frame": {"size": 5}}, "frame: castle is missing"),
        ({"frame": {**RELATIVE, "x": 1}}, 'frame: unknown field "x"; expected castle, size'),
        ({"frame": {"size": 6, "castle": None}}, "frame.size: 6; expected 5 or 7"),
        ({"frame": {"size": True, "castle": None}}, "frame.size: true; expected 5 or 7"),
        ({"frame": {"size": 5.0, "castle": None}}, "frame.size: 5.0; expected 5 or 7"),
        ({"frame": {"size": 5, "castle": 2}}, "frame.castle: 2; expected an array"),
        (
            {"frame": {"size": 5, "castle": [2]}},
            "frame.castle: [2]; expected [column,row], or null for a relative frame",
        ),
        ({"frame": {"size": 5, "castle": [2, 5]}}, "frame.castle[1]: 5; expected an integer from 0 to 4"),
        ({"frame": {"size": 5, "castle": [-1, 0]}}, "frame.castle[0]: -1; expected an integer from 0 to 4"),
        ({"frame": RELATIVE, "kingdom": {}}, "kingdom: {}; expected an array"),
        ({"frame": RELATIVE, "kingdom": [3]}, "kingdom[0]: 3; expected an array"),
        ({"frame": RELATIVE, "kingdom": [[3, 0, 1, 0]]}, "kingdom[0]: [3, 0, 1, 0]; expected [domino,ax,ay,bx,by]"),
        (
            {"frame": RELATIVE, "kingdom": [[3, 0, 1, 0, 2], [49, 0, 3, 0, 4]]},
            "kingdom[1][0]: 49; expected an integer from 1 to 48",
        ),
        ({"frame": RELATIVE, "kingdom": [["3", 0, 1, 0, 2]]}, 'kingdom[0][0]: "3"; expected an integer from 1 to 48'),
        ({"frame": RELATIVE, "kingdom": [[3, 0, 1, 0, 2.0]]}, "kingdom[0][4]: 2.0; expected an integer from -99 to 99"),
        ({"frame": RELATIVE, "kingdom": [[3, 100, 1, 0, 2]]}, "kingdom[0][1]: 100; expected an integer from -99 to 99"),
        (
            {"frame": RELATIVE, "kingdom": [[3, 0, 1, 0, 2], [3, 1, 0, 2, 0]]},
            "kingdom[1]: domino 3 again, as in kingdom[0]; expected each domino once",
        ),
        ({"frame": RELATIVE, "domino": 0}, "domino: 0; expected an integer from 1 to 48"),
        ({"frame": RELATIVE, "dominoes": []}, "dominoes: []; expected an object"),
        (
            {"frame": RELATIVE, "dominoes": {"49": ["wheat", "mine"]}},
            'dominoes: "49"; expected the number of a domino, 1 to 48',
        ),
        (
            {"frame": RELATIVE, "dominoes": {"1": ["wheat"]}},
            'dominoes.1: ["wheat"]; expected two halves, such as ["wheat","mine:2"]',
        ),
        (
            {"frame": RELATIVE, "dominoes": {"1": ["wheat:4", "mine"]}},
            "dominoes.1: half 'wheat:4': expected terrain or terrain:crowns, such as wheat or mine:2",
        ),
        ({"frame": RELATIVE, "domino": None}, "domino: null; expected an integer from 1 to 48"),
        (
            {"frame": RELATIVE, "kingdom": [[3, 0, 1, 0, 2]], "domino": 3},
            "domino: 3 lies in the kingdom; expected one that does not",
        ),
    ],
    ids=str,
)
def test_what_is_refused(question: dict[str, Any], message: str) -> None:
    assert ask(**question) == {"error": message}


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 50) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(["size", "castle", "x"]), inner),
)


@pytest.mark.parametrize("examples", [35, campaign(150)])
def test_anything_like_a_question_gets_one_answer(examples: int) -> None:
    @given(st.dictionaries(st.sampled_from(["frame", "kingdom", "domino", "id", "x"]), anything))
    @settings(max_examples=examples)
    def like_a_question(question: dict[str, Any]) -> None:
        line = encode(answer(json.dumps({"game": "kingdomino", **question}).encode()))
        assert line.isascii()
        assert line.count(b"\n") == 1
        found = json.loads(line, parse_constant=pytest.fail)
        assert ("error" in found) != ("valid" in found)

    like_a_question()


def test_the_longest_question_has_room() -> None:
    """All 48 dominoes with the widest numbers."""
    placed = [[number, -99, -99, -99, -99] for number in range(1, 49)]
    assert ask(id="x" * 60_000, frame=CENTRE, kingdom=placed)["valid"] is False


def test_a_kingdom_is_judged_in_any_order_if_it_is_asked() -> None:
    """Legal kingdoms are legal in whatever order they are written; what is wrong in each order stays wrong."""
    rng = random.Random(5)
    for kingdom in (random_kingdom(rng) for _ in range(40)):
        written, own = placements(kingdom), frame(kingdom)
        expected = ask(frame=own, kingdom=written, cells=True)
        assert expected["valid"]
        assert all(len(area["cells"]) == area["squares"] for area in expected["areas"])
        shuffled = rng.sample(written, len(written))
        found = ask(frame=own, kingdom=shuffled, any_order=True, cells=True)
        order = found.pop("order")
        assert found == expected
        assert ask(frame=own, kingdom=[shuffled[i] for i in order], cells=True) == expected
    wrong = ask(frame=RELATIVE, kingdom=[[47, 3, 0, 4, 0], [48, 1, 0, 1, 1]], any_order=True)
    assert (wrong["valid"], wrong["order"], wrong["violations"][0]["placement"]) == (False, [1, 0], 0)


def test_help_shows_its_example_and_it_is_true() -> None:
    done = referee("inspect", "--help", env={"COLUMNS": "200"})
    shown = "".join(line.strip() for line in done.stdout.splitlines())
    start = shown.index('{"game":"kingdomino"')
    question, end = json.JSONDecoder().raw_decode(shown[start:])
    expected, _ = json.JSONDecoder().raw_decode(shown[start + end :])
    done = referee("inspect", stdin=json.dumps(question))
    assert (done.returncode, json.loads(done.stdout)) == (0, expected)
    assert expected["placements"]
