"""An Alhambra in which illegal tiles stand, against the oracle: later moves answer for what they add, walls count."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from referee.games import alhambra
from referee.games.alhambra.as_played import AsPlayed
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.outline import longest_wall, outline
from referee.games.alhambra.violations import placement_violations, removal_violations, swap_violations
from tests.games import oracle
from tests.games.layouts import (
    HABITS,
    REAL,
    SHAPES,
    drawn,
    engine_layout,
    frontier,
    open_board,
    random_boards,
    shuffled,
)
from tests.games.oracle import Board, Cell

WAIVABLE = alhambra.GAME.waivable
SIDES = {1: "N", 2: "E", 4: "S", 8: "W"}


def as_played(board: Board) -> AsPlayed:
    return AsPlayed.of_layout(engine_layout(board))


def pockets(board: Board) -> frozenset[Cell]:
    found = dict(oracle.shape_faults(frozenset(board)))
    return found.get("ALH-A5", frozenset()) | found.get("ALH-A6", frozenset())


def added(before: Board, after: Board, cell: Cell) -> set[str]:
    """The rules that the change of this cell breaks, whatever was broken before it."""
    faults = oracle.faults(after)
    found = {"ALH-A2"} if cell in after and cell in oracle.mismatched(after) else set()
    if faults.get("ALH-A3"):
        found.add("ALH-A3")
    if oracle.unreachable(after) - oracle.unreachable(before):
        found.add("ALH-A4")
    shut = pockets(after) - pockets(before)
    return found | {rule for rule in ("ALH-A5", "ALH-A6") if faults.get(rule, frozenset()) & shut}


def illegal_boards(seed: str, count: int) -> Iterator[tuple[Board, list[str]]]:
    """Boards with tiles that are illegal and stand, other tiles upon and beside them, and some tiles that are left."""
    rng = random.Random(seed)
    for number in range(count):
        habit = HABITS[("corners", "bays", "any")[number % 3]]
        tiles = shuffled(rng)
        board: Board = dict(oracle.START)
        if number % 3 == 1:  # pockets without a corner to the outside are rare: nearly one
            board |= {cell: tiles.pop() for cell in sorted(SHAPES["a ring but for one side"] - {oracle.HOME})}
        broken: list[str] = []
        most = rng.randrange(6, 24)
        while len(board) < most and len(tiles) > 3:
            tile, cells = tiles.pop(), frontier(board)
            closing = [cell for cell in cells if pockets({**board, cell: tile}) - pockets(board)]
            likely = max(cells, key=lambda at: habit(board, at) + 3 * rng.random())
            cell = rng.choice(closing if closing and rng.random() < 0.5 else [likely, rng.choice(cells)])
            found = added(board, {**board, cell: tile}, cell)
            # Mismatches come by themselves, and often; what they hide is rare.
            if found <= WAIVABLE and (cell in closing or all(broken.count(rule) < 2 for rule in found)):
                board = {**board, cell: tile}
                broken += found
        yield board, tiles[:3]


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
