"""Positions as text with the names of the players."""

from __future__ import annotations

import pytest

from referee.games import registry
from referee.games.game import Chance
from referee.text.render.drawing import renderer


@pytest.mark.parametrize("rules_id", registry.names())
def test_names_and_no_word_of_what_is_awaited(rules_id: str) -> None:
    game = registry.get(rules_id)
    state = game.new(2, None, None)
    for _ in range(12):
        chance = isinstance(state.pending()[0], Chance)
        state.apply(next(iter(state.chance_outcomes()))[0] if chance else next(iter(state.legal_moves())))
    draw = renderer(rules_id)
    first, rest = draw.position_text(state).split("\n", 1)
    assert first.startswith(("player ", "awaiting "))
    assert draw.position_text(state, awaits=False) == rest
    named = draw.position_text(state, [1, 0], names=["", "Blue"])
    assert "\nBlue: " in named
    assert "\nplayer 1: " in named
