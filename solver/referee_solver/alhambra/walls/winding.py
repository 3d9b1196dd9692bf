"""Long walls, laid side by side from one end: by beam search, or all of them, where the wall lacks few.

Every tile's walls are one, two or three sides on end. So a wall that has all walls of its tiles is a row of tiles, each
of which is entered at its first side and left at its last, clockwise. The next tile is entered at a side that faces the
same way and lies straight on, or one turn to the left, round an inner corner. The tile in that corner may have walls
elsewhere in the row, and is owed until it comes; cells still owed at the end take tiles without walls.

A layout is three sets of cells: with tiles of the row, owed, and empty because a wall faces them. A set is a number
with a bit for each cell of a square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
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
"""The weight of a step from the first tile, squared, against a tile that is owed."""
_NOISE = 5.0, 30.0
"""The greatest weight of chance, from search to search: much, as a row that is best for a while is seldom best in the
end."""

_Row = tuple["_Row", int, int] | None
"""The tiles of the row, the last one first: the row before, cell, walls."""


class State(NamedTuple):
    """A row, and its demands on the cells around it."""

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

        The last time ``full`` says that there were too many to continue. Otherwise there is no other row.
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
        """Return the state with the cells that the tiles shut in owed; None if they have to be empty, or are too
        many."""
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


# Is there a wall that lacks ``lacking`` of the tiles' walls? Every row is laid that could be one. No solver, no chance.
#
# A wall that lacks a few of the tiles' walls is a row that wastes nothing of what is left of them. Of a tile it may
# lack
#
# - all walls: the tile is left out, or lies in a corner of the row, where each of its walls faces an empty cell or
#   another wall that is lacking;
# - walls at one end or both: each of these faces another tile, which lacks the opposite wall. A wall that faces an
#   empty cell belongs to the same stretch of the outline as the tile's next one.
#
# One reaches both tiles of a wall that is lacking from the fountain, on ways that together go round one end of this
# wall. The cells between are enclosed, so not each end of the wall has an empty cell (ALH-A5, ALH-A6). So no tile lacks
# the middle one of three alone. Nor does a tile have walls on two sides that lie across and on no other.
#
# The effect of the lacking walls on the layout is stated only in part, so a row that is found need not be a wall. If
# no row is found, there is no wall. Ways to lack walls that leave the same to the row are held against the same rows.


@dataclass(frozen=True, slots=True)
class Loss:
    """The lacking walls."""

    left: tuple[int, ...]
    """The walls left to each tile that the row winds round."""
    gone: tuple[int, ...]
    """Walls of the tiles that lack all of theirs."""
    cut: tuple[tuple[int, int], ...]
    """Tiles of the row that lack some, which face other tiles: their walls, and those left."""


_Side = tuple[int, int]
"""A cell and one of its sides."""


class Losing:
    """Looks for walls that lack exactly ``lacking`` of all walls."""

    def __init__(self, masks: Sequence[int], lacking: int, width: int) -> None:
        """``width``: rows of one length that are kept at most. With more than that nothing is refuted."""
        self.refuted = False
        """There is no such wall. Known when ``run`` is over."""
        self._masks = masks
        self._lacking = lacking
        self._width = width
        self._plain = 1 + sum(not mask for mask in masks)

    def run(self) -> Iterator[tuple[int, Masks]]:
        """Yield how many tiles were tried since, and now and then a layout, which need be neither legal nor as long."""
        for (left, plain), alike in self._rows():
            beam = Beam([*left, *[0] * plain], Random(0), self._width, whole=True)  # noqa: S311
            possible = False
            for tried, rows in beam.every():
                yield tried + len(rows) * len(alike), {}
                for row, loss in product(rows, alike):
                    for others in self._completed(row, loss):
                        possible = True
                        yield 1, beam.layout(row, others)
            if possible or beam.full:
                return
        self.refuted = True

    def _rows(self) -> list[tuple[tuple[tuple[int, ...], int], list[Loss]]]:
        """Return tiles with walls that rows are made of, tiles without, and the walls lacking then; whole tiles
        first."""
        alike: dict[tuple[tuple[int, ...], int], list[Loss]] = {}
        for loss in losses(self._masks, self._lacking):
            alike.setdefault((loss.left, self._plain - 1 + len(loss.gone)), []).append(loss)
        return sorted(alike.items(), key=lambda item: min(len(loss.cut) for loss in item[1]))

    def _completed(self, row: State, loss: Loss) -> Iterator[dict[int, int]]:
        """Yield walls by cell of tiles that lack some, in the row and in its corners, if the rest can be plain tiles:
        once for each way to tell the tiles of the row that do.
        """
        tiles = tiles_of(row)
        for cut in _cut(tiles, loss.cut):
            lacking = {(cell, side) for cell, (mask, kept) in cut.items() for side in _sides(mask & ~kept)}
            across: dict[int, int] = {}
            """Cells that a tile with these walls has to lie on."""
            for cell, side in lacking:
                there, opposite = cell + STEP[side], side + 2 & 3
                if (there, opposite) not in lacking:
                    across[there] = across.get(there, 0) | 1 << opposite
            if any((row.laid | row.empty) >> cell & 1 for cell in across):
                continue
            if not all(_walked_around(row.empty, *side) for side in lacking):
                continue
            placed = self._placed(row, list(loss.gone), across, lacking, dict(across))
            if placed is None:
                continue
            others = {cell: mask for cell, (mask, _) in cut.items()} | placed
            if self._hangs_together(row, tiles | others, loss, lacking):
                yield others

    def _placed(
        self,
        row: State,
        gone: Sequence[int],
        across: dict[int, int],
        lacking: Collection[_Side],
        wanted: dict[int, int],
    ) -> dict[int, int] | None:
        """Return cells for tiles that lack all walls: those that are ``wanted``, and enough of those that are owed."""
        owed = [cell for cell in cells_of(row.owed) if cell not in across]
        if not wanted and len(owed) <= self._plain:
            return {}
        for cell in [next(iter(wanted))] if wanted else owed:
            for i, mask in enumerate(gone):
                if mask in gone[:i] or wanted.get(cell, 0) & ~mask or not self._may_lie(mask, cell, row, lacking):
                    continue
                rest = {other: walls for other, walls in wanted.items() if other != cell}
                more = self._placed(row, [*gone[:i], *gone[i + 1 :]], across | {cell: mask}, lacking, rest)
                if more is not None:
                    return {cell: mask} | more
        return None

    def _hangs_together(self, row: State, tiles: dict[int, int], loss: Loss, lacking: Collection[_Side]) -> bool:
        """Return whether all tiles can be reached from one (ALH-A4), perhaps across others that lie nowhere yet."""
        owed = list(cells_of(row.owed))
        masks = dict.fromkeys(owed, 0) | tiles

        def takes(cell: int, mask: int) -> bool:
            return self._may_lie(mask, cell, row, lacking)

        over = self._plain + len(loss.gone) + len(loss.left) - len(masks)
        # One that lacks all of its walls may yet lie in a corner in the place of one without walls.
        plain = self._plain - len(owed) + sum(any(takes(cell, mask) for cell in owed) for mask in loss.gone)
        reached = {next(iter(masks))}
        edge = {(cell, 0, 0) for cell in reached}
        """Cells, and how many tiles lead there from those that are reached: any, and those without walls."""
        while edge:
            further = set()
            for cell, bridge, without in edge:
                for side, step in enumerate(STEP):
                    there = cell + step
                    if there in reached or masks.get(cell, 0) >> side & 1 or masks.get(there, 0) >> (side + 2 & 3) & 1:
                        continue
                    if there in masks:
                        further.add((there, 0, 0))
                    elif bridge < over and not row.empty >> there & 1:
                        now = without + (not any(takes(there, mask) for mask in loss.gone))
                        if now <= plain:
                            further.add((there, bridge + 1, now))
            reached |= {cell for cell, *_ in further if cell in masks}
            edge = further
        return len(reached) == len(masks)

    def _may_lie(self, mask: int, cell: int, row: State, lacking: Collection[_Side]) -> bool:
        """Return whether each wall faces an empty cell, or a wall that is lacking: of the row, or of a tile like it."""
        for side in _sides(mask):
            there = cell + STEP[side]
            if row.laid >> there & 1 and (there, side + 2 & 3) not in lacking:
                return False
            if row.owed >> there & 1 and self._lacking <= mask.bit_count():
                return False
        return True


def _cut(row: Mapping[int, int], cut: Sequence[tuple[int, int]]) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield each choice of tiles of the row that are the ones that lack some: by cell, all walls and those kept."""
    if not cut:
        yield {}
        return
    (mask, kept), *rest = cut
    for cell, walls in row.items():
        if walls == kept:
            others = {other: each for other, each in row.items() if other != cell}
            for more in _cut(others, rest):
                yield {cell: (mask, kept)} | more


