"""One kingdom: the castle and the dominoes around it, as a value that never changes.

A set of cells is one integer, a bit a cell, so what may be laid where is asked of every cell at once. Bits ascend by x,
then y, so lists made from them are in canonical order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple

from referee.games.game import Cell, SetupError, Violation
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.values import Copied

Bits = Any
"""A set of cells, an ``int``. Any: values not known to be an ``int`` compiled code leaves to Python's own functions,
which are faster with long ones."""

SIZES: Final = (5, 7)
"""KDO-16, KDO-29: cells of the frame's side."""

STRIDE: Final = 16
"""Bits a column: 15 cells and a margin that is always empty."""

_REACH: Final = 7
"""One cell farther than a domino can lie from the castle: there it may still touch others."""

CASTLE: Final = (0, 0)

_NO_CASTLE: Final = (255, 255)
_domino: Final = Struct(">B4b").pack


def index_of(cell: Cell) -> int:
    """Return the bit number of a cell that is ``near``."""
    return (cell[0] + 8) * STRIDE + cell[1] + 8


def near(cell: Cell) -> bool:
    """Return whether the cell has a bit: those of every frame have, and those beside them."""
    return -_REACH <= cell[0] <= _REACH and -_REACH <= cell[1] <= _REACH


def beside(left: Cell, right: Cell) -> bool:
    """Return whether the cells have a side in common (KDO-19)."""
    return abs(left[0] - right[0]) + abs(left[1] - right[1]) == 1


