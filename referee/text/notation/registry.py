"""How each game's events are put in words. Knows no game."""

from __future__ import annotations

from typing import Any, Protocol

from referee.games import registry


class Notation(Protocol):
    """What a game's module of this package offers."""

    def describe(self, event: Any, state: Any) -> str:
        """Return the event on one line; ``state``: the position before it."""

    def rounds(self, state: Any, held: int) -> list[str]:
        """Return a line for each scoring round after the first ``held``, if the game has such."""


def notation(rules_id: str) -> Notation:
    """``words`` of the game's package. Raise ``UnknownRules``."""
    found: Notation = registry.part(__package__, rules_id, "words")
    return found
