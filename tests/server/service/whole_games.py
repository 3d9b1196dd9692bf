"""Options for short games."""

from __future__ import annotations

from typing import Any

from referee.games import alhambra
from referee.wire.registry import codec


def options(chosen: Any) -> bytes:
    """Encoded; the game is the one whose options they are."""
    rules_id = type(chosen).__module__.split(".")[2]
    return codec(rules_id, 1).encode_options(chosen)


SHORT = options(alhambra.Options(max_turns=30))
