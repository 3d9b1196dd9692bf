"""Whole random games of every kind, and what came of them: a line for each, the same by every build of the rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee.harness import Shuffler

SEEDS = 4


def digest(rules_id: str, seats: int, seed: int, copied: Callable[[Any], Any] = lambda state: state) -> str:
    """Play, and return the SHA-256 of every position, with its list of moves and the rules that a wrong event breaks.

    After each event the game continues with what ``copied`` makes of the position.
    """
    rng, game, found = random.Random(seed), registry.get(rules_id), sha256()
    state, dealer = game.new(seats), game.dealer(seats, None, None, Shuffler(rng))
    before = None
    while not isinstance(awaited := state.pending()[0], Over):
        found.update(state.encode())
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        elif isinstance(awaited, Forced):
            event = ForcedPass(awaited.seat)
        else:
            moves = list(state.legal_moves())
            found.update(repr(moves).encode())
            event = rng.choice(moves)
        # An event of the position before is legal or not, and that too is an answer.
        found.update(repr((state.check(before), state.check(event))).encode())
        state.apply(event)
        state, before = copied(state), event
    found.update(state.encode() + repr(awaited).encode())
    return found.hexdigest()


def lines() -> Iterator[str]:
    """Yield game, seats, seed and digest."""
    for rules_id in registry.names():
        game = registry.get(rules_id)
        for seats in range(game.min_seats, game.max_seats + 1):
            for seed in range(SEEDS):
                yield f"{rules_id} {seats} {seed} {digest(rules_id, seats, seed)}"


if __name__ == "__main__":
    print(*lines(), sep="\n")
