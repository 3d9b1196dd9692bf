"""The clocks of a game: integers in milliseconds that entries alone move on, so that a replay has the live ones.

A clock runs for each seat that is awaited. The time between two entries has three parts: the seat's, the network's
allowance, and the referee's own; only the first is charged. Knows no source of time.

``Takebacks`` has the moments that a game can go back to, with clocks, seats and position. A position is kept now and
then, and the events after it are played again: going back costs little, however long the game.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from referee.games.game import Ending, State
from referee.log.entry import Clock
from referee.log.errors import demand
from referee.log.terms import MAX_BUDGET_MS, Control

DELAY_MS = 2_000
"""The referee's time for one decision from which on it is named, as a ``Delay``."""


class Delay(NamedTuple):
    """A wait caused by the referee that a reader should know of; the seat's clock did not run."""

    seq: int
    """The entry with which the decision ended."""
    seat: int
    ms: int


class SeatClock(NamedTuple):
    """One seat's clock."""

    left_ms: int
    used_ms: int = 0
    """Charged so far in the decision at hand."""
    since_ms: int | None = None
    """Running since then, by the referee's clock; None: it stands."""


class Shown(NamedTuple):
    """One seat's clock as it is shown: after the entry that is the head, or since an outage."""

    left_ms: int
    """Charged until ``since_ms``; the time from then on is still to be taken off, once ``free_ms`` have passed."""
    since_ms: int | None
    """Running since then; None: it stands."""
    free_ms: int
    """The time of the decision at hand that costs nothing any more (a delay)."""


