"""The words of each game's events, and its scorings as they come. Knows no game."""

from __future__ import annotations

from typing import Any, Protocol

from referee.games import registry
from referee.games.game import State


class Notation(Protocol):
    """The functions that a game's module of this package offers."""

    def describe(self, event: Any, state: Any) -> str:
        """Return the event on one line; ``state``: the position before it."""

    def rounds(self, state: Any, held: int) -> list[str]:
        """Return a line for each scoring round after the first ``held``, if the game has such."""


def notation(rules_id: str) -> Notation:
    """``words`` of the game's package. Raise ``UnknownRules``."""
    found: Notation = registry.part(__package__, rules_id, "words")
    return found


class Scorings:
    """Collects the positions right after each scoring of a game in progress."""

    def __init__(self, rules_id: str) -> None:
        self._notation = notation(rules_id)
        self._found: list[tuple[int, State]] = []
        """The number of lines that the scorings had brought, and the position."""

    @property
    def states(self) -> list[State]:
        """The positions, of those scorings that have not been taken back."""
        return [state for _, state in self._found]

    def see(self, state: State) -> None:
        """Look at the position after every event, and wherever the game was set back."""
        lines = len(self._notation.rounds(state, 0))
        while self._found and self._found[-1][0] > lines:
            self._found.pop()
        if lines > (self._found[-1][0] if self._found else 0):
            self._found.append((lines, state.copy()))
