"""Alhambra's rules of building, stated for Z3 from the rule texts: a second opinion on every layout.

Knows the names of the rules and nothing of the engine that decides moves. Each rule is a question of its own, so that
the answer names every rule that is broken, not a first one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import z3

from referee.games.game import Cell

FOUNTAIN: Cell = (0, 0)
_SIDES = "NESW"
_STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
_OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}

Layout = Mapping[Cell, str]
"""Walls by cell, as letters of NESW; the fountain is implied."""


def broken_rules(layout: Layout) -> frozenset[str]:
    """The ids of the rules of building that the layout breaks, ALH-A2 to ALH-A6.

    Raises ``ValueError`` if a tile lies on the fountain, ``RuntimeError`` if Z3 gives no answer.
    """
    if FOUNTAIN in layout:
        raise ValueError("a tile lies on the fountain")
    tiles = {**layout, FOUNTAIN: ""}
    empty, border = _surroundings(tiles)
    broken = {
        "ALH-A2": not all(_walls_agree(tiles, cell, side) for cell in tiles for side in _SIDES),
        "ALH-A3": not _all_reached(tiles, {FOUNTAIN}, _beside),
        "ALH-A4": not _all_reached(tiles, {FOUNTAIN}, lambda cell: _walkable(tiles, cell)),
    }
    if not _all_reached(empty, border, _beside):
        # Which pockets: those that not even a corner joins to the outside, and those that a corner does.
        by_corner = _reached(empty, border, lambda cell: [*_beside(cell), *_diagonal(cell)])
        by_side = _reached(empty, border, _beside)
        broken["ALH-A5"] = by_corner != set(empty)
        broken["ALH-A6"] = by_corner != by_side
    return frozenset(rule for rule, is_broken in broken.items() if is_broken)


def _neighbour(cell: Cell, side: str) -> Cell:
    dx, dy = _STEPS[side]
    return cell[0] + dx, cell[1] + dy


def _beside(cell: Cell) -> list[Cell]:
    return [_neighbour(cell, side) for side in _SIDES]


def _diagonal(cell: Cell) -> list[Cell]:
    return [(cell[0] + dx, cell[1] + dy) for dx in (-1, 1) for dy in (-1, 1)]


def _walls_agree(tiles: Layout, cell: Cell, side: str) -> bool:
    """ALH-A2: nothing there, or a wall on both sides, or on neither."""
    there = _neighbour(cell, side)
    return there not in tiles or (side in tiles[cell]) == (_OPPOSITE[side] in tiles[there])


def _walkable(tiles: Layout, cell: Cell) -> list[Cell]:
    """Neighbours that no wall, of either tile, parts from this one."""
    return [
        there
        for side in _SIDES
        if (there := _neighbour(cell, side)) in tiles
        and side not in tiles[cell]
        and _OPPOSITE[side] not in tiles[there]
    ]


def _surroundings(tiles: Collection[Cell]) -> tuple[set[Cell], set[Cell]]:
    """The empty cells of the box around the tiles, one wider on every side; and its border."""
    xs, ys = [x for x, _ in tiles], [y for _, y in tiles]
    columns, rows = range(min(xs) - 1, max(xs) + 2), range(min(ys) - 1, max(ys) + 2)
    box = {(x, y) for x in columns for y in rows}
    border = {(x, y) for x, y in box if x in (columns[0], columns[-1]) or y in (rows[0], rows[-1])}
    return box - set(tiles), border


def _all_reached(cells: Collection[Cell], start: Collection[Cell], ways: Callable[[Cell], Iterable[Cell]]) -> bool:
    """Whether every cell has a way to a start cell: ranks exist that fall to a start along ways.

    Satisfiable exactly if so; the model is the proof, a rank for each cell.
    """
    solver = z3.SolverFor("QF_IDL")
    rank = {cell: z3.Int(f"r {cell[0]} {cell[1]}") for cell in cells}
    for cell in cells:
        if cell not in start:
            solver.add(z3.Or([rank[there] < rank[cell] for there in ways(cell) if there in rank]))
    return _answer(solver)


def _reached(cells: Collection[Cell], start: Collection[Cell], ways: Callable[[Cell], Iterable[Cell]]) -> set[Cell]:
    """The cells that have a way to a start cell: the least set closed under ways, found from its dual.

    A cell is unreached exactly if a set exists that holds it, no start cell, and with a cell all cells it leads to.
    """
    solver = z3.Solver()
    shut = {cell: z3.Bool(f"s {cell[0]} {cell[1]}") for cell in cells}
    for cell in cells:
        solver.add(z3.Not(shut[cell]) if cell in start else True)
        for there in ways(cell):
            if there in shut:
                solver.add(z3.Implies(shut[cell], shut[there]))
    found = set()
    for cell in cells:
        solver.push()
        solver.add(shut[cell])
        if not _answer(solver):
            found.add(cell)
        solver.pop()
    return found


def _answer(solver: Any) -> bool:
    result = solver.check()
    if result == z3.unknown:
        raise RuntimeError(f"Z3 gave no answer: {solver.reason_unknown()}")
    return bool(result == z3.sat)
