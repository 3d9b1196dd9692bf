"""EVT-O1: the seats of a table."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.log.deck import Deck
from referee.tournament.pairing.draw import imbalance, seats


def squares(order: tuple[int, ...], seated: dict[int, list[int]]) -> int:
    """The rule as it is written."""
    times = {player: [*seated.get(player, []), *[0] * 6] for player in order}
    for seat, player in enumerate(order):
        times[player][seat] += 1
    return sum(count**2 for counts in times.values() for count in counts)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.lists(st.lists(st.integers(0, 4), max_size=6), min_size=6, max_size=6), st.integers(0, 99))
def test_no_order_of_a_table_is_better(size: int, times: list[list[int]], seed: int) -> None:
    """Against all orders, by the rule's own words."""
    table, seated = tuple(range(11, 11 + size)), dict(enumerate(times, 11))
    (order,) = seats([table], seated, Deck(bytes([seed] * 32)).words("seats"))
    assert sorted(order) == list(table)
    assert squares(order, seated) == min(squares(other, seated) for other in permutations(table))
    assert imbalance([order], seated) == squares(order, seated)


def test_counts_differ_by_two_at_most() -> None:
    """24 players, new tables each round: no player sits on one seat three times more often than on another."""
    random, seated = Random(5), {player: [0] * 4 for player in range(24)}
    for number in range(12):
        everybody = random.sample(range(24), 24)
        tables = [everybody[at : at + 4] for at in range(0, 24, 4)]
        for table in seats(tables, seated, Deck(bytes(32)).words(f"seats/{number}")):
            for seat, player in enumerate(table):
                seated[player][seat] += 1
        assert all(abs(a - b) <= 2 for counts in seated.values() for a, b in combinations(counts, 2))


def test_all_orders_are_as_likely_at_first() -> None:
    """The lot decides where counts do not: 600 draws give each order of three about 100 times."""
    found = [seats([(1, 2, 3)], {}, Deck(number.to_bytes(32, "big")).words("seats"))[0] for number in range(600)]
    assert all(60 < found.count(order) < 140 for order in permutations((1, 2, 3)))
