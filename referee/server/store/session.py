"""A connection to a database, as the statements use it; and how a database keeps states of games and 64-bit numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, Protocol


class Found(Protocol):
    """The rows that a statement found or changed."""

    @property
    def rowcount(self) -> int:
        """Return how many rows it changed."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Session(Protocol):
    """Statements go here, each with a question mark for each of its values. In the caller's transaction."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Found:
        """Run one statement."""

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for each of these."""


class State(IntEnum):
    """The state of a game, as far as the store has to know."""

    OPEN = 0
    OVER = 1
    GIVEN_UP = 2
    """The game is kept, but in no list: callers find no such game."""


def signed(number: int | None) -> int | None:
    """Return a number of 64 bits as databases keep it, which has a sign."""
    return number if number is None or number < 1 << 63 else number - (1 << 64)


def unsigned(number: int | None) -> int | None:
    """Return what was kept by ``signed``."""
    return number if number is None or number >= 0 else number + (1 << 64)
