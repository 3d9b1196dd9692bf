"""Judges a layout from the rule texts: is it an Alhambra, and how long is its wall. Knows nothing of any search.

A search hands out a layout only if this module agrees. Sets of cells, flooding, one walk: nothing clever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from referee.games.game import Cell

FOUNTAIN: Cell = (0, 0)

N, E, S, W = range(4)
STEPS: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The step across each side, clockwise from the north."""

Side = tuple[Cell, int]
"""A cell and one of its sides: N, E, S or W."""

Masks = Mapping[Cell, int]
"""Walls by cell, bit ``1 << side``. The fountain, without walls, is implied."""


class IllegalLayout(Exception):
    """The layout breaks a rule of building; the text names the rule and a cell."""


def beside(cell: Cell, side: int) -> Cell:
    """Return the cell across a side."""
    return cell[0] + STEPS[side][0], cell[1] + STEPS[side][1]


def wall_length(masks: Masks) -> int:
    """Return the sides of the longest wall (ALH-B1 to ALH-B7). Raise ``IllegalLayout`` (ALH-A2 to ALH-A6)."""
    tiles = {**masks, FOUNTAIN: 0}
    _check_building(masks, tiles)
    sides = outline(tiles)
    walled = [bool(tiles[cell] >> side & 1) for cell, side in sides]
    if all(walled):
        return len(walled)
    gap = walled.index(False)
    longest = run = 0
    for wall in walled[gap:] + walled[:gap]:
        run = run + 1 if wall else 0
        longest = max(longest, run)
    return longest


def outline(tiles: Iterable[Cell]) -> list[Side]:
    """Return the outer sides in order, clockwise (ALH-B4), of cells that are connected and have no hole."""
    occupied = set(tiles)
    start = min(occupied, key=lambda cell: (cell[1], cell[0])), N
    sides = [start]
    while (side := following(occupied, sides[-1])) != start:
        sides.append(side)
    return sides


def following(occupied: set[Cell], side: Side) -> Side:
    """Return the next outer side, clockwise: round an inner corner, straight on, or round the cell's own corner."""
    cell, facing = side
    right = (facing + 1) % 4
    ahead = beside(cell, right)
    if ahead not in occupied:
        return cell, right
    across = beside(ahead, facing)
    return (across, (facing - 1) % 4) if across in occupied else (ahead, facing)


def _check_building(masks: Masks, tiles: Masks) -> None:
    if FOUNTAIN in masks:
        raise IllegalLayout("ALH-A9: a tile lies on the fountain")

    def agree(cell: Cell, side: int) -> bool:
        there = beside(cell, side)
        return there not in tiles or tiles[cell] >> side & 1 == tiles[there] >> (side + 2) % 4 & 1

    for cell in tiles:
        if not all(agree(cell, side) for side in range(4)):
            raise IllegalLayout(f"ALH-A2: a wall meets an open side at {cell}")

    def walk(cell: Cell) -> list[Cell]:
        return [there for side in range(4) if not tiles[cell] >> side & 1 and (there := beside(cell, side)) in tiles]

    if cut := set(tiles) - _flood(FOUNTAIN, walk):
        raise IllegalLayout(f"ALH-A4: no way from the fountain to {min(cut)}")
    xs, ys = [x for x, _ in tiles], [y for _, y in tiles]
    columns, rows = range(min(xs) - 1, max(xs) + 2), range(min(ys) - 1, max(ys) + 2)
    empty = {(x, y) for x in columns for y in rows} - set(tiles)

    def fly(cell: Cell) -> list[Cell]:
        return [there for side in range(4) if (there := beside(cell, side)) in empty]

    if shut := empty - _flood((columns[0], rows[0]), fly):
        raise IllegalLayout(f"ALH-A5, ALH-A6: tiles shut in the empty cell {min(shut)}")


def _flood(start: Cell, ways: Callable[[Cell], list[Cell]]) -> set[Cell]:
    seen, todo = {start}, [start]
    while todo:
        for there in ways(todo.pop()):
            if there not in seen:
                seen.add(there)
                todo.append(there)
    return seen
