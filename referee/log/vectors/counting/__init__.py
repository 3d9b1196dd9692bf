"""Counts with the engine what counting files count: each game has a module that reads its entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from referee.games import registry
from referee.log.vectors.entries import Entry

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A position of an entry, and how it goes on."""

    state: Any
    settle: Callable[[Any, int], int]
    """Has everything happen that nobody decides. Takes and returns how much of what the entry draws has come."""
    used: int = 0

    def after(self, move: Any) -> Point:
        """Return the next decision. Raise ``ValueError`` for a move that is against the rules."""
        if broken := self.state.check(move):
            raise ValueError(f"{move!r}: {', '.join(violation.rule_id for violation in broken)}")
        state = self.state.copy()
        state.apply(move)
        return Point(state, self.settle, self.settle(state, self.used))


class Counting(Protocol):
    """What a game's module offers. All raise ``ValueError`` for what is none of its entries or moves."""

    def start(self, entry: Entry) -> Point:
        """Return the position in which counting starts, of an entry of a whole game."""

    def move_of(self, said: Words, state: Any) -> Any:
        """Return the move of a ``play`` line."""

    def placings(self, entry: Entry, depth: int) -> int:
        """Return the number of sequences of placements, of an entry with a hand."""


def counting(rules_id: str) -> Counting:
    """Return the game's module."""
    found: Counting = registry.part(__package__, rules_id)
    return found


def count(rules_id: str, entry: Entry, depth: int) -> int:
    """Return how many sequences of so many moves follow."""
    if "hand" in entry.lines:
        return counting(rules_id).placings(entry, depth)
    return _count(counting(rules_id).start(entry), depth)


def played(game: Counting, point: Point, entry: Entry) -> Point:
    """Return the position after the entry's ``play`` lines. Raise ``ValueError``."""
    for said in entry.play:
        try:
            point = point.after(game.move_of(said, point.state))
        except ValueError as error:
            raise ValueError(f"{entry.id}, play {' '.join(said)}: {error}") from error
    return point


def happened(state: Any, outcome: Any) -> None:
    """Apply what was drawn. Raise ``ValueError``."""
    if broken := state.check(outcome):
        raise ValueError(f"{outcome!r}: {', '.join(violation.rule_id for violation in broken)}")
    state.apply(outcome)


def pair(word: str) -> tuple[int, int]:
    """Return the two numbers of ``-1,2``."""
    first, second = word.split(",")
    return int(first), int(second)


def _count(point: Point, depth: int) -> int:
    moves = list(point.state.legal_moves())
    return len(moves) if depth == 1 else sum(_count(point.after(move), depth - 1) for move in moves)
