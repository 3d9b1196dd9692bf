"""What no kingdom of some dominoes can exceed, from the dominoes alone.

If all squares of a terrain were one area, it would be worth squares × crowns: the sum over the terrains is a bound,
attained more often than not. If the frame does not hold all dominoes, some have to be left out, and the best choice is
the bound. Where there are too many choices: say, at most so many squares of each terrain are laid. Then a crown is
worth at most its terrain's number, a domino the sum of its crowns', and so many dominoes no more than the best ones.
All numbers of squares are looked at, box by box, the best box first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import combinations, product
from math import comb

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, Domino

_MOST_CHOICES = 20_000
_MOST_BOXES = 5_000

_Squares = tuple[int, ...]
"""By terrain."""


def capacity(size: int, castle: Cell) -> int:
    """How many dominoes the frame can hold: on a chessboard each covers a white cell and a black one.

    ``castle``: its column and row.
    """
    cells = [(x + y) % 2 for x, y in product(range(size), repeat=2) if (x, y) != castle]
    return min(sum(cells), len(cells) - sum(cells))


def most(dominoes: Sequence[Domino], room: int) -> int:
    """No kingdom of so many of the dominoes is worth more."""
    room = min(room, len(dominoes))
    if comb(len(dominoes), room) <= _MOST_CHOICES:
        return max(map(_whole, combinations(dominoes, room)))
    squares = [0] * len(TERRAINS)
    for domino in dominoes:
        for half in (domino.left, domino.right):
            squares[half.terrain] += 1
    low = (0,) * len(TERRAINS)
    boxes: list[tuple[int, _Squares, _Squares]] = []
    _put(boxes, dominoes, room, low, tuple(squares))
    for _ in range(_MOST_BOXES):
        _, low, high = boxes[0]
        if low == high:
            break
        heappop(boxes)
        i = max(range(len(TERRAINS)), key=lambda k: high[k] - low[k])
        middle = (low[i] + high[i]) // 2
        _put(boxes, dominoes, room, low, (*high[:i], middle, *high[i + 1 :]))
        _put(boxes, dominoes, room, (*low[:i], middle + 1, *low[i + 1 :]), high)
    return -boxes[0][0]


def _whole(dominoes: Iterable[Domino]) -> int:
    """If the squares of each terrain were one area."""
    squares, crowns = [0] * len(TERRAINS), [0] * len(TERRAINS)
    for domino in dominoes:
        for half in (domino.left, domino.right):
            squares[half.terrain] += 1
            crowns[half.terrain] += half.crowns
    return sum(a * b for a, b in zip(squares, crowns, strict=True))


def _put(
    boxes: list[tuple[int, _Squares, _Squares]], dominoes: Sequence[Domino], room: int, low: _Squares, high: _Squares
) -> None:
    """The box of these numbers of squares, without what cannot be: together they are two for each domino."""
    spare = 2 * room - sum(low)
    if spare < 0 or sum(high) < 2 * room:
        return
    high = tuple(min(b, a + spare) for a, b in zip(low, high, strict=True))
    worth = sorted(sum(high[half.terrain] * half.crowns for half in (domino.left, domino.right)) for domino in dominoes)
    heappush(boxes, (-sum(worth[-room:]), low, high))
