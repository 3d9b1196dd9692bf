"""Entries that the referee makes in a game on its own: flags, absences, results that are final, and outages.

After an outage clocks stand until the awaited seats are back, and an entry says since when.
"""

from __future__ import annotations

import structlog

from referee.log.entry import Clock
from referee.log.events import Author
from referee.log.game import Phase
from referee.log.v1 import log_pb2
from referee.server.live.acts import Answer, AwaitedReply, Reply
from referee.server.live.ledger import Ledger, row_of
from referee.server.live.referee_time import Time
from referee.server.live.refusals import StaleHead
from referee.server.live.timekeeper import Hold, Timekeeper
from referee.server.live.watch import Commit
from referee.server.store.store import Row, StoreFailed

_log = structlog.get_logger("referee.server.live")

_SEEN_MS = 2_000
"""The time for which another seat's act has the time of the entry about an outage that it follows: with its own time
the clock of an absent seat would run meanwhile."""


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
