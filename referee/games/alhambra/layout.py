"""One Alhambra: the fountain and the tiles around it, as a value that never changes.

A set of cells is one integer, a bit a cell, so a rule is asked of every cell of the board at once. The rules of
placing are local (the walls of four neighbours, one open side, one block in the ring of eight); that the local
rules equal the ones of the rule texts is a property in the tests. Whole layouts are judged in ``violations.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from referee.games.alhambra.tiles import E, N, S, TileTable, W
from referee.games.game import Cell

REACH: Final = 54
"""ALH-A8: 54 tiles in a row are the farthest that a tile can lie from the fountain."""

STRIDE: Final = 128
"""Bits a row: 109 columns and a margin of empty cells on both sides."""

_ORIGIN: Final = 56 * STRIDE + 64
FOUNTAIN: Final = 1 << _ORIGIN


def index_of(cell: Cell) -> int:
    """The bit number of a cell that is ``on_board``."""
    return _ORIGIN + cell[1] * STRIDE + cell[0]


def cell_of(index: int) -> Cell:
    """The cell of a bit number."""
    row, column = divmod(index, STRIDE)
    return column - 64, row - 56


def on_board(cell: Cell) -> bool:
    """ALH-A8 (rule texts: no limit): within reach of 54 tiles."""
    return -REACH <= cell[0] <= REACH and -REACH <= cell[1] <= REACH


_CELLS: Final = tuple(cell_of(index) for index in range(113 * STRIDE))

_UP, _RIGHT, _DOWN, _LEFT = -STRIDE, 1, STRIDE, -1
_SIDES: Final = ((N, _UP, S), (E, _RIGHT, W), (S, _DOWN, N), (W, _LEFT, E))
"""Each side, the step across it, and the side of the neighbour that it meets."""


def cells_of(bits: int) -> list[Cell]:
    """The cells of a set, by column, then row."""
    if not bits:
        return []
    skip = (bits & -bits).bit_length() - 1
    bits >>= skip  # the rest of the work is on a short integer
    cells = []
    while bits:
        low = bits & -bits
        cells.append(_CELLS[low.bit_length() - 1 + skip])
        bits ^= low
    cells.sort()
    return cells


class Layout:
    """Tiles on cells. Any set of tiles can be laid; only the rules keep it an Alhambra."""

    __slots__ = (
        "_cut",
        "_down",
        "_encoded",
        "_facing",
        "_masks",
        "_placeable",
        "_ring",
        "_wall",
        "north",
        "occupied",
        "east",
        "south",
        "table",
        "tiles",
        "west",
    )

    def __init__(self, table: TileTable, tiles: Mapping[int, int] | None = None) -> None:
        """``tiles``: tile number by cell index, the fountain not among them."""
        self.table = table
        self.tiles: dict[int, int] = dict(tiles or {})
        self.occupied = FOUNTAIN
        self.north = self.east = self.south = self.west = 0
        for index, tile in self.tiles.items():
            self._toggle(index, table.walls[tile])
        self._forget()

    @classmethod
    def of(cls, table: TileTable, tiles: Mapping[Cell, int]) -> Layout:
        """The layout with these tile numbers on these cells."""
        return cls(table, {index_of(cell): tile for cell, tile in tiles.items()})

    def _toggle(self, index: int, walls: int) -> None:
        bit = 1 << index
        self.occupied ^= bit
        if walls & N:
            self.north ^= bit
        if walls & E:
            self.east ^= bit
        if walls & S:
            self.south ^= bit
        if walls & W:
            self.west ^= bit

    def _forget(self) -> None:
        self._facing: tuple[int, ...] | None = None
        self._masks: dict[int, int] | None = None
        self._ring: int | None = None
        self._down: int | None = None
        self._placeable: dict[int, int] = {}
        self._cut: int | None = None
        self._wall: tuple[int, int] | None = None
        self._encoded: bytes | None = None

    def _changed(self) -> Layout:
        new = Layout.__new__(Layout)
        new.table = self.table
        new.tiles = self.tiles.copy()
        new.occupied = self.occupied
        new.north, new.east, new.south, new.west = self.north, self.east, self.south, self.west
        new._forget()
        return new

    def placed(self, tile: int, index: int) -> Layout:
        """With the tile on an empty cell."""
        new = self._changed()
        new.tiles[index] = tile
        new._toggle(index, self.table.walls[tile])
        return new

    def removed(self, index: int) -> Layout:
        """Without the tile of the cell."""
        new = self._changed()
        new._toggle(index, self.table.walls[new.tiles.pop(index)])
        return new

    def swapped(self, tile: int, index: int) -> Layout:
        """With the tile in place of the one that was on the cell."""
        return self.removed(index).placed(tile, index)

    def cells(self) -> dict[Cell, int]:
        """Tile numbers by cell, sorted by column, then row."""
        return {cell: self.tiles[index_of(cell)] for cell in cells_of(self.occupied ^ FOUNTAIN)}

    # Rules of one placement, for all cells at once. No tile of a legal layout can lie so far out that a cell beside
    # it is off the board (ALH-A8): that would take more tiles than there are.

    def _crop(self) -> int:
        """Bits below the rows that matter: the work below is on short integers, shifted down by this."""
        if self._down is None:
            self._down = (((self.occupied & -self.occupied).bit_length() - 1) // STRIDE - 1) * STRIDE
        return self._down

    def _faces(self) -> tuple[int, ...]:
        """For N, E, S, W: cells whose neighbour there shows them a wall, then the same for an open side; cropped."""
        if self._facing is None:
            down = self._crop()
            occ = self.occupied >> down
            north, east, south, west = (
                self.north >> down,
                self.east >> down,
                self.south >> down,
                self.west >> down,
            )
            self._facing = (
                south << STRIDE,
                (occ ^ south) << STRIDE,
                west >> 1,
                (occ ^ west) >> 1,
                north >> STRIDE,
                (occ ^ north) >> STRIDE,
                east << 1,
                (occ ^ east) << 1,
            )
        return self._facing

    def _one_block(self) -> int:
        """ALH-A5, ALH-A6 for one more tile: empty cells in whose ring of eight the occupied cells form one block.

        Then, and only then, the empty cells stay one region connected by sides when the cell is filled. Cropped.
        """
        if self._ring is None:
            occ = self.occupied >> self._crop()
            up, down = occ << STRIDE, occ >> STRIDE
            # The eight neighbours in order round the cell; a block starts where an occupied one follows an empty one.
            ring = (up, up >> 1, occ >> 1, down >> 1, down, down << 1, occ << 1, up << 1)
            once = twice = 0
            before = ring[7]
            for here in ring:
                start = here & ~before
                twice |= once & start
                once |= start
                before = here
            self._ring = once & ~twice & ~occ
        return self._ring

    def _clash(self, walls: int) -> int:
        n_wall, n_open, e_wall, e_open, s_wall, s_open, w_wall, w_open = self._faces()
        clash = n_open if walls & N else n_wall
        clash |= e_open if walls & E else e_wall
        clash |= s_open if walls & S else s_wall
        return clash | (w_open if walls & W else w_wall)

    def _contact(self, walls: int) -> int:
        _, n_open, _, e_open, _, s_open, _, w_open = self._faces()
        contact = 0 if walls & N else n_open
        if not walls & E:
            contact |= e_open
        if not walls & S:
            contact |= s_open
        return contact if walls & W else contact | w_open

    def open_contact(self, walls: int) -> int:
        """ALH-A4 for one more tile: cells with an occupied neighbour and no wall on either side between."""
        return self._contact(walls) << self._crop()

    def placeable(self, walls: int) -> int:
        """Empty cells where a tile with these walls may be placed: ALH-A2 to ALH-A6, ALH-A9."""
        cells = self._placeable.get(walls)
        if cells is None:
            cells = self._one_block() & self._contact(walls) & ~self._clash(walls)
            cells = self._placeable[walls] = cells << self._crop()
        return cells

    def swappable(self, walls: int) -> int:
        """ALH-D2, ALH-D4: cells whose tile a tile with these walls may replace."""
        down = self._crop()
        return ((self.occupied ^ FOUNTAIN) >> down & ~self._clash(walls)) << down

    def surrounded(self) -> int:
        """ALH-A5 for one tile less: occupied cells whose four sides all touch tiles."""
        occ = self.occupied
        return occ & (occ << STRIDE) & (occ >> STRIDE) & (occ << 1) & (occ >> 1)

    def removable(self) -> int:
        """ALH-D2, ALH-D3: cells whose tile may go to the reserve."""
        return self.occupied & ~FOUNTAIN & ~self.surrounded() & ~self.cut_cells()

    def _walls(self) -> dict[int, int]:
        """The wall mask of every occupied cell, the fountain's among them."""
        if self._masks is None:
            walls = self.table.walls
            self._masks = {index: walls[tile] for index, tile in self.tiles.items()}
            self._masks[_ORIGIN] = 0
        return self._masks

    def cut_cells(self) -> int:
        """ALH-A4 for one tile less: cells without which some tile cannot be walked to from the fountain.

        The articulation points of the graph of passages (Tarjan 1972).
        """
        if self._cut is None:
            masks = self._walls()
            depths: dict[int, int] = {}
            cut = set()

            def visit(here: int, parent: int) -> int:
                lowest = depth = depths[here] = len(depths)
                walls = masks[here]
                for side, step, opposite in _SIDES:
                    there = here + step
                    if walls & side or there == parent or masks.get(there, opposite) & opposite:
                        continue
                    reached = depths.get(there)
                    if reached is None:
                        reached = visit(there, here)
                        if reached >= depth:
                            cut.add(here)
                    lowest = min(lowest, reached)
                return lowest

            visit(_ORIGIN, -1)
            self._cut = sum(1 << index for index in cut if index != _ORIGIN)
        return self._cut

    def reachable_without(self, index: int | None = None) -> int:
        """Cells that one can walk to from the fountain, without the tile of ``index``."""
        masks = self._walls()
        seen = FOUNTAIN
        todo = [_ORIGIN]
        while todo:
            here = todo.pop()
            for side, step, opposite in _SIDES:
                there = here + step
                if masks[here] & side or there == index or masks.get(there, opposite) & opposite:
                    continue
                if not seen >> there & 1:
                    seen |= 1 << there
                    todo.append(there)
        return seen

    # The outer wall

    def wall(self) -> tuple[int, int]:
        """ALH-B1 to ALH-B7: (length of the longest wall, length of the whole outline), in tile sides.

        The outline of a legal layout is one closed curve (ALH-B4), so one walk around it, clockwise from the
        north side of the leftmost tile of the topmost row, meets every outer side once.
        """
        if self._wall is None:
            self._wall = self._walk_outline()
        return self._wall

    def _walk_outline(self) -> tuple[int, int]:
        masks = self._walls()
        start = (self.occupied & -self.occupied).bit_length() - 1  # nothing above it, so its north side is outside
        here, walls = start, masks[start]
        side, step, ahead = N, _UP, _RIGHT
        run = first = best = length = 0
        gap = False
        get = masks.get
        while True:
            length += 1
            if walls & side:
                run += 1
            else:
                if not gap:
                    gap, first = True, run
                elif run > best:
                    best = run
                run = 0
            # At the corner: a tile across turns the outline left, a tile straight on carries it, none turns it right.
            mask = get(here + ahead + step)
            if mask is not None:
                here, walls = here + ahead + step, mask
                side = side >> 1 or W
                step, ahead = -ahead, step
            else:
                mask = get(here + ahead)
                if mask is not None:
                    here, walls = here + ahead, mask
                else:
                    side = side << 1 if side != W else N
                    step, ahead = ahead, -step
            if here == start and side == N:
                break
        if not gap:
            return length, length
        return max(best, first + run), length

    # Canonical encoding

    def encode(self) -> bytes:
        """Number of tiles, then for each, by column and row: x and y as signed bytes, the tile's number."""
        if self._encoded is None:
            parts = [len(self.tiles)]
            for (x, y), tile in self.cells().items():
                parts += (x & 255, y & 255, tile)
            self._encoded = bytes(parts)
        return self._encoded

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.tiles == other.tiles and self.table is other.table

    def __hash__(self) -> int:
        return hash(frozenset(self.tiles.items()))


def indices_of(bits: int) -> Iterable[int]:
    """The bit numbers of a set, in the order of ``cells_of``."""
    return map(index_of, cells_of(bits))
