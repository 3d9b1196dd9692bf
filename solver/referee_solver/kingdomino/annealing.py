"""Kingdoms worth much, found by annealing, and the bound that no kingdom exceeds.

A state is a frame tiled with slots, and dominoes that change places. A slot is two neighbouring cells. Every slot has
a domino or is blank; a domino without a slot is left out. A state need not be legal: what counts are the dominoes that
can be laid in some order, each beside the castle or its own terrain.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count, product

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.scoring import in_one_area
from referee.wire.certificates.kingdomino.claims import CASTLE, Placed, beside

_HOT, _COLD = 5.0, 0.5
"""Points that are given up easily, at first and in the end."""
_BREATH = 1_000
"""Steps after which the caller gets a turn."""
_TURN, _SLIDE, _FLIP = 0.25, 0.35, 0.5
"""The chances that slots turn, a slot slides and a domino flips, added up; else two dominoes change places."""

_Slot = tuple[int, int]
"""Cells as bits: that of the left half, that of the right half."""


def anneal(
    dominoes: Sequence[Domino], size: int, castle: Cell, rng: random.Random, steps: int
) -> Iterator[tuple[int, tuple[Placed, ...]]]:
    """Yield the points and the dominoes of each kingdom that is better than those before it; now and then the same
    again.

    ``castle``: its column and row in the frame. The dominoes are in an order in which they are legal.
    """
    state = _State(dominoes, size, castle, rng)
    now = best = state.points()
    found = state.kingdom()
    for step in range(steps):
        if step % _BREATH == 0:
            yield best, found
        heat = _HOT * (_COLD / _HOT) ** (step / steps)
        before = state.copy()
        state.change()
        after = state.points()
        if after < now and rng.random() >= math.exp((after - now) / heat):
            state.restore(before)
            continue
        now = after
        if now > best:
            best, found = now, state.kingdom()
            yield best, found


class _State:
    """Column x and row y are the bit ``x * (size + 1) + y``: no neighbour is across an edge."""

    def __init__(self, dominoes: Sequence[Domino], size: int, castle: Cell, rng: random.Random) -> None:
        self._rng = rng
        self._at = castle
        self._stride = size + 1
        self._castle = self._bit(castle)
        slots = tiling(size, castle, rng)
        self._slots: list[_Slot] = [(self._bit(left), self._bit(right)) for left, right in slots]
        free = {(x, y) for x in range(size) for y in range(size)} - {castle, *(cell for slot in slots for cell in slot)}
        self._free = [self._bit(cell) for cell in sorted(free)]
        """Cells without a slot: some if the castle is on a cell of the rarer colour."""
        self._held: list[Domino | None] = [*dominoes]
        """The dominoes by slot; those beyond the last slot are left out."""
        self._held += [None] * (len(slots) - len(dominoes))
        rng.shuffle(self._held)

    def _bit(self, cell: Cell) -> int:
        return 1 << cell[0] * self._stride + cell[1]

    def copy(self) -> tuple[list[_Slot], list[Domino | None], list[int]]:
        """Return what changes."""
        return self._slots[:], self._held[:], self._free[:]

    def restore(self, before: tuple[list[_Slot], list[Domino | None], list[int]]) -> None:
        """Restore what ``copy`` returned."""
        self._slots, self._held, self._free = before

    # Its worth

    def points(self) -> int:
        """Return the points of the dominoes that can be laid."""
        return self._laid()[0]

    def kingdom(self) -> tuple[Placed, ...]:
        """Return the dominoes that can be laid, the castle at (0, 0)."""
        _, laid = self._laid()
        placed = [
            Placed(domino, self._cell(left), self._cell(right))
            for (left, right), domino in zip(self._slots, self._held, strict=False)
            if domino is not None and left & laid
        ]
        return in_order(placed)

    def _cell(self, bit: int) -> Cell:
        x, y = divmod(bit.bit_length() - 1, self._stride)
        return x - self._at[0], y - self._at[1]

    def _laid(self) -> tuple[int, int]:
        """Return points, and the cells of the dominoes that can be laid."""
        terrains, ones, twos = [0] * len(TERRAINS), 0, 0
        for bits, domino in zip(self._slots, self._held, strict=False):
            if domino is not None:
                for bit, (terrain, crowns) in zip(bits, (domino.left, domino.right), strict=True):
                    terrains[terrain] |= bit
                    if crowns:
                        ones |= bit if crowns & 1 else 0
                        twos |= bit if crowns & 2 else 0
        areas = [area for cells in terrains for area in self._areas(cells)]
        laid = self._reached(areas)
        points = 0
        for area in areas:
            if area & laid and area & (ones | twos):
                points += area.bit_count() * ((area & ones).bit_count() + 2 * (area & twos).bit_count())
        return points, laid

    def _areas(self, cells: int) -> Iterator[int]:
        """Yield the areas among the cells."""
        stride = self._stride
        left = cells
        while left:
            area, grown = 0, left & -left
            while grown != area:
                area = grown
                grown = (area | area << 1 | area >> 1 | area << stride | area >> stride) & left
            left ^= area
            yield area

    def _reached(self, areas: Sequence[int]) -> int:
        """Return the cells of the areas that have a domino beside the castle, or one of a domino that is reached."""
        castle, stride = self._castle, self._stride
        near = castle << 1 | castle >> 1 | castle << stride | castle >> stride
        laid, before = 0, -1
        while laid != before:
            before = laid
            for area in areas:
                if area & near:
                    laid |= area
            for (one, other), domino in zip(self._slots, self._held, strict=False):
                if domino is not None and (one | other) & laid:
                    near |= one | other
        return laid

    # Changes

    def change(self) -> None:
        """Make a small change, or none."""
        rng, kind = self._rng, self._rng.random()
        i = rng.randrange(len(self._slots))
        if kind < _TURN:
            self._turn(i)
        elif kind < _SLIDE and self._free:
            self._slide(i)
        elif kind < _FLIP:
            self._slots[i] = self._slots[i][::-1]
        else:
            j = rng.randrange(len(self._held))
            self._held[i], self._held[j] = self._held[j], self._held[i]
            for k in (i, j):
                if k < len(self._slots) and rng.random() < 0.5:
                    self._slots[k] = self._slots[k][::-1]

    def _turn(self, i: int) -> None:
        """Two slots that make a square lie the other way."""
        one, other = self._slots[i]
        shift = 1 if max(one, other) == min(one, other) << self._stride else self._stride
        there = (one | other) << shift
        for j, (third, fourth) in enumerate(self._slots):
            if third | fourth == there:
                self._slots[i], self._slots[j] = (one, one << shift), (other, other << shift)
                return

    def _slide(self, i: int) -> None:
        """Into a free cell beside it, so that a cell of the slot is free."""
        bits, stride = self._slots[i], self._stride
        k = self._rng.randrange(len(self._free))
        free = self._free[k]
        near = free << 1 | free >> 1 | free << stride | free >> stride
        for stays, leaves in (bits, bits[::-1]):
            if stays & near:
                self._slots[i], self._free[k] = (stays, free), leaves
                return


def in_order(placed: Sequence[Placed]) -> tuple[Placed, ...]:
    """Return an order in which each domino is laid beside the castle or its own terrain, as far as there is one."""
    left, laid = [*placed], list[Placed]()
    squares: dict[Cell, int] = {}
    while True:
        for each in left:
            if any(
                there == CASTLE or (there in squares and squares[there] == half.terrain)
                for cell, half in each.squares()
                for there in beside(cell)
            ):
                break
        else:
            return tuple(laid)
        left.remove(each)
        laid.append(each)
        squares |= {cell: half.terrain for cell, half in each.squares()}


def tiling(size: int, castle: Cell, rng: random.Random) -> list[tuple[Cell, Cell]]:
    """Return as many slots as fit, at random."""
    while True:
        empty = {(x, y) for x in range(size) for y in range(size)} - {castle}
        slots = []
        while True:
            ways = {cell: [near for near in beside(cell) if near in empty] for cell in sorted(empty)}
            ways = {cell: near for cell, near in ways.items() if near}
            if not ways:
                break
            one = min(ways, key=lambda cell: (len(ways[cell]), rng.random()))
            other = rng.choice(ways[one])
            empty -= {one, other}
            slots.append((one, other))
        if len(slots) == capacity(size, castle):
            return slots


# A bound on every kingdom of some dominoes, from the dominoes alone.
#
# If all squares of a terrain were one area, it would be worth squares × crowns: the sum over the terrains is a bound,
# attained more often than not. If the frame does not hold all dominoes, some have to be left out, and the best choice
# of as many is the bound. It is found by branch and bound over the numbers of squares of each terrain, box by box, the
# best box first. In a box no crown is worth more than the most squares of its terrain, so a domino is worth the sum of
# its crowns' and the best choice is that of the best dominoes; that its squares are as many as the box says is paid for
# by Lagrange multipliers, a price for each square, and whatever they are, the bound holds.

_PRICES = 12
"""The number of changes of prices for a box."""
_STEP, _SMALLER = 2.0, 0.6
"""The first step of prices, and the factor after a step that was no better."""
_EPSILON = 1e-6
"""More than the rounding error of additions of a few dozen numbers."""

_Squares = tuple[int, ...]
"""Numbers by terrain."""
_Prices = tuple[float, ...]
"""Prices by terrain."""


def capacity(size: int, castle: Cell) -> int:
    """Return how many dominoes the frame can hold: on a chessboard each covers a white cell and a black one.

    ``castle``: its column and row.
    """
    cells = [(x + y) % 2 for x, y in product(range(size), repeat=2) if (x, y) != castle]
    return min(sum(cells), len(cells) - sum(cells))


def most(dominoes: Sequence[Domino], room: int) -> tuple[int, list[Domino]]:
    """Return points that no kingdom of ``room`` of the dominoes exceeds, and the best choice that was met."""
    choice = Choice(dominoes, room)
    while not choice.done:
        choice.refine()
    return choice.bound, choice.best


class Choice:
    """The best choice of ``room`` of the dominoes: ``refine`` until it is ``done`` or the bound is low enough."""

    def __init__(self, dominoes: Sequence[Domino], room: int) -> None:
        self._dominoes = dominoes
        self._halves = [(domino.left, domino.right) for domino in dominoes]
        self._room = min(room, len(dominoes))
        self.best: list[Domino] = []
        """The best choice that was met."""
        self._worth = -1
        self._boxes: list[tuple[float, int, _Squares, _Squares, _Prices]] = []
        """Minus the bound, a number that tells boxes apart, the fewest and the most squares, prices."""
        self._numbers = count()
        halves = [half.terrain for domino in dominoes for half in (domino.left, domino.right)]
        every = range(len(TERRAINS))
        self._put(math.inf, (0,) * len(every), tuple(map(halves.count, every)), (0.0,) * len(every))

    @property
    def bound(self) -> int:
        """Points that no choice exceeds."""
        return max(_floor(-self._boxes[0][0]), self._worth)

    @property
    def done(self) -> bool:
        """The bound gets no lower."""
        worth, _, low, high, _ = self._boxes[0]
        return low == high or _floor(-worth) <= self._worth

    def refine(self) -> None:
        """Split the box with the highest bound."""
        worth, _, low, high, prices = heappop(self._boxes)
        i = max(range(len(TERRAINS)), key=[b - a for a, b in zip(low, high, strict=True)].__getitem__)
        middle = (low[i] + high[i]) // 2
        self._put(-worth, low, (*high[:i], middle, *high[i + 1 :]), prices)
        self._put(-worth, (*low[:i], middle + 1, *low[i + 1 :]), high, prices)

    def _put(self, most: float, low: _Squares, high: _Squares, prices: _Prices) -> None:
        """Put the box back, without what cannot be: together the squares are two for each domino."""
        spare = 2 * self._room - sum(low)
        if spare < 0 or sum(high) < 2 * self._room:
            return
        high = tuple(min(b, a + spare) for a, b in zip(low, high, strict=True))
        needed = 2 * self._room - sum(high)
        low = tuple(max(a, b + needed) for a, b in zip(low, high, strict=True))
        worth, prices = self._bound(low, high, prices)
        heappush(self._boxes, (-min(worth, most), next(self._numbers), low, high, prices))

    def _bound(self, low: _Squares, high: _Squares, prices: _Prices) -> tuple[float, _Prices]:
        """Return the least bound that was met for some prices, and these prices."""
        least, cheapest, step = math.inf, prices, _STEP
        for _ in range(_PRICES):
            value = [
                (high[one] * few + prices[one] + high[other] * many + prices[other], i)
                for i, ((one, few), (other, many)) in enumerate(self._halves)
            ]
            value.sort(reverse=True)
            ranked = [self._dominoes[i] for i in sorted(i for _, i in value[: self._room])]
            halves = [half for domino in ranked for half in (domino.left, domino.right)]
            squares = [0] * len(TERRAINS)
            for half in halves:
                squares[half.terrain] += 1
            if (worth := in_one_area(ranked)) > self._worth:
                self._worth, self.best = worth, ranked
            paid = [
                price * (have - (few if price >= 0 else many))
                for price, have, few, many in zip(prices, squares, low, high, strict=True)
            ]
            bound = sum(high[half.terrain] * half.crowns for half in halves) + sum(paid)
            if bound < least:
                least, cheapest = bound, prices
            else:
                step *= _SMALLER
            # Where a price is paid for nothing it falls; where squares are too few or too many it changes against that.
            slope = [
                have - min(max(have, few), many) if not price else have - (few if price > 0 else many)
                for price, have, few, many in zip(prices, squares, low, high, strict=True)
            ]
            length = math.hypot(*slope)
            if not length:
                break
            prices = tuple(price - step * each / length for price, each in zip(prices, slope, strict=True))
        return least, cheapest


def _floor(worth: float) -> int:
    """Round down: points are whole numbers."""
    return math.floor(worth + _EPSILON)
