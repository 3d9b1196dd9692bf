"""EVT-P1 to EVT-P8 of the rounds that ``swiss`` pairs, by the judge that shares nothing with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.log.deck import Deck
from referee.tournament.pairing.draw import Words
from referee.tournament.pairing.swiss import STEPS, Paired, swiss
from referee.tournament.rules.quality import Pairing, Situation, bound, improvement, least_seats, vector, violations
from tests.sizes import campaign
from tests.tournament.pairing.events import Event, shapes

SIZES = st.lists(st.integers(2, 6), min_size=1, max_size=3, unique=True).map(tuple)


def words(seed: int = 0) -> Words:
    """Return a draw."""
    return Deck(seed.to_bytes(32, "big")).words("event/1/tables")


def held(situation: Situation, sizes: tuple[int, ...], paired: Paired) -> None:
    """Check what holds of every round."""
    hard = {v.rule_id for v in violations(situation, sizes, paired.pairing)}
    assert hard <= {"EVT-P5"}
    assert vector(situation, sizes, paired.pairing) == paired.reached
    assert bound(situation, sizes, paired.pairing.byes) == paired.bound <= paired.reached.spread
    assert improvement(situation, sizes, paired.pairing) is None
    seats = sum(least_seats(situation, table) for table in paired.pairing.tables)
    assert paired.reached.seats == seats
    place = {player: number for number, player in enumerate(situation.standing)}
    best = [min(place[player] for player in table) for table in paired.pairing.tables]
    assert best == sorted(best), "table 1 has the leader, and so on"


@pytest.mark.parametrize(("examples", "steps"), [(20, 200), campaign(40, STEPS)])
def test_every_round_of_every_event(examples: int, steps: int) -> None:
    """Lawful, stable, above the bound, what it says it is, and the same again: with people who come late, stay away,
    leave, and may not meet.
    """

    @settings(max_examples=examples, deadline=None)
    @given(st.integers(2, 200), SIZES, st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.1]))
    def rounds(players: int, sizes: tuple[int, ...], seed: int, rounds: int, part: float) -> None:
        event = Event(players, sizes, seed, absent=part, withdrawn=part / 2, late=part / 3, forbidden=part)
        for _ in range(rounds):
            situation = event.situation()
            paired = swiss(situation, sizes, words(seed), steps=steps)
            held(situation, sizes, paired)
            assert swiss(situation, sizes, words(seed), steps=steps) == paired
            event.play(paired.pairing)

    rounds()


@pytest.mark.parametrize(("players", "seed"), [(34, 8), (18, 1), campaign(34, 10), campaign(35, 3)])
def test_a_round_from_a_cover_is_taken_only_if_it_is_better(
    players: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two byes, too, which are of no concern to a cover."""
    event, steps = Event(players, (4,), seed), 1_500
    for _ in range(6):
        situation = event.situation()
        with monkeypatch.context() as patched:
            patched.setattr("referee.tournament.pairing.swiss._COVERED", 0)
            without = swiss(situation, (4,), words(seed), steps=steps)
        paired = swiss(situation, (4,), words(seed), steps=steps)
        assert paired.reached[:8] <= without.reached[:8]
        event.play(paired.pairing)


@pytest.mark.parametrize(
    ("players", "seed", "steps"),
    [
        (40, 21, 2_000),
        *(campaign(40, seed, STEPS) for seed in (20, 49)),
        campaign(43, 2, STEPS),
        campaign(48, 3, STEPS),
    ],
)
def test_a_club_meets_nobody_twice(players: int, seed: int, steps: int) -> None:
    """Eight rounds at tables of four: no repeat is needed, and there is none."""
    event = Event(players, (4, 3), seed)
    for _ in range(8):
        paired = swiss(event.situation(), (4, 3), words(), steps=steps)
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


def test_the_bound_is_that_of_the_byes() -> None:
    """To part two, others have the bye than the last: the bound is of those at tables."""
    event = Event(9, (5,), seed=22, absent=0.1, withdrawn=0.05, late=0.033, forbidden=0.1)
    for _ in range(2):
        situation = event.situation()
        paired = swiss(situation, (5,), words(22))
        held(situation, (5,), paired)
        event.play(paired.pairing)


def test_nobody_and_too_few() -> None:
    """A player without a table has the bye."""
    assert swiss(Situation((), {}), (4,), words()).pairing.tables == ()
    assert swiss(Situation((7, 9), {}), (4, 3), words()).pairing.byes == (7, 9)


def test_wrong_sizes_are_refused() -> None:
    """By name."""
    with pytest.raises(InputError, match=r"^sizes: tables of 1"):
        swiss(Situation((1, 2), {}), (1,), words())


def test_the_draw_decides_the_seats_only_where_counts_do_not() -> None:
    """A player does not sit on seat 0 twice in a row; without a past any seat is drawn."""
    situation = Situation((1, 2), {})
    assert {swiss(situation, (2,), words(seed)).pairing.tables for seed in range(8)} == {((1, 2),), ((2, 1),)}
    sat = replace(situation, seated={1: (1,)})
    assert {swiss(sat, (2,), words(seed)).pairing.tables for seed in range(8)} == {((2, 1),)}


def groups(players: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every way to divide the players into tables of these sizes, each once."""
    if not sizes:
        yield ()
        return
    for size in sorted(set(sizes)):
        rest = list(sizes)
        rest.remove(size)
        for others in combinations(players[1:], size - 1):
            left = tuple(player for player in players[1:] if player not in others)
            for tables in groups(left, tuple(rest)):
                yield ((players[0], *others), *tables)


def the_best(situation: Situation, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the smallest vector, seats left aside, of all pairings without those who must not meet."""
    players = situation.standing
    found = []
    for shape in shapes(len(players), sizes):
        for byes in combinations(players, len(players) - sum(shape)):
            there = tuple(player for player in players if player not in byes)
            pairings = (Pairing(tables, byes) for tables in groups(there, shape))
            found += [
                vector(situation, sizes, pairing)[:8]
                for pairing in pairings
                if not violations(situation, sizes, pairing)
            ]
    return min(found)


@pytest.mark.parametrize(
    ("players", "sizes"),
    [(6, (3,)), (7, (4, 3)), (7, (3, 2)), (8, (4, 3)), (8, (2,)), (9, (4,)), campaign(9, (3,)), campaign(9, (5, 4)),
     campaign(10, (4, 3)), campaign(10, (6, 4)), campaign(10, (3, 2)), campaign(11, (4, 3)), campaign(12, (4, 3))],
)  # fmt: skip
def test_no_pairing_at_all_is_better(players: int, sizes: tuple[int, ...]) -> None:
    """Few players, three rounds, some of whom should not meet: against every pairing that is lawful."""
    event = Event(players, sizes, seed=players)
    event.soft = frozenset({(1, 2), (3, 5)})
    for _ in range(3):
        situation = event.situation()
        paired = swiss(situation, sizes, words())
        assert paired.reached[:8] == the_best(situation, sizes)
        event.play(paired.pairing)
