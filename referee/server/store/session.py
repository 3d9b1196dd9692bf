"""What the statements of this package need of a database: one connection to it, whatever the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Found(Protocol):
    """What a statement found or changed."""

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
