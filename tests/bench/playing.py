"""Playing on in thought and learning: what a copy of a position takes, and the steps of environments, on one core."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from referee.games import registry
from referee_clients.gym.environments import Play, RawEnv
from tests.bench.measure import Figure, against

STEPS = 400
LEAST_STEPS = 1500
"""A second, whatever the game."""


def figures() -> Iterator[Figure]:
    """Measure each game: copies beside decisions, steps beside the rules' own loop."""
    for game in registry.names():
        yield against(f"{game}: copies of positions; the floor is decisions", copies(game), bare(game), 0)
    for game in registry.names():
        measured = against(f"{game}: steps of an environment; the floor is decisions", stepping(game), bare(game), 0)
        yield measured
        yield Figure(f"{game}: steps of an environment", measured.value, LEAST_STEPS)


def copies(game: str) -> Callable[[], int]:
    """Copies of the positions of a game."""
    play, generator = Play(game, 2, None, None, "places"), random.Random(1)
    play.begin(1)
    states = []
    while play.over is None:
        states.append(play.state.copy())
        play.make(generator.choice(play.moves))

    def work() -> int:
        for state in states:
            state.copy()
        return len(states)

    return work


def bare(game: str) -> Callable[[], int]:
    """Moves listed, chosen at random, and applied with all that follows."""
    rules, generator = registry.get(game), random.Random(1)

    def work() -> int:
        return _decided(rules, generator)

    return work


def _decided(rules: Any, generator: random.Random) -> int:
    made = 0
    while made < STEPS:
        state = rules.new(2, None, None)
        while state.phase.name != "OVER" and made < STEPS:
            moves = tuple(state.legal_moves())
            if moves:
                state.apply(generator.choice(moves))
                made += 1
            else:
                state.apply(state.sample(generator.randrange))
    return made


def stepping(game: str) -> Callable[[], int]:
    """Return the loop by way of an environment: every agent sees planes, facts and mask before it acts."""
    env, generator = RawEnv(game, 2), np.random.default_rng(1)
    env.reset(seed=1)
    return partial(_stepped, env, generator)


def _stepped(env: RawEnv, generator: np.random.Generator) -> int:
    for _ in range(STEPS):
        observed, _, is_over, _, _ = env.last()
        if is_over:
            env.reset()
            continue
        assert observed is not None
        env.step(int(generator.choice(np.flatnonzero(observed["action_mask"]))))
    return STEPS
