"""The protocol of a game's module in this package: words for a scribe who does not know the notation. Knows no game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from referee.games import registry


class Guide(Protocol):
    """One game's guide."""

    TITLE: str
    """The game's name for people."""
    OPTIONS: Mapping[str, str]
    """The meaning of each option, by its name."""
    COMPONENTS: str
    """The components that may be declared in place of the version's own, such as a sheet; empty: none."""
    DRAWS: Mapping[str, str]
    """The outcome to be entered for each kind of chance, of ``{player}`` or the ``{virtual}`` player of that number."""
    MOVES: Mapping[str, str]
    """The effect of each kind of move."""

    def to_come(self, state: Any, typed: Sequence[str]) -> Sequence[str]:
        """Return the words that can follow these in the same draw or roll, each once."""


def guide(rules_id: str) -> Guide:
    """Return the game's module. Raise ``UnknownRules``."""
    found: Guide = registry.part(__package__, rules_id)
    return found


def left(words: Iterable[str], typed: Iterable[str]) -> list[str]:
    """Return those that are there more often than they were typed, each once."""
    count = Counter(words)
    count.subtract(typed)
    return [word for word, times in count.items() if times > 0]