def _walked_around(empty: int, cell: int, side: int) -> bool:
    """Return whether the wall on this side of a cell has an end at which no cell has to be empty."""
    there = cell + STEP[side]
    return any(not (empty >> cell + step | empty >> there + step) & 1 for step in (STEP[side - 1], STEP[side - 3]))


def _sides(mask: int) -> list[int]:
    return [side for side in range(4) if mask >> side & 1]


def losses(masks: Sequence[int], lacking: int) -> Iterator[Loss]:
    """Yield every way in which the tiles can lack ``lacking`` walls; tiles with the same walls are the same."""
    kinds = sorted((mask, count) for mask, count in Counter(masks).items() if mask)
    for chosen in _chosen(kinds, lacking):
        lost = Counter(side for mask, kept in chosen for side in range(4) if (mask & ~kept) >> side & 1)
        inside = Counter(side for mask, kept in chosen if kept for side in range(4) if (mask & ~kept) >> side & 1)
        if all(inside[side] <= lost[side + 2 & 3] for side in range(4)):
            left = tuple(sorted(kept for _, kept in chosen if kept))
            gone = tuple(mask for mask, kept in chosen if not kept)
            yield Loss(left, gone, tuple((mask, kept) for mask, kept in chosen if kept and kept != mask))


def _chosen(kinds: Sequence[tuple[int, int]], lacking: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield for each tile its walls and those it keeps, so that ``lacking`` are lacking in all."""
    if not kinds:
        if not lacking:
            yield ()
        return
    (mask, count), *rest = kinds
    for kept in _shares(_kept(mask), count):
        spent = sum((mask & ~each).bit_count() for each in kept)
        if spent <= lacking:
            for others in _chosen(rest, lacking - spent):
                yield (*((mask, each) for each in kept), *others)


def _kept(mask: int) -> list[int]:
    """Return what a tile may have left of its walls: some that follow each other, all, or none."""
    sides = [side for side in range(4) if mask >> side & 1]
    first = next(side for side in sides if not mask >> (side - 1 & 3) & 1)
    run = [1 << (first + i & 3) for i in range(len(sides))]
    return [mask, 0] + [sum(run[i:j]) for i in range(len(run)) for j in range(i + 1, len(run) + 1) if j - i < len(run)]


def _shares(choices: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield each choice for each of ``count`` tiles, whichever tile it is."""
    if not count:
        yield ()
        return
    for i, choice in enumerate(choices):
        for rest in _shares(choices[i:], count - 1):
            yield (choice, *rest)
