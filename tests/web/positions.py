"""Positions of every game at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee.harness import Shuffler


def at_random(rules_id: str, seats: int, seed: int, options: Any = None) -> Iterator[tuple[str, Any]]:
    """Yield every position of a whole unsigned game."""
    rng, game = random.Random(seed), registry.get(rules_id)
    state, dealer = game.new(seats, options), game.dealer(seats, options, None, Shuffler(rng))
    yield rules_id, state
    while not isinstance(awaited := state.pending()[0], Over):
        if isinstance(awaited, Chance):
            event: Any = dealer.outcome(state)
        elif isinstance(awaited, Forced):
            event = ForcedPass(awaited.seat)
        else:
            event = rng.choice(list(state.legal_moves()))
        state.apply(event)
        yield rules_id, state
