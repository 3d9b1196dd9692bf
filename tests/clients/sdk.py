"""Breakpoints of the SDK's connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee_clients.bots import load


class Stopped(Exception):
    """The bot's process is gone."""


class StopsAt:
    """Greedy, until it has been asked so often."""

    def __init__(self, times: int) -> None:
        self._left = times
        self._bot = load("greedy")

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        self._left -= 1
        if not self._left:
            raise Stopped
        return self._bot.choose(observation, legal_moves)
