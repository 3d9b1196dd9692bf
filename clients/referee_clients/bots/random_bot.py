"""The weakest bot: it makes any legal move, and plays every game that the referee knows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any


class RandomBot:
    """Chooses evenly among the legal moves."""

    def __init__(self, generator: random.Random | None = None) -> None:
        self._generator = generator or random.Random()

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:  # noqa: ARG002 - it does not look
        return self._generator.choice(legal_moves)
