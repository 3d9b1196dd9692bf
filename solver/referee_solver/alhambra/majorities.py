"""How far one seat can end ahead of another in the places of one round, if counts of tiles are known to some extent.

More tiles of a type never lower a seat's points and never raise another's; so of two seats only the most of the one
and the least of the other matter. What a third has can matter either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from referee.games.alhambra.scoring import award_type
from referee.games.alhambra.tiles import TYPES

Range = tuple[int, int]
"""The fewest and the most tiles of one type that somebody can have."""


@lru_cache(maxsize=1 << 16)
def points(round_: int, type_: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return what each seat gets for the type. The neutral player is one more seat here: it takes places."""
    won = [0] * len(counts)
    for line in award_type(round_, type_, counts):
        for player in line.players:
            won[player] = line.each
    return tuple(won)


@lru_cache(maxsize=1 << 16)
def lead(round_: int, type_: int, ahead: int, behind: int, others: tuple[Range, ...]) -> int:
    """Return the most points of a seat with ``ahead`` tiles of the type, less those of one with ``behind``.

    ``others``: all the others, the neutral player among them; each may have what suits the first seat best.
    """
    everybody = [(ahead, behind, *counts) for counts in _choices(ahead, behind, others)]
    return max(won[0] - won[1] for won in (points(round_, type_, counts) for counts in everybody))


def _choices(ahead: int, behind: int, others: Sequence[Range]) -> set[tuple[int, ...]]:
    """Count of the others: of those that compare alike with both seats' only one."""
    found: set[tuple[int, ...]] = {()}
    for fewest, most in others:
        near = {min(max(count, fewest), most) for base in (ahead, behind) for count in (base - 1, base, base + 1)}
        alike = {(_compared(count, ahead), _compared(count, behind)): count for count in sorted(near)}
        found = {tuple(sorted((*counts, count))) for counts in found for count in alike.values()}
    return found


def _compared(one: int, other: int) -> int:
    return (one > other) - (one < other)


def widest(
    round_: int,
    *,
    most: Sequence[int],
    added: Sequence[int],
    additions: int,
    least: Sequence[int],
    removals: int,
    others: Sequence[Sequence[Range]],
) -> int:
    """Return the most that a seat can end ahead in the places of all types together.

    By type: ``most`` that the seat can have, before so many ``additions`` of ``added`` tiles of its reserve in all; the
    ``least`` that the other has, before so many ``removals`` in all; and the ranges of the ``others``.
    """
    free_additions, free_removals = additions >= sum(added), removals >= sum(least)
    best = {(0, 0): 0}
    for type_ in range(len(TYPES)):
        mine = (added[type_],) if free_additions else range(min(additions, added[type_]) + 1)
        theirs = (least[type_],) if free_removals else range(min(removals, least[type_]) + 1)
        after: dict[tuple[int, int], int] = {}
        for plus, minus in product(mine, theirs):
            gain = lead(round_, type_, most[type_] + plus, least[type_] - minus, tuple(others[type_]))
            for (used_plus, used_minus), value in best.items():
                used = used_plus + plus, used_minus + minus
                within = (free_additions or used[0] <= additions) and (free_removals or used[1] <= removals)
                if within and after.get(used, value + gain - 1) < value + gain:
                    after[used] = value + gain
        best = after
    return max(best.values())
