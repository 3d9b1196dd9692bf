"""Why a placement, a removal, a swap or a whole layout breaks the rules of building: every rule, with the cells.

A move answers for what it adds: where something illegal stands already (TBL-8), that is not its fault.
"""

from __future__ import annotations

from collections.abc import Iterable

from referee.games.alhambra.layout import FOUNTAIN, Layout, cells_of, index_of, on_board
from referee.games.alhambra.regions import flood, pockets
from referee.games.alhambra.tiles import SIDE_LETTERS
from referee.games.game import Cell, Violation

_NEIGHBOURS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def _around(cell: Cell) -> Iterable[tuple[int, Cell]]:
    """Return the four sides: (bit of the wall mask, neighbour)."""
    return [(1 << i, (cell[0] + dx, cell[1] + dy)) for i, (dx, dy) in enumerate(_NEIGHBOURS)]


def _walls_at(layout: Layout, cell: Cell) -> int | None:
    """Return the wall mask on a cell; None where it is empty."""
    if cell == (0, 0):
        return 0
    tile = layout.tiles.get(index_of(cell)) if on_board(cell) else None
    return None if tile is None else layout.tile_set.walls[tile]


def _opposite(side: int) -> int:
    return side >> 2 or side << 2


def _mismatches(layout: Layout, cell: Cell, walls: int) -> tuple[Violation, ...]:
    """ALH-A2 for one tile: a violation with the sides where wall meets open."""
    cells, sides = [cell], ""
    for (side, neighbour), letter in zip(_around(cell), SIDE_LETTERS, strict=True):
        other = _walls_at(layout, neighbour)
        if other is not None and bool(walls & side) != bool(other & _opposite(side)):
            cells.append(neighbour)
            sides += letter
    return (Violation("ALH-A2", tuple(cells), {"sides": sides}),) if sides else ()


def placement_violations(layout: Layout, tile: int, cell: Cell) -> tuple[Violation, ...]:
    """Return every rule of building that a tile breaks on this cell."""
    walls = layout.tile_set.walls[tile]
    if not on_board(cell):
        return (Violation("ALH-A8", (cell,)),)
    index = index_of(cell)
    if layout.placeable(walls) >> index & 1:
        return ()
    if layout.occupied >> index & 1:
        return (Violation("ALH-A9", (cell,)),)
    found = list(_mismatches(layout, cell, walls))
    if not any(_walls_at(layout, other) is not None for _, other in _around(cell)):
        found.append(Violation("ALH-A3", (cell,)))
    if not layout.open_contact(walls) >> index & 1:
        found.append(Violation("ALH-A4", (cell,)))
    found += hole_violations(layout.occupied | 1 << index, layout.shut_in())
    return tuple(found)


def removal_violations(layout: Layout, cell: Cell) -> tuple[Violation, ...]:
    """Return every rule that taking the tile of this cell away breaks (ALH-D2, ALH-D3)."""
    if cell == (0, 0):
        return (Violation("ALH-D2", (cell,)),)
    index = index_of(cell) if on_board(cell) else 0
    if not layout.occupied >> index & 1:
        return (Violation("ALH-D1", (cell,), {"found": "empty cell", "expected": "a tile"}),)
    if layout.removable() >> index & 1:
        return ()
    rest = layout.occupied & ~(1 << index)
    found = []
    if loose := rest & ~flood(FOUNTAIN, rest):
        found.append(Violation("ALH-A3", tuple(cells_of(loose))))
    if cut := rest & ~layout.removed(index).reachable() & ~layout.far():
        found.append(Violation("ALH-A4", tuple(cells_of(cut))))
    found += hole_violations(rest, layout.shut_in())
    return tuple(found)


def swap_violations(layout: Layout, tile: int, cell: Cell) -> tuple[Violation, ...]:
    """Return every rule that the tile in place of this cell's breaks (ALH-D2, ALH-D4)."""
    if cell == (0, 0):
        return (Violation("ALH-D2", (cell,)),)
    if not on_board(cell) or not layout.occupied >> index_of(cell) & 1:
        return (Violation("ALH-D1", (cell,), {"found": "empty cell", "expected": "a tile"}),)
    walls = layout.tile_set.walls[tile]
    if layout.swappable(walls) >> index_of(cell) & 1:
        return ()
    found = _mismatches(layout, cell, walls)
    if found:
        after = layout.swapped(tile, index_of(cell))
        if cut := after.occupied & ~after.reachable() & ~layout.far():
            found += (Violation("ALH-A4", tuple(cells_of(cut))),)
    return found


def layout_violations(layout: Layout) -> tuple[Violation, ...]:
    """Return every rule of building that the layout as a whole breaks."""
    east, south = layout.clashes()
    found = [
        Violation("ALH-A2", (cell, (cell[0] + dx, cell[1] + dy)), {"sides": letter})
        for bits, (dx, dy), letter in ((east, (1, 0), "E"), (south, (0, 1), "S"))
        for cell in cells_of(bits)
    ]
    if far := layout.occupied & ~layout.reachable():
        if loose := layout.occupied & ~flood(FOUNTAIN, layout.occupied):
            found.append(Violation("ALH-A3", tuple(cells_of(loose))))
        found.append(Violation("ALH-A4", tuple(cells_of(far))))
    return (*found, *hole_violations(layout.occupied))


def hole_violations(occupied: int, before: int = 0) -> list[Violation]:
    """Return the pockets that are shut in (ALH-A5), and those that touch the outside by a corner only (ALH-A6).

    ``before``: cells that were shut in already, which are left out.
    """
    inside, cornered = [cells & ~before for cells in pockets(occupied)]
    found = []
    if shut := inside & ~cornered:
        found.append(Violation("ALH-A5", tuple(cells_of(shut))))
    if cornered:
        found.append(Violation("ALH-A6", tuple(cells_of(cornered))))
    return found
