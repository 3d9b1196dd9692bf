"""What a position is put together from, as JSON for the pages. Knows no game."""

from __future__ import annotations

from typing import Any

from referee.games import registry


def components() -> dict[str, dict[str, Any]]:
    """Return the pieces of each game, by rules id."""
    return {name: registry.part(__package__, name).components() for name in registry.names()}
