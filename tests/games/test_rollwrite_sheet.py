"""Sheets are refused by the name of the constraint that they break; the default says that it is not the printed one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.games.game import SetupError
from referee.games.rollwrite import GAME, TYPES, Sheet, sheet
from referee.games.rollwrite.sheet import cells_of, dice_of, index_of

PAVILION, SERAGLIO, ARCADES = range(3)
DEFAULT = sheet()


def declared(name: str = "mine", **other: Any) -> Sheet:
    """Return the default under another name, but for what is given."""
    given: dict[str, Any] = {"grid": DEFAULT.grid, "boxes": DEFAULT.boxes, "coin_track": DEFAULT.coin_track} | other
    return Sheet(name, **given)


def counted(*boxes: int) -> dict[str, Any]:
    """Return a grid with this many cells of each type, and boxes for them."""
    grid = tuple(type_ for type_, count in enumerate(boxes) for _ in range(count))
    return {"grid": grid, "boxes": boxes}


BROKEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("cells", {"grid": DEFAULT.grid[:-1]}, {}),
    ("cells", {"grid": (*DEFAULT.grid, 0)}, {}),
    ("cells", {"grid": (6, *DEFAULT.grid[1:])}, {}),
    ("cells", {"grid": (-1, *DEFAULT.grid[1:])}, {}),
    ("boxes", {"boxes": DEFAULT.boxes[:-1]}, {}),
    ("boxes", {"boxes": (5, 5, 6, 6, 6, 8)}, {}),
    ("boxes", counted(3, 5, 7, 7, 7, 7), counted(4, 4, 7, 7, 7, 7)),
    ("boxes", counted(0, 7, 7, 7, 7, 8), counted(5, 5, 5, 6, 7, 8)),
    ("arcades", counted(7, 7, 4, 6, 6, 6), counted(7, 6, 5, 6, 6, 6)),
    ("coin_track", {"coin_track": 6}, {"coin_track": 7}),
    ("coin_track", {"coin_track": 256}, {"coin_track": 255}),
    ("coin_track", {"coin_track": -1}, {}),
    ("rows_are", {"rows_are": "red"}, {"rows_are": "yellow"}),
]


@pytest.mark.parametrize(("constraint", "broken", "legal"), BROKEN)
def test_a_sheet_is_refused_by_the_constraint_that_it_breaks(
    constraint: str, broken: dict[str, Any], legal: dict[str, Any]
) -> None:
    with pytest.raises(SetupError, match=rf"^sheet mine: {constraint}: "):
        declared(**broken)
    assert GAME.new(3, None, declared(**legal)).sheet == declared(**legal)


@pytest.mark.parametrize("name", ["", "Mine", "my sheet", "-mine", "mine-", "mine\n", "m/1"])
def test_a_name_is_letters_digits_and_hyphens(name: str) -> None:
    with pytest.raises(SetupError, match=r"^sheet: name "):
        declared(name)
    assert declared("mine-2").name == "mine-2"


def test_the_default_s_name_is_the_default_s_alone() -> None:
    with pytest.raises(SetupError, match=r"^sheet rw-default-1: name: "):
        declared("rw-default-1", coin_track=21)
    with pytest.raises(SetupError, match=r"^sheet rw-default-1: name: "):
        declared("rw-default-1", rows_are="yellow")
    assert declared("rw-default-1") == DEFAULT == sheet()


def test_the_default_says_that_it_is_not_the_printed_one() -> None:
    assert "not the printed one" in DEFAULT.provenance
    assert declared().provenance == ""
    assert GAME.new(3).sheet is DEFAULT


def test_the_default_has_the_boxes_that_are_known_to_sum_up() -> None:
    assert DEFAULT.boxes == (5, 5, 6, 6, 7, 7)
    assert (DEFAULT.coin_track, DEFAULT.rows_are) == (20, "blue")
    # Types go around with the sum of the dice, but for two cells that give gardens and towers one more.
    around = [(blue + yellow - 2) % 6 for blue in range(1, 7) for yellow in range(1, 7)]
    changed = {
        dice_of(index): (TYPES[old], TYPES[new])
        for index, (old, new) in enumerate(zip(around, DEFAULT.grid, strict=True))
        if old != new
    }
    assert changed == {(1, 1): ("pavilion", "garden"), (4, 5): ("seraglio", "tower")}


def test_cells_are_numbered_by_blue_then_yellow() -> None:
    assert [dice_of(index_of(blue, yellow)) for blue in range(1, 7) for yellow in range(1, 7)] == [
        (blue, yellow) for blue in range(1, 7) for yellow in range(1, 7)
    ]
    assert [index_of(*dice_of(index)) for index in range(36)] == list(range(36))
    assert cells_of(1 | 1 << 6 | 1 << 35) == [(1, 1), (2, 1), (6, 6)]


def test_counts_are_those_of_the_grid_whatever_the_grid() -> None:
    rng = random.Random(3)
    for _ in range(40):
        grid = list(DEFAULT.grid)
        rng.shuffle(grid)
        own = declared(grid=tuple(grid))
        built = rng.getrandbits(36)
        types = [own.type_at(*cell) for cell in cells_of(built)]
        assert own.counts(built) == [types.count(type_) for type_ in range(6)]
        assert own.counts((1 << 36) - 1) == list(own.boxes)
