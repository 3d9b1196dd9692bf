"""Long walls, laid side by side from one end: beam search on walls that waste nothing. Long walls soon, no promise.

Every tile's walls are one, two or three sides on end. So a wall that has all walls of its tiles is a row of tiles, each
of which is entered at its first side and left at its last, clockwise. The next tile is entered at a side that faces the
same way and lies straight on, or one turn to the left, round an inner corner. The tile in that corner may have walls
elsewhere in the row, and is owed until it comes; what is still owed at the end takes tiles without walls.

A layout is three sets of cells: with tiles of the row, owed, and empty because a wall faces them. A set is a number
with a bit for each cell of a square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from referee_solver.alhambra.wall_clauses import Masks

_ROW = 64
"""Width of the square; the first tile lies in its middle, and tiles near its rim are not looked at."""
_MIDDLE = _ROW // 2 * _ROW + _ROW // 2
_ALL = (1 << _ROW * _ROW) - 1
STEP = (-_ROW, 1, _ROW, -1)
_RING = (-_ROW, -_ROW + 1, 1, _ROW + 1, _ROW, _ROW - 1, -1, -_ROW - 1)
_KINDS = [(first, first + more & 3) for first in range(4) for more in range(3)]
"""The first side with a wall, clockwise, and the last."""
_MASKS = [sum(1 << (first + i & 3) for i in range((last - first & 3) + 1)) for first, last in _KINDS]
_FACING = [[STEP[side] for side in range(4) if mask >> side & 1] for mask in _MASKS]
_ENTERED = [[kind for kind, (first, _) in enumerate(_KINDS) if first == side] for side in range(4)]


def _rim(wide: int) -> int:
    far = range(_ROW - wide, _ROW)
    near = {*range(wide), *far}
    return sum(1 << y * _ROW + x for y in range(_ROW) for x in range(_ROW) if x in near or y in near)


_EDGE, _MARGIN = _rim(1), _rim(2)

_SPREAD = 0.05
"""What a step from the first tile, squared, weighs against a tile that is owed."""
_NOISE = 5.0, 30.0
"""The most that chance weighs, from search to search: much, as what is best for a while is seldom best in the end."""

_Row = tuple["_Row", int, int] | None
"""The tiles of the row, the last one first: what was before, cell, walls."""


class State(NamedTuple):
    """A row, and what it asks of the cells around it."""

    badness: float
    laid: int
    owed: int
    empty: int
    here: int
    """The last cell of the row."""
    side: int
    """The last side of the row."""
    left: tuple[int, ...]
    """Tiles, by kind."""
    length: int
    row: _Row
    corner: int
    """The cell that is newly owed, or 0."""


def wind(masks: Sequence[int], rng: Random, width: int, *, whole: bool) -> Iterator[tuple[int, Masks]]:
    """Lay one tile of the row after another; yield how many were tried since, and a longer wall, if there is one.

    ``width``: states that are kept. ``whole``: only rows that all tiles may follow in, by the sides that they are
    entered at and left at. The layouts need not be legal.
    """
    return Beam(masks, rng, width, whole).run()


class Beam:
    """Rows of tiles that get longer side by side."""

    def __init__(self, masks: Sequence[int], rng: Random, width: int, whole: bool) -> None:
        stock = Counter(masks)
        self.rng = rng
        self.noise = rng.uniform(*_NOISE)
        self.width = width
        self.whole = whole
        self.plain = stock[0] + 1
        """Tiles without walls, the fountain included."""
        self.left = tuple(stock[mask] for mask in _MASKS)
        self._tried = 1
        self.full = False
        self._can_end: dict[tuple[tuple[int, ...], int], bool] = {}

    def run(self) -> Iterator[tuple[int, Masks]]:
        states = self._first()
        best = 0
        while states:
            longer = [state for state in states if state.length > best and state.owed.bit_count() <= self.plain]
            longest = max(longer, key=lambda state: state.length, default=None)
            best = longest.length if longest else best
            yield self._spent(), self.layout(longest) if longest else {}
            states = list(islice(self._next(states), self.width))
        yield self._spent(), {}

    def every(self) -> Iterator[tuple[int, list[State]]]:
        """Lay one tile after another in every way, whatever the width; yield how many were tried, and the rows of all
        tiles.

        The last time ``full`` tells whether there were too many to go on. Otherwise there is no other row.
        """
        states = self._first()
        while states and not self.full:
            yield self._spent(), [state for state in states if not any(state.left)]
            states = list(islice(filter(self._can_pay, self._next(states)), self.width + 1))
            self.full = len(states) > self.width
        yield self._spent(), []

    def _first(self) -> list[State]:
        nothing = State(0.0, 0, 0, 0, _MIDDLE, 0, self.left, 0, None, 0)
        return [self._with(nothing, kind, _MIDDLE, 0, 0) for kind, count in enumerate(self.left) if count]

    def _next(self, states: Sequence[State]) -> Iterator[State]:
        """Yield the rows with one tile more, the best ones first."""
        after = {state[1:7]: state for before in states for state in self._longer(before)}
        for state in sorted(after.values()):
            if (settled := self._settled(state)) is not None:
                yield settled

    def _spent(self) -> int:
        """Return tiles that were tried since this was asked."""
        tried, self._tried = self._tried, 0
        return tried

    def _longer(self, state: State) -> Iterator[State]:
        """Yield the state with one tile more."""
        ahead = state.here + STEP[state.side + 1 & 3]
        yield from self._on(state, state.side, ahead, 0)
        if not state.empty >> ahead & 1:
            corner = 0 if (state.laid | state.owed) >> ahead & 1 else ahead
            yield from self._on(state, state.side - 1 & 3, ahead + STEP[state.side], corner)

    def _on(self, state: State, side: int, cell: int, corner: int) -> Iterator[State]:
        """Yield the state with a tile on the cell, entered at the side; the tile in a corner is owed."""
        if (state.laid | state.empty | _MARGIN) >> cell & 1:
            return
        owed = (state.owed | (1 << corner if corner else 0)) & ~(1 << cell)
        taken = state.laid | owed
        too_many = owed.bit_count() > self.plain + sum(state.left) - 1
        for kind in _ENTERED[side]:
            if not state.left[kind] or too_many or any(taken >> cell + step & 1 for step in _FACING[kind]):
                continue
            new = self._with(state, kind, cell, owed, corner)
            if not self.whole or self._ends(new.left, new.side):
                yield new

    def _with(self, state: State, kind: int, cell: int, owed: int, corner: int) -> State:
        self._tried += 1
        empty = state.empty
        for step in _FACING[kind]:
            empty |= 1 << cell + step
        x, y = cell % _ROW - _ROW // 2, cell // _ROW - _ROW // 2
        badness = owed.bit_count() + _SPREAD * (x * x + y * y) + self.noise * self.rng.random()
        left = (*state.left[:kind], state.left[kind] - 1, *state.left[kind + 1 :])
        length = state.length + len(_FACING[kind])
        row = state.row, cell, _MASKS[kind]
        return State(badness, state.laid | 1 << cell, owed, empty, cell, _KINDS[kind][1], left, length, row, corner)

    def _ends(self, left: tuple[int, ...], side: int) -> bool:
        """Return whether the tiles that are left may follow, by their sides alone, in any order."""
        found = self._can_end.get((left, side))
        if found is None:
            found = self._can_end[left, side] = self._balanced(left, side)
        return found

    @staticmethod
    def _balanced(left: Sequence[int], side: int) -> bool:
        """Return whether as many tiles are entered at a side as were left at it, but for those that turn left to the
        one before.
        """
        entered, last = [0] * 4, [0] * 4
        last[side] += 1
        for (first, end), count in zip(_KINDS, left, strict=True):
            entered[first] += count
            last[end] += count
        for end in {end for (_, end), count in zip(_KINDS, left, strict=True) if count}:
            turning = [0]
            for at in range(3):
                turning.append(turning[-1] + entered[at] - last[at] + (at == end))
            if -min(turning) <= min(last[at] - (at == end) - turning[at] for at in range(4)):
                return True
        return not any(left)

    def _settled(self, state: State) -> State | None:
        """Return the state with what the tiles shut in owed; None if that has to be empty, or is too much."""
        taken = state.laid | state.owed
        if not any(at and _blocks(taken, at) > 1 for at in (state.here, state.corner)):
            return state
        shut = _ALL & ~_outside(taken) & ~taken
        owed = state.owed | shut
        if shut & state.empty or owed.bit_count() > self.plain + sum(state.left):
            return None
        return state._replace(owed=owed)

    def _can_pay(self, state: State) -> bool:
        """Return whether the tiles that are left can lie on enough of the cells that are owed.

        All but as many as there are tiles without walls. From one tile of the row to the next is a step of a king.
        """
        owed = state.owed.bit_count() - self.plain
        if owed <= 0:
            return True
        taken, x, y = state.laid | state.owed, state.here % _ROW, state.here // _ROW
        facing = [steps for steps, count in zip(_FACING, state.left, strict=True) if count]
        far = sorted(
            max(abs(cell % _ROW - x), abs(cell // _ROW - y))
            for cell in cells_of(state.owed)
            if any(all(not taken >> cell + step & 1 for step in steps) for steps in facing)
        )
        return owed <= len(far) and max(far[owed - 1], far[0] - 1 + owed) <= sum(state.left)

    def layout(self, state: State, others: Mapping[int, int] | None = None) -> Masks:
        """Return the row with ``others``, walls by cell, and plain tiles where any are owed; one in their midst is the
        fountain, or any that can be laid beside.
        """
        masks = tiles_of(state) | dict(others or {})
        plain = [cell for cell in cells_of(state.owed) if cell not in masks] or self._beside(state)
        masks |= dict.fromkeys(plain, 0)

        def from_here(here: int) -> Masks:
            x, y = here % _ROW, here // _ROW
            return {(cell % _ROW - x, cell // _ROW - y): mask for cell, mask in masks.items() if cell != here}

        around = map(from_here, plain)
        return min(around, key=lambda layout: max((abs(x) + abs(y) for x, y in layout), default=0), default={})

    @staticmethod
    def _beside(state: State) -> list[int]:
        for cell in cells_of(state.laid):
            for spot in (cell + step for step in STEP):
                if not (state.laid | state.empty) >> spot & 1 and _blocks(state.laid, spot) == 1:
                    return [spot]
        return []


def tiles_of(state: State) -> dict[int, int]:
    """Return walls by cell, of the tiles of the row."""
    masks: dict[int, int] = {}
    row = state.row
    while row is not None:
        row, cell, walls = row
        masks[cell] = walls
    return masks


def cells_of(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def _blocks(taken: int, cell: int) -> int:
    """Return how many groups of tiles there are around the cell: with more than one, something may be shut in."""
    found, before = 0, taken >> cell + _RING[7] & 1
    for step in _RING:
        here = taken >> cell + step & 1
        found += here and not before
        before = here
    return found


def _outside(taken: int) -> int:
    """Return the cells that are not shut in."""
    free, found, before = _ALL & ~taken, _EDGE, 0
    while found != before:
        before = found
        found = (found | found << 1 | found >> 1 | found << _ROW | found >> _ROW) & free
    return found
