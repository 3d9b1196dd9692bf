"""Commits from many games, gathered into batches that share one fsync. Knows no database.

At most one batch is under way, in one thread. Changes that come meanwhile are the next batch. Changes that come while
nothing is under way go as soon as the event loop has seen to everything that was ready, or at once if they are many.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from time import perf_counter

from referee.server.store.store import Change, Done, Observer, StoreFailed

ENOUGH_ROWS = 64
"""This many rows do not wait for more."""
QUIET_ROUNDS = 5
"""Rounds of the event loop without another change before the waiting ones go. An act that came in on a stream needs two
or three rounds to become a change, an act that came as a call some five; sharing a sync saves one."""


class GroupWriter:
    """The thread that batches are handed to; ``write`` makes all of a batch durable, or raises."""

    def __init__(self, write: Callable[[Sequence[Change]], None]) -> None:
        self._write = write
        self.observer: Observer | None = None
        self._waiting: list[tuple[Change, Done]] = []
        self._rows = 0
        self._under_way = False
        self._began_s: float | None = None
        """The time when the batch under way was handed over."""
        self._batch_size = 0
        """Changes in the batch under way."""
        self._came_s = self._batch_came_s = 0.0
        """The times when the oldest waiting change came, and the oldest of the batch under way."""
        self._failing_s: float | None = None
        """The time since when no batch has gone through; None: the last one did."""
        self._scheduled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Future[None] | None = None
        self._batches: SimpleQueue[list[tuple[Change, Done]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)

    def commit(self, change: Change, done: Done) -> None:
        """Take the change into the next batch. On the event loop only. Raise ``StoreFailed`` after ``stop``."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            try:
                self._thread.start()
            except BaseException:
                self._loop = None  # the next commit tries again
                raise
        if self._stopped is not None:
            raise StoreFailed("the store is closed")
        if not self._waiting:
            self._came_s = perf_counter()
        self._waiting.append((change, done))
        self._rows += len(change.rows)
        if not self._under_way:
            self._soon()

    @property
    def is_gathering(self) -> bool:
        """Return whether changes wait only for others to share a sync with."""
        return bool(self._waiting) and not self._under_way

    @property
    def waiting(self) -> int:
        """Return how many changes are not yet done, those in the batch under way included."""
        return len(self._waiting) + self._batch_size

    @property
    def waiting_s(self) -> float:
        """Return for how long the oldest of them has waited, in seconds; 0 without any."""
        if not self.waiting:
            return 0.0
        return perf_counter() - (self._batch_came_s if self._batch_size else self._came_s)

    @property
    def stuck_s(self) -> float:
        """Return for how long, in seconds, no batch has gone through although one was to; 0 if the last one did."""
        since = [began for began in (self._began_s, self._failing_s) if began is not None]
        return perf_counter() - min(since) if since else 0.0

    def went_through(self) -> None:
        """Note that something else could be written."""
        self._failing_s = None

    async def stop(self) -> None:
        """Wait until what was taken is done, then end the thread."""
        if self._loop is None:
            return
        if self._stopped is None:
            self._stopped = self._loop.create_future()
            if not self._under_way:
                self._send()
        await asyncio.shield(self._stopped)
        self._thread.join()

    def _soon(self) -> None:
        """Send what is waiting: now if it is much, otherwise when nothing more comes."""
        if self._rows >= ENOUGH_ROWS:
            self._send()
        elif self._loop is not None and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._quiet, len(self._waiting), QUIET_ROUNDS)

    def _quiet(self, seen: int, rounds: int) -> None:
        """Send what is waiting after this many more rounds of the event loop in which nothing has come."""
        waiting = len(self._waiting)
        if self._loop is not None and waiting and rounds > 0 and not self._under_way:
            self._loop.call_soon(self._quiet, waiting, rounds - 1 if waiting == seen else QUIET_ROUNDS)
            return
        self._scheduled = False
        if waiting and not self._under_way:
            self._send()

    def _send(self) -> None:
        if self._waiting:
            batch, self._waiting, self._rows = self._waiting, [], 0
            self._under_way = True
            self._batch_size, self._batch_came_s = len(batch), self._came_s
            self._began_s = perf_counter()
            self._batches.put(batch)
        elif self._stopped is not None:
            self._batches.put(None)

    def _settled(self, batch: list[tuple[Change, Done]], failure: StoreFailed | None, seconds: float) -> None:
        self._under_way, self._batch_size = False, 0
        self._failing_s = (self._failing_s or self._began_s) if failure is not None else None
        self._began_s = None
        for _, done in batch:
            try:
                done(failure)
            except Exception as error:  # noqa: BLE001 - one game's trouble is not the others'
                self._trouble(error)
        if self._stopped is not None:
            self._send()
        elif self._waiting:
            self._soon()
        # Last: whatever becomes of it, the next batch is on its way.
        if self.observer is not None:
            self.observer(seconds, len(batch), sum(len(change.rows) for change, _ in batch), failure)

    def _trouble(self, error: Exception) -> None:
        if self._loop is not None:
            self._loop.call_exception_handler({"message": "after a commit", "exception": error})

    def _run(self) -> None:
        assert self._loop is not None  # noqa: S101 - set before the thread starts
        while (batch := self._batches.get()) is not None:
            failure = None
            began = perf_counter()
            try:
                self._write([change for change, _ in batch])
            except Exception as error:  # noqa: BLE001 - after any error, callers must not take it for durable
                failure = error if isinstance(error, StoreFailed) else StoreFailed(f"{type(error).__name__}: {error}")
            self._loop.call_soon_threadsafe(self._settled, batch, failure, perf_counter() - began)
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._stopped is not None and not self._stopped.done():
            self._stopped.set_result(None)
