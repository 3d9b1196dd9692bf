"""The times of one game: the charge for an act, the end of a seat's time, absences, outages; its alarm.

The log's part of clocks is in ``game.clocks``. This module has what the referee alone knows: when it notified a seat
that it is awaited, and whose streams are open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import structlog

from referee.log.clocks import Clocks
from referee.log.entry import Clock, Event
from referee.log.events import Author, Role
from referee.log.game import LoggedGame, Phase
from referee.log.terms import MAX_LAG_MS
from referee.log.v1 import log_pb2
from referee.server.live.acts import Answer, AwaitedReply, Reply
from referee.server.live.ledger import Ledger, row_of
from referee.server.live.referee_time import Alarm, Time
from referee.server.live.refusals import StaleHead
from referee.server.live.watch import Commit
from referee.server.store.store import Row, StoreFailed

_AGAIN_MS = 1000
_log = structlog.get_logger("referee.server.live")

_SEEN_MS = 2_000
"""The time for which another seat's act has the time of the entry about an outage that it follows: with its own time
the clock of an absent seat would run meanwhile."""


class Hold(NamedTuple):
    """Clocks stand after an outage, until the awaited seats are back."""

    alive_ms: int
    """The last time before it at which seats could act."""
    until_ms: int | None
    """The latest time of their restart; None: that is not known before the referee serves."""
    back: set[Author]
    """The authors who are back."""


class Timekeeper:
    """The clocks of one live game. The game is passed in, because it is another one after each reading back."""

    def __init__(self, time: Time, terms: log_pb2.Terms, ring: Callable[[], None]) -> None:
        """``ring`` is called when something is due that no caller asks for."""
        self._time = time
        self._ring = ring
        self._alarm: Alarm | None = None
        self._not_before_ms = 0
        """The next alarm is not set for earlier."""
        self._is_resting = False
        self._has_times = terms.HasField("clock") or terms.absence_ms > 0 or terms.protest_ms > 0
        self.present: Counter[Author] = Counter()
        """Authors whose streams are open, and how many."""
        self._known: list[tuple[int, int]] = []
        """The seats whose clocks ran at the last publication, and since when."""
        self._spans: list[tuple[int, int]] = []
        """The spans in which the referee delayed all seats while clocks ran, from and to; ascending, none within
        another."""
        self._serves_from_ms = 0
        """The time since when seats could act, if the game is older than the referee's present life."""
        self._absent_ms: dict[int, int] = {}
        """The time when an awaited seat was first awaited, or its last stream ended, whichever is later; by seat."""
        self._grace_ms = terms.grace_ms
        self._hold: Hold | None = None
        time.keeps(self)

    # --- after an outage -------------------------------------------------------------------------------------

    @property
    def hold(self) -> Hold | None:
        """The reason why clocks stand, though the log does not say so yet."""
        return self._hold

    @hold.setter
    def hold(self, hold: Hold | None) -> None:
        self._hold = hold
        if hold is not None:
            self._time.waiting.add(self)
        else:
            self._time.waiting.discard(self)

    def wait(self, alive_ms: int) -> bool:
        """Let clocks wait for the awaited seats, from ``serve`` on, if the terms have a grace; return whether they do.

        ``alive_ms``: the last time at which seats could act.
        """
        if self._grace_ms:
            self.hold = Hold(alive_ms, None, set())
        return self.hold is not None

    def are_back(self, game: LoggedGame) -> bool:
        """Return whether every awaited seat is back, or the scribes if it is theirs; False if no seat is awaited."""
        if self.hold is None:
            return True
        awaited, seats = game.awaited(), game.opened.seats
        roles = {author.role for author in self.hold.back}
        return bool(awaited) and all(
            Role.SCRIBE in roles if seats[seat].scribed else Author(Role.SEAT, seat) in self.hold.back
            for seat in awaited
        )

    def go_on(self) -> None:
        """Restart clocks with the next entry, and count absences from now."""
        self.hold = None
        self._absent_ms, self._serves_from_ms = {}, self._time.now_ms()

    # --- what happens in the game ----------------------------------------------------------------------------

    def published(self, game: LoggedGame, acted: int | None = None, since_ms: int | None = None) -> None:
        """Publish what is durable. ``acted``: the seat whose act that is; ``since_ms``: when it came."""
        if not self._has_times:
            return
        now_ms = self._time.now_ms()
        known, self._known = self._known, _running(game)
        earliest_ms = min((ms for _, ms in self._known), default=now_ms)
        self._spans = [span for span in self._spans if span[1] > earliest_ms]
        if is_new := [ms for seat, ms in self._known if (seat, ms) not in known]:
            for ms in is_new:
                self._took(ms, now_ms)
            # A task that was woken to notify the seats has done so when the loop comes round: it may be late with that.
            self._time.call_at(now_ms, lambda: self._took(now_ms, self._time.now_ms()))
        # An author who acts while his own clock runs does not get the time that it takes.
        if since_ms is not None and not any(seat == acted and ms < since_ms for seat, ms in self._known):
            self._took(since_ms, now_ms)
        self._absent_ms = {
            seat: now_ms if seat == acted else self._absent_ms.get(seat, now_ms)
            for seat in game.awaited()
            if not game.opened.seats[seat].scribed
        }

    def failed(self, since_ms: int) -> None:
        """Note that an act did not become durable: meanwhile the awaited seats could do nothing."""
        self._took(since_ms, self._time.now_ms())

    def _took(self, since_ms: int, now_ms: int) -> None:
        """Count the time from then until now as the referee's, each part of it once: acts wait for one another's
        commits.
        """
        while self._spans and self._spans[-1][0] >= since_ms:
            self._spans.pop()
        since_ms = max(since_ms, self._spans[-1][1]) if self._spans else since_ms
        if since_ms < now_ms:
            self._spans.append((since_ms, now_ms))

    def leapt(self, from_ms: int, to_ms: int) -> None:
        """Note that the referee's time leapt: no seat is charged for that, nor was absent for longer."""
        if self._has_times:
            self._took(from_ms, to_ms)
            self._absent_ms = {seat: ms + to_ms - from_ms for seat, ms in self._absent_ms.items()}

    def came(self, author: Author) -> None:
        """Note that a stream of the author's was opened."""
        self.present[author] += 1

    def left(self, author: Author) -> None:
        """Note that a stream of the author's ended."""
        self.present[author] -= 1
        if not self.present[author]:
            del self.present[author]
            if author.role is Role.SEAT and author.index in self._absent_ms:
                self._absent_ms[author.index] = self._time.now_ms()

    # --- what an act is charged -----------------------------------------------------------------------------

    def charge(
        self, game: LoggedGame, seat: int, stamp_ms: int, *, late_ms: int = 0, thought_ms: int | None = None
    ) -> Clock:
        """Return what an act costs the awaited seat that is entered with this stamp.

        ``late_ms``: the longest that it may have waited for the event loop. ``thought_ms``: the author's own count from
        having the turn to sending; None: nothing is allowed for the network.

        In a time without a look at the network the arrival of an act is not known. So all of that is the referee's, but
        not what the author itself claims to have thought: a stall in which it did gives it nothing.
        """
        clocks = game.clocks
        if clocks is None or (since_ms := clocks.seat(seat).since_ms) is None:
            return Clock(stamp_ms)
        elapsed_ms, overhead_ms = stamp_ms - since_ms, self._taken_ms(since_ms, stamp_ms)
        # The loop may have been late before all were notified: that is in there already.
        told_ms = max(since_ms, self._spans[-1][1]) if self._spans else since_ms
        late_ms = min(late_ms, max(0, stamp_ms - told_ms))
        if thought_ms is not None:
            late_ms = min(late_ms, max(0, elapsed_ms - overhead_ms - thought_ms))
        overhead_ms += late_ms
        lag_ms = 0 if thought_ms is None else elapsed_ms - overhead_ms - thought_ms
        return clocks.charge(seat, stamp_ms, lag_ms=lag_ms, overhead_ms=overhead_ms)

    def left_ms(self, game: LoggedGame, seat: int) -> int | None:
        """Return what the seat has left for the decision at hand, now; None if its clock does not run."""
        clocks = game.clocks
        if clocks is None or (since_ms := clocks.seat(seat).since_ms) is None:
            return None
        if self.hold is not None:
            used_ms = max(0, self.hold.alive_ms - since_ms)
        else:
            now_ms = self._time.now_ms()
            used_ms = max(0, now_ms - since_ms - self._taken_ms(since_ms, now_ms))
        return max(0, clocks.available(seat) - used_ms)

    def _taken_ms(self, since_ms: int, until_ms: int) -> int:
        """Return what the referee took of the time between."""
        return sum(max(0, min(to_ms, until_ms) - max(from_ms, since_ms)) for from_ms, to_ms in self._spans)

    # --- what is due unasked ---------------------------------------------------------------------------------

    def due(self, game: LoggedGame, stamp_ms: int, late_ms: int = 0) -> tuple[Event, Clock] | None:
        """Return a flag that has fallen by then, or an absence that was too long; ``late_ms`` as for ``charge``."""
        if self.hold is not None:
            return None
        for seat, since_ms in _running(game):
            if game.clocks is not None and stamp_ms - late_ms >= self._flag_ms(game.clocks, seat, stamp_ms):
                taken_ms = self._taken_ms(since_ms, stamp_ms) + late_ms
                clock = game.clocks.charge(seat, stamp_ms, lag_ms=MAX_LAG_MS, overhead_ms=taken_ms)
                return log_pb2.Timeout(seat=seat), clock
        for seat, since_ms in self._absent(game):
            if stamp_ms - since_ms >= game.arbitration.terms.absence_ms:
                return log_pb2.Absent(seat=seat, since_ms=since_ms), Clock(stamp_ms)
        return None

    def alarm_ms(self, game: LoggedGame) -> int | None:
        """Return when something will be due, if no author acts before."""
        if not self._has_times:
            return None
        if self.hold is not None:
            return self.hold.until_ms
        if game.reached() is not None:  # by an arbiter also before play
            return game.result_ms()
        alarms = [ms + game.arbitration.terms.absence_ms for _, ms in self._absent(game)]
        if game.phase is not Phase.PLAYING:
            return min(alarms, default=None)
        if game.clocks is not None:
            now_ms = self._time.now_ms()
            alarms += [self._flag_ms(game.clocks, seat, now_ms) for seat, _ in _running(game)]
        return min(alarms, default=None)

    def set_alarm(self, game: LoggedGame | None) -> None:
        """Set the alarm for what will be due, instead of the one before. None: not now, another call will follow."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if game is None or self._is_resting:
            return
        if (due_ms := self.alarm_ms(game)) is not None:
            self._alarm = Alarm(self._time, max(due_ms, self._not_before_ms), self._rung)

    def _rung(self) -> None:
        if self._alarm is not None and self._alarm.late is not None:
            self._took(*self._alarm.late)  # no seat could act: then it may not be due yet
        self._ring()

    def pause(self) -> None:
        """Enter what is due now; if that fails, it is not due again at once."""
        self._not_before_ms = self._time.now_ms() + _AGAIN_MS

    def rest(self) -> None:
        """Silence the alarm until ``serve``."""
        self._is_resting = True
        self.set_alarm(None)

    def serve(self, game: LoggedGame) -> None:
        """Start serving: no author could act until now. Call before ``set_alarm``."""
        self._is_resting = False
        self._known, self._spans, self._absent_ms = [], [], {}
        self._serves_from_ms = self._time.now_ms()
        if self.hold is not None:
            self.hold = self.hold._replace(until_ms=self._serves_from_ms + self._grace_ms)
        self.published(game)

    def _flag_ms(self, clocks: Clocks, seat: int, until_ms: int) -> int:
        """Return when the running seat's flag falls, given the referee's own delays until then."""
        return (clocks.flag_ms(seat) or 0) + self._taken_ms(clocks.seat(seat).since_ms or 0, until_ms)

    def _absent(self, game: LoggedGame) -> list[tuple[int, int]]:
        """Awaited seats without a stream, and since when; before play those that are missing, connected or not."""
        if not game.arbitration.terms.absence_ms:
            return []
        if no_shows := game.no_shows():
            return [(seat, max(game.missing_from_ms, self._serves_from_ms)) for seat in no_shows]
        awaited = game.awaited()
        since = ((seat, ms) for seat, ms in self._absent_ms.items() if seat in awaited)
        return [(seat, ms) for seat, ms in since if Author(Role.SEAT, seat) not in self.present]


def _running(game: LoggedGame) -> list[tuple[int, int]]:
    """Return the seats whose clocks run, and since when."""
    clocks = game.clocks.saved() if game.clocks is not None else ()
    return [(seat, clock.since_ms) for seat, clock in enumerate(clocks) if clock.since_ms is not None]


def awaited_mover(game: LoggedGame, author: Author) -> int | None:
    """Return the awaited seat whose move the author may make."""
    seats = game.awaited()
    if author.role is Role.SCRIBE:
        return seats[0] if len(seats) == 1 else None
    return author.index if author.role is Role.SEAT and author.index in seats else None


def is_up(game: LoggedGame, seat: int, clock: Clock) -> bool:
    """Return whether an act is charged more than the seat has."""
    return game.clocks is not None and clock.charged_ms > game.clocks.available(seat)


class OwnEntries:
    """The referee's own entries in one game."""

    def __init__(self, time: Time, ledger: Ledger, keeper: Timekeeper) -> None:
        self._time, self._ledger, self._keeper = time, ledger, keeper
        self._size = -1
        """The size of the log after the newest entry about an outage that was written here."""

    # --- what is due -----------------------------------------------------------------------------------------------

    def due(self, stamp_ms: int, late_ms: int = 0) -> list[Row]:
        """Add flags, absences, a result that was not protested against, and what follows; return them.

        Under the ledger's guard. ``late_ms``: as ``Timekeeper.due`` takes it.
        """
        ledger, rows = self._ledger, list[Row]()
        ledger.settle(rows, stamp_ms)
        while (due := self._keeper.due(ledger.record.game, stamp_ms, late_ms)) is not None:
            ledger.attempts.count(is_refused=False)
            rows.append(row_of(ledger.record.write(*due)))
            ledger.settle(rows, stamp_ms)
        return rows

    def enter_due(self) -> None:
        """Enter what is due now, if nothing is under way: there is another alarm after that."""
        ledger = self._ledger
        if not ledger.is_ready():
            return
        self._keeper.pause()
        stamp_ms = max(self._time.now_ms(), ledger.record.last_ms)
        try:
            if self._keeper.hold is not None:
                self._enter_outage(Reply())
                return
            with ledger.guard:
                if rows := self.due(stamp_ms):
                    ledger.commit(rows, Clock(stamp_ms), Reply())
        except Exception as error:  # noqa: BLE001 - without a caller only this can report it
            _log.error("due entry failed", game=ledger.record.game_id.hex(), error=str(error))

    # --- outages: without a hold of the clocks there is nothing to enter ---------------------------------------------

    async def back(self, author: Author) -> None:
        """Note that the author can act again. Return when the clocks' restart is durable, if they waited for that
        alone. Raise ``StoreFailed``, ``Unsound``."""
        await self._ledger.ready()
        if self._keeper.hold is not None:
            self._keeper.hold.back.add(author)
            if self._keeper.are_back(self._ledger.record.game):
                await self.end_outage()

    async def before_act(self, author: Author) -> None:
        """Enter the outage before an act of the author, who has to see that entry first.

        Clocks still wait for seats that are not back: no seat starts the clock of another. Raise ``StaleHead``, unless
        the entry is there already, and new.
        """
        record, hold = self._ledger.record, self._keeper.hold
        if hold is None:
            return
        hold.back.add(author)
        if record.size == self._size and self._time.now_ms() - record.last_ms < _SEEN_MS:
            if self._keeper.are_back(record.game):
                self._keeper.go_on()  # the last entry is new here: no further one has to say so
            return
        await self.end_outage()
        record = await self._ledger.ready()
        raise StaleHead(record.size, record.head)

    async def end_outage(self) -> None:
        """Enter the outage, and return when that is durable."""
        reply = AwaitedReply()
        if self._enter_outage(reply):
            await reply.answer

    def _enter_outage(self, reply: Reply) -> bool:
        """Enter the outage; return whether anything is entered, of which ``reply`` gets the answer.

        Clocks restart if all seats are back, or if the grace is over.
        """
        ledger, hold = self._ledger, self._keeper.hold
        record = ledger.record
        if hold is None:
            return False
        now_ms = self._time.now_ms()
        stamp_ms = max(now_ms, record.last_ms)
        is_over = hold.until_ms is not None and now_ms >= hold.until_ms
        rows = list[Row]()
        with ledger.guard:
            alive_ms = min(max(hold.alive_ms, record.last_ms), stamp_ms)
            if record.phase is Phase.PLAYING:
                rows.append(row_of(record.write(log_pb2.Interrupted(alive_ms=alive_ms), Clock(stamp_ms))))
            ledger.settle(rows, stamp_ms)
            if is_over or self._keeper.are_back(record.game):
                self._keeper.go_on()
            if rows:
                self._size = record.size
                ledger.commit(rows, Clock(stamp_ms), _Restart(self._keeper, hold, reply))
        return bool(rows)


class _Restart(Reply):
    """Stops clocks again if their restart does not become durable."""

    __slots__ = ("_hold", "_keeper", "_reply")

    def __init__(self, keeper: Timekeeper, hold: Hold, reply: Reply) -> None:
        self._keeper, self._hold, self._reply = keeper, hold, reply

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:
        if isinstance(outcome, StoreFailed):
            self._keeper.hold = self._hold
        self._reply.deliver(outcome, commit)
