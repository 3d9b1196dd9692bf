"""The pairings: every bot on every seat, the same for all, and as even as stated."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee_clients.match.schedule import Group, Kind, Rounds, groups, possible, rotations


@st.composite
def fields(draw: st.DrawFn) -> tuple[int, int, int]:
    """Bots, seats, seed."""
    seats = draw(st.integers(1, 6))
    return draw(st.integers(2, 24)), seats, draw(st.integers(0, 1 << 40))


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


def counted(found: list[Group], bots: range) -> tuple[list[int], list[int]]:
    sat = Counter(bot for group in found for bot in group)
    met = Counter(each for group in found for each in combinations(sorted(group), 2))
    return [sat[bot] for bot in bots], [met[each] for each in combinations(bots, 2)]


@settings(max_examples=30)
@given(fields(), st.integers(1, 60))
def test_after_any_number_of_tables_bots_and_pairs_are_nearly_even(field: tuple[int, int, int], number: int) -> None:
    bots, seats, seed = field
    found = list(islice(groups(Kind.TABLES, bots, seats, seed), number))
    assert found == list(islice(groups(Kind.TABLES, bots, seats, seed), number))
    if bots > seats:
        assert all(len(set(group)) == seats for group in found)
        sat, met = counted(found, range(bots))
        assert spread(sat) <= 2
        assert spread(met) <= 5


@settings(max_examples=15)
@given(fields(), st.integers(1, 60))
def test_a_gauntlet_has_the_first_bot_at_every_table_and_the_others_nearly_evenly(
    field: tuple[int, int, int], number: int
) -> None:
    bots, seats, seed = field
    found = list(islice(groups(Kind.GAUNTLET, bots, seats, seed), number))
    assert all(0 in group for group in found)
    if bots > seats:
        assert spread(counted(found, range(1, bots))[0]) <= 3


@pytest.mark.parametrize("kind", [Kind.TABLES, Kind.ROUND_ROBIN, Kind.GAUNTLET])
@pytest.mark.parametrize(("bots", "seats"), [(4, 2), (5, 3), (7, 4), (9, 2), (8, 6)])
def test_a_whole_turn_has_every_possible_table_once(kind: Kind, bots: int, seats: int) -> None:
    turn = possible(kind, bots, seats)
    assert turn == (comb(bots - 1, seats - 1) if kind is Kind.GAUNTLET else comb(bots, seats))
    found = list(islice(groups(kind, bots, seats, 3), 2 * turn))
    assert len(set(found[:turn])) == len(set(found[turn:])) == turn


@settings(max_examples=30)
@given(fields())
def test_in_all_rotations_every_bot_has_every_seat_as_often(field: tuple[int, int, int]) -> None:
    group = next(groups(Kind.TABLES, *field))
    turned = list(rotations(group))
    assert len(turned) == len(group)
    for seat in range(len(group)):
        assert Counter(each[seat] for each in turned) == Counter(group)


def test_few_bots_fill_the_table_in_turn() -> None:
    assert next(groups(Kind.TABLES, 2, 5, 1)) == (0, 1, 0, 1, 0)
    assert [*islice(groups(Kind.TABLES, 1, 1, 1), 2)] == [(0,), (0,)]


@pytest.mark.parametrize(("bots", "seats"), [(9, 2), (9, 4)])
def test_a_round_of_a_swiss_seats_everybody_or_gives_a_bye_and_avoids_to_repeat(bots: int, seats: int) -> None:
    rounds = Rounds(bots, seats, 5)
    shares: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    for _ in range(2):
        found = rounds.next(shares)
        sat = [bot for group in found for bot in group]
        assert len(sat) == len(set(sat)) == bots - bots % seats
        for group in found:
            shares[group[0]] += 1
            met.update(combinations(sorted(group), 2))
    if seats == 2:
        assert max(met.values()) == 1
    assert not any(0 in group for group in rounds.next(shares, out=[0]))


def test_the_order_goes_on_to_follow_from_the_seed() -> None:
    """However often everybody has met everybody."""
    late = {tuple(islice(groups(Kind.TABLES, 3, 2, seed), 1200, 1212)) for seed in range(5)}
    assert len(late) == 5
