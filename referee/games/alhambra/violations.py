"""The rules of building that a move or a whole layout breaks, with the cells, and layouts in which illegal tiles stand.

A move answers for its own effects: an illegal part that stands already (TBL-8) is not its fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from referee.games.alhambra.layout import FOUNTAIN, STRIDE, Bits, Layout, cells_of, index_of, on_board
from referee.games.alhambra.tiles import SIDE_LETTERS, E, N, S, W
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


_ROW: Final = (1 << STRIDE) - 1


def flood(seed: int, within: int, *, diagonal: bool = False) -> int:
    """Return the cells of ``within`` that hang together with the seed, by sides or by sides and corners."""
    grown = seed & within
    while True:
        row = grown | grown << 1 | grown >> 1
        column = row if diagonal else grown
        more = (row | column << STRIDE | column >> STRIDE) & within
        if more == grown:
            return grown
        grown = more


def pockets(occupied: int) -> tuple[int, int]:
    """Return empty cells that tiles shut in, and those of them that touch the outside by a corner (ALH-A5, ALH-A6)."""
    first = (((occupied & -occupied).bit_length() - 1) // STRIDE - 1) * STRIDE
    occupied >>= first  # from here on in the rows from the one above the tiles to the one below
    rows = occupied.bit_length() // STRIDE + 2
    every = (1 << rows * STRIDE) - 1
    # Outside for certain: the rows above and below, and in every row what lies beyond its outermost tiles.
    outside = _ROW | _ROW << (rows - 1) * STRIDE
    for row in range(1, rows - 1):
        tiles = occupied >> row * STRIDE & _ROW
        low, high = (tiles & -tiles), tiles.bit_length()
        outside |= (_ROW ^ ((1 << high) - low)) << row * STRIDE
    empty = every & ~occupied
    inside = empty & ~flood(outside, empty)
    if not inside:
        return 0, 0
    return inside << first, (inside & flood(outside, empty, diagonal=True)) << first


# An Alhambra in which an illegal tile stands, as an arbiter let it (TBL-7).
#
# Every tile still touches another by a side, as ALH-A3 cannot be waived. But tiles may be out of reach on foot, and
# empty cells may be shut in. Later moves answer for their own effects (TBL-8), so the rules of placing are local
# here, too: they are asked of the tiles that can be reached, and of the shape with its pockets filled.


class AsPlayed(Layout):
    """Slower than a ``Layout``. Where nothing is wrong it answers like one, so it may stay when all is well again."""

    __slots__ = ("_far", "_filled", "_shut_in")

    @classmethod
    def of_layout(cls, layout: Layout) -> AsPlayed:
        """Return the same tiles."""
        return cls(layout.tile_set, layout.tiles)

    def _forget(self) -> None:
        super()._forget()
        self._far: int | None = None
        self._shut_in: int | None = None
        self._filled: Layout | None = None

    def far(self) -> int:
        if self._far is None:
            self._far = self.occupied & ~self.reachable()
        return self._far

    def shut_in(self) -> int:
        if self._shut_in is None:
            self._shut_in, _ = pockets(self.occupied)
        return self._shut_in

    def _with_pockets(self) -> Layout:
        """Return the layout with tiles in the pockets, as far as the shape goes: no empty cell of it is shut in."""
        if self._filled is None:
            self._filled = Layout(self.tile_set, self.tiles)
            self._filled._occupied |= self.shut_in() >> self._filled.base
        return self._filled

    def _one_block(self) -> Bits:
        """Return where a tile shuts nothing in: in a pocket, too (ALH-A5, ALH-A6)."""
        if self._ring is None:
            filled = self._with_pockets()
            self._ring = (filled._one_block() << filled.base | self.shut_in()) >> self.base
        return self._ring

    def _contact(self, walls: int) -> Bits:
        """ALH-A3, ALH-A4: with a neighbour that can be reached."""
        near = self._occupied & ~(self.far() >> self.base)
        return (
            (0 if walls & N else (near & ~self._south) << STRIDE)
            | (0 if walls & E else (near & ~self._west) >> 1)
            | (0 if walls & S else (near & ~self._north) >> STRIDE)
            | (0 if walls & W else (near & ~self._east) << 1)
        )

    def may_remove(self) -> Bits:
        """Return the removable tiles' cells, by ALH-A3 as well: a cell out of reach may still hang on a tile by its
        sides."""
        cells = self._with_pockets().removable() & self.occupied
        if self.far():
            left = cells
            while left:
                cell = left & -left
                left ^= cell
                rest = self.occupied ^ cell
                if rest != flood(FOUNTAIN, rest):
                    cells ^= cell
        return cells >> self.base