class Clocks:
    """All seats' clocks; immutable values inside, so a copy is cheap."""

    __slots__ = ("_seats", "control")

    def __init__(self, control: Control, seats: int) -> None:
        self.control = control
        self._seats = [SeatClock(control.base_ms)] * seats

    def saved(self) -> tuple[SeatClock, ...]:
        """Return the clocks, for ``restore``."""
        return tuple(self._seats)

    def restore(self, saved: tuple[SeatClock, ...]) -> None:
        """Set the clocks as they were, all stopped."""
        self._seats = [clock._replace(since_ms=None) for clock in saved]

    def seat(self, seat: int) -> SeatClock:
        """Return the seat's clock."""
        return self._seats[seat]

    def shown(self, stood_ms: int = 0) -> list[Shown]:
        """Return the clocks for people. ``stood_ms``: above 0, they stand since then, which no entry says yet."""
        return [self._shown(clock, stood_ms) for clock in self._seats]

    def _shown(self, clock: SeatClock, stood_ms: int) -> Shown:
        free_ms = max(0, self.control.delay_ms - clock.used_ms)
        if clock.since_ms is None or not stood_ms:
            return Shown(clock.left_ms, clock.since_ms, free_ms)
        used_ms = max(0, stood_ms - clock.since_ms)
        return Shown(max(0, clock.left_ms - max(0, used_ms - free_ms)), None, max(0, free_ms - used_ms))

    # --- what an entry may say ----------------------------------------------------------------------------

    def charge(self, seat: int, now_ms: int, *, lag_ms: int = 0, overhead_ms: int = 0) -> Clock:
        """Return the charge for an act of the seat that had arrived whole at ``now_ms``; nothing for a stopped clock.

        ``overhead_ms``: the referee's own time. ``lag_ms``: the network's time according to the author; at most what
        the terms allow is given.
        """
        since = self._seats[seat].since_ms
        if since is None:
            return Clock(now_ms)
        elapsed = max(0, now_ms - since)
        overhead = min(max(0, overhead_ms), elapsed)
        lag = min(max(0, lag_ms), self.control.lag_ms, elapsed - overhead)
        return Clock(now_ms, elapsed - overhead - lag, lag, overhead)

    def check(self, seat: int, clock: Clock) -> None:
        """Check that an act of the seat is charged what has passed, and was in time. Raise ``LogError``."""
        self._check_sum(seat, clock)
        available = self.available(seat)
        demand(
            "TBL-12",
            clock.charged_ms <= available,
            "{player} moves after {ms} ms",
            "at most {most} ms, its time left",
            player=seat,
            ms=clock.charged_ms,
            most=available,
        )

    def check_flag(self, seat: int, clock: Clock) -> None:
        """Check that the seat's time has run out, however the network was. Raise ``LogError``."""
        self._check_sum(seat, clock)
        passed = clock.charged_ms + clock.lag_ms
        lag, available = min(self.control.lag_ms, passed), self.available(seat)
        what = "the flag allows {ms} ms for the network"
        demand("TBL-11", clock.lag_ms == lag, what, "{lag} ms", ms=clock.lag_ms, lag=lag)
        what, charged = "the flag of {player} falls after {ms} ms", clock.charged_ms
        demand("TBL-13", charged > available, what, "more than {least} ms", player=seat, ms=charged, least=available)

    def _check_sum(self, seat: int, clock: Clock) -> None:
        since = self._seats[seat].since_ms
        elapsed = 0 if since is None else clock.referee_ms - since
        told = clock.charged_ms + clock.lag_ms + clock.overhead_ms
        demand(
            "TBL-10",
            told == elapsed,
            "the entry accounts for {ms} ms of {player}",
            "the {elapsed} ms that passed",
            player=seat,
            ms=told,
            elapsed=elapsed,
        )
        most, what = self.control.lag_ms, "the entry allows {ms} ms for the network"
        demand("TBL-11", clock.lag_ms <= most, what, "at most {most} ms", ms=clock.lag_ms, most=most)

    def available(self, seat: int) -> int:
        """Return what the seat may use for the decision at hand, counted from its last charge."""
        clock = self._seats[seat]
        return clock.left_ms + max(0, self.control.delay_ms - clock.used_ms)

    def flag_ms(self, seat: int) -> int | None:
        """Return when its time will have run out, whatever the network does; None: it does not run."""
        since = self._seats[seat].since_ms
        return None if since is None else since + self.available(seat) + self.control.lag_ms + 1

    # --- what an entry does -------------------------------------------------------------------------------

    def used(self, seat: int, clock: Clock) -> None:
        """Charge the seat's act; its decision continues."""
        self._take_use(seat, clock.charged_ms, clock.referee_ms)

    def decided(self, seat: int) -> None:
        """End the seat's decision: give what a move gives."""
        left = self._seats[seat].left_ms
        left = self.control.base_ms if self.control.renewed else left + self.control.increment_ms
        self._seats[seat] = SeatClock(min(left, MAX_BUDGET_MS))

    def await_seats(self, seats: Iterable[int], now_ms: int) -> None:
        """Let those clocks run, and no others; those that run already keep running."""
        running = set(seats)
        for seat, clock in enumerate(self._seats):
            if seat in running and clock.since_ms is None:
                self._seats[seat] = clock._replace(since_ms=now_ms)
            elif seat not in running and clock.since_ms is not None:
                self._seats[seat] = clock._replace(since_ms=None)

    def stop(self, until_ms: int) -> None:
        """Stop all clocks; the time until then is charged."""
        for seat, clock in enumerate(self._seats):
            if clock.since_ms is not None:
                self._take_use(seat, max(0, until_ms - clock.since_ms), None)

    def take(self, seat: int, penalty_ms: int) -> None:
        """Take a penalty off the seat's clock."""
        clock = self._seats[seat]
        self._seats[seat] = clock._replace(left_ms=max(0, clock.left_ms - penalty_ms))

    def set(self, seat: int, left_ms: int, now_ms: int) -> None:
        """Set what the seat has left from now on, as an arbiter ruled."""
        running = self._seats[seat].since_ms is not None
        self._seats[seat] = SeatClock(left_ms, 0, now_ms if running else None)

    def _take_use(self, seat: int, use_ms: int, since_ms: int | None) -> None:
        clock = self._seats[seat]
        free = max(0, self.control.delay_ms - clock.used_ms)
        left = max(0, clock.left_ms - max(0, use_ms - free))
        running = None if clock.since_ms is None else since_ms
        self._seats[seat] = SeatClock(left, clock.used_ms + use_ms, running)


