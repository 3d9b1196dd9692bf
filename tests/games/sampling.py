"""Positions whose next chance is sampled."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over


def positions(rules_id: str, seats: int, seed: int, options: Any = None) -> Iterator[Any]:
    """Yield positions of a random game in which chance is awaited; what comes is sampled."""
    rng = random.Random(seed)
    state: Any = registry.get(rules_id).new(seats, options, None)
    while True:
        match state.pending()[0]:
            case Over():
                return
            case Chance():
                yield state
                state.apply(state.sample(rng.randrange))
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case Decision():
                state.apply(rng.choice(tuple(state.legal_moves())))
