"""What a kingdom can still grow to, at the most: from its areas, the room that is left and the dominoes to come.

An area of S squares and C crowns that gets n more squares and c more crowns has n·C + c·(S + n) more points. So a
square with k crowns is worth C + k·(S + N) at the most, where N is all that may come of its terrain: a sum over the
squares, and whatever the dominoes do to each other, it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import MOST_CROWNS, TERRAINS, DominoSet, numbers_of
from referee.games.kingdomino.kingdom import STRIDE, Kingdom, index_of
from referee.games.kingdomino.options import Central, Options

_CROWNS: Final = range(MOST_CROWNS + 1)
_ARMS: Final = range(-7, 8)
_WHITE: Final = sum(1 << index_of((x, y)) for x in _ARMS for y in _ARMS if (x + y) % 2 == 0)


class Growth(NamedTuple):
    """None of it is exceeded."""

    areas: int
    """Points of all areas."""
    largest_area: int
    crowns: int
    placed: int
    """Dominoes that are placed and not discarded."""


def growth(kingdom: Kingdom, domino_set: DominoSet, known: Sequence[int], pools: Iterable[tuple[int, int]]) -> Growth:
    """Return how the areas can grow. ``known``: numbers that come. ``pools``: how many more of each set of numbers."""
    squares, crowns = [0] * len(TERRAINS), kingdom.crowns()
    for number in known:
        for terrain, more in _halves(domino_set, number):
            squares[terrain] += 1
            crowns += more
    for pool, chosen in pools:
        most = _most(domino_set, pool, chosen)
        crowns += most[-1]
        for terrain, more in enumerate(most[:-1]):
            squares[terrain] += more
    areas, largest = 0, kingdom.largest_area()
    worth = []
    for terrain, more in enumerate(squares):
        groups = _groups(kingdom, terrain, more)
        areas += sum(size * held for size, held, _ in groups)
        largest = max([largest, *(size + grown for size, _, grown in groups)])
        worth.append([max([0, *(held + k * (size + grown) for size, held, grown in groups if grown)]) for k in _CROWNS])

    def value(number: int) -> int:
        (left, few), (right, many) = _halves(domino_set, number)
        return worth[left][few] + worth[right][many]

    values = [value(number) for number in known]
    for pool, chosen in pools:
        values += sorted(map(value, numbers_of(pool)), reverse=True)[:chosen]
    placed = min(len(values), places(kingdom.room))
    values.sort(reverse=True)
    return Growth(areas + sum(values[:placed]), largest, crowns, placed)


def _halves(domino_set: DominoSet, number: int) -> tuple[tuple[int, int], tuple[int, int]]:
    _, left, right = domino_set.dominoes[number - 1]
    return left, right


@lru_cache(maxsize=4096)
def _most(domino_set: DominoSet, pool: int, chosen: int) -> tuple[int, ...]:
    """Return, by terrain, the most squares of ``chosen`` dominoes of the pool; last the most crowns."""
    numbers = numbers_of(pool)
    rows = [
        [sum(half[0] == terrain for half in _halves(domino_set, number)) for number in numbers]
        for terrain in range(len(TERRAINS))
    ]
    rows.append([sum(crowns for _, crowns in _halves(domino_set, number)) for number in numbers])
    return tuple(sum(sorted(row, reverse=True)[:chosen]) for row in rows)


def _groups(kingdom: Kingdom, terrain: int, more: int) -> list[tuple[int, int, int]]:
    """Return areas that ``more`` squares can join, as one: squares, crowns, squares that it can grow by.

    Last a new area. Areas are joined by a way of empty cells that is no longer than what comes.
    """
    areas = kingdom.area_sets[terrain]
    if not more:
        return [(bits.bit_count(), crowns, 0) for bits, crowns in areas]
    groups: list[tuple[int, int, int]] = []  # cells, crowns, cells that it can reach
    for cells, held in areas:
        reached, around = 0, cells
        for _ in range(more):
            around = beside(around) & kingdom.room & ~reached
            reached |= around
        joined = [other for other in groups if beside(reached) & other[0]]
        group = (cells, held, reached)
        for other in joined:
            groups.remove(other)
            group = (group[0] | other[0], group[1] + other[1], group[2] | other[2])
        groups.append(group)
    found = [(bits.bit_count(), crowns, min(more, reached.bit_count())) for bits, crowns, reached in groups]
    return [*found, (0, 0, more)]


def beside(bits: int) -> int:
    """Return the cells that share a side with these, and perhaps some of these."""
    return bits << STRIDE | bits >> STRIDE | bits << 1 | bits >> 1


@lru_cache(maxsize=1 << 14)
def places(room: int) -> int:
    """Return a bound of the dominoes that fit: each covers a white cell and a black one of one piece."""
    found = 0
    while room:
        piece, more = 0, room & -room
        while more:
            piece |= more
            more = beside(more) & room & ~piece
        room &= ~piece
        white = (piece & _WHITE).bit_count()
        found += min(white, piece.bit_count() - white)
    return found


def may_be_central(kingdom: Kingdom, options: Options, dominoes: int) -> bool:
    """Return whether the castle may be in the middle when this many more dominoes are placed (KDO-27)."""
    arm = options.size() // 2
    if kingdom.castle not in (None, (arm, arm)):
        return False
    if options.central is not Central.KINGDOM:
        return options.central is Central.FRAME
    taken = sum(bits for areas in kingdom.area_sets for bits, _ in areas)
    inside, sides = _middle(arm)
    missing = [side for side in sides if not side & taken]
    # A domino can lie along two sides of the frame, in a corner.
    return not taken & ~inside and all(side & kingdom.room for side in missing) and len(missing) <= 2 * dominoes


@lru_cache
def _middle(arm: int) -> tuple[int, tuple[int, ...]]:
    """Return the cells of the frame around a castle in the middle, and those of its four sides."""
    across = range(-arm, arm + 1)
    cells = [(x, y) for x in across for y in across]
    sides = ([c for c in cells if c[axis] == end] for axis in (0, 1) for end in (-arm, arm))
    return _bits(cells), tuple(map(_bits, sides))


def _bits(cells: Iterable[Cell]) -> int:
    return sum(1 << index_of(cell) for cell in cells)
