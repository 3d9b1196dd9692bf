"""Helpers for the tests of Roll & Write's rules: the register, and the beginning of positions."""

from __future__ import annotations

from typing import Any

from referee.games.game import Over
from referee.games.rollwrite import GAME, Options, State
from referee.games.rollwrite.position import Phase
from tests.games.rollwrite_positions import all_of, position
from tests.rules import RuleTests

RULES = RuleTests(
    "referee.games.rollwrite",
    "tests.games.test_rollwrite_constraints",
    "tests.games.test_rollwrite_scoring",
    "tests.games.test_rollwrite_turn",
)
violates, mutated, derives = RULES.violates, RULES.mutated, RULES.derives

PAVILION, SERAGLIO, ARCADES, CHAMBERS, GARDEN, TOWER = range(6)
THREE = ((1, 1), (2, 2), (3, 3))
"""Rolls for three buildings."""

PAVILIONS, GARDENS = all_of("pavilion"), all_of("garden")


def starting(seats: int = 3) -> State:
    """Seat 1 starts and rolls for its buildings."""
    return GAME.new(seats, Options(start_seat=1))


def virtual_start() -> State:
    return position(2, phase=Phase.VIRTUAL_START)


def play(state: State, *events: Any) -> State:
    """Return the state after legal events."""
    for event in events:
        assert state.check(event) == (), event
        state.apply(event)
    return state


def over(state: State) -> Over:
    (awaited,) = state.pending()
    assert isinstance(awaited, Over)
    return awaited
