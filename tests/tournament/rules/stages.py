"""Helpers for the tests of the rules of events: the register, and events at some stage."""

from __future__ import annotations

from typing import Any

from referee.tournament.rules import TOURNAMENT, State, Terms
from referee.tournament.rules.acts import (
    Act,
    CheckIn,
    CloseEntries,
    CloseRound,
    Draw,
    Enter,
    EnterResult,
    Origin,
    Pair,
    Publish,
    Result,
    Tables,
)
from referee.tournament.rules.position import commitment
from referee.tournament.rules.quality import Pairing, bound, vector
from referee.tournament.rules.scoring import standings_hash
from referee.tournament.rules.situation import situation
from tests.rules import RuleTests

_HERE = "tests.tournament.rules"
RULES = RuleTests("referee.tournament.rules", f"{_HERE}.test_constraints", f"{_HERE}.test_scoring")
violates, mutated, derives = RULES.violates, RULES.mutated, RULES.derives

SEED = bytes(range(32))


def terms(**others: Any) -> Terms:
    """Return the default terms, with a seed that is known."""
    return Terms(**{"commitment": commitment(SEED), **others})


def new(**others: Any) -> State:
    """Return an event before its first act."""
    return TOURNAMENT.new(1, None, terms(**others))


def play(state: State, *acts: Act) -> State:
    """Return the state after legal acts."""
    for act in acts:
        assert state.check(act) == (), act
        state.apply(act)
    return state


def entered(count: int, **others: Any) -> State:
    """So many have entered and are there."""
    state = new(**others)
    for number in range(1, count + 1):
        play(state, Enter(number), CheckIn(number))
    return state


def drawn(count: int, **others: Any) -> State:
    """Round 1 can be paired."""
    return play(entered(count, **others), CloseEntries(), Draw(SEED))


def pair(state: State, *tables: tuple[int, ...], byes: tuple[int, ...] = (), **others: Any) -> Pair:
    """Return the act of a pairing, with the figures that it has."""
    before, sizes, pairing = situation(state), state.terms.sizes, Pairing(tables, byes)
    stated = {"vector": tuple(vector(before, sizes, pairing)), "bound": bound(before, sizes, byes)}
    return Pair(state.next_round, tables, byes, **{"origin": Origin.SWISS, **stated, **others})


def published(state: State, *tables: tuple[int, ...], byes: tuple[int, ...] = (), **others: Any) -> State:
    """The next round is published."""
    act = pair(state, *tables, byes=byes, **others)
    return play(state, act, Publish(act.round))


def results(state: State, *places: tuple[int, ...]) -> State:
    """The newest round has these results, table by table."""
    number = len(state.rounds)
    return play(state, *(EnterResult(number, table, Result(each)) for table, each in enumerate(places, 1)))


def closed(state: State) -> State:
    """The newest round is closed."""
    return play(state, CloseRound(len(state.rounds), standings_hash(state)))


def in_order(state: State) -> Tables:
    """Tables of four by the standing."""
    order = situation(state).standing
    return tuple(order[at : at + 4] for at in range(0, len(order), 4))


def round_one(count: int = 8, **others: Any) -> State:
    """Round 1 of an event is published: tables of four by the lots."""
    state = drawn(count, **others)
    return published(state, *in_order(state))


def by_hand(state: State, *tables: tuple[int, ...], byes: tuple[int, ...] = (), **others: Any) -> Pair:
    """Return a pairing that no program made."""
    given = {"origin": Origin.MANUAL, "reason": "the club asked for it", "engine_vector": (0,) * 9}
    return pair(state, *tables, byes=byes, **{**given, **others})
