"""Alhambras in which illegal tiles stand."""

from __future__ import annotations

import random
from collections.abc import Iterator

from referee.games import alhambra
from referee.games.alhambra.violations import AsPlayed
from tests.games import oracle
from tests.games.layouts import (
    HABITS,
    SHAPES,
    engine_layout,
    frontier,
    shuffled,
)
from tests.games.oracle import Board, Cell

WAIVABLE = alhambra.GAME.waivable


def as_played(board: Board) -> AsPlayed:
    return AsPlayed.of_layout(engine_layout(board))


def pockets(board: Board) -> frozenset[Cell]:
    found = dict(oracle.shape_faults(frozenset(board)))
    return found.get("ALH-A5", frozenset()) | found.get("ALH-A6", frozenset())


def added(before: Board, after: Board, cell: Cell) -> set[str]:
    """Return the rules that the change of this cell breaks, whatever was broken before it."""
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
            # Mismatches come unforced, and often; what they hide is rare.
            if found <= WAIVABLE and (cell in closing or all(broken.count(rule) < 2 for rule in found)):
                board = {**board, cell: tile}
                broken += found
        yield board, tiles[:3]
