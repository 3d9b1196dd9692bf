"""How each game's events are put in words. Knows no game."""

from __future__ import annotations

from typing import Any, Final, Protocol

from referee.games.game import UnknownRules
from referee.notation import alhambra


class Notation(Protocol):
    """What a game's module of this package offers."""

    def describe(self, event: Any, state: Any) -> str:
        """The event on one line; ``state``: the position before it."""

    def rounds(self, state: Any, held: int) -> list[str]:
        """A line for each scoring round after the first ``held``, if the game has such."""


_NOTATIONS: Final[dict[str, Notation]] = {"alhambra": alhambra}


def notation(rules_id: str) -> Notation:
    """Raises ``UnknownRules``."""
    try:
        return _NOTATIONS[rules_id]
    except KeyError:
        raise UnknownRules(f"no notation for {rules_id!r}") from None
