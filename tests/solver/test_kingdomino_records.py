"""The best kingdoms of all 48 dominoes, and why none has more: 128 points in 5x5, 141 with both bonuses; 272 in 7x7."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS, Domino, Half, parse_half
from referee.games.kingdomino.scoring import in_one_area
from referee.wire.certificates.kingdomino.claims import Frame, Kingdom
from referee_solver.kingdomino import annealing
from referee_solver.kingdomino.best_kingdom import best_kingdom, fillings, least_lacking, points
from tests.games.slow_kingdomino import SlowKingdom
from tests.sizes import sample_of

TWELVE = [DOMINOES[number - 1] for number in (12, 22, 23, 38, 39, 40, 43, 44, 45, 46, 47, 48)]
"""The only twelve dominoes whose terrains are worth 127 or more together."""

KINGDOMS = {
    (5, (0, 2), 128): """46,0,-2,0,-1 23,0,2,0,1 12,1,-2,2,-2 47,2,-1,1,-1 40,1,0,2,0 45,1,1,1,2 48,2,2,2,1
        39,3,-2,3,-1 22,3,0,4,0 38,3,1,4,1 43,3,2,4,2 44,4,-2,4,-1""",
    (5, (2, 2), 126): """44,0,-2,0,-1 12,1,-2,1,-1 22,-2,-1,-1,-1 38,-2,-2,-1,-2 45,0,2,0,1 40,1,2,2,2 23,-1,1,-1,2
        48,-2,1,-2,2 47,1,0,1,1 46,2,0,2,1 39,2,-2,2,-1 43,-2,0,-1,0""",
    (
        7,
        (0, 0),
        272,
    ): """41,0,4,1,4 10,1,1,2,1 47,6,5,5,5 16,3,2,3,1 40,3,6,3,5 36,3,3,2,3 43,5,2,6,2 12,6,3,6,4 42,3,4,2,4
        48,4,4,5,4 23,2,5,2,6 45,4,6,4,5 22,4,2,4,1 39,5,0,5,1 11,3,0,4,0 20,0,5,0,6 19,0,2,0,1 15,0,3,1,3
        44,6,0,6,1 46,6,6,5,6 38,4,3,5,3 37,1,0,2,0 21,1,2,2,2 1,1,5,1,6""",
}
"""By the frame's size, the castle's cell and the points: each domino, its left half's cell and its right half's."""


@pytest.mark.parametrize(("size", "castle", "worth"), KINGDOMS)
def test_kingdoms_that_were_found(size: int, castle: Cell, worth: int) -> None:
    """They fill the frame, and are worth what is said, by the slow checker."""
    slow, left = SlowKingdom(size, castle), KINGDOMS[size, castle, worth].split()
    numbers = {each.split(",")[0] for each in left}
    assert len(numbers) == len(left) == size**2 // 2
    while left:
        for each in left:
            number, ax, ay, bx, by = map(int, each.split(","))
            domino = DOMINOES[number - 1]
            halves = (str(domino.left), str(domino.right))
            if not slow.faults(halves, (ax, ay), (bx, by)):
                slow.lay(halves, (ax, ay), (bx, by))
                left.remove(each)
                break
        else:
            pytest.fail(f"{left} cannot be laid")
    assert slow.score() == worth


@pytest.mark.parametrize("seed", sample_of(range(6), 3))
def test_fillings_are_all_there_are(seed: int) -> None:
    """In 3x3, with the same dominoes laid in every order at every place."""
    rng = random.Random(seed)
    halves = ["wheat:1", "wheat", "lake:1", "lake", "mine:2"]
    dominoes = [Domino(number, *map(parse_half, rng.choices(halves, k=2))) for number in range(1, 4)]
    castle = rng.choice([(0, 0), (1, 1), (2, 0)])
    found = [placed for placed in fillings(dominoes, 3, castle) if placed]
    for placed in found:
        slow = SlowKingdom(3, castle)
        for each in placed:
            words = (str(each.domino.left), str(each.domino.right))
            assert not slow.faults(words, each.left, each.right)
            slow.lay(words, each.left, each.right)
        assert slow.score() == in_one_area(dominoes)
    without = {
        tuple(sorted((cell, half.terrain) for each in placed for cell, half in each.squares())) for placed in found
    }
    assert without == set(_whole(SlowKingdom(3, castle), dominoes, in_one_area(dominoes)))


def _whole(slow: SlowKingdom, left: Sequence[Domino], worth: int) -> Iterator[tuple[tuple[Cell, int], ...]]:
    if not left and slow.score() == worth:
        yield tuple(sorted((cell, TERRAINS.index(terrain)) for cell, (terrain, _) in slow.squares.items()))
    for each in left:
        words = (str(each.left), str(each.right))
        for ax, ay, bx, by in slow.placements(words):
            after = SlowKingdom(slow.size, slow.castle, dict(slow.squares))
            after.lay(words, (ax, ay), (bx, by))
            yield from _whole(after, [other for other in left if other is not each], worth)


@pytest.mark.parametrize(
    ("castle", "steps", "kingdoms"),
    [
        ((1, 1), 121_352, 0),
        pytest.param((2, 2), 689_778, 0, marks=pytest.mark.long),
        pytest.param((0, 2), 918_039, 30, marks=pytest.mark.long),
        pytest.param((0, 0), 2_175_403, 2, marks=pytest.mark.long),
    ],
)
def test_where_nothing_is_lacking(castle: Cell, steps: int, kingdoms: int) -> None:
    """By the castle's cell, the others turned or mirrored: how often it can be, and how long the search is."""
    found = [*fillings(TWELVE, 5, castle)]
    worth = [points(Kingdom(Frame(5, None), placed)) for placed in found if placed]
    assert (len(found), worth) == (steps, [128] * kingdoms)