_CELLS: Final = tuple((index // STRIDE - 8, index % STRIDE - 8) for index in range(STRIDE * STRIDE))

# Neighbours in the order in which their cells ascend.
_STEPS: Final = (-STRIDE, -1, 1, STRIDE)
_NEAR: Final[tuple[Bits, ...]] = tuple(
    sum(1 << index + step for step in _STEPS if index + step >= 0) for index in range(STRIDE * STRIDE)
)
"""The set of each cell's neighbours."""

HALVES: Final = tuple(
    (_CELLS[index % 256], _CELLS[(index + step) % 256]) for index in range(STRIDE * STRIDE) for step in _STEPS
)
"""The cells of a code: 4 times the left half's bit number, and the step to the right half."""
_PLACES: Final[tuple[Any, ...]] = tuple((*left, *right) for left, right in HALVES)
"""Any: four known numbers are taken apart and put together by compiled code whenever it is passed on."""

_BITS: Final[tuple[Bits, ...]] = tuple(1 << index for index in range(STRIDE * STRIDE))
_CASTLE_BIT: Final[Bits] = 1 << index_of(CASTLE)


def cells_of(bits: Bits) -> Iterator[Cell]:
    """Yield the cells of a set, by x, then y."""
    while bits:
        low = bits & -bits
        yield _CELLS[low.bit_length() - 1]
        bits ^= low


@cache
def _rectangle(west: int, north: int, size: int) -> int:
    """Return the square of this side with this north-west corner, as far as its cells are near."""
    return sum(
        1 << index_of((x, y)) for x in range(west, west + size) for y in range(north, north + size) if near((x, y))
    )


@cache
def _windows(size: int) -> tuple[Bits, ...]:
    """KDO-16, relative: for each cell, the cells that a square of this size can hold together with it."""
    return tuple(_rectangle(x - size + 1, y - size + 1, 2 * size - 1) for x, y in _CELLS)


class Area(NamedTuple):
    """KDO-20: squares of one terrain that hang together. ``cells`` ascend by x, then y."""

    terrain: int
    squares: int
    crowns: int
    cells: tuple[Cell, ...]


Placed = tuple[int, Cell, Cell]
"""A domino's number and the cells of its left and its right half."""


class Kingdom(Copied):
    """Dominoes around the castle at (0, 0). They may lie anywhere; only the rules keep them in order."""

    __slots__ = ("area_sets", "castle", "dominoes", "frame_size", "room", "_asked", "_encoded", "_found", "_touch")

    def __init__(self, frame_size: int, castle: Cell | None = None) -> None:
        """The castle alone. ``castle``: its column and row in a fixed frame; None: the frame is relative.

        Raise ``SetupError`` for another size than 5 or 7 and for a castle outside the frame.
        """
        if frame_size not in SIZES:
            raise SetupError("frame", f"expected 5 or 7 cells, got {frame_size}")
        if castle is not None and not in_frame(frame_size, castle):
            raise SetupError(
                "castle", f"expected column and row from 0 to {frame_size - 1}, got {castle[0]}, {castle[1]}"
            )
        self.frame_size = frame_size
        self.castle = castle
        self.dominoes: tuple[Placed, ...] = ()
        """The dominoes in the order in which they were placed."""
        self.area_sets: tuple[tuple[tuple[Bits, int], ...], ...] = ((),) * len(TERRAINS)
        """KDO-20: for each terrain its areas, each as the set of its cells and its crowns; faster than ``areas``."""
        self.room: Bits = self._frame() & ~_CASTLE_BIT
        """KDO-16, KDO-18: the empty cells that a half may lie on, as a set for ``cells_of``."""
        self._touch: tuple[Bits, ...] = (_NEAR[index_of(CASTLE)],) * len(TERRAINS)
        """KDO-14: for each terrain, the neighbours of its cells and of the castle."""
        self._asked: Domino | None = None
        """The domino that ``_steps`` was asked about last, as one asks whether it fits, and then where."""
        self._encoded: bytes | None = None

    def _frame(self) -> Bits:
        """Return the cells that the castle's place leaves (KDO-16)."""
        if self.castle is None:
            return _windows(self.frame_size)[index_of(CASTLE)]
        column, row = self.castle
        return _rectangle(-column, -row, self.frame_size)

    # Placing

    def placed(self, domino: Domino, left: Cell, right: Cell) -> Kingdom:
        """Return the kingdom with the domino on two empty neighbouring cells that are ``near``.

        KDO-19: of a domino with equal halves either may be the left one; it is kept as the smaller cell.
        """
        number, left_half, right_half = domino
        if right < left and left_half == right_half:
            left, right = right, left
        first, second = index_of(left), index_of(right)
        new = Copied.__new__(Kingdom)
        new.frame_size = self.frame_size
        new.castle = self.castle
        new.dominoes = (*self.dominoes, (number, left, right))
        areas, touch = list(self.area_sets), list(self._touch)
        terrain, crowns = left_half
        areas[terrain] = _joined(areas[terrain], first, crowns)
        touch[terrain] |= _NEAR[first]
        terrain, crowns = right_half
        areas[terrain] = _joined(areas[terrain], second, crowns)
        touch[terrain] |= _NEAR[second]
        new.area_sets, new._touch = tuple(areas), tuple(touch)
        new._asked = new._encoded = None
        room = self.room
        room ^= room & (_BITS[first] | _BITS[second])  # sooner done than ``room & ~…``, whose second half is negative
        if self.castle is None:
            windows = _windows(self.frame_size)
            room &= windows[first] & windows[second]
        new.room = room
        return new

    def _steps(self, domino: Domino) -> tuple[Bits, Bits, Bits, Bits]:
        """Return the left half's cells with room to the west, north, south and east of them (KDO-13, KDO-14, KDO-16).

        KDO-19: with equal halves only south and east, the smaller cell on the left.
        """
        if domino is not self._asked:
            self._found = self._find_steps(domino)
            self._asked = domino
        return self._found

    def _find_steps(self, domino: Domino) -> tuple[Bits, Bits, Bits, Bits]:
        _, left, right = domino
        room = self.room
        left_touches, right_touches = self._touch[left[0]] & room, self._touch[right[0]] & room
        down, across = room & room >> 1, room & room >> STRIDE
        south = down & (left_touches | right_touches >> 1)
        east = across & (left_touches | right_touches >> STRIDE)
        if left == right:
            return 0, 0, south, east
        north = down << 1 & (left_touches | right_touches << 1)
        west = across << STRIDE & (left_touches | right_touches << STRIDE)
        return west, north, south, east

    def codes(self, domino: Domino) -> list[int]:
        """Return the legal placements in canonical order; ``HALVES`` has the cells of each."""
        codes = []
        for step, cells in enumerate(self._steps(domino)):
            bits = cells
            while bits:
                highest = bits.bit_length() - 1
                codes.append(highest * 4 + step)
                bits ^= _BITS[highest]
        codes.sort()
        return codes

    def placements(self, domino: Domino) -> list[tuple[int, int, int, int]]:
        """Return legal placements as x and y of the left and the right half, ascending (KDO-13 to KDO-19).

        Of the two encodings of a domino with equal halves, the smaller one.
        """
        return [_PLACES[code] for code in self.codes(domino)]

    def fits(self, domino: Domino) -> bool:
        """Return whether there is a legal placement (KDO-13)."""
        return any(self._steps(domino))

    def violations(self, domino: Domino, left: Cell, right: Cell) -> tuple[Violation, ...]:
        """Return every broken rule of placing (KDO-14, KDO-16, KDO-18, KDO-19). The cells may be any numbers."""
        if near(left) and near(right):
            first = index_of(left)
            step = index_of(right) - first
            if step in _STEPS and self._steps(domino)[_STEPS.index(step)] >> first & 1:
                return ()
        found = self.misplaced(left, right)
        halves = ((left, domino.left), (right, domino.right))
        if not any(near(cell) and self._touch[half.terrain] >> index_of(cell) & 1 for cell, half in halves):
            names = {"left": TERRAINS[domino.left.terrain], "right": TERRAINS[domino.right.terrain]}
            found = (Violation("KDO-14", (left, right), names), *found)
        return found

    def misplaced(self, left: Cell, right: Cell) -> tuple[Violation, ...]:
        """Return what is wrong with the cells whatever the domino (KDO-16, KDO-18, KDO-19)."""
        found = []
        if outside := self._outside(left, right):
            frame = f"{self.frame_size}x{self.frame_size}"
            found.append(Violation("KDO-16", outside, {"frame": frame}))
        taken = self._occupied()
        covered = tuple(cell for cell in dict.fromkeys((left, right)) if near(cell) and taken >> index_of(cell) & 1)
        if covered:
            found.append(Violation("KDO-18", covered, {"found": "a cell that is taken"}))
        if not beside(left, right):
            found.append(Violation("KDO-19", (left, right), {"found": "cells that have no side in common"}))
        return tuple(found)

    def _outside(self, left: Cell, right: Cell) -> tuple[Cell, ...]:
        """Return the halves that do not fit into the frame; in a relative one perhaps only both together (KDO-16)."""
        frame = self._frame()
        if self.castle is None:
            windows = _windows(self.frame_size)
            for cell in cells_of(self._occupied()):
                frame &= windows[index_of(cell)]
        outside = tuple(
            cell for cell in dict.fromkeys((left, right)) if not (near(cell) and frame >> index_of(cell) & 1)
        )
        if outside or self.castle is not None:
            return outside
        apart = max(abs(left[0] - right[0]), abs(left[1] - right[1]))
        return (left, right) if apart >= self.frame_size else ()

    # Its value

    def areas(self) -> list[Area]:
        """Return the areas by terrain, then by first cell (KDO-20)."""
        found = [
            Area(terrain, bits.bit_count(), crowns, tuple(cells_of(bits)))
            for terrain, areas in enumerate(self.area_sets)
            for bits, crowns in areas
        ]
        return sorted(found, key=lambda area: (area.terrain, area.cells))

    def score(self) -> int:
        """Return squares times crowns, area by area; bonuses are not the kingdom's (KDO-20, KDO-25)."""
        points = 0
        for areas in self.area_sets:
            for bits, crowns in areas:
                if crowns:  # as in few areas
                    squares: int = bits.bit_count()
                    points += squares * crowns
        return points

    def largest_area(self) -> int:
        """Return squares of the largest area, crowns or not (KDO-21)."""
        return max((bits.bit_count() for areas in self.area_sets for bits, _ in areas), default=0)

    def crowns(self) -> int:
        """Return crowns of the whole kingdom (KDO-22)."""
        return sum(crowns for areas in self.area_sets for _, crowns in areas)

    def is_central(self) -> bool:
        """Return whether it has the frame's full size both ways, with the castle in the middle (KDO-27)."""
        arm = self.frame_size // 2
        cells = list(cells_of(self._occupied()))
        return all(
            min(cell[axis] for cell in cells) == -arm and max(cell[axis] for cell in cells) == arm for axis in (0, 1)
        )

    def _occupied(self) -> Bits:
        taken = _CASTLE_BIT
        for areas in self.area_sets:
            for bits, _ in areas:
                taken |= bits
        return taken

    # Canonical encoding

    def encode(self) -> bytes:
        """Return castle, number of dominoes and dominoes, as a position has them (docs/kingdomino-state.md)."""
        if self._encoded is None:
            lying = [_domino(number, *left, *right) for number, left, right in sorted(self.dominoes)]
            self._encoded = bytes((*(self.castle or _NO_CASTLE), len(lying))) + b"".join(lying)
        return self._encoded

    def __eq__(self, other: object) -> bool:
        """Kingdoms are equal if they look the same, whatever the order in which the dominoes came."""
        return isinstance(other, Kingdom) and self._look() == other._look()

    def __hash__(self) -> int:
        return hash(self._look())

    def _look(self) -> tuple[int, Cell | None, tuple[Placed, ...]]:
        return self.frame_size, self.castle, tuple(sorted(self.dominoes))

    def __repr__(self) -> str:
        return f"<Kingdom: {len(self.dominoes)} dominoes, {self.score()} points>"


def in_frame(size: int, castle: Cell) -> bool:
    """Return whether this column and row are the frame's (KDO-17)."""
    return 0 <= castle[0] < size and 0 <= castle[1] < size


def _joined(areas: tuple[tuple[Bits, int], ...], index: int, crowns: int) -> tuple[tuple[Bits, int], ...]:
    """Return the areas with one square more, in one area with all that it touches (KDO-20)."""
    bits, around = _BITS[index], _NEAR[index]
    apart = []
    for area in areas:
        if area[0] & around:
            bits |= area[0]
            crowns += area[1]
        else:
            apart.append(area)
    return (*apart, (bits, crowns))
