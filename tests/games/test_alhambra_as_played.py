"""An Alhambra in which illegal tiles stand, against the oracle: later moves answer for what they add, walls count."""

from __future__ import annotations

import random

import pytest

from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.outline import longest_wall, outline
from referee.games.alhambra.violations import AsPlayed, placement_violations, removal_violations, swap_violations
from tests.games import oracle
from tests.games.alhambra_boards import WAIVABLE, added, as_played, illegal_boards, pockets
from tests.games.layouts import (
    REAL,
    drawn,
    engine_layout,
    frontier,
    open_board,
    random_boards,
)
from tests.games.oracle import Board

SIDES = {1: "N", 2: "E", 4: "S", 8: "W"}


def hold_to_the_oracle(layout: AsPlayed, board: Board, tiles: list[str]) -> set[str]:
    """Every placement, removal and swap is judged as the oracle judges it; the rules that come up."""
    seen: set[str] = set()
    for tile in tiles:
        number = REAL.numbers[tile]
        for cell in oracle.margin(board):
            after = {**board, cell: tile}
            if cell not in board:
                expected = added(board, after, cell)
                found = placement_violations(layout, number, cell)
                listed = cell in layout.placeable_cells(REAL.walls[number])
            elif cell != oracle.HOME:
                expected = added(board, after, cell)
                found = swap_violations(layout, number, cell)
                listed = cell in layout.swappable_cells(REAL.walls[number])
            else:
                continue
            assert {violation.rule_id for violation in found} == expected, (board, tile, cell)
            assert listed == (not expected), (board, tile, cell)
            seen |= expected
    for cell in set(board) - {oracle.HOME}:
        expected = added(board, {other: name for other, name in board.items() if other != cell}, cell)
        assert {violation.rule_id for violation in removal_violations(layout, cell)} == expected, (board, cell)
        assert (cell in layout.removable_cells()) == (not expected), (board, cell)
        seen |= expected
    return seen


def hold_the_wall(layout: Layout, board: Board) -> None:
    """It is the longest run of the outline, and the outline is what borders on the outside."""
    shut = pockets(board)
    outer = {(cell, side) for cell, side in oracle.outer_sides(board) if oracle.beside(cell, side) not in shut}
    walked = outline(layout)
    assert {(cell, SIDES[side]) for cell, side in walked} == outer
    assert layout.wall() == (len(longest_wall(layout)), len(walked)) == (len(longest_wall(layout)), len(outer))


def test_random_boards() -> None:
    seen: set[str] = set()
    broken: set[str] = set()
    for board, tiles in illegal_boards("as played", 25):
        seen |= hold_to_the_oracle(as_played(board), board, tiles[:1])
        hold_the_wall(as_played(board), board)
        broken |= set(oracle.faults(board))
    assert broken == WAIVABLE
    assert seen == WAIVABLE | {"ALH-A3"}


@pytest.mark.long
def test_many_random_boards() -> None:
    for board, tiles in illegal_boards("as played, many", 60):
        hold_to_the_oracle(as_played(board), board, tiles)
        hold_the_wall(as_played(board), board)


HOLES = {
    "a hole": drawn("###", "#.#", "##F"),
    "a hole with a corner to the outside": drawn("##.", "#.#", "##F"),
    "a hole of two": drawn("####", "#..#", "###F"),
    "holes corner to corner": drawn("###..", "#.###", "###.#", "..##F"),
    "a hole in a bay": drawn("#####", "#...#", "#.###", "#.#.#", "..##F"),
}


@pytest.mark.parametrize("shape", HOLES)
def test_holes(shape: str) -> None:
    board = open_board(HOLES[shape])
    assert pockets(board)
    names = {name: REAL.names[number] for number, name in enumerate(board.values()) if name != oracle.FOUNTAIN}
    real = {cell: names.get(name, name) for cell, name in board.items()}
    left = [name for name in REAL.names if name not in real.values()]
    hold_to_the_oracle(as_played(real), real, left[:4])
    hold_the_wall(as_played(real), real)


def test_where_nothing_is_wrong_it_answers_like_a_layout() -> None:
    for board in random_boards("nothing wrong", 12):
        layout, other = engine_layout(board), as_played(board)
        assert layout == other
        assert layout.removable() == other.removable()
        for walls in range(16):
            assert layout.placeable(walls) == other.placeable(walls)
            assert layout.swappable(walls) == other.swappable(walls)


def test_it_stays_one_and_keeps_nothing_of_before() -> None:
    """Placed on the way or laid at once, upwards too, is the same."""
    rng = random.Random("on the way")
    for before, tiles in illegal_boards("on the way", 12):
        layout, board = as_played(before), before
        layout.placeable(0), layout.removable()
        for tile in tiles:
            cell = min(frontier(board), key=lambda at: (at[1], rng.random()))
            layout = layout.placed(REAL.numbers[tile], index_of(cell))  # type: ignore[assignment]
            board = {**board, cell: tile}
        gone = rng.choice(sorted(set(board) - {oracle.HOME}))
        for after in (layout, layout.removed(index_of(gone))):
            assert isinstance(after, AsPlayed)
            fresh = AsPlayed(REAL, after.tiles)
            assert after.removable() == fresh.removable()
            assert [after.placeable(walls) for walls in range(16)] == [fresh.placeable(walls) for walls in range(16)]