def test_no_other_dominoes_come_near() -> None:
    """In the middle 128 is refuted, and what is lacking is 2 at least; eleven dominoes are worth 116 at most."""
    assert in_one_area(TWELVE) == 128
    assert least_lacking(TWELVE) == 2
    assert annealing.most(DOMINOES, 11)[0] == 116


@pytest.mark.long
def test_twelve_dominoes_alone_are_worth_more_than_126() -> None:
    """Every choice of twelve, by its squares of each terrain: whole numbers only, and no bound but the best twelve."""
    assert [*_choices(12, 127)] == [Counter((domino.left, domino.right) for domino in TWELVE)]


def _choices(room: int, target: int) -> Iterator[Counter[tuple[Half, Half]]]:
    """Yield the choices worth the target if every terrain is one area; dominoes that look the same are the same."""
    kinds = Counter((domino.left, domino.right) for domino in DOMINOES)
    halves = [half.terrain for domino in DOMINOES for half in (domino.left, domino.right)]
    for squares in _splits(2 * room, [halves.count(terrain) for terrain in range(len(TERRAINS))]):
        worth = {kind: sum(squares[half.terrain] * half.crowns for half in kind) for kind in kinds}
        ranked = sorted(kinds, key=worth.__getitem__, reverse=True)
        yield from _taken(ranked, worth, kinds, room, list(squares), target)


def _taken(
    ranked: Sequence[tuple[Half, Half]],
    worth: dict[tuple[Half, Half], int],
    kinds: Counter[tuple[Half, Half]],
    room: int,
    squares: list[int],
    target: int,
) -> Iterator[Counter[tuple[Half, Half]]]:
    if not room:
        if target <= 0 and not any(squares):
            yield Counter()
        return
    most, free = 0, room
    for kind in ranked:
        most += worth[kind] * min(free, kinds[kind])
        free -= min(free, kinds[kind])
        if not free:
            break
    if free or most < target:
        return
    first, rest = ranked[0], ranked[1:]
    for copies in range(min(kinds[first], room) + 1):
        left = squares[:]
        for half in first:
            left[half.terrain] -= copies
        if min(left) >= 0:
            for choice in _taken(rest, worth, kinds, room - copies, left, target - copies * worth[first]):
                yield choice + Counter({first: copies})


