"""Time that passes only when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from referee.live.timing import TICK_MS, Time

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

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> _Call:
        call = _Call(callback)
        heappush(self._calls, (when_ms, next(self._order), call))
        return call

    def advance(self, ms: int) -> None:
        """Calls all that is due until then, each at its very time. The loop is on time."""
        until_ms, ticks = self._now_ms + ms, self._tick is not None
        if ms > _LONG_MS and ticks:  # nobody wants to see every tick of a day
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
        """The event loop does nothing else for so long."""
        self._now_ms += ms
