"""Bots that tests of players need: one that stops, and programs in Python."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
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


def python(folder: Path, code: str, name: str = "bot.py") -> str:
    """Return the name of a bot of this code."""
    (folder / name).write_text(code)
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(folder / name))}"
