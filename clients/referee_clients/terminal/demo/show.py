"""What a game's module of this package offers: the game on the demo's screen. Knows no game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from rich.console import Console, RenderableType

from referee.games import registry


class Show(Protocol):
    """One game, told of every position in turn. Whatever it shows fits into 80 columns."""

    title: str
    """The game's name for people."""

    def went_on(self, state: Any) -> list[str]:
        """Take note of the position after an event; lines to be said of it, such as that a round was scored."""

    def status(self, state: Any) -> str:
        """Return how far the game is, in a few words."""

    def points(self, state: Any) -> Sequence[int]:
        """Per seat."""

    def position(self, state: Any) -> RenderableType:
        """Return the live picture: what lies on the table and what the seats have, in 73 columns and 16 lines."""

    def result(self, console: Console, state: Any) -> None:
        """Print how the game ended."""


def show(rules_id: str, bots: Sequence[str]) -> Show:
    """Return the game with these bots, by seat. Raise ``UnknownRules``."""
    found: Show = registry.part(__package__, rules_id).Show(bots)
    return found
