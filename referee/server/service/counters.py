"""The counts of a running referee: plain numbers, changed and read on the event loop alone, so without locks."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from time import monotonic, perf_counter
from typing import Literal, NamedTuple

import structlog

from referee.log.clocks import DELAY_MS
from referee.server.live.acts import Accepted, Answer
from referee.server.service import grpc_errors
from referee.server.service.limits import Account
from referee.server.store.store import StoreFailed

Way = Literal["unary", "stream"]

ACT_SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
COMMIT_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SLOW_COMMIT_S = 0.5
"""Players notice, and the disk is to blame."""
SLOW_MS = 250
"""Time of a player that the referee took itself before it counts as slow: the disk, or a busy event loop."""
SLICE_S, SLICES = 10.0, 6
MOST_COUNTED = 1024
_LATELY_S = 60.0
_LATELY_COMMITS = 4096

_log = structlog.get_logger("referee.server.store")


class Distribution:
    """The number of values below each bound, and their sum."""

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


class CallsOf(NamedTuple):
    """The counts of one caller, or of all."""

    calls: int
    """The refused ones included."""
    refused: int


class Callers:
    """The callers of the last minute, and their calls. If they are many, the busiest are kept.

    Slices of ten seconds each, of which six count. A caller with one call is dropped from a slice that is full, so that
    a person with many addresses takes no memory, and hides no other caller.
    """

    def __init__(self, most: int = MOST_COUNTED, now: Callable[[], float] = monotonic) -> None:
        """``most``: callers and methods that a slice keeps."""
        self._most = most
        self._now = now
        self._began_s = now()
        self._number = int(self._began_s // SLICE_S)
        self._calls: dict[tuple[Account, str, bool], int] = {}
        """The calls of the present slice, by caller, method and whether they were refused."""
        self._dropped = {False: 0, True: 0}
        """Calls of that slice whose callers are not kept, by whether they were refused."""
        self._before: deque[tuple[int, dict[tuple[Account, str, bool], int], dict[bool, int]]] = deque(
            maxlen=SLICES - 1
        )

    def count(self, account: Account, method: str, *, is_refused: bool = False) -> None:
        """Count a call."""
        if (number := int(self._now() // SLICE_S)) != self._number:
            self._turn(number)
        calls, key = self._calls, (account, method, is_refused)
        calls[key] = calls.get(key, 0) + 1
        if len(calls) > 2 * self._most:
            self._thin_out()

    def _turn(self, number: int) -> None:
        self._before.append((self._number, self._calls, self._dropped))
        while self._before and self._before[0][0] <= number - SLICES:
            self._before.popleft()
        self._number, self._calls, self._dropped = number, {}, {False: 0, True: 0}

    def _thin_out(self) -> None:
        kept = dict(nlargest(self._most, self._calls.items(), key=itemgetter(1)))
        for key, count in self._calls.items():
            if key not in kept:
                self._dropped[key[2]] += count
        self._calls = kept

    def lately(self) -> tuple[dict[str, dict[str, CallsOf]], CallsOf, float]:
        """Return the calls by the caller's name and method, those of all callers, and of how many seconds they are."""
        now_s = self._now()
        if (number := int(now_s // SLICE_S)) != self._number:
            self._turn(number)
        found: dict[str, dict[str, CallsOf]] = {}
        calls = refused = 0
        for _, counted, dropped in (*self._before, (self._number, self._calls, self._dropped)):
            for (account, method, is_refused), count in counted.items():
                methods = found.setdefault(account.name, {})
                before = methods.get(method, CallsOf(0, 0))
                methods[method] = CallsOf(before.calls + count, before.refused + count * is_refused)
                calls, refused = calls + count, refused + count * is_refused
            calls, refused = calls + sum(dropped.values()), refused + dropped[True]
        since_s = max(self._began_s, (number - SLICES + 1) * SLICE_S)
        return found, CallsOf(calls, refused), now_s - since_s


class Acts:
    """Acts that came in, and what became of them."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self.settled: Counter[tuple[Way, str, str]] = Counter()
        """The acts by way in, verdict (accepted, refused, repeated, failed, left) and the reason of a failure."""
        self.under_way = 0
        self._none_under_way = asyncio.Event()
        self._none_under_way.set()
        self.seconds = {"unary": Distribution(ACT_SECONDS), "stream": Distribution(ACT_SECONDS)}
        """The time from the arrival of accepted acts until they were durable."""
        self.overhead = Distribution(ACT_SECONDS)
        """Time of running clocks that was not charged as the referee took it, in seconds."""
        self.delays = 0
        """Acts for which that was ``DELAY_MS`` or more."""

    def received(self, way: Way, account: Account | None = None) -> Arrival:
        """Count an act; one of the methods of the returned ``Arrival`` reports what became of it.

        ``account``: of its sender, if it is no call of its own.
        """
        self.under_way += 1
        self._none_under_way.clear()
        return Arrival(self, way, account)

    def settle(self, way: Way, verdict: str, reason: str, account: Account | None) -> None:
        """Settle one act that was under way."""
        if account is not None:
            self._callers.count(account, "PlayGame", is_refused=verdict == "failed")
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

    __slots__ = ("_account", "_acts", "_since", "_way")

    def __init__(self, acts: Acts, way: Way, account: Account | None) -> None:
        self._acts: Acts | None = acts
        self._way: Way = way
        self._account = account
        self._since = perf_counter()

    def answered(self, outcome: Answer | StoreFailed) -> None:
        """Count the game's answer."""
        if isinstance(outcome, StoreFailed):
            self._settle("failed", grpc_errors.reason_of(outcome))
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
        self._settle("failed", grpc_errors.reason_of(error))

    def left(self) -> None:
        """Count an act whose sender did not wait; it may have become durable."""
        self._settle("left")

    def _settle(self, verdict: str, reason: str = "") -> None:
        if self._acts is not None:  # the first word counts
            self._acts.settle(self._way, verdict, reason, self._account)
            self._acts = None


class Commits:
    """The counts of the store's commits. The store calls ``done``."""

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
        self.callers = Callers()
        self.acts = Acts(self.callers)
        self.commits = Commits()
        self.served: Counter[str] = Counter()
        """Calls that were answered, and streams that have begun, by method."""
        self.errors: Counter[tuple[str, str]] = Counter()
        """Calls that ended with an error, by method and reason."""

    def answered(self, method: str, account: Account) -> None:
        """Count a call that was answered, or a stream that has begun, of the caller with this account."""
        self.served[method] += 1
        self.callers.count(account, method)

    def failed(self, method: str, reason: str, account: Account) -> None:
        """Count a call that ended with an error."""
        self.errors[method, reason] += 1
        self.callers.count(account, method, is_refused=True)

    def verdicts(self) -> Iterator[tuple[Way, str, str, int]]:
        """Yield every way, verdict and reason with its count; the usual ones also at zero."""
        usual: list[tuple[Way, str, str]] = [
            (way, verdict, "") for way in ("unary", "stream") for verdict in ("accepted", "refused", "repeated", "left")
        ]
        for key in dict.fromkeys([*usual, *self.acts.settled]):
            yield *key, self.acts.settled[key]
