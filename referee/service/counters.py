"""What is counted while the referee runs: plain numbers, changed and read on the event loop alone, so without locks."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from time import monotonic, perf_counter
from typing import Literal

import structlog

from referee.live.answers import Accepted, Answer
from referee.log.clocks import DELAY_MS
from referee.service import errors
from referee.store.errors import StoreFailed

Way = Literal["unary", "stream"]

ACT_SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
COMMIT_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SLOW_COMMIT_S = 0.5
"""Players notice, and the disk is to blame."""
SLOW_MS = 250
"""Time of a player that the referee took itself before it counts as slow: the disk, or a busy event loop."""
_LATELY_S = 60.0
_LATELY_COMMITS = 4096

_log = structlog.get_logger("referee.store")


class Distribution:
    """How many values lay below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        """``bounds`` ascend; a value on a bound lies below it."""
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        """The sum of all values."""

    def add(self, value: float) -> None:
        """Add one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Return cumulative counts by upper bound, as Prometheus wants them."""
        so_far, buckets = 0, list[tuple[str, float]]()
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            so_far += count
            buckets.append(("+Inf" if bound == float("inf") else repr(float(bound)), so_far))
        return buckets


class Acts:
    """Acts that came in, and what became of them."""

    def __init__(self) -> None:
        self.settled: Counter[tuple[Way, str, str]] = Counter()
        """By way in, verdict (accepted, refused, repeated, failed, left) and the reason of a failure."""
        self.under_way = 0
        self._none_under_way = asyncio.Event()
        self._none_under_way.set()
        self.seconds = {"unary": Distribution(ACT_SECONDS), "stream": Distribution(ACT_SECONDS)}
        """From the arrival of accepted acts until they were durable."""
        self.overhead = Distribution(ACT_SECONDS)
        """Time of running clocks that was not charged as the referee took it, in seconds."""
        self.delays = 0
        """Acts for which that was ``DELAY_MS`` or more."""

    def received(self, way: Way) -> Arrival:
        """Count an act; one of the methods of the returned ``Arrival`` reports what became of it."""
        self.under_way += 1
        self._none_under_way.clear()
        return Arrival(self, way)

    def settle(self, way: Way, verdict: str, reason: str) -> None:
        """Settle one act that was under way."""
        self.settled[way, verdict, reason] += 1
        self.under_way -= 1
        if not self.under_way:
            self._none_under_way.set()

    def credited(self, accepted: Accepted) -> None:
        """Count what the referee took of the time of an act that a clock was charged for."""
        clock = accepted.clock
        if clock.charged_ms or clock.lag_ms or clock.overhead_ms:
            self.overhead.add(clock.overhead_ms / 1000)
        self.delays += clock.overhead_ms >= DELAY_MS
        if clock.overhead_ms > SLOW_MS:
            _log.warning("slow referee", overhead_ms=clock.overhead_ms, charged_ms=clock.charged_ms)

    async def through(self) -> None:
        """Wait until none is under way."""
        await self._none_under_way.wait()

    def of(self, verdict: str, reason: str = "") -> int:
        """Return how many had this verdict; only those that failed for this reason, if one is given."""
        return sum(count for (_, found, why), count in self.settled.items() if found == verdict and reason in ("", why))


class Arrival:
    """One act from its arrival on."""

    __slots__ = ("_acts", "_since", "_way")

    def __init__(self, acts: Acts, way: Way) -> None:
        self._acts: Acts | None = acts
        self._way: Way = way
        self._since = perf_counter()

    def answered(self, outcome: Answer | StoreFailed) -> None:
        """Count the game's answer."""
        if isinstance(outcome, StoreFailed):
            self._settle("failed", errors.reason_of(outcome))
        elif isinstance(outcome, Accepted):
            if not outcome.repeated and self._acts is not None:
                self._acts.seconds[self._way].add(perf_counter() - self._since)
                self._acts.credited(outcome)
            self._settle("repeated" if outcome.repeated else "accepted")
        else:
            repeated = outcome.recorded is not None and outcome.recorded.repeated
            self._settle("repeated" if repeated else "refused")

    def failed(self, error: Exception) -> None:
        """Count an act that was not put before the rules, or not to an end."""
        self._settle("failed", errors.reason_of(error))

    def left(self) -> None:
        """Count an act whose sender did not wait; it may have become durable."""
        self._settle("left")

    def _settle(self, verdict: str, reason: str = "") -> None:
        if self._acts is not None:  # the first word counts
            self._acts.settle(self._way, verdict, reason)
            self._acts = None


class Commits:
    """What the store did. The store calls ``done``."""

    def __init__(self, slow_s: float = SLOW_COMMIT_S) -> None:
        """``slow_s``: from when on the operator is warned."""
        self._slow_s = slow_s
        self._lately: deque[tuple[float, float]] = deque(maxlen=_LATELY_COMMITS)
        self.seconds = Distribution(COMMIT_SECONDS)
        self.rows = Distribution(COMMIT_ROWS)
        self.failed = 0

    def done(self, seconds: float, games: int, rows: int, failure: StoreFailed | None) -> None:
        """Count one commit that took ``seconds`` and had this many rows of this many games."""
        if failure is None:
            self.rows.add(rows)
        else:
            self.failed += 1
        self.seconds.add(seconds)
        self._lately.append((monotonic(), seconds))
        if seconds > self._slow_s:
            _log.warning("slow commit", seconds=round(seconds, 3), games=games, rows=rows)

    @property
    def entries(self) -> int:
        """Written in all."""
        return int(self.rows.total)

    def lately_us(self) -> tuple[int, int]:
        """Return the last minute's median and 99th percentile, in microseconds; of its last 4096 commits at most."""
        since = monotonic() - _LATELY_S
        took = sorted(seconds for when, seconds in self._lately if when >= since)
        if not took:
            return 0, 0
        return round(1e6 * took[len(took) // 2]), round(1e6 * took[min(len(took) - 1, len(took) * 99 // 100)])


class Counters:
    """The counters of one referee. Gauges that can be read elsewhere, such as open games, are not kept here."""

    def __init__(self) -> None:
        self.acts = Acts()
        self.commits = Commits()
        self.served: Counter[str] = Counter()
        """Calls that were answered, and streams that have begun, by method."""
        self.errors: Counter[tuple[str, str]] = Counter()
        """Calls that ended with an error, by method and reason."""

    def answered(self, method: str) -> None:
        """Count a call that was answered, or a stream that has begun."""
        self.served[method] += 1

    def failed(self, method: str, reason: str) -> None:
        """Count a call that ended with an error."""
        self.errors[method, reason] += 1

    def verdicts(self) -> Iterator[tuple[Way, str, str, int]]:
        """Yield every way, verdict and reason with its count; the usual ones also at zero."""
        usual: list[tuple[Way, str, str]] = [
            (way, verdict, "") for way in ("unary", "stream") for verdict in ("accepted", "refused", "repeated", "left")
        ]
        for key in dict.fromkeys([*usual, *self.acts.settled]):
            yield *key, self.acts.settled[key]
