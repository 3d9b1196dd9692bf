"""The referee's time: what it stamps and waits by, and how late its event loop is."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Protocol

TICK_MS = 20
"""How often the loop is looked at."""


class Handle(Protocol):
    """A handle on something that is to be called."""

    def cancel(self) -> None:
        """Cancel the call."""


class Receipt(NamedTuple):
    """When something came in."""

    at_ms: int
    late_ms: int
    """How long it may have waited for the loop before."""


class Time(ABC):
    """Milliseconds since 1970 that never go back, and what is to happen when. All on the event loop."""

    def __init__(self) -> None:
        self._tick: Handle | None = None
        self._ticks_ms = 0
        """When the next tick is due."""
        self._was_late_ms = 0
        """How late the last one was."""

    @abstractmethod
    def now_ms(self) -> int:
        """Return the time, never earlier than it was before."""

    @abstractmethod
    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Handle:
        """Call it then, or as soon as the loop comes to it."""

    def start(self) -> None:
        """Start to measure how late the loop is."""
        self._was_late_ms = 0
        self._wait_for_tick()

    def stop(self) -> None:
        """Stop measuring."""
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None

    def late_ms(self) -> int:
        """Return how long what comes in now may have waited for the loop: it is this late, or just was."""
        if self._tick is None:
            return 0
        return max(self._was_late_ms, self.now_ms() - self._ticks_ms)

    def receipt(self) -> Receipt:
        """Stamp a message received now."""
        return Receipt(self.now_ms(), self.late_ms())

    def _wait_for_tick(self) -> None:
        self._ticks_ms = self.now_ms() + TICK_MS
        self._tick = self.call_at(self._ticks_ms, self._ticked)

    def _ticked(self) -> None:
        self._was_late_ms = max(0, self.now_ms() - self._ticks_ms)
        self._wait_for_tick()


class Alarm:
    """Calls back at a time, but not before what came in until then has been seen to: the loop may be late."""

    def __init__(self, time: Time, due_ms: int, callback: Callable[[], None]) -> None:
        self._time = time
        self._due_ms = due_ms
        self._callback = callback
        self.late: tuple[int, int] | None = None
        """From when to when the loop did nothing, if it was due meanwhile."""
        self._handle = time.call_at(due_ms, self._look)

    def cancel(self) -> None:
        """Cancel the alarm."""
        self._handle.cancel()

    def _look(self) -> None:
        now_ms = self._time.now_ms()
        if now_ms > self._due_ms or self._time.late_ms():
            # What came in meanwhile still waits in front of the loop. By the next tick it was let in.
            self.late = (now_ms - self._time.late_ms(), now_ms)
            self._handle = self._time.call_at(now_ms + TICK_MS, self._callback)
        elif now_ms < self._due_ms:
            self._handle = self._time.call_at(self._due_ms, self._look)
        else:
            self._callback()


class SystemTime(Time):
    """The machine's clock as it was when this was made, and its monotonic one since: setting it changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead_ns = time.time_ns() - time.monotonic_ns()

    def now_ms(self) -> int:
        return (time.monotonic_ns() + self._ahead_ns) // 1_000_000

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Handle:
        # Rounded down a call may come in the millisecond before; the loop's own clock is the monotonic one, too.
        wait_s = (when_ms - self.now_ms()) / 1000
        return asyncio.get_running_loop().call_later(max(0.0, wait_s), callback)