_EVERY = 16
"""Events between two positions that are kept."""


class Moment(NamedTuple):
    """The state of the game after an entry that changed the position, the clocks, or the seats in play."""

    seq: int
    event: Any
    """The engine's own; None where only clocks or seats changed."""
    clocks: tuple[SeatClock, ...]
    out: Mapping[int, Ending]
    """Seats that have forfeited and how, in that order."""
    is_draw: bool
    """Something became known that was not before."""
    is_scribes: bool
    """A scribe may take it back: entered by one, or by the referee, or only clocks moved."""


class Takebacks:
    """The moments of a game that count, oldest first; those that were taken back are not among them."""

    def __init__(self, state: State, first: Moment) -> None:
        """``first``: when play began, in position ``state``, which must not change."""
        self._moments = [first]
        self._kept = [(0, state)]
        """Positions, each with the index of its moment."""
        self._gone: list[tuple[int, int]] = []
        """The first and last entries of ranges that were taken back, ascending."""

    def add(self, moment: Moment, state: State) -> None:
        """Remember a moment. ``state`` is the position after it, which must not change."""
        self._moments.append(moment)
        if len(self._moments) - 1 - self._kept[-1][0] >= _EVERY:
            self._kept.append((len(self._moments) - 1, state))

    def check(self, seq: int, now: int, *, drawn: bool = True, others: bool = True, idle: bool = True) -> None:
        """Check that the game can go back, with entry ``now``, to its state after entry ``seq``.

        ``drawn``: also past draws and rolls; ``others``: also past entries that no scribe entered; ``idle``: also where
        the position stays, as clocks go back, too.

        Raise ``LogError`` (``NOT_AWAITED``).
        """
        first = self._moments[0].seq
        what, expected = "the game cannot go back to entry {seq}", "an entry from {first}, where play began, to {last}"
        demand("TBL-22", first <= seq < now, what, expected, seq=seq, first=first, last=now - 1)
        demand("TBL-22", not self.is_gone(seq), what, "an entry that was not taken back", seq=seq)
        is_idle = True
        for moment in self._moments[::-1]:
            if moment.seq <= seq:
                break
            is_idle &= moment.event is None
            past_draw = "the game cannot go back to entry {seq}, past the draw in entry {draw}"
            may = drawn or not moment.is_draw
            demand("TBL-23", may, past_draw, "entry {draw} or later", seq=seq, draw=moment.seq)
            corrected, may = "a scribe cannot correct entry {seq}", moment.is_scribes or others
            demand("TBL-25", may, corrected, "entries that scribes entered", seq=moment.seq)
        demand("TBL-22", idle or not is_idle, what, "an entry with a move, a draw or a pass after it", seq=seq)

    def is_gone(self, seq: int) -> bool:
        """Return whether what this entry did was taken back."""
        at = bisect_right(self._gone, (seq, 1 << 32)) - 1
        return at >= 0 and self._gone[at][0] <= seq <= self._gone[at][1]

    def go_back(self, seq: int, now: int) -> tuple[State, Moment, tuple[int, ...]]:
        """Return the position after entry ``seq``, its moment, and the entries whose events are taken back by this.

        The game continues from it at entry ``now``. Call ``check`` first.
        """
        at = bisect_right(self._moments, seq, key=lambda moment: moment.seq) - 1
        moment = self._moments[at]
        taken_back = tuple(later.seq for later in self._moments[at + 1 :] if later.event is not None)
        del self._moments[at + 1 :]
        while self._kept[-1][0] > at:
            self._kept.pop()
        index, state = self._kept[-1]
        if any(later.event is not None for later in self._moments[index + 1 :]):
            state = state.copy()
            for later in self._moments[index + 1 :]:
                if later.event is not None:
                    state.apply(later.event)
        while self._gone and self._gone[-1][0] > seq:
            self._gone.pop()
        self._gone.append((seq + 1, now - 1))
        return state, moment, taken_back
