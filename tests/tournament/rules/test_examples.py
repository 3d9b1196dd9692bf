"""Published rules of board game championships, as examples: Europe Masters of board games, HIG, the Catan championship,
the World Boardgaming Championships.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

from referee.log.deck import Deck
from referee.tournament.pairing.planned import planned
from referee.tournament.rules import State
from referee.tournament.rules.acts import Publish, Result
from referee.tournament.rules.scoring import Scores, table_points
from referee.tournament.rules.situation import snake
from referee.tournament.rules.terms import TieBreak
from tests.tournament.rules.stages import by_hand, closed, drawn, play, results, terms

HIG = {"sizes": (4, 3), "points": ((4, 2, 1, 0), (4, 2, 1)), "rounds": 2}
TABLES = ((1, 2, 3, 4), (5, 6, 7))


def played(*places: tuple[int, ...]) -> State:
    """Seven at a table of four and one of three."""
    state = drawn(7, **HIG)
    act = by_hand(state, *TABLES)
    return results(play(state, act, Publish(act.round)), *places)


def value(state: State, tie_break: TieBreak, who: int) -> Fraction:
    """After the round."""
    return Scores(state, state.rounds).value(tie_break, who)


@pytest.mark.parametrize("places", [(1, 2, 3), (2, 1, 3), (1, 1, 3), (3, 2, 1), (1, 2, 2), (1, 1, 1)])
def test_hig_sets_a_player_with_the_mean_at_a_short_table(places: tuple[int, int, int]) -> None:
    """HIG, relative points: a table of three counts as one of four, whose fourth has the mean of the others."""
    state = played((1, 2, 3, 4), places)
    points = table_points(state.terms, Result(places))
    of_four = sum(points) + Fraction(sum(points), 3)
    for who, own in zip(TABLES[1], points, strict=True):
        assert value(state, TieBreak.RELATIVE, who) == own * 4 / of_four


def test_catan_compares_shares_of_a_tables_points() -> None:
    """Catan championship: own points as a part of all at the table. At full tables relative points say the same."""
    state = played((2, 1, 4, 3), (1, 2, 3))
    points = table_points(state.terms, Result((2, 1, 4, 3)))
    shares = {who: Fraction(own, sum(points)) for who, own in zip(TABLES[0], points, strict=True)}
    assert {who: value(state, TieBreak.RELATIVE, who) / 4 for who in TABLES[0]} == shares
    assert sorted(shares.values(), reverse=True) == [Fraction(4, 7), Fraction(2, 7), Fraction(1, 7), Fraction(0)]


@pytest.mark.parametrize(
    ("places", "shared"),
    [((1, 1, 3, 4), (240, 240, 120, 60)), ((1, 2, 2, 4), (300, 150, 150, 60)), ((1, 2, 2, 2), (300, 120, 120, 120))],
)
def test_europe_masters_shares_the_points_of_a_tie(places: tuple[int, ...], shared: tuple[int, ...]) -> None:
    """Europe Masters: tied players share, so each gets the mean of what the places give that the tie takes."""
    assert table_points(terms(), Result(places)) == shared
    assert sum(shared) == 60 * (5 + 3 + 2 + 1)


def test_europe_masters_compares_mean_places() -> None:
    """Europe Masters: the mean of the places, here as 1 for the first and 0 for the last, also at a short table."""
    state = closed(played((1, 2, 3, 4), (1, 2, 3)))
    act = by_hand(state, (5, 1, 2, 6), (3, 4, 7))
    results(play(state, act, Publish(2)), (1, 2, 3, 4), (1, 2, 3))
    assert value(state, TieBreak.PLACE, 1) == (Fraction(1) + Fraction(2, 3)) / 2
    assert value(state, TieBreak.PLACE, 3) == (Fraction(1, 3) + Fraction(1)) / 2
    assert value(state, TieBreak.PLACE, 7) == 0


def test_europe_masters_plans_rounds_in_which_nobody_meets_twice() -> None:
    """Europe Masters: rounds are planned, seats too. Here sixteen at tables of four, over four rounds."""
    plan = planned(range(1, 17), (4,), 4, Deck(bytes(32)).words("example"))
    met = Counter(two for round_ in plan.rounds for table in round_.tables for two in combinations(sorted(table), 2))
    assert set(met.values()) == {1}
    sat = Counter((who, seat) for round_ in plan.rounds for table in round_.tables for seat, who in enumerate(table))
    assert max(sat.values()) <= 2


def test_wbc_seats_the_best_with_the_last() -> None:
    """World Boardgaming Championships: sixteen continue, at tables 1 8 9 16, 2 7 10 15, 3 6 11 14, 4 5 12 13."""
    assert snake(range(1, 17), 4) == ((1, 8, 9, 16), (2, 7, 10, 15), (3, 6, 11, 14), (4, 5, 12, 13))
