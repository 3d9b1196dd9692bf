"""What no kingdom of some dominoes can exceed, from the dominoes alone.

If all squares of a terrain were one area, it would be worth squares × crowns: the sum over the terrains is a bound,
attained more often than not. If the frame does not hold all dominoes, some have to be left out, and the best choice of
so many is the bound. It is found by branch and bound over the numbers of squares of each terrain, box by box, the best
box first. In a box no crown is worth more than the most squares of its terrain, so a domino is worth the sum of its
crowns' and the best choice is that of the best dominoes; that its squares are as many as the box says is paid for by
Lagrange multipliers, a price for each square, and whatever they are, the bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count, product

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.scoring import in_one_area

_PRICES = 12
"""How often prices are changed for a box."""
_STEP, _SMALLER = 2.0, 0.6
"""How far prices go at first, and by how much less after a step that was none the better."""
_EPSILON = 1e-6
"""More than what additions of a few dozen numbers get wrong."""

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
