"""The rules of events that follow from others, and the register: every rule has its kind of test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games import alhambra, kingdomino, rollwrite
from referee.log.judge import Happened
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.tournament.log import EventLog
from referee.tournament.organiser import proposal
from referee.tournament.rules import State
from referee.tournament.rules.catalogue import CATALOGUE
from referee.tournament.rules.check import in_seat_order
from referee.tournament.rules.quality import Pairing, Vector, may_have_bye, vector
from referee.tournament.rules.situation import situation
from referee.tournament.simulate import Chances, Simulation
from tests.rules import Mutation
from tests.tournament.pairing.events import exchanged
from tests.tournament.rules.stages import RULES, SEED, derives, terms

OFTEN = Chances(absent=0.05, late=0.1, withdraw=0.05, no_show=0.03, forfeit=0.03, amend=0.05)
SIZES = {
    (4, 3): ((5, 3, 2, 1), (5, 3, 1)),
    (3, 2): ((3, 1, 0), (3, 0)),
    (2,): ((2, 0),),
    (5, 4): ((7, 5, 3, 2, 1), (7, 4, 2, 1)),
}


def simulated(players: int, rng_seed: int, sizes: tuple[int, ...] = (4, 3), rounds: int = 4) -> EventLog:
    """Return a random event, played to its end."""
    fixed = terms(sizes=sizes, points=SIZES[sizes], rounds=rounds, late_until=rounds)
    log = EventLog.new(fixed, PrivateKey.generate())
    Simulation(log, SEED, players, OFTEN, rng_seed).run()
    return log


@st.composite
def rounds(draw: st.DrawFn) -> tuple[State, Pairing]:
    """Before and what was paired, of a round of a random event by the standing."""
    sizes = draw(st.sampled_from(sorted(SIZES)))
    log = simulated(draw(st.integers(6, 14)), draw(st.integers(0, 1 << 20)), sizes, rounds=3)
    number = draw(st.integers(1, 3))
    (state,) = [each.before for each in happened(log) if is_pair(each, number)]
    paired = log.state.rounds[number - 1]
    assert isinstance(state, State)
    return state, Pairing(paired.tables, paired.byes)


def is_pair(each: Happened, number: int) -> bool:
    move = getattr(each.event, "move", None)
    return type(move).__name__ == "Pair" and move is not None and move.round == number


def happened(log: EventLog) -> list[Happened]:
    """Return every entry, read again."""
    record = Record(log.record.open_data)
    return [record.read(data) for data in log.entries]


def exchanges(state: State, pairing: Pairing) -> list[Vector]:
    """Return the vectors of all pairings that an exchange of two players leads to, without seats."""
    before, sizes = situation(state), state.terms.sizes
    groups = (*pairing.tables, pairing.byes)
    return [
        vector(before, sizes, exchanged(pairing, a, b))._replace(seats=0)
        for first, second in combinations(groups, 2)
        for a in first
        for b in second
    ]


few = settings(max_examples=3, deadline=None)


@derives("EVT-P3")
@derives("EVT-P4")
@derives("EVT-P9")
@few
@given(rounds())
def test_no_exchange_improves_and_the_same_is_paired_again(given_round: tuple[State, Pairing]) -> None:
    state, pairing = given_round
    now = vector(situation(state), state.terms.sizes, pairing)._replace(seats=0)
    assert not [other for other in exchanges(state, pairing) if other < now]
    again = proposal(state)
    assert (again.tables, again.byes) == (pairing.tables, pairing.byes)


@derives("EVT-O2")
def test_a_declared_order_is_that_of_the_seats() -> None:
    """It is compared as far as it goes: some games declare only the first seat."""
    assert all(in_seat_order(order) for order in ((), (0,), (0, 1, 2, 3)))
    assert not any(in_seat_order(order) for order in ((1,), (1, 0), (0, 2, 1)))
    declared = (
        kingdomino.Options(declared_order=(1, 0, 0, 1)).for_seats(2),
        alhambra.Options(age_order=(2, 0, 1)).for_seats(3),
        rollwrite.Options(start_seat=1).for_seats(3),
    )
    assert [options.declared_seats for options in declared] == [(1, 0), (2, 0, 1), (1,)]
    left = (kingdomino.Options().for_seats(2), alhambra.Options().for_seats(3), rollwrite.Options().for_seats(3))
    assert all(in_seat_order(options.declared_seats) for options in left)


@derives("EVT-B3")
@few
@given(st.integers(5, 11).filter(lambda players: players % 3 == 1), st.integers(0, 1 << 20))
def test_the_lowest_who_may_has_the_bye(players: int, rng_seed: int) -> None:
    fixed = terms(sizes=(3,), points=((3, 1, 0),), rounds=3)
    log = EventLog.new(fixed, PrivateKey.generate())
    Simulation(log, SEED, players, Chances(), rng_seed).run()
    for each in happened(log):
        for number in range(1, 4):
            if is_pair(each, number):
                assert isinstance(each.before, State)
                before = situation(each.before)
                byes = log.state.rounds[number - 1].byes
                assert byes == tuple(may_have_bye(before, 1)[-1:])


@pytest.mark.parametrize(
    ("mutation", "test"),
    [
        pytest.param(mutation, test, id=f"{rule}-{n}-{test.__name__}")
        for n, (rule, mutation, test) in enumerate(RULES.mutants)
    ],
)
def test_a_mutant_is_found_out(mutation: Mutation, test: Callable[[], None]) -> None:
    test()
    with mutation.applied(RULES.package), pytest.raises(AssertionError):
        test()
    test()


def test_every_rule_of_the_catalogue_has_its_kind_of_test() -> None:
    assert RULES.missing(CATALOGUE) == []
    assert len({rule.id for rule in CATALOGUE}) == len(CATALOGUE)
