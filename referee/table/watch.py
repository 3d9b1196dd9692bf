"""One watcher of a game: a bounded queue that never skips, and the word that ends it."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import Enum

from referee.store.store import Row

QUEUE_ROWS = 256


class Ending(Enum):
    """Why there is nothing more to come on this stream."""

    GAME_OVER = 1
    DRAINING = 2
    TOO_SLOW = 3


class Watcher:
    """Filled by the table, emptied by one reader; both on the event loop."""

    __slots__ = ("_ending", "_limit", "_rows", "_wake")

    def __init__(self, limit: int = QUEUE_ROWS) -> None:
        self._limit = limit
        self._rows: deque[Row] = deque()
        self._ending: Ending | None = None
        self._wake: asyncio.Future[None] | None = None

    def push(self, row: Row) -> None:
        """The next entry. If the reader is too far behind, it is cut off: a gap is worse than an end."""
        if self._ending is not None:
            return
        if len(self._rows) >= self._limit:
            self._rows.clear()
            self.end(Ending.TOO_SLOW)
            return
        self._rows.append(row)
        self._ring()

    def end(self, ending: Ending) -> None:
        """After what is in the queue there is only this. The first call counts."""
        if self._ending is None:
            self._ending = ending
            self._ring()

    async def next(self, silence_s: float) -> Row | Ending | None:
        """The next entry or the end; None after so long a silence."""
        if not self._rows and self._ending is None:
            loop = asyncio.get_running_loop()
            self._wake = loop.create_future()
            alarm = loop.call_later(silence_s, self._ring)
            try:
                await self._wake
            finally:
                alarm.cancel()
                self._wake = None
        return self._rows.popleft() if self._rows else self._ending

    def _ring(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
