"""Theorems about what the engine walks rather than computes with sets: proved by going through every case of a box.

The walk around the outline (``Layout.wall``) and the search for cells that cut others off (``Layout.removable``) follow
neighbours one by one, and so are run here as they are, on every footprint or layout that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import combinations, product
from typing import Final

from referee.games.alhambra.layout import Layout, index_of
from referee.games.game import Cell
from tests.laboratory.theorems.engine import OPPOSITE, SIDES, every_mask, near
from tests.laboratory.theorems.theorem import Theorem, picture

Footprint = frozenset[Cell]
Side = tuple[Cell, int]

TILE_SET: Final = every_mask()


def footprints(columns: int, rows: int) -> Iterator[Footprint]:
    """Yield every connected set of cells of the box that has no hole, not even one shut by a corner."""
    cells = [(x, y) for y in range(rows) for x in range(columns)]
    beside = [sum(1 << i for i, other in enumerate(cells) if _apart(cell, other) == 1) for cell in cells]
    rim = sum(1 << i for i, (x, y) in enumerate(cells) if x in (0, columns - 1) or y in (0, rows - 1))
    every = (1 << len(cells)) - 1
    level = {1 << i for i in range(len(cells))}
    while level:
        for shape in level:
            if not _hole(every & ~shape, rim, beside):
                yield frozenset(cells[bit.bit_length() - 1] for bit in _bits(shape))
        level = {shape | bit for shape in level for bit in _bits(_around(shape, beside) & ~shape)}


def _apart(one: Cell, other: Cell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _bits(shape: int) -> Iterator[int]:
    while shape:
        yield shape & -shape
        shape &= shape - 1


def _around(shape: int, beside: list[int]) -> int:
    """Return the cells beside those of the shape."""
    found = 0
    for bit in _bits(shape):
        found |= beside[bit.bit_length() - 1]
    return found


def _hole(empty: int, rim: int, beside: list[int]) -> bool:
    outside = todo = empty & rim
    while todo:
        todo = _around(todo, beside) & empty & ~outside
        outside |= todo
    return outside != empty


def _layout(tiles: dict[Cell, int], fountain: Cell) -> Layout:
    """Return the layout with these walls by cell, moved so that the fountain lies where the engine has it."""
    x0, y0 = fountain
    return Layout(
        TILE_SET, {index_of((x - x0, y - y0)): walls for (x, y), walls in tiles.items() if (x, y) != fountain}
    )


def _moved(tiles: dict[Cell, int], fountain: Cell) -> dict[Cell, int]:
    return {(x - fountain[0], y - fountain[1]): walls for (x, y), walls in tiles.items()}


def _outer(shape: Iterable[Cell]) -> list[Side]:
    return [(cell, side) for cell in shape for side, step in SIDES.items() if near(cell, step) not in shape]


def _inner(shape: Footprint) -> list[tuple[Cell, int, Cell]]:
    """Return every pair of neighbouring cells: one, its side, the other."""
    return [(c, side, there) for c in sorted(shape) for side in (2, 4) if (there := near(c, SIDES[side])) in shape]


# The outline


def _walk(columns: int, rows: int) -> str | None:
    for shape in footprints(columns, rows):
        length = _layout(dict.fromkeys(shape, 0), min(shape)).wall()[1]
        sides = len(_outer(shape))
        if length != sides:
            shown = picture(_moved(dict.fromkeys(shape, 0), min(shape)))
            return "\n".join([f"the engine walks along {length} sides of {sides}:", *shown])
    return None


def _length(columns: int, rows: int) -> str | None:
    for shape in footprints(columns, rows):
        blocks = sum({(x + 1, y), (x, y + 1), (x + 1, y + 1)} <= shape for x, y in shape)
        sides = len(_outer(shape))
        if sides != 2 * len(shape) + 2 - 2 * blocks:
            shown = picture(_moved(dict.fromkeys(shape, 0), min(shape)))
            return "\n".join([f"{sides} outer sides, {len(shape)} tiles, {blocks} full 2 x 2 blocks:", *shown])
    return None


def _longest(columns: int, rows: int) -> str | None:
    for shape, fountain in _places(columns, rows):
        outer = [side for side in _outer(shape) if side[0] != fountain]
        for chosen in _subsets(outer):
            tiles = dict.fromkeys(shape, 0)
            for cell, side in chosen:
                tiles[cell] |= side
            counted = _layout(tiles, fountain).wall()[0]
            longest = _largest_chain(chosen)
            if counted != longest:
                shown = picture(_moved(tiles, fountain))
                return "\n".join([f"the engine counts {counted}, the longest wall has {longest}:", *shown])
    return None


def _places(columns: int, rows: int) -> Iterator[tuple[Footprint, Cell]]:
    """Yield every footprint with every cell of it as the fountain."""
    return ((shape, cell) for shape in footprints(columns, rows) for cell in sorted(shape))


def _subsets(items: list[Side]) -> Iterator[tuple[Side, ...]]:
    return (chosen for size in range(len(items) + 1) for chosen in combinations(items, size))


_ENDS: Final = {1: ((0, 0), (1, 0)), 2: ((1, 0), (1, 1)), 4: ((0, 1), (1, 1)), 8: ((0, 0), (0, 1))}
"""For N, E, S, W: the corners of the cell that the side joins."""


def _largest_chain(sides: Iterable[Side]) -> int:
    """Return the most sides that are connected by their ends."""
    at: dict[Cell, list[Side]] = {}
    for cell, side in sides:
        for end in _ENDS[side]:
            at.setdefault(near(cell, end), []).append((cell, side))
    left, most = set(sides), 0
    while left:
        todo, size = [left.pop()], 0
        while todo:
            cell, side = todo.pop()
            size += 1
            for end in _ENDS[side]:
                more = left.intersection(at[near(cell, end)])
                left -= more
                todo += more
        most = max(most, size)
    return most


# Removals


def _removals(columns: int, rows: int) -> str | None:
    whole = set(footprints(columns, rows))
    for tiles, fountain, ways in _legal_layouts(columns, rows):
        allowed = {
            cell
            for cell in tiles
            if cell != fountain and tiles.keys() - {cell} in whole and _all_reached(ways, fountain, cell)
        }
        engine = _removable(tiles, fountain)
        if differ := engine ^ allowed:
            cell = min(differ)
            said = "allows" if cell in engine else "forbids"
            shown = picture(_moved(tiles, fountain), (cell[0] - fountain[0], cell[1] - fountain[1]))
            return "\n".join([f"the engine {said} this removal, and the rules do not:", *shown])
    return None


def _taken_down(columns: int, rows: int) -> str | None:
    for shape, fountain in _places(columns, rows):
        tiles = dict.fromkeys(shape, 0)
        if len(tiles) > 1 and not _removable(tiles, fountain):
            return "\n".join(["the engine lets no tile be removed:", *picture(_moved(tiles, fountain))])
    return None


def _removable(tiles: dict[Cell, int], fountain: Cell) -> set[Cell]:
    return {near(cell, fountain) for cell in _layout(tiles, fountain).removable_cells()}


def _legal_layouts(columns: int, rows: int) -> Iterator[tuple[dict[Cell, int], Cell, dict[Cell, list[Cell]]]]:
    """Yield every legal layout: walls by cell, the fountain, and where one can walk; outer sides all open or all
    walled.
    """
    for shape, fountain in _places(columns, rows):
        inner = _inner(shape)
        free = [pair for pair in inner if fountain not in (pair[0], pair[2])]
        for walled in product((False, True), repeat=len(free)):
            ways: dict[Cell, list[Cell]] = {cell: [] for cell in shape}
            shut = {pair for pair, wall in zip(free, walled, strict=True) if wall}
            for one, side, other in inner:
                if (one, side, other) not in shut:
                    ways[one].append(other)
                    ways[other].append(one)
            if _all_reached(ways, fountain, None):
                yield _walled(shape, fountain, shut, outer=False), fountain, ways
                yield _walled(shape, fountain, shut, outer=True), fountain, ways


def _walled(shape: Footprint, fountain: Cell, shut: set[tuple[Cell, int, Cell]], *, outer: bool) -> dict[Cell, int]:
    tiles = dict.fromkeys(shape, 0)
    for one, side, other in shut:
        tiles[one] |= side
        tiles[other] |= OPPOSITE[side]
    for cell, side in _outer(shape) if outer else ():
        if cell != fountain:
            tiles[cell] |= side
    return tiles


def _all_reached(ways: dict[Cell, list[Cell]], fountain: Cell, without: Cell | None) -> bool:
    """Return whether one can walk from the fountain to every cell, without this one."""
    seen, todo = {fountain}, [fountain]
    while todo:
        for there in ways[todo.pop()]:
            if there not in seen and there != without:
                seen.add(there)
                todo.append(there)
    return len(seen) == len(ways) - (without is not None)


THEOREMS: Final = (
    *(
        Theorem(
            f"outline-is-one-walk-{columns}x{rows}",
            f"every footprint without holes in a box of {columns} x {rows}, one by one",
            "The engine's walk around the outline meets as many sides as there are outer sides: the outline is one "
            "closed curve (ALH-B4).",
            "engine.wall(L).length = number of sides with a tile on one side and none on the other",
            partial(_walk, columns, rows),
            slow,
        )
        for columns, rows, slow in ((4, 4, False), (5, 5, True))
    ),
    *(
        Theorem(
            f"outline-length-{columns}x{rows}",
            f"every footprint without holes in a box of {columns} x {rows}, one by one",
            "The outline of n tiles, the fountain among them, has 2n + 2 - 2b sides, with b full 2 x 2 blocks: never "
            "more than 2n + 2.",
            "outer sides(L) = 2 n + 2 - 2 blocks(L)",
            partial(_length, columns, rows),
            slow,
        )
        for columns, rows, slow in ((4, 4, False), (5, 5, True))
    ),
    *(
        Theorem(
            f"longest-wall-{columns}x{rows}",
            f"every footprint without holes in a box of {columns} x {rows} with any outer walls, the fountain "
            "anywhere, one by one",
            "The engine's longest wall is the largest set of outer walls that hang together by their ends (ALH-B1, "
            "ALH-B7).",
            "engine.wall(L).longest = size of the largest connected set of walled outer sides",
            partial(_longest, columns, rows),
            slow,
        )
        for columns, rows, slow in ((3, 2, False), (3, 3, True))
    ),
    *(
        Theorem(
            f"removal-is-legal-removal-{columns}x{rows}",
            f"every legal layout in a box of {columns} x {rows}, outer sides all open or all walled, the fountain "
            "anywhere, one by one",
            "The engine lets a tile be removed exactly if the rest can be reached from the fountain and has no hole: "
            "its search for tiles that others hang on finds them all, and no others (ALH-D3).",
            "legal(L)  =>  (engine.removable(c)  <=>  tile(c) and c is not the fountain and legal(L without c))",
            partial(_removals, columns, rows),
            slow,
        )
        for columns, rows, slow in ((3, 3, False), (4, 3, True))
    ),
    *(
        Theorem(
            f"open-layouts-can-be-taken-down-{columns}x{rows}",
            f"every footprint without holes in a box of {columns} x {rows}, the fountain anywhere, one by one",
            "Of tiles without walls the engine lets some be removed, unless only the fountain is left: every footprint "
            "can be taken down, and so built, one tile at a time. With walls a layout may be locked: nothing can be "
            "removed if all but one tile are on the only way to that one, and it has four neighbours.",
            "L has a tile, and no walls  =>  engine.removable(c) for some c",
            partial(_taken_down, columns, rows),
            slow,
        )
        for columns, rows, slow in ((3, 3, False), (4, 4, True))
    ),
)
