"""A tournament's log, written to a file."""

from __future__ import annotations

import random
from pathlib import Path

from tests.log.games import SIGNER
from tests.tournament.simulation import simulated


def written(folder: Path, seed: int, players: int, rounds: int) -> Path:
    log, _ = simulated(random.Random(seed), players, rounds)
    path = folder / f"{seed}.eventlog"
    path.write_bytes(log.file(SIGNER))
    return path
