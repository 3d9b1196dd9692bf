"""Tournaments at random."""

from __future__ import annotations

import random
from typing import Any

from referee.tournament.log import EventLog
from referee.tournament.simulate import Chances, Simulation
from tests.log.games import key
from tests.tournament.rules.stages import SEED, terms

SIZES: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {
    (4, 3): ((5, 3, 2, 1), (5, 3, 1)),
    (3, 2): ((3, 1, 0), (3, 0)),
    (3, 4, 2): ((3, 1, 0), (4, 2, 1, 0), (3, 0)),
    (2,): ((2, 0),),
    (4,): ((7, 4, 2, 0),),
    (5, 4): ((7, 5, 3, 2, 1), (7, 4, 2, 1)),
    (6, 5, 4): ((9, 7, 5, 3, 2, 1), (9, 6, 4, 2, 1), (9, 5, 2, 1)),
}


def simulated(rng: random.Random, players: int, rounds: int, **others: Any) -> tuple[EventLog, Simulation]:
    """Return an event of random terms and chances, played to its end."""
    sizes = rng.choice(sorted(SIZES))
    cut = {"cut": 4, "cut_size": rng.choice((2, 4)), "cut_advance": 1} if rng.random() < 0.3 else {}
    fixed = terms(
        sizes=sizes,
        points=SIZES[sizes],
        rounds=rounds,
        late_until=rounds,
        bye_points=90,
        late_points=30,
        **cut,
        **others,
    )
    chances = Chances(*(rng.choice((0.0, 0.02, 0.08)) for _ in range(6)))
    log = EventLog.new(fixed, key("organiser"))
    simulation = Simulation(log, SEED, players, chances, rng.randrange(1 << 30))
    simulation.run()
    return log, simulation
