"""Layouts and positions as text, against files that were looked at by eye.

After a change that is meant: ``python -m tests.text.render.test_text`` writes the files again; look at the difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import TYPES
from referee.text.render.alhambra import _CORNERS, ABBREVIATIONS, position_text, text
from tests.games.layouts import engine_layout, random_boards
from tests.text.render.boards import BOARDS, TILE_SET, layout
from tests.text.render.positions import events, position

GOLDEN = Path(__file__).parent / "golden"
COUNT = 60


@cache
def layouts() -> list[Layout]:
    return [engine_layout(board) for board in random_boards("text", COUNT)]


def drawn_position(seats: int, after: int) -> str:
    return position_text(position(seats, after))


def drawings() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield name and content of every golden file."""
    for name in BOARDS:
        yield f"{name}.txt", partial(text, layout(name))
        yield f"{name}.ascii.txt", partial(text, layout(name), ascii_only=True)
    for seats, after in ((2, 0), (2, 90), (3, 60)):
        yield f"position-{seats}-{after}.txt", partial(drawn_position, seats, after)


@pytest.mark.parametrize("name", [name for name, _ in drawings()])
def test_golden(name: str) -> None:
    assert dict(drawings())[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_corner_has_the_arms_that_its_place_says() -> None:
    """The table of 81 characters against their names in Unicode."""
    assert len(_CORNERS) == 81
    for number, corner in enumerate(_CORNERS):
        weights = (number // 27, number // 9 % 3, number // 3 % 3, number % 3)
        if number == 0:
            assert corner == " "
            continue
        arms: dict[str, int] = {}
        waiting: list[str] = []
        weight = 0
        words = unicodedata.name(corner).removeprefix("BOX DRAWINGS ").replace(" AND ", " ").split()
        weight_first = words[0] in {"LIGHT", "HEAVY"}
        for word in words:
            if word in {"LIGHT", "HEAVY"}:
                weight = 1 if word == "LIGHT" else 2
                arms |= dict.fromkeys(waiting, weight)
                waiting = []
            else:
                sides = {"VERTICAL": ["UP", "DOWN"], "HORIZONTAL": ["LEFT", "RIGHT"]}.get(word, [word])
                if weight_first:
                    arms |= dict.fromkeys(sides, weight)
                else:
                    waiting += sides
        assert tuple(arms.get(side, 0) for side in ("UP", "RIGHT", "DOWN", "LEFT")) == weights, corner


def read_back(drawn: str) -> dict[tuple[int, int], str]:
    """Return the tiles of a drawing: what is in its boxes and which of their sides are thick."""
    lines = drawn.splitlines()
    columns = [int(word) for word in lines[0].split()]
    rows = {number: int(line[:4]) for number, line in enumerate(lines) if number and line[:4].strip()}
    grid = [line.ljust(5 + 6 * len(columns)) for line in lines]
    found = {}
    for number, y in rows.items():
        for column, x in enumerate(columns):
            left = 4 + 6 * column
            kind, cost = grid[number][left + 1 : left + 6].strip(), grid[number + 1][left + 1 : left + 6].strip()
            if kind in ABBREVIATIONS:
                thick = (
                    grid[number - 1][left + 3] == "━",
                    grid[number][left + 6] == "┃",
                    grid[number + 2][left + 3] == "━",
                    grid[number][left] == "┃",
                )
                walls = "".join(letter for letter, wall in zip("NESW", thick, strict=True) if wall)
                type_ = TYPES[ABBREVIATIONS.index(kind)]
                found[x, y] = f"{type_}-{cost}" + (f"-{walls}" if walls else "")
    return found


@pytest.mark.parametrize("number", range(COUNT))
def test_the_text_tells_the_whole_layout(number: int) -> None:
    expected = {cell: TILE_SET.names[tile] for cell, tile in layouts()[number].cells().items()}
    assert read_back(text(layouts()[number])) == expected


def test_twelve_columns_fit_into_eighty_characters() -> None:
    for columns, fits in ((12, True), (13, False)):
        row = Layout.of(TILE_SET, {(x, 0): x for x in range(1, columns)})
        assert (max(map(len, text(row).splitlines())) <= 80) == fits


def test_ascii_is_ascii_and_of_the_same_shape() -> None:
    for each in layouts():
        plain, boxes = text(each, ascii_only=True), text(each)
        assert plain.isascii()
        assert [len(line) for line in plain.splitlines()] == [len(line) for line in boxes.splitlines()]


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_every_position_of_a_game_has_a_text(seats: int) -> None:
    last = ""
    for state, _ in events(seats):
        last = position_text(state)
        assert last.endswith("\n")
        assert last.count("fount") == seats
        assert all(len(line) <= 80 or "│" in line or "━" in line for line in last.splitlines()), last
    assert last.startswith("over (")


def test_one_seat_only() -> None:
    shown = position_text(position(3, 60), [1])
    assert "player 2: " in shown
    assert "player 3: " not in shown


if __name__ == "__main__":
    for file, drawn in drawings():
        (GOLDEN / file).write_text(drawn(), encoding="utf-8")
