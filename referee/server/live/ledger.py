"""A game in memory and in the store: when both agree, and how entries become durable.

While a commit is under way the game in memory is ahead of the store, so later callers wait: they neither act on nor see
what may yet fail to become durable. After a failure the game is read back before it is used again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

from referee.log.entry import Clock, Written
from referee.log.errors import LogError, RulesError
from referee.log.note import open_checkpoint
from referee.log.replay import Record
from referee.server.live import acts
from referee.server.live.acts import Accepted, Answer, Refused, Reply
from referee.server.live.context import Context
from referee.server.live.history import Attempts, History
from referee.server.live.refusals import Elsewhere, UnknownGame
from referee.server.live.turns import Payer, Work
from referee.server.live.watch import Commit, Watcher
from referee.server.store.nodes import Node
from referee.server.store.store import Opening, Row, StoreFailed


class Holder(Protocol):
    """The live game that a ledger belongs to: it learns what becomes of its entries."""

    def published(self, commit: Commit, served: Watcher | None, *, is_new: bool) -> None:
        """Note that a commit is durable. ``served``: a watcher who has it; ``is_new``: the game was not durable."""

    def settled(self, acted: int | None, stamp_ms: int) -> None:
        """Note that the author has the answer to an act, and watchers its commit. ``acted``, ``stamp_ms``: as
        ``Timekeeper.published`` takes them."""

    def failed(self, stamp_ms: int) -> None:
        """Note that what was entered at this time did not become durable, as far as is known."""

    def reread(self, *, is_newer: bool) -> None:
        """Note that memory is what the store has. ``is_newer``: entries were published that had seemed to fail."""

    def stale(self) -> None:
        """Note that memory and store may differ."""

    def freed(self) -> None:
        """Note that nothing is under way."""


class Ledger:
    """The record of one game, of which ``size`` entries are durable."""

    def __init__(self, context: Context, record: Record, attempts: Attempts, history: History, holder: Holder) -> None:
        """``record``, ``attempts``, ``history``: as the store has the game."""
        self.record, self.attempts, self.history = record, attempts, history
        """The game in memory, its refused moves, and its durable past."""
        self.size = record.size
        """Entries that are durable and published."""
        self.is_stale = False
        """True if memory is not, or may not be, what the store has."""
        self.left_for: Node | None = None
        """The node that the game was left to."""
        self.guard = _Guard(self.distrust)
        """Guards every change of the record."""
        self._context, self._holder = context, holder
        self._idle = asyncio.Event()
        self._idle.set()

    def is_ready(self) -> bool:
        """Return whether the record can be used: nothing is under way, and the game is here."""
        return not self.is_stale and self._idle.is_set() and self.left_for is None

    def distrust(self) -> None:
        """Have the game read back before it is used again."""
        self.is_stale = True
        self._holder.stale()

    async def ready(self) -> Record:
        """Return the record when it equals what the store has.

        Raise ``Unsound``, ``StoreFailed``, ``Elsewhere``; ``UnknownGame`` if the game never became durable.
        """
        while not self.is_ready():
            if self.left_for is not None:
                raise Elsewhere(self.record.game_id, self.left_for)
            if not self._idle.is_set():
                await self._idle.wait()
                continue
            self._idle.clear()
            try:
                if not self.size and await self._context.store.game(self.record.game_id) is None:
                    raise UnknownGame(f"no game {self.record.game_id.hex()}")
                record, attempts = await self.history.replay()
                # A commit that was reported as failed may be durable all the same: then watchers still have to get it,
                # and all of it, before anything that follows.
                missed = [commit async for commit in self.history.commits(self.size, record.size)]
                self.record, self.attempts = record, attempts
                for commit in missed:
                    self._publish(commit)
                self.is_stale = False
                self._holder.reread(is_newer=bool(missed))
            finally:
                self._idle.set()
                self._holder.freed()
        return self.record

    async def shown(self, note: bytes, payer: Payer) -> None:
        """Compare a checkpoint that a seat keeps with the game. Raise ``Unsound`` if entries that it covers are lost.

        The game is set aside then, and the next start knows as much. Nothing comes of a checkpoint that this referee
        did not sign, of another game's, or of one that the game has or declares lost. Raise ``StoreFailed`` as well.
        """
        try:
            shown = open_checkpoint(note, self._context.signer.verifier)
        except LogError:
            return
        if shown.game_id != self.record.game_id:
            return
        record, history = await self.ready(), self.history
        payer.charge(Work.READ, 1)
        if await history.has_head(shown, self.size):
            return
        payer.charge(Work.REPLAY, self.size)
        if await history.explains(shown, self.size):
            return
        marks = self._context.store.marks
        # The first copy need not be the newest: how much is lost is not known.
        await asyncio.to_thread(marks.doubt, {record.game_id: record.last_ms})
        if shown.size > self.size:
            await asyncio.to_thread(marks.raise_to, [(record.game_id, shown.size, shown.root)])
            what = f"a seat has a checkpoint of {shown.size} entries, and {self.size} are there"
        else:
            what = f"a seat has a checkpoint of another history of {shown.size} entries"
        raise history.unsound(what)

    def settle(self, rows: list[Row], stamp_ms: int) -> None:
        """Add everything that follows at once. Under the guard."""
        while (event := self.record.due(stamp_ms)) is not None:
            self.attempts.count(is_refused=False)
            rows.append(row_of(self.record.write(event, Clock(stamp_ms))))

    def commit(
        self,
        rows: list[Row],
        clock: Clock,
        reply: Reply,
        *,
        refused: RulesError | None = None,
        acted: int | None = None,
        opening: Opening | None = None,
        remark: bytes | None = None,
    ) -> None:
        """Hand the rows to the store; the answer goes to ``reply`` when they are durable, or the failure.

        ``clock``: the first row's. ``acted``: the seat that acted. Under the guard: if this raises, nothing was handed
        over, and the game in memory has moved all the same.
        """
        record = self.record
        kept = acts.encode(refused.violations) if refused is not None else None
        change = self._context.change(record, rows, opening, kept, remark)
        accepted = Accepted(rows[0].seq, rows[-1].note, record.size, record.head, clock)
        answer = Refused(refused.violations, accepted) if refused is not None else accepted
        self._idle.clear()
        handed = _Handed(Commit(record.game_id, rows), answer, reply, clock.referee_ms, acted)
        committed = partial(self._committed, handed)
        try:
            self._context.store.commit(change, committed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the game must not wait for an answer for ever
            committed(error if isinstance(error, StoreFailed) else StoreFailed(f"{type(error).__name__}: {error}"))

    def _committed(self, handed: _Handed, failure: StoreFailed | None) -> None:
        """Take the store's answer. The caller may have left by now; the entries are there all the same."""
        commit, answer, reply, stamp_ms, acted = handed
        try:
            if failure is not None:
                self._holder.failed(stamp_ms)
                self.distrust()
                reply.deliver(failure, None)
                return
            self.history.written(commit.rows)
            served = reply.watcher
            try:
                reply.deliver(answer, commit)
            except BaseException:
                served = None  # the others get the commit, and so does the author
                raise
            finally:
                self._publish(commit, served)
                self._holder.settled(acted, stamp_ms)
        finally:
            self._idle.set()
            self._holder.freed()

    def _publish(self, commit: Commit, served: Watcher | None = None) -> None:
        is_new, self.size = not self.size, commit.seq + 1
        self._holder.published(commit, served, is_new=is_new)


class _Handed(NamedTuple):
    """Changes that were handed to the store, and the actions for when they are durable."""

    commit: Commit
    answer: Answer
    reply: Reply
    stamp_ms: int
    """The time of the first entry."""
    acted: int | None
    """The seat whose act it was; None: no seat's."""


class _Guard:
    """Guards the state in memory: after any error it may be half way, and is read again before it is used."""

    __slots__ = ("_distrust",)

    def __init__(self, distrust: Callable[[], None]) -> None:
        self._distrust = distrust

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._distrust()


def row_of(written: Written) -> Row:
    """Return what the store is to keep of an entry."""
    return Row(written.seq, written.data)