def _splits(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not most:
        if not total:
            yield ()
        return
    for first in range(min(total, most[0]) + 1):
        for others in _splits(total - first, most[1:]):
            yield (first, *others)


@pytest.mark.long
@pytest.mark.parametrize(("room", "most"), [(24, 272), (23, 262)])
def test_no_choice_of_dominoes_is_worth_more_in_7x7(room: int, most: int) -> None:
    """Even if every terrain is one area. Whole numbers only: prices are 64ths of a point."""
    halves = [half.terrain for domino in DOMINOES for half in (domino.left, domino.right)]
    todo = [((0,) * len(TERRAINS), tuple(map(halves.count, range(len(TERRAINS)))), (0,) * len(TERRAINS))]
    while todo:
        low, high, prices = todo.pop()
        spare, needed = 2 * room - sum(low), 2 * room - sum(high)
        if spare < 0 or needed > 0:
            continue  # fewer squares
        low, high = (
            tuple(max(a, b + needed) for a, b in zip(low, high, strict=True)),
            tuple(min(b, a + spare) for a, b in zip(low, high, strict=True)),
        )
        better = _price(room, most, low, high, prices)
        if better is None:
            continue
        i = max(range(len(TERRAINS)), key=[b - a for a, b in zip(low, high, strict=True)].__getitem__)
        assert low[i] < high[i], f"{low} squares may be worth more"
        middle = (low[i] + high[i]) // 2
        todo += [
            (low, (*high[:i], middle, *high[i + 1 :]), better),
            ((*low[:i], middle + 1, *low[i + 1 :]), high, better),
        ]


_Whole = tuple[int, ...]
"""By terrain."""


def _price(room: int, most: int, low: _Whole, high: _Whole, prices: _Whole) -> _Whole | None:
    """Return None if prices show that no choice of ``room`` squares is worth more than ``most``; or the best prices.

    A choice with ``n[t]`` squares of terrain ``t`` is worth no more than its dominoes with ``high[t]`` points for a
    crown and a price for each square, less what is paid back: the price of the fewest squares, or of the most if the
    price is below nothing.
    """
    least, cheapest, step = None, prices, 128.0
    for _ in range(20):
        values = sorted(
            (
                (
                    sum(64 * high[half.terrain] * half.crowns + prices[half.terrain] for half in (d.left, d.right)),
                    d.number,
                )
                for d in DOMINOES
            ),
            reverse=True,
        )[:room]
        paid_back = sum(
            price * (few if price >= 0 else many) for price, few, many in zip(prices, low, high, strict=True)
        )
        bound = sum(value for value, _ in values) - paid_back
        if bound < 64 * (most + 1):
            return None
        if least is None or bound < least:
            least, cheapest = bound, prices
        else:
            step *= 0.6
        chosen = [
            half.terrain for _, number in values for half in (DOMINOES[number - 1].left, DOMINOES[number - 1].right)
        ]
        have = [chosen.count(terrain) for terrain in range(len(TERRAINS))]
        slope = [
            now - (few if price > 0 else many if price < 0 else min(max(now, few), many))
            for now, few, many, price in zip(have, low, high, prices, strict=True)
        ]
        length = math.hypot(*slope)
        if not length:
            break
        prices = tuple(round(price - step * each / length) for price, each in zip(prices, slope, strict=True))
    return cheapest


def test_a_frame_that_cannot_be_filled_lowers_the_bound() -> None:
    """The twelve dominoes around a castle in the second column and row: 128 is refuted without Z3."""
    *_, last = best_kingdom(TWELVE, Frame(5, (1, 1)), rlimit=12_000_000)
    assert last.bound == 126
