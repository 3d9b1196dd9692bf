"""Best turns and rebuild distances by trying everything, on top of the oracle: nothing of the solver is here.

A move is a tuple of its kind, the tile's name and the cell, empty where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.games import oracle
from tests.games.oracle import Board, Cell

Move = tuple[str, str, tuple[int, ...]]
ORDER = ("add", "remove", "swap", "place", "reserve")


def legal(board: Board) -> bool:
    """Return the verdict on a whole layout."""
    return not (oracle.mismatched(board) or oracle.unreachable(board) or oracle.shape_faults(frozenset(board)))


def around(board: Board) -> list[Cell]:
    return sorted({oracle.beside(cell, side) for cell in board for side in oracle.STEPS} - set(board))


def placements(board: Board, tile: str) -> Iterator[tuple[Cell, Board]]:
    for cell in around(board):
        if legal(after := {**board, cell: tile}):
            yield cell, after


def rebuilds(board: Board, reserve: Sequence[str]) -> Iterator[tuple[Move, Board, list[str]]]:
    """Yield every legal rebuild: the move, the layout and the reserve after it."""
    for tile in reserve:
        rest = [name for name in reserve if name != tile]
        for cell, after in placements(board, tile):
            yield ("add", tile, cell), after, rest
        for cell in set(board) - {oracle.HOME}:
            if legal(after := {**board, cell: tile}):
                yield ("swap", tile, cell), after, [*rest, board[cell]]
    for cell in set(board) - {oracle.HOME}:
        after = {other: name for other, name in board.items() if other != cell}
        if legal(after):
            yield ("remove", "", cell), after, [*reserve, board[cell]]


def ends(board: Board, bought: Sequence[str]) -> Iterator[tuple[tuple[Move, ...], Board]]:
    """Yield every way to place or reserve the bought tiles, in every order; reserving comes last."""
    yield tuple(("reserve", tile, ()) for tile in sorted(bought)), board
    for tile in bought:
        rest = [name for name in bought if name != tile]
        for cell, after in placements(board, tile):
            for moves, last in ends(after, rest):
                yield (("place", tile, cell), *moves), last


def best_turn(board: Board, reserve: Sequence[str], bought: Sequence[str]) -> tuple[tuple[Move, ...], int, int]:
    """The moves, the wall, the tiles: longest wall, most tiles, fewest rebuilds, first in the canonical order."""
    walls: dict[frozenset[tuple[Cell, str]], int] = {}

    def rank(moves: tuple[Move, ...], last: Board) -> tuple[int, int, int, list[tuple[int, str, tuple[int, ...]]]]:
        key = frozenset(last.items())
        if key not in walls:
            walls[key] = oracle.longest_wall(last)
        rebuilt = sum(kind in {"add", "remove", "swap"} for kind, _, _ in moves)
        return -walls[key], -len(last), rebuilt, [(ORDER.index(kind), tile, cell) for kind, tile, cell in moves]

    turns = list(ends(board, bought))
    for move, after, _ in rebuilds(board, reserve):
        turns += [((move, *moves), last) for moves, last in ends(after, bought)]
    moves, last = min(turns, key=lambda turn: rank(*turn))
    return moves, walls[frozenset(last.items())], len(last) - 1


def distance(start: Board, reserve: Sequence[str], goal: Board, most: int) -> int | None:
    """Return the fewest rebuilds, breadth first; None if there is no way of ``most`` or fewer."""
    seen = {frozenset(start.items())}
    edge = [(start, list(reserve))]
    for turns in range(most + 1):
        if frozenset(goal.items()) in seen:
            return turns
        after = []
        for board, stock in edge:
            for _, changed, left in rebuilds(board, stock):
                if (key := frozenset(changed.items())) not in seen:
                    seen.add(key)
                    after.append((changed, left))
        edge = after
    return None
