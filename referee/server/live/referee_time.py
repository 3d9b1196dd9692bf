"""The referee's time: its stamps and alarms, and the delay of its event loop."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Protocol
from weakref import WeakSet

TICK_MS = 20
"""The interval at which the loop is checked."""
SLEW = 2000
"""The referee's time runs faster or slower than the monotonic clock by at most one part in this number, to come near
the wall clock: NTP's own limit, 0.15 s in five minutes."""


class Handle(Protocol):
    """A handle on something that is to be called."""

    def cancel(self) -> None:
        """Cancel the call."""


class Receipt(NamedTuple):
    """The receipt of a message."""

    at_ms: int
    late_ms: int
    """The longest that it may have waited for the loop before."""


class Keeper(Protocol):
    """Measures how long something lasts."""

    def leapt(self, from_ms: int, to_ms: int) -> None:
        """Note that the time leapt from ``from_ms`` to ``to_ms``: that span counts for no duration."""


class Time(ABC):
    """Milliseconds since 1970 that never go back, and what is to happen when. All on the event loop."""

    def __init__(self) -> None:
        self._keepers: WeakSet[Keeper] = WeakSet()
        self.waiting: WeakSet[Keeper] = WeakSet()
        """Keepers whose clocks wait for seats since an outage: ``alive`` says until when seats could act in their
        games."""
        self._tick: Handle | None = None
        self._ticks_ms = 0
        """The time when the next tick is due."""
        self._was_late_ms = 0
        """The delay of the last tick."""

    @abstractmethod
    def now_ms(self) -> int:
        """Return the time, never earlier than it was before."""

    def reach(self, ms: int) -> None:
        """Go on from ``ms`` if that is later than now, as it was stamped before, maybe by another referee."""
        now_ms = self.now_ms()
        if ms <= now_ms:
            return
        self._leap(ms)
        self._ticks_ms += ms - now_ms
        for keeper in self._keepers:
            keeper.leapt(now_ms, ms)

    @abstractmethod
    def _leap(self, ms: int) -> None:
        """Go on from ``ms``, which is later than now."""

    def keeps(self, keeper: Keeper) -> None:
        """Report leaps to the keeper, for as long as it is in use."""
        self._keepers.add(keeper)

    @abstractmethod
    def ahead_ms(self) -> int:
        """Return by how much it is ahead of the machine's wall clock; below 0: behind it."""

    @abstractmethod
    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Handle:
        """Call it then, or as soon as the loop comes to it; rounding may make it a little early."""

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
        return self.receipt().late_ms

    def receipt(self) -> Receipt:
        """Stamp a message received now."""
        now_ms = self.now_ms()
        return Receipt(now_ms, 0 if self._tick is None else max(self._was_late_ms, now_ms - self._ticks_ms))

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
        """The span in which the loop did nothing, if it was due meanwhile."""
        self._handle = time.call_at(due_ms, self._look)

    def cancel(self) -> None:
        """Cancel the alarm."""
        self._handle.cancel()

    def _look(self) -> None:
        now_ms = self._time.now_ms()
        if now_ms > self._due_ms or self._time.late_ms():
            # A message that came meanwhile still waits in front of the loop. By the next tick it was let in.
            self.late = (now_ms - self._time.late_ms(), now_ms)
            self._handle = self._time.call_at(now_ms + TICK_MS, self._callback)
        elif now_ms < self._due_ms:
            self._handle = self._time.call_at(self._due_ms, self._look)
        else:
            self._callback()


def _call_later(wait_s: float, callback: Callable[[], None]) -> Handle:
    return asyncio.get_running_loop().call_later(wait_s, callback)


class SystemTime(Time):
    """The machine's wall clock as it was when this was made, and its monotonic one since; it follows the wall clock by
    one part in ``SLEW`` and never goes back, so setting that clock changes no game.
    """

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        call_later: Callable[[float, Callable[[], None]], Handle] = _call_later,
    ) -> None:
        super().__init__()
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._call_later = call_later
        self._seen_ns = monotonic_ns()
        self._now_ns = wall_ns()

    def now_ms(self) -> int:
        seen_ns = self._monotonic_ns()
        passed_ns = seen_ns - self._seen_ns
        self._seen_ns = seen_ns
        self._now_ns += passed_ns
        most_ns = passed_ns // SLEW
        self._now_ns += max(-most_ns, min(self._wall_ns() - self._now_ns, most_ns))
        return self._now_ns // 1_000_000

    def _leap(self, ms: int) -> None:
        self._now_ns = ms * 1_000_000

    def ahead_ms(self) -> int:
        return self.now_ms() - self._wall_ns() // 1_000_000

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Handle:
        # Rounded down a call may come in the millisecond before. What waits goes by the monotonic clock, and this may
        # run faster than that: rather early than late, as an alarm that finds itself early is set again.
        wait_s = (when_ms - self.now_ms()) / 1000 * (1 - 1 / SLEW)
        return self._call_later(max(0.0, wait_s), callback)
