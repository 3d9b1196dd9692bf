"""The course of the outer wall: the sides behind the lengths of ``Layout.wall``, for drawings."""

from __future__ import annotations

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import E, N, S, W
from referee.games.game import Cell

Side = tuple[Cell, int]
"""A cell and one of its sides: N, E, S or W."""

_ACROSS = {N: (0, -1), E: (1, 0), S: (0, 1), W: (-1, 0)}
_CLOCKWISE = (N, E, S, W)


def outline(layout: Layout) -> list[Side]:
    """Return the outer sides in order, clockwise from the north side of the leftmost cell of the topmost row (ALH-B4).

    Written apart from ``Layout.wall``, which only counts and is asked for in every turn.
    """
    occupied = {(0, 0), *layout.cells()}
    start = min(occupied, key=lambda cell: (cell[1], cell[0])), N
    sides = [start]
    while (side := _next(occupied, sides[-1])) != start:
        sides.append(side)
    return sides


def _next(occupied: set[Cell], side: Side) -> Side:
    """Return the outer side that follows: at a corner inwards, straight on, or around the cell's own corner."""
    (x, y), direction = side
    turn = _CLOCKWISE.index(direction)
    dx, dy = _ACROSS[_CLOCKWISE[(turn + 1) % 4]]
    ahead = x + dx, y + dy
    across = ahead[0] + _ACROSS[direction][0], ahead[1] + _ACROSS[direction][1]
    if across in occupied:
        return across, _CLOCKWISE[turn - 1]
    if ahead in occupied:
        return ahead, direction
    return (x, y), _CLOCKWISE[(turn + 1) % 4]


def longest_wall(layout: Layout) -> list[Side]:
    """Return the sides of the longest wall, in order; of equals the first after the first gap (ALH-B1, ALH-B7)."""
    cells = layout.cells()
    sides = outline(layout)
    walled = [cell != (0, 0) and bool(layout.tile_set.walls[cells[cell]] & side) for cell, side in sides]
    if all(walled):
        return sides
    # From a gap on, no wall runs across the end of the list.
    gap = walled.index(False)
    best: list[Side] = []
    run: list[Side] = []
    for i in range(gap, gap + len(sides)):
        if walled[i % len(sides)]:
            run.append(sides[i % len(sides)])
            if len(run) > len(best):
                best = run
        else:
            run = []
    return best
