"""Who sits on which seat: everybody as equally often on each as the table allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, permutations

from referee.tournament.pairing.draw import Words, shuffled


def seats(
    tables: Sequence[Sequence[int]], seated: Mapping[int, Sequence[int]], words: Words
) -> tuple[tuple[int, ...], ...]:
    """Return each table in the order of its seats (EVT-O1).

    Of all orders that with the least sum, over players and seats, of the square of how often they will have sat there;
    of several the first by lot. ``seated``: how often a player sat on seat 0, 1, … so far.
    """
    lots = {player: lot for lot, player in enumerate(shuffled(words, sorted(chain(*tables))))}
    return tuple(_order(sorted(table, key=lots.__getitem__), seated) for table in tables)


def imbalance(tables: Sequence[Sequence[int]], seated: Mapping[int, Sequence[int]]) -> int:
    """Return that sum, of all tables."""
    total = 0
    for table in tables:
        for seat, player in enumerate(table):
            times = [*seated.get(player, ()), *[0] * len(table)]
            total += sum(count * count for count in times) + 2 * times[seat] + 1
    return total


def _order(by_lot: Sequence[int], seated: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    # One more time on a seat adds 2 * times + 1 to the sum of squares, so the times alone have to be least.
    seats_of_table = range(len(by_lot))
    times = [[*seated.get(player, ()), *[0] * len(by_lot)] for player in by_lot]
    best = min(
        permutations(seats_of_table),  # in the order of the lots, of which min takes the first
        key=lambda order: sum([times[who][seat] for seat, who in enumerate(order)]),
    )
    return tuple(by_lot[who] for who in best)
