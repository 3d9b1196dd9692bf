"""Questions about boards and scores, and their answers. Knows no game."""

from __future__ import annotations

from functools import cache
from typing import Any

from referee.games import registry
from referee.text.notation import lines


def answer(line: bytes) -> dict[str, Any]:
    """Return the answer to one line; never raises."""
    return lines.answer(line, _answerers())


@cache
def _answerers() -> lines.Answerers:
    """``answer`` of each game's ``inspect``."""
    return {name: registry.part(__package__, name, "inspect").answer for name in registry.names()}
