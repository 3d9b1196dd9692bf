"""Time that passes only on command."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from referee.server.live.referee_time import TICK_MS, SystemTime, Time

_LONG_MS = 1000


class _Call:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualTime(Time):
    """Stands still until ``advance``."""

    def __init__(self, now_ms: int) -> None:
        super().__init__()
        self._now_ms = now_ms
        self._calls: list[tuple[int, int, _Call]] = []
        self._order = count()

    def now_ms(self) -> int:
        return self._now_ms

    def _leap(self, ms: int) -> None:
        self._now_ms = ms

    def ahead_ms(self) -> int:
        return 0

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> _Call:
        call = _Call(callback)
        heappush(self._calls, (when_ms, next(self._order), call))
        return call

    def advance(self, ms: int) -> None:
        """Calls all that is due until then, each at its very time. The loop is on time."""
        until_ms, ticks = self._now_ms + ms, self._tick is not None
        if ms > _LONG_MS and ticks:  # no test wants to see every tick of a day
            self._go_on(self._now_ms + 2 * TICK_MS)
            self.stop()
        self._go_on(until_ms)
        if ticks and self._tick is None:
            self.start()

    def _go_on(self, until_ms: int) -> None:
        while self._calls and self._calls[0][0] <= until_ms:
            when_ms, _, call = heappop(self._calls)
            self._now_ms = max(self._now_ms, when_ms)
            if call.callback is not None:
                call.callback()
        self._now_ms = max(self._now_ms, until_ms)

    def block(self, ms: int) -> None:
        """Block the event loop for ``ms``."""
        self._now_ms += ms


class Machine:
    """A machine's clocks, and all that waits for them: one advances on command, the wall clock may be set."""

    def __init__(self, wall_ms: int) -> None:
        self.passed_ns = 0
        self.wall_ahead_ns = wall_ms * 1_000_000
        self._calls: list[tuple[int, int, _Call]] = []
        self._order = count()

    def set_wall(self, by_ms: int) -> None:
        """Set the wall clock forward, or back, but not to before 1970."""
        self.wall_ahead_ns = max(0, self.wall_ahead_ns + by_ms * 1_000_000)

    def wall_ns(self) -> int:
        return self.passed_ns + self.wall_ahead_ns

    def call_later(self, wait_s: float, callback: Callable[[], None]) -> _Call:
        call = _Call(callback)
        heappush(self._calls, (self.passed_ns + int(wait_s * 1e9), next(self._order), call))
        return call

    def advance(self, ms: int) -> None:
        """Calls all that is due until then, each at its very time."""
        until_ns = self.passed_ns + ms * 1_000_000
        while self._calls and self._calls[0][0] <= until_ns:
            when_ns, _, call = heappop(self._calls)
            self.passed_ns = max(self.passed_ns, when_ns)
            if call.callback is not None:
                call.callback()
        self.passed_ns = until_ns

    def end_process(self) -> None:
        """Drop all that waits."""
        self._calls.clear()


class MachineTime(SystemTime):
    """The referee's own time, on the clocks of a machine that a test has in its hand."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(wall_ns=machine.wall_ns, monotonic_ns=lambda: machine.passed_ns, call_later=machine.call_later)
        self.machine = machine

    def advance(self, ms: int) -> None:
        self.machine.advance(ms)

    def block(self, ms: int) -> None:
        self.machine.passed_ns += ms * 1_000_000
