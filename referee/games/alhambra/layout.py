"""One Alhambra: the fountain and the tiles around it, as a value that never changes.

A set of cells is one integer, a bit a cell, so a rule is asked of every cell of the board at once. A set without the
cells of another is ``a ^ a & b``: in ``a & ~b`` the second half is negative, and takes longer. The rules of placing are
local (the walls of four neighbours, one open side, one block in the ring of eight); that the local rules equal the ones
of the rule texts is a property in the tests. Whole layouts are judged in ``violations.py``, those in which something
illegal stands in ``as_played.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.tiles import COUNT, E, N, S, TileSet, W
from referee.games.game import Cell
from referee.games.values import Copied

Bits = Any
"""A set of cells, an ``int``. Any: values not known to be an ``int`` compiled code leaves to Python's own functions,
which are faster with long ones."""

REACH: Final = COUNT
"""ALH-A8: all tiles in a row are the farthest that a tile can lie from the fountain."""

STRIDE: Final = 128
"""Bits a row: 109 columns and a margin of empty cells on both sides."""

_ORIGIN: Final = 56 * STRIDE + 64
FOUNTAIN: Final = 1 << _ORIGIN


def index_of(cell: Cell) -> int:
    """Return the bit number of a cell that is ``on_board``."""
    return _ORIGIN + cell[1] * STRIDE + cell[0]


def cell_of(index: int) -> Cell:
    """Return the cell of a bit number."""
    row, column = divmod(index, STRIDE)
    return column - 64, row - 56


def on_board(cell: Cell) -> bool:
    """Return whether the cell is within reach of 54 tiles (ALH-A8; the rule texts set no limit)."""
    return -REACH <= cell[0] <= REACH and -REACH <= cell[1] <= REACH


_CELLS: Final[tuple[Any, ...]] = tuple(cell_of(index) for index in range(113 * STRIDE))
"""Any: a known pair is taken apart and put together by compiled code whenever it is passed on."""

_RANKS: Final = tuple(index % STRIDE * STRIDE + index // STRIDE for index in range(113 * STRIDE))
"""Numbers that ascend by column, then row: sooner compared than cells."""

_LYING_BYTES: Final = 3
"""The bytes of a tile in the encoding."""

_UP, _RIGHT, _DOWN, _LEFT = -STRIDE, 1, STRIDE, -1
_SIDES: Final = ((N, _UP, S), (E, _RIGHT, W), (S, _DOWN, N), (W, _LEFT, E))
"""Each side, the step across it, and the side of the neighbour that it meets."""
_OUTLINE: Final[tuple[tuple[int, int, int, int, int], ...]] = (
    (N, _UP + _RIGHT, _RIGHT, 3, 1),
    (E, _RIGHT + _DOWN, _DOWN, 0, 2),
    (S, _DOWN + _LEFT, _LEFT, 1, 3),
    (W, _LEFT + _UP, _UP, 2, 0),
)
"""A clockwise walk along each side: the cell across the corner, the cell ahead, the sides inwards and around."""
_EMPTY: Final = N | E | S | W
"""The value of an empty cell, which has no way on foot."""
_TILE: Final = 1 << _EMPTY.bit_length()
"""The bit of a cell with a tile, beside its walls; larger than ``_EMPTY``."""
_WAYS: Final = tuple(
    tuple((step, meets) for side, step, meets in _SIDES if not walls & side) for walls in range(2 * _TILE)
)
"""For every wall mask, the sides without a wall: the step across, and the side of the neighbour."""


def cells_of(bits: Bits, base: int = 0) -> list[Cell]:
    """Return the cells of a set whose first bit has the number ``base``, by column, then row."""
    cells: list[Any] = []
    while bits:
        highest = bits.bit_length() - 1
        cells.append(_CELLS[highest + base])
        bits ^= 1 << highest
    cells.sort()
    return cells


class Layout(Copied):
    """Tiles on cells. Any set of tiles can be laid; only the rules keep it an Alhambra.

    The sets kept inside leave out the empty rows above the topmost tile: ``base`` is the bit number of their first bit,
    and ``may_place``, ``may_swap`` and ``may_remove`` answer with such sets. The other methods' are of the whole board.
    """

    __slots__ = (
        "tile_set",
        "tiles",
        "base",
        "_allowed",
        "_before",
        "_board",
        "_east",
        "_encoded",
        "_faces",
        "_hash",
        "_neighbours",
        "_north",
        "_occupied",
        "_removable",
        "_ring",
        "_south",
        "_walked",
        "_wall",
        "_west",
    )

    def __init__(self, tile_set: TileSet, tiles: Mapping[int, int] | None = None) -> None:
        """``tiles``: tile number by cell index, the fountain not among them."""
        self.tile_set = tile_set
        self.tiles: dict[int, int] = dict(tiles or {})
        self.base = (min(self.tiles, default=_ORIGIN) // STRIDE - 2) * STRIDE
        self.base = min(self.base, _ORIGIN - _ORIGIN % STRIDE - 2 * STRIDE)
        self._occupied: Bits = FOUNTAIN >> self.base
        self._north: Bits = 0
        self._east: Bits = 0
        self._south: Bits = 0
        self._west: Bits = 0
        for index, tile in self.tiles.items():
            self._toggle(index, tile_set.walls[tile])
        self._forget()

    @classmethod
    def of(cls, tile_set: TileSet, tiles: Mapping[Cell, int]) -> Layout:
        """Return the layout with these tile numbers on these cells."""
        return cls(tile_set, {index_of(cell): tile for cell, tile in tiles.items()})

    def _toggle(self, index: int, walls: int) -> None:
        bit: Bits = 1 << index - self.base
        self._occupied ^= bit
        if walls & N:
            self._north ^= bit
        if walls & E:
            self._east ^= bit
        if walls & S:
            self._south ^= bit
        if walls & W:
            self._west ^= bit

    def _forget(self) -> None:
        self._neighbours: tuple[Bits, Bits, Bits, Bits] | None = None
        self._faces: tuple[Bits, ...] | None = None
        self._board: bytes | None = None
        self._ring: Bits | None = None
        self._allowed: dict[int, Bits] = {}
        """Cells by walls for ``may_place``, by ~walls for ``may_swap``: one dictionary is sooner made than two."""
        self._removable: Bits | None = None
        self._walked: tuple[int, int] | None = None
        self._wall: tuple[int, int] | None = None
        self._encoded: bytes | None = None
        self._before: tuple[bytes, int] | None = None
        """The encoding of a layout that differs in one cell, and this cell."""
        self._hash: int | None = None

    def _changed(self, index: int) -> Layout:
        """Return a copy, in which this cell is about to be another."""
        new = Copied.__new__(type(self))
        new.tile_set = self.tile_set
        new.tiles = self.tiles.copy()
        new.base = self.base
        new._occupied = self._occupied
        new._north, new._east, new._south, new._west = self._north, self._east, self._south, self._west
        new._forget()
        if self._encoded is not None:
            new._before = self._encoded, index
        return new

    def placed(self, tile: int, index: int) -> Layout:
        """Return the layout with the tile on an empty cell."""
        if index - self.base < STRIDE:  # the rings of the cells around it need a row more
            return type(self)(self.tile_set, {**self.tiles, index: tile})
        new = self._changed(index)
        new.tiles[index] = tile
        walls = self.tile_set.walls[tile]
        new._toggle(index, walls)
        if self._walked is not None:
            ways = self._ways(index, walls)
            if len(ways) == 1:
                reached, cut = self._walked
                beside = 1 << ways[0] - self.base
                # A walk to the cell beside the tile reaches the tile, and there is no other way to it.
                new._walked = (reached | 1 << index - self.base, cut | beside) if reached & beside else self._walked
        return new

    def removed(self, index: int) -> Layout:
        """Return the layout without the tile of the cell."""
        new = self._changed(index)
        walls = self.tile_set.walls[new.tiles.pop(index)]
        new._toggle(index, walls)
        if self._walked is not None:
            ways = self._ways(index, walls)
            if len(ways) == 1:
                new._walked = self._without_end(new, index, ways[0])
        return new

    def swapped(self, tile: int, index: int) -> Layout:
        """Return the layout with the tile in place of the cell's."""
        new = self._changed(index)
        before, after = self.tile_set.walls[new.tiles[index]], self.tile_set.walls[tile]
        new._toggle(index, before)
        new._toggle(index, after)
        new.tiles[index] = tile
        new._ring = self._ring
        new._neighbours = self._neighbours
        if self._walked is not None and self._ways(index, before) == self._ways(index, after):
            new._walked = self._walked
        return new

    @property
    def occupied(self) -> Bits:
        """The cells with a tile, the fountain's among them."""
        return self._occupied << self.base

    def far(self) -> int:
        """Return cells with a tile that cannot be reached on foot; in a legal layout none (``AsPlayed``)."""
        return 0

    def shut_in(self) -> int:
        """Return empty cells that tiles shut in; in a legal layout none."""
        return 0

    def cells(self) -> dict[Cell, int]:
        """Return tile numbers by cell, sorted by column, then row."""
        return {_CELLS[index]: self.tiles[index] for index in sorted(self.tiles, key=_RANKS.__getitem__)}

    # Rules of one placement, for all cells at once. No tile of a legal layout can lie so far out that a cell beside
    # it is off the board (ALH-A8): that would take more tiles than there are.

    def _beside(self) -> tuple[Bits, Bits, Bits, Bits]:
        """Return the cells with a neighbour at N, E, S, W."""
        if self._neighbours is None:
            occ: Bits = self._occupied
            self._neighbours = occ << STRIDE, occ >> 1, occ >> STRIDE, occ << 1
        return self._neighbours

    def _facing(self) -> tuple[Bits, ...]:
        """Return for N, E, S, W the cells whose neighbour there shows them a wall, then those it shows an open side."""
        if self._faces is None:
            north, east, south, west = self._beside()
            n_wall, e_wall, s_wall, w_wall = (
                self._south << STRIDE,
                self._west >> 1,
                self._north >> STRIDE,
                self._east << 1,
            )
            self._faces = (
                n_wall,
                north ^ n_wall,
                e_wall,
                east ^ e_wall,
                s_wall,
                south ^ s_wall,
                w_wall,
                west ^ w_wall,
            )
        return self._faces

    def _one_block(self) -> Bits:
        """ALH-A5, ALH-A6 for one more tile: empty cells in whose ring of eight the occupied cells form one block.

        Then, and only then, the empty cells stay one region connected by sides when the cell is filled.
        """
        if self._ring is None:
            occ: Bits = self._occupied
            north, east, south, west = self._beside()
            # Clockwise round the ring, a block starts where an occupied cell follows an empty one. Of a neighbour and
            # the corner after it, one starts a block at most: an occupied neighbour if the corner before it is empty,
            # the corner if it is occupied and the neighbour is empty.
            row, column = occ ^ occ & (east ^ west), occ ^ occ & (north ^ south)
            starts_n, starts_e = (east ^ row) << STRIDE, (south ^ column) >> 1
            starts_s, starts_w = (west ^ row) >> STRIDE, (north ^ column) << 1
            once, twice = starts_n | starts_e, starts_n & starts_e
            twice |= once & starts_s
            once |= starts_s
            twice |= once & starts_w
            once |= starts_w
            self._ring = once ^ once & (twice | occ)
        return self._ring

    def _clash(self, walls: int) -> Bits:
        """Return cells where a tile with these walls would meet wall with open or open with wall (ALH-A2)."""
        n_wall, n_open, e_wall, e_open, s_wall, s_open, w_wall, w_open = self._facing()
        return (
            (n_open if walls & N else n_wall)
            | (e_open if walls & E else e_wall)
            | (s_open if walls & S else s_wall)
            | (w_open if walls & W else w_wall)
        )

    def _contact(self, walls: int) -> Bits:
        """Return cells with an occupied neighbour and no wall on either side between (ALH-A3, ALH-A4)."""
        _, n_open, _, e_open, _, s_open, _, w_open = self._facing()
        return (
            (0 if walls & N else n_open)
            | (0 if walls & E else e_open)
            | (0 if walls & S else s_open)
            | (0 if walls & W else w_open)
        )

    def may_place(self, walls: int) -> Bits:
        """Return what ``placeable`` does, counted from ``base`` on: lists need no more."""
        cells = self._allowed.get(walls)
        if cells is None:
            cells = self._one_block() & self._contact(walls)
            cells ^= cells & self._clash(walls)
            self._allowed[walls] = cells
        return cells

    def may_remove(self) -> Bits:
        """Return what ``removable`` does, counted from ``base`` on: tiles with a free side that cut nothing off."""
        if self._removable is None:
            north, east, south, west = self._beside()
            shut_in = north & south & west & east
            cells: Bits = self._occupied ^ FOUNTAIN >> self.base
            self._removable = cells ^ cells & (shut_in | self._cut_cells())
        return self._removable

    def _list(self, bits: int) -> list[Cell]:
        return cells_of(bits, self.base)

    def open_contact(self, walls: int) -> Bits:
        """ALH-A4 for one more tile: cells with an occupied neighbour and no wall on either side between."""
        return self._contact(walls) << self.base

    def placeable(self, walls: int) -> Bits:
        """Return empty cells where a tile with these walls may be placed: ALH-A2 to ALH-A6, ALH-A9."""
        return self.may_place(walls) << self.base

    def placeable_cells(self, walls: int) -> list[Cell]:
        """Return the same by column, then row."""
        return self._list(self.may_place(walls))

    def may_swap(self, walls: int) -> Bits:
        """Return what ``swappable`` does, counted from ``base`` on."""
        cells = self._allowed.get(~walls)
        if cells is None:
            cells = self._occupied ^ FOUNTAIN >> self.base
            cells ^= cells & self._clash(walls)
            self._allowed[~walls] = cells
        return cells

    def swappable(self, walls: int) -> Bits:
        """Return cells whose tile a tile with these walls may replace (ALH-D2, ALH-D4)."""
        return self.may_swap(walls) << self.base

    def swappable_cells(self, walls: int) -> list[Cell]:
        """Return the same by column, then row."""
        return self._list(self.may_swap(walls))

    def removable(self) -> Bits:
        """Return cells whose tile may go to the reserve (ALH-D2, ALH-D3)."""
        return self.may_remove() << self.base

    def removable_cells(self) -> list[Cell]:
        """Return the same by column, then row."""
        return self._list(self.may_remove())

    def clashes(self) -> tuple[int, int]:
        """Return the cells whose east side, and those whose south side, meets another kind (ALH-A2)."""
        occ, base = self._occupied, self.base
        east = occ & occ >> 1 & (self._east ^ self._west >> 1)
        south = occ & occ >> STRIDE & (self._south ^ self._north >> STRIDE)
        return east << base, south << base

    def _walls(self) -> bytes:
        """Return, from the bit of ``_base`` on, ``_EMPTY`` for an empty cell, ``_TILE`` and its walls for a tile's.

        Every occupied cell has all its neighbours.
        """
        if self._board is None:
            base, walls = self.base, self.tile_set.walls
            rows = max(max(self.tiles, default=0), _ORIGIN) // STRIDE + 2 - base // STRIDE
            board = bytearray((_EMPTY,)) * (rows * STRIDE)
            board[_ORIGIN - base] = _TILE
            for index, tile in self.tiles.items():
                board[index - base] = _TILE | walls[tile]
            self._board = bytes(board)
        return self._board

    def _cut_cells(self) -> Bits:
        """ALH-A4 for one tile less: cells without which some tile cannot be walked to from the fountain."""
        return self._walk()[1]

    def reachable(self) -> Bits:
        """Return cells that one can walk to from the fountain."""
        return self._walk()[0] << self.base

    def _walk(self) -> tuple[int, int]:
        """Return the cells that one can walk to from the fountain, and those without which some of them are lost.

        The latter are the articulation points of the graph of passages (Tarjan 1972). A layout that is changed by a
        tile at the end of a way, or by one with the same ways, knows both from the layout before.
        """
        if self._walked is None:
            board, base = self._walls(), self.base
            depths, cut_cells = bytearray(len(board)), list[int]()
            _visit(board, depths, cut_cells, _ORIGIN - base, 0)
            reached, cut = self._occupied, 0
            if len(depths) - depths.count(0) <= len(self.tiles):
                reached = FOUNTAIN >> base
                for index in self.tiles:
                    if depths[index - base]:
                        reached |= 1 << index - base
            for here in cut_cells:
                cut |= 1 << here
            self._walked = reached, cut
        return self._walked

    def _ways(self, index: int, walls: int) -> list[int]:
        """Return the cells that one can walk to from a tile with these walls on this cell."""
        tiles, all_walls = self.tiles, self.tile_set.walls
        ways = []
        for step, opposite in _WAYS[walls]:
            there = index + step
            tile = tiles.get(there)
            if there == _ORIGIN if tile is None else not all_walls[tile] & opposite:
                ways.append(there)
        return ways

    def _without_end(self, new: Layout, index: int, beside: int) -> tuple[int, int] | None:
        """Return ``_walk`` of ``new``, which lacks a tile with one way out, or None where it takes a walk to know."""
        reached, cut = cast("tuple[int, int]", self._walked)
        end, bit = 1 << index - self.base, 1 << beside - self.base
        if not reached & end:
            return self._walked
        if beside == _ORIGIN:
            return reached ^ end, cut if new._ways(beside, 0) else cut ^ bit
        if len(new._ways(beside, self.tile_set.walls[self.tiles[beside]])) == 1:
            return reached ^ end, cut ^ bit
        return None

    # The outer wall

    def wall(self) -> tuple[int, int]:
        """Return (length of the longest wall, length of the whole outline), in tile sides (ALH-B1 to ALH-B7).

        The outline of a legal layout is one closed curve (ALH-B4), so one walk around it, clockwise from the
        north side of the leftmost tile of the topmost row, meets every outer side once.
        """
        if self._wall is None:
            self._wall = self._walk_outline()
        return self._wall

    def _walk_outline(self) -> tuple[int, int]:
        board = self._walls()
        # The first cell of the topmost row: nothing is above it and nothing left of it, so the walk comes back to its
        # north side around its own corner.
        start: int = (self._occupied & -self._occupied).bit_length() - 1
        here, walls = start, board[start]
        side, across, ahead, inwards, around = _OUTLINE[0]
        run = best = length = 0
        first = -1  # the run before the first side without a wall, which continues the last one
        while True:
            length += 1
            if walls & side:
                run += 1
            elif run or first < 0:
                if first < 0:
                    first = run
                elif run > best:
                    best = run
                run = 0
            # At the corner: a tile across turns the outline inwards, one straight on carries it, none turns it around.
            beyond = board[here + across]
            if beyond >= _TILE:
                here, walls = here + across, beyond
                side, across, ahead, inwards, around = _OUTLINE[inwards]
                continue
            beyond = board[here + ahead]
            if beyond >= _TILE:
                here, walls = here + ahead, beyond
                continue
            side, across, ahead, inwards, around = _OUTLINE[around]
            if here == start and side == N:
                break
        if first < 0:
            return length, length
        return max(best, first + run), length

    # Canonical encoding

    def encode(self) -> bytes:
        """Number of tiles, then for each, by column and row: x and y as signed bytes, the tile's number."""
        if self._encoded is None:
            self._encoded = self._encoded_anew() if self._before is None else self._encoded_after(*self._before)
        return self._encoded

    def _encoded_anew(self) -> bytes:
        parts = [len(self.tiles)]
        for index in sorted(self.tiles, key=_RANKS.__getitem__):
            parts += self._lying(index)
        return bytes(parts)

    def _encoded_after(self, before: bytes, index: int) -> bytes:
        """Make it from one that differs in one cell: twice as fast."""
        at, rank = 1, _RANKS[index]
        for other in self.tiles:
            if _RANKS[other] < rank:
                at += _LYING_BYTES
        lies = index in self.tiles
        lay = len(before) > 1 + _LYING_BYTES * (len(self.tiles) - lies)
        here = bytes(self._lying(index)) if lies else b""
        return bytes((len(self.tiles),)) + before[1:at] + here + before[at + _LYING_BYTES * lay :]

    def _lying(self, index: int) -> tuple[int, int, int]:
        x, y = _CELLS[index]
        return x & 255, y & 255, self.tiles[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.tiles == other.tiles and self.tile_set is other.tile_set

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.tiles.items()))
        return self._hash


def _visit(board: bytes, depths: bytearray, cut: list[int], here: int, parent: int) -> int:
    """Return the least depth that a walk from here on comes back to; ``cut`` gets the cells that it cannot go around.

    ``depths``: by cell, how many cells the walk to it has, 0 before it. The fountain's parent is any empty cell.
    """
    lowest = depth = depths[here] = depths[parent] + 1
    for step, opposite in _WAYS[board[here]]:
        there = here + step
        if there == parent or board[there] & opposite:
            continue
        reached = depths[there]
        if not reached:
            reached = _visit(board, depths, cut, there, here)
            if reached >= depth:
                cut.append(here)
        if reached < lowest:  # noqa: PLR1730 - min() costs a third of the whole search
            lowest = reached
    return lowest


def wall_points(longest: int, outline: int, rule: LoopRule) -> int:
    """Return the points of a longest wall (ALH-B6); one that closes on itself is as long as the outline."""
    return longest - 1 if rule is LoopRule.ONE_LESS and longest == outline else longest
