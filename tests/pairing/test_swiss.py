"""EVT-P1 to EVT-P8 of the rounds that ``swiss`` pairs, by the judge that shares nothing with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.event.quality import Situation, bound, improvement, least_seats, vector, violations
from referee.games.game import InputError
from referee.log.deck import Deck
from referee.pairing.draw import Words
from referee.pairing.swiss import Paired, swiss
from tests.pairing.events import Event
from tests.sizes import campaign

SIZES = st.lists(st.integers(2, 6), min_size=1, max_size=3, unique=True).map(tuple)


def words(seed: int = 0) -> Words:
    """A draw."""
    return Deck(seed.to_bytes(32, "big")).words("event/1/tables")


def held(situation: Situation, sizes: tuple[int, ...], paired: Paired) -> None:
    """What holds of every round."""
    hard = {v.rule_id for v in violations(situation, sizes, paired.pairing)}
    assert hard <= {"EVT-P5"}
    assert vector(situation, sizes, paired.pairing) == paired.reached
    assert bound(situation, sizes, paired.pairing.byes) == paired.bound <= paired.reached.spread
    assert improvement(situation, sizes, paired.pairing) is None
    seats = sum(least_seats(situation, table) for table in paired.pairing.tables)
    assert paired.reached.seats == seats


@pytest.mark.parametrize("examples", [20, campaign(1000)])
def test_every_round_of_every_event(examples: int) -> None:
    """Lawful, stable, above the bound, what it says it is, and the same again: with people who come late, stay away,
    leave, and may not meet.
    """

    @settings(max_examples=examples, deadline=None)
    @given(st.integers(2, 200), SIZES, st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.1]))
    def rounds(players: int, sizes: tuple[int, ...], seed: int, rounds: int, part: float) -> None:
        event = Event(players, sizes, seed, absent=part, withdrawn=part / 2, late=part / 3, forbidden=part)
        for _ in range(rounds):
            situation = event.situation()
            paired = swiss(situation, sizes, words(seed))
            held(situation, sizes, paired)
            assert swiss(situation, sizes, words(seed)) == paired
            event.play(paired.pairing)

    rounds()


def test_a_club_meets_nobody_twice() -> None:
    """40 players, 7 rounds at tables of four: no repeat is needed, and there is none."""
    event = Event(40, (4, 3), seed=1)
    for _ in range(7):
        paired = swiss(event.situation(), (4, 3), words())
        assert paired.reached.repeats == 0
        event.play(paired.pairing)


def test_the_bye_goes_down_the_standing() -> None:
    """EVT-B1, EVT-B3: the last who had none, until all had one."""
    event = Event(5, (4,), seed=3)
    had = []
    for _ in range(5):
        situation = event.situation()
        paired = swiss(situation, (4,), words())
        (away,) = paired.pairing.byes
        assert away == [player for player in situation.standing if player not in had][-1]
        had.append(away)
        event.play(paired.pairing)
    assert sorted(had) == [1, 2, 3, 4, 5]


def test_who_must_not_meet_stands_above_the_bye() -> None:
    """The last would have the bye, were it not the only way to part two."""
    situation = Situation((1, 2, 3, 4, 5), {}, hard=frozenset({(1, 4)}))
    paired = swiss(situation, (4,), words())
    assert paired.pairing.byes == (4,)
    assert paired.reached.bye_rank == 1


def test_nobody_and_too_few() -> None:
    """Who cannot play has the bye."""
    assert swiss(Situation((), {}), (4,), words()).pairing.tables == ()
    assert swiss(Situation((7, 9), {}), (4, 3), words()).pairing.byes == (7, 9)


def test_wrong_sizes_are_refused() -> None:
    """By name."""
    with pytest.raises(InputError, match=r"^sizes: tables of 1"):
        swiss(Situation((1, 2), {}), (1,), words())


def test_the_draw_decides_the_seats_only_where_counts_do_not() -> None:
    """Who sat on seat 0 does not again; without a past any seat is drawn."""
    situation = Situation((1, 2), {})
    assert {swiss(situation, (2,), words(seed)).pairing.tables for seed in range(8)} == {((1, 2),), ((2, 1),)}
    sat = replace(situation, seated={1: (1,)})
    assert {swiss(sat, (2,), words(seed)).pairing.tables for seed in range(8)} == {((2, 1),)}
