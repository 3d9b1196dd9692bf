"""One live game: the only writer of its log. An act goes in; its outcome comes out when it is durable.

Everything between two awaits is one step on the event loop. While a commit is under way the game in memory is ahead of
the store, so later callers wait: they neither act on nor see what may yet fail to become durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

import structlog

from referee.games.results import Result
from referee.log.entry import Clock, Written
from referee.log.errors import Code, LogError, RulesError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import SignedIntent, intent_encoding
from referee.log.note import open_checkpoint
from referee.log.replay import Record, signed_part
from referee.log.v1 import log_pb2
from referee.server.live import acts
from referee.server.live.acts import Accepted, Act, Answer, AwaitedReply, Refused, Reply
from referee.server.live.context import Context
from referee.server.live.docket import Calls
from referee.server.live.history import Attempts, History
from referee.server.live.refusals import (
    BeyondHead,
    Elsewhere,
    GameOver,
    InDoubt,
    NotAwaited,
    StaleHead,
    UnknownGame,
    Unsound,
)
from referee.server.live.timekeeper import Hold, Timekeeper, awaited_mover, is_up
from referee.server.live.turns import Payer, Work
from referee.server.live.view import awaited_text
from referee.server.live.watch import Commit, Ending, Watcher
from referee.server.store.nodes import Node
from referee.server.store.store import Opening, Row, StoreFailed
from referee.text.words.catalogue import phrase

_log = structlog.get_logger("referee.server.live")

_SEEN_MS = 2_000
"""The time for which another seat's act has the time of the entry about an outage that it follows: with its own time
the clock of an absent seat would run meanwhile."""


class Owner(Protocol):
    """The owner of a live game, which is notified of its fate."""

    def opened(self, game: LiveGame) -> None:
        """Note that its game is durable now."""

    def grown(self, game: LiveGame) -> None:
        """Note that there is more of it that is durable."""

    def stale(self, game: LiveGame) -> None:
        """Note that memory and store may differ: ask for ``record`` until they agree."""

    def closed(self, game: LiveGame) -> None:
        """Note that nothing can follow in the game."""

    def unsound(self, game: LiveGame, error: Unsound) -> None:
        """Note that the game's record cannot be continued."""


class LiveGame:
    """A game that is durable up to ``size``."""

    def __init__(
        self, context: Context, record: Record, attempts: Attempts, history: History, owner: Owner | None
    ) -> None:
        """``record``, ``attempts``, ``history``: as the store has it, but for what ``begin`` will add."""
        self._context = context
        self._record = record
        self._attempts = attempts
        self._owner = owner
        self._history = history
        history.on_unsound = self._unsound
        self._durable = record.size
        self._idle = asyncio.Event()
        self._idle.set()
        self._stale = False
        """Memory is not, or may not be, what the store has."""
        self._guard = _Guard(self._distrust)
        self._is_aside = False
        self._left_for: Node | None = None
        """The node that the game was left to."""
        self._watchers: set[Watcher] = set()
        self._legal: tuple[int, int | None, list[bytes]] = (-1, None, [])
        self._keeper = Timekeeper(context.time, record.opened.terms, self._rung)
        self.calls = Calls()
        self._stood_size = -1
        """The size of the log after the newest entry about an outage that was written here."""

    @classmethod
    def begin(
        cls, context: Context, open_data: bytes, opening: Opening, owner: Owner | None = None
    ) -> tuple[LiveGame, asyncio.Future[Answer]]:
        """Begin a new game: return it, and an awaitable that ends when the game is durable. Raise ``LogError``."""
        clock = Clock(context.time.now_ms())
        record, written = Record.start(
            open_data,
            clock,
            engines=context.engines,
            secret=opening.secret,
            max_entries=context.max_entries,
        )
        game = cls(context, record, Attempts(), History(context, record.game_id), owner)
        game._durable = 0
        rows = [_row(written)]
        game._settle(rows, clock.referee_ms)
        reply = AwaitedReply()
        listing = opening.listing._replace(opened_ms=clock.referee_ms)
        names = [name._replace(named_ms=clock.referee_ms) for name in opening.names]
        game._commit(rows, clock, reply, opening=replace(opening, listing=listing, names=names))
        return game, reply.answer

    @classmethod
    async def load(
        cls, context: Context, game_id: bytes, owner: Owner | None = None, *, gently: bool = False
    ) -> LiveGame:
        """Load the game as the store has it, and enter what was due. Raise ``Unsound``, ``StoreFailed``.

        ``gently``: slowly, as the game is not being played.
        """
        game, written = await cls.take_up(context, game_id, owner, gently=gently)
        if written is not None:
            await written
        return game

    @classmethod
    async def take_up(
        cls,
        context: Context,
        game_id: bytes,
        owner: Owner | None = None,
        *,
        alive_ms: int | None = None,
        gently: bool = False,
    ) -> tuple[LiveGame, asyncio.Future[Answer] | None]:
        """Load as ``load`` does; also return an awaitable that ends when the entries that were due are durable, if any
        were.

        ``alive_ms``: when the referee was last running, if it was down: no time that matters has passed since then.
        """
        history = History(context, game_id)
        game = cls(context, *await history.replay(gently=gently), history, owner)
        record, rows = game._record, list[Row]()
        if record.copied_ms:
            game._keeper.rest()
            return game, None
        if alive_ms is not None:
            # With its own clock behind that entry the referee would charge nothing, and no flag would fall.
            context.time.reach(record.last_ms)
        clock = Clock(max(context.time.now_ms(), record.last_ms))
        is_timed = record.phase is Phase.PLAYING and game._keeper.alarm_ms(record.game) is not None
        if alive_ms is not None and is_timed:
            alive_ms = min(max(alive_ms, record.last_ms), clock.referee_ms)
            if game._keeper.wait(alive_ms):
                game.rest()  # until it is served, from when on seats can come back
                return game, None
            rows.append(_row(record.write(log_pb2.Interrupted(alive_ms=alive_ms), clock)))
        # Usually no entry, unless the rules of what is due have changed: a due entry goes with the act that causes it.
        game._settle(rows, clock.referee_ms)
        if not rows:
            game._keeper.published(record.game)
            game._set_alarm()
            return game, None
        reply = AwaitedReply()
        game._commit(rows, clock, reply)
        return game, reply.answer

    @property
    def game_id(self) -> bytes:
        """16 bytes."""
        return self._record.game_id

    @property
    def rules(self) -> tuple[str, int]:
        """Their id and version."""
        return self._record.opened.rules_id, self._record.opened.rules_version

    @property
    def wants_proofs(self) -> bool:
        """True if certificates are to be made for the game."""
        return self._record.wants_proofs

    @property
    def size(self) -> int:
        """Entries that are durable."""
        return self._durable

    @property
    def phase(self) -> Phase:
        """The phase of the game, including entries on their way to the disk."""
        return self._record.phase

    @property
    def since_ms(self) -> int:
        """The time of the last entry by the referee's clock, including entries on their way to the disk."""
        return self._record.last_ms

    @property
    def result(self) -> Result | None:
        """The result of the game, if it has ended."""
        return self._record.game.end

    @property
    def is_closed(self) -> bool:
        """True if nothing can follow."""
        return self._record.is_final and self._durable == self._record.size

    # --- acts --------------------------------------------------------------------------------------------

    async def submit(self, act: Act) -> Answer:
        """Put an act of this game before the rules; the answer comes when it is durable.

        The same bytes again get the first answer again. Raise ``LiveGameError``, ``LogError`` and ``StoreFailed``.
        """
        reply = AwaitedReply()
        await self.play(act, reply)
        return await reply.answer

    async def play(self, act: Act, reply: Reply) -> None:
        """Submit as ``submit`` does; ``reply`` gets the answer, or what its commit failed with."""
        answer = await self._judge(act, reply)
        if answer is not None:
            reply.deliver(answer, None)

    async def _judge(self, act: Act, reply: Reply) -> Answer | None:
        """Return the answer if it needs no commit; otherwise ``reply`` gets it when the commit is through."""
        intent, author = act.intent, act.author
        record = self._record if self._is_ready() else await self._ready()
        if intent.seq < record.size:
            # The await may let others in, but entries that are there stay as they are.
            again = await self._answer_again(intent.seq, act.body, act.signature)
            if again is not None:
                return again
            record = await self._ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if record.copied_ms:
            raise InDoubt(record.copied_ms)
        if intent.seq != record.size or intent.prev != record.head:
            raise StaleHead(record.size, record.head)
        if self._keeper.hold is not None and _is_signed(record, act):
            await self._go_on_for(author)
        seat = awaited_mover(record.game, author) if intent.HasField("move") else None
        stamp_ms = record.last_ms if self._stands(act) else max(act.received_ms, record.last_ms)
        clock = self._charge(seat, stamp_ms, act.late_ms, act.thought_ms)
        if seat is not None and is_up(record.game, seat, clock):
            raise await self._time_is_up(seat, stamp_ms, act.late_ms)
        key_id = acts.key_id_for(record, intent, author, act.body, act.signature)
        signed = SignedIntent(act.body, act.signature, key_id)
        own_keys = self._context.own_keys | {self._context.signer.verifier.key}
        acts.check_seat_key(record, intent, own_keys)
        rows: list[Row] = []
        refused: RulesError | None = None
        try:
            rows.append(_row(record.admit(signed, clock, intent)))
        except RulesError as error:
            clock = self._charge(seat, stamp_ms, act.late_ms, None)  # the network is allowed for with what counts
            is_counted = record.counts_attempts and seat is not None and not is_up(record.game, seat, clock)
            if not is_counted or not intent.HasField("move") or self._attempts.are_enough:
                return Refused(error.violations, None)
            refused = error
        except LogError as error:
            if error.code is Code.ENGINE:
                self._distrust()
            acts.explain(record, intent, error)
        except BaseException:
            self._distrust()
            raise
        with self._guard:
            self._attempts.count(is_refused=refused is not None)
            if refused is not None:
                rows.append(_row(record.refuse(signed, refused, clock)))
            self._settle(rows, clock.referee_ms)
            acted = author.index if author.role is Role.SEAT else None
            self._commit(rows, clock, reply, refused=refused, acted=acted, remark=act.remark)
        return None

    # --- after an outage -----------------------------------------------------------------------------------

    @property
    def stood_ms(self) -> int:
        """The time since when clocks stand, as the referee was away and the awaited seats are not back.

        In milliseconds since 1970. 0: they do not, or the log says it.
        """
        return self._keeper.hold.alive_ms if self._keeper.hold is not None else 0

    async def back(self, author: Author) -> None:
        """Note that the author can act again. Return when the clocks' restart is durable, if they waited for that
        alone. Raise ``StoreFailed``, ``Unsound``."""
        if self._keeper.hold is None:
            return
        await self._ready()
        if self._keeper.hold is not None:
            self._keeper.hold.back.add(author)
            if self._keeper.are_back(self._record.game):
                await self._went_on()

    async def _go_on_for(self, author: Author) -> None:
        """Enter the outage before an act of the author, who has to see that entry first.

        Clocks still wait for seats that are not back: no seat starts the clock of another. Raise ``StaleHead``, unless
        the entry is there already, and new.
        """
        record, hold = self._record, self._keeper.hold
        if hold is None:
            return
        hold.back.add(author)
        if record.size == self._stood_size and self._context.time.now_ms() - record.last_ms < _SEEN_MS:
            self._go_on_if_back()
            return
        await self._went_on()
        record = await self._ready()
        raise StaleHead(record.size, record.head)

    def _stands(self, act: Act) -> bool:
        """Return whether clocks stand when this act is entered, as seats that are awaited are not back."""
        return self._keeper.hold is not None and _is_signed(self._record, act)

    async def _went_on(self) -> None:
        reply = AwaitedReply()
        if self._go_on(reply):
            await reply.answer

    def _go_on_if_back(self) -> None:
        """Restart clocks if all are back. The last entry is new here: no further one has to say so."""
        if self._keeper.hold is not None and self._keeper.are_back(self._record.game):
            self._keeper.go_on()

    def _go_on(self, reply: Reply) -> bool:
        """Enter the outage; return whether anything is entered, of which ``reply`` gets the answer.

        Clocks restart if all seats are back, or if the grace is over.
        """
        record, hold = self._record, self._keeper.hold
        if hold is None:
            return False
        now_ms = self._context.time.now_ms()
        stamp_ms = max(now_ms, record.last_ms)
        is_over = hold.until_ms is not None and now_ms >= hold.until_ms
        rows = list[Row]()
        with self._guard:
            alive_ms = min(max(hold.alive_ms, record.last_ms), stamp_ms)
            if record.phase is Phase.PLAYING:
                rows.append(_row(record.write(log_pb2.Interrupted(alive_ms=alive_ms), Clock(stamp_ms))))
            self._settle(rows, stamp_ms)
            if is_over or self._keeper.are_back(record.game):
                self._keeper.go_on()
            if rows:
                self._stood_size = record.size
                self._commit(rows, Clock(stamp_ms), _GoingOn(self._keeper, hold, reply))
        return bool(rows)

    def _charge(self, seat: int | None, stamp_ms: int, late_ms: int, thought_ms: int | None) -> Clock:
        if seat is None:
            return Clock(stamp_ms)
        return self._keeper.charge(self._record.game, seat, stamp_ms, late_ms=late_ms, thought_ms=thought_ms)

    async def _time_is_up(self, seat: int, stamp_ms: int, late_ms: int) -> NotAwaited:
        """Handle a move that came too late: the flag falls, unless network or referee may still be to blame."""
        reply = AwaitedReply()
        with self._guard:
            if rows := self._enter_due(stamp_ms, late_ms):
                self._commit(rows, Clock(stamp_ms), reply)
        if rows:
            await reply.answer
        late = phrase("the move came too late: seat {seat} had run out of time", seat=seat)
        return NotAwaited(late, awaited_text(self._record))

    async def abort(self) -> None:
        """End the game without a result. Raise ``GameOver``, ``NotAwaited``, ``StoreFailed``."""
        record = await self._ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if record.copied_ms:
            raise InDoubt(record.copied_ms)
        if record.game.reached() is not None and not record.game.arbitration.is_disputed:
            raise NotAwaited("the game has come to its end and cannot be aborted", awaited_text(record))
        clock = Clock(max(self._context.time.now_ms(), record.last_ms))
        rows: list[Row] = []
        reply = AwaitedReply()
        with self._guard:
            rows.append(_row(record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED), clock)))
            self._settle(rows, clock.referee_ms)
            self._commit(rows, clock, reply)
        await reply.answer

    async def _answer_again(self, seq: int, body: bytes, signature: bytes) -> Answer | None:
        """Return the first answer to these bytes, if they are the entry's."""
        entry = await self._history.entry(seq)
        signed = signed_part(entry)
        if signed is None or signed.intent != body or signed.signature != signature:
            return None
        accepted = await self._history.accepted(seq, self._durable)
        if entry.HasField("signed"):
            return accepted
        kept = await self._context.store.answer(self.game_id, seq)
        return Refused(acts.decode(kept) if kept is not None else (), accepted)

    # --- how an act becomes durable ------------------------------------------------------------------------

    def _is_ready(self) -> bool:
        return not self._stale and self._idle.is_set() and self._left_for is None

    def _distrust(self) -> None:
        """Read the game back before it is used again; if no caller comes, the owner does it."""
        self._stale = True
        if self._owner is not None:
            self._owner.stale(self)

    async def _ready(self) -> Record:
        """Return the record when it equals what the store has.

        Raise ``Unsound``, ``StoreFailed``, ``Elsewhere``; ``UnknownGame`` if the game never became durable.
        """
        while not self._is_ready():
            if self._left_for is not None:
                raise Elsewhere(self.game_id, self._left_for)
            if not self._idle.is_set():
                await self._idle.wait()
                continue
            self._idle.clear()
            try:
                if not self._durable and await self._context.store.game(self.game_id) is None:
                    raise UnknownGame(f"no game {self.game_id.hex()}")
                record, attempts = await self._history.replay()
                # A commit that was reported as failed may be durable all the same: then watchers still have to get it,
                # and all of it, before anything that follows.
                missed = [commit async for commit in self._history.commits(self._durable, record.size)]
                self._record, self._attempts = record, attempts
                for commit in missed:
                    self._publish(commit)
                self._stale = False
                if record.copied_ms:
                    self._keeper.rest()
                if not missed:
                    # While that was in doubt, the seat on turn may not have been notified.
                    for watcher in self._watchers:
                        watcher.beat()
                self._keeper.published(record.game)
            finally:
                self._idle.set()
                self._set_alarm()
        self._record.stood_ms = self.stood_ms
        return self._record

    def _settle(self, rows: list[Row], stamp_ms: int) -> None:
        """Everything that follows at once."""
        while (event := self._record.due(stamp_ms)) is not None:
            self._attempts.count(is_refused=False)
            rows.append(_row(self._record.write(event, Clock(stamp_ms))))

    def _commit(
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
        record = self._record
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
                self._keeper.failed(stamp_ms)
                self._distrust()
                reply.deliver(failure, None)
                return
            self._history.written(commit.rows)
            served = reply.watcher
            try:
                reply.deliver(answer, commit)
            except BaseException:
                served = None  # the others get the commit, and so does the author
                raise
            finally:
                self._publish(commit, served)
                self._go_on_if_back()  # restart if the seats that are awaited now are back
                self._keeper.published(self._record.game, acted, stamp_ms)
        finally:
            self._idle.set()
            self._set_alarm()

    def _publish(self, commit: Commit, served: Watcher | None = None) -> None:
        for watcher in self._watchers:
            if watcher is not served:
                watcher.push(commit)
        is_new, self._durable = not self._durable, commit.seq + 1
        if self._owner is not None:
            self._owner.grown(self)
            if is_new:
                self._owner.opened(self)
        if self._record.phase is not Phase.PLAYING:
            self._keeper.hold = None
        if self.is_closed:
            for watcher in self._watchers:
                watcher.over(self.game_id)
            self._watchers.clear()
            if self._owner is not None:
                self._owner.closed(self)

    # --- unasked entries ------------------------------------------------------------------------------------

    def _enter_due(self, stamp_ms: int, late_ms: int = 0) -> list[Row]:
        """Flags, absences, a result that was not protested against, and what follows. Under the guard."""
        rows: list[Row] = []
        self._settle(rows, stamp_ms)
        while (due := self._keeper.due(self._record.game, stamp_ms, late_ms)) is not None:
            self._attempts.count(is_refused=False)
            rows.append(_row(self._record.write(*due)))
            self._settle(rows, stamp_ms)
        return rows

    def _set_alarm(self) -> None:
        """Anew after whatever may have changed when something is due; not while a commit is under way."""
        self._keeper.set_alarm(self._record.game if self._is_ready() else None)

    def _rung(self) -> None:
        if not self._is_ready():
            return  # there will be another alarm after that
        self._keeper.pause()
        if self._keeper.hold is not None:
            try:
                self._go_on(Reply())
            except Exception as error:  # noqa: BLE001 - as below
                _log.error("due entry failed", game=self.game_id.hex(), error=str(error))
            self._set_alarm()
            return
        stamp_ms = max(self._context.time.now_ms(), self._record.last_ms)
        try:
            with self._guard:
                if rows := self._enter_due(stamp_ms):
                    self._commit(rows, Clock(stamp_ms), Reply())
        except Exception as error:  # noqa: BLE001 - without a caller only this can report it
            _log.error("due entry failed", game=self.game_id.hex(), error=str(error))
        self._set_alarm()

    def rest(self) -> None:
        """Stop entering what no caller asks for."""
        self._keeper.rest()

    def serve(self) -> None:
        """Resume after ``rest``: awaited seats can act from now on. A game in doubt stays at rest."""
        if self._record.copied_ms:
            return
        self._keeper.serve(self._record.game)
        self._set_alarm()

    async def leave(self, node: Node) -> None:
        """Let another node continue the game: nothing is under way when this returns, and nothing will be.

        Raise as ``record``, and ``GameOver``.
        """
        self.rest()
        try:
            await self._ready()
            await self._went_on()  # else the next node would take the time until now for one in which seats could act
            record = await self._ready()
        except BaseException:
            self.serve()
            raise
        if record.is_final:
            raise GameOver("the game is over")
        self._left_for = node
        self._keeper.hold = None
        for watcher in self._watchers:
            watcher.over(self.game_id, Ending.DRAINING)
        self._watchers.clear()

    @property
    def has_left(self) -> bool:
        """True if the game was left to another node."""
        return self._left_for is not None

    @property
    def due_ms(self) -> int | None:
        """Return when something is due if no author acts before, in milliseconds since 1970."""
        return self._keeper.alarm_ms(self._record.game)

    def came(self, author: Author) -> None:
        """Note that a stream of the author's was opened."""
        self._keeper.came(author)

    def left(self, author: Author) -> None:
        """Note that a stream of the author's ended."""
        self._keeper.left(author)
        self._set_alarm()

    @property
    def present(self) -> Mapping[Author, int]:
        """The number of open streams, by their owners."""
        return self._keeper.present

    def _unsound(self, error: Unsound) -> None:
        self._is_aside = True
        self._keeper.hold = None
        self.rest()
        for watcher in self._watchers:
            watcher.over(self.game_id, Ending.SET_ASIDE)
        self._watchers.clear()
        if self._owner is not None:
            self._owner.unsound(self, error)

    async def shown(self, note: bytes, payer: Payer) -> None:
        """Compare a checkpoint that a seat keeps with the game. Raise ``Unsound`` if entries that it covers are lost.

        The game is set aside then, and the next start knows as much. Nothing comes of a checkpoint that this referee
        did not sign, of another game's, or of one that the game has or declares lost. Raise ``StoreFailed`` as well.
        """
        try:
            shown = open_checkpoint(note, self._context.signer.verifier)
        except LogError:
            return
        if shown.game_id != self.game_id:
            return
        record = await self._ready()
        payer.charge(Work.READ, 1)
        if await self._history.has_head(shown, self._durable):
            return
        payer.charge(Work.REPLAY, self._durable)
        if await self._history.explains(shown, self._durable):
            return
        marks = self._context.store.marks
        # The first copy need not be the newest: how much is lost is not known.
        await asyncio.to_thread(marks.doubt, {self.game_id: record.last_ms})
        if shown.size > self._durable:
            await asyncio.to_thread(marks.raise_to, [(self.game_id, shown.size, shown.root)])
            what = f"a seat has a checkpoint of {shown.size} entries, and {self._durable} are there"
        else:
            what = f"a seat has a checkpoint of another history of {shown.size} entries"
        raise self._history.unsound(what)

    # --- reading -------------------------------------------------------------------------------------------

    async def record(self) -> Record:
        """Return the record, to be looked at before the next await. Raise ``Unsound``, ``StoreFailed``."""
        return await self._ready()

    @property
    def is_stale(self) -> bool:
        """True if it has to be read back."""
        return self._stale

    def peek(self) -> Record | None:
        """Return the record to look at, unless something is under way just now."""
        self._record.stood_ms = self.stood_ms
        return self._record if self._is_ready() else None

    async def legal_moves(self) -> tuple[Record, int | None, list[bytes]]:
        """Return the record, the seat on turn and its canonical moves as exact bytes."""
        record = await self._ready()
        if self._legal[0] != record.size:
            self._legal = (record.size, *acts.legal_moves(record))
        return record, *self._legal[1:]

    def left_ms(self, seat: int) -> int | None:
        """Return what the seat has left for the act that is awaited, now; None if its clock does not run."""
        return self._keeper.left_ms(self._record.game, seat)

    def rows(self, first: int = 0) -> AsyncIterator[Row]:
        """Yield every durable entry from ``first`` on, as of now."""
        return self._history.rows(first, self._durable)

    async def header(self) -> bytes:
        """Return the header of the game's file. Raise ``Unsound``, ``StoreFailed``; ``UnknownGame`` as ``record``."""
        if not self._durable:
            await self._ready()
        return await self._history.header(self._record.opened.header_hash)

    def watch(self, watcher: Watcher) -> int:
        """Send the watcher every entry from the returned index on."""
        if self._is_aside:
            watcher.over(self.game_id, Ending.SET_ASIDE)
        elif self.is_closed:
            watcher.over(self.game_id)
        elif self.has_left:
            watcher.over(self.game_id, Ending.DRAINING)
        else:
            self._watchers.add(watcher)
        return self._durable

    async def watch_after(self, seq: int, watcher: Watcher) -> AsyncIterator[Commit]:
        """Yield the durable entries after this one; when they are through, the watcher gets the next.

        Raise ``BeyondHead``, ``Unsound``, ``StoreFailed``; ``UnknownGame`` if the game never became durable.
        """
        if not self._durable:
            await self._ready()
        if seq >= self._durable:
            raise BeyondHead(self._durable)
        first = seq + 1
        while first < self._durable:
            async for commit in self._history.commits(first, self._durable):
                yield commit
                first = commit.seq + 1
        self.watch(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Forget the watcher."""
        self._watchers.discard(watcher)

    def end_watching(self, ending: Ending) -> None:
        """End every watcher's stream."""
        for watcher in self._watchers:
            watcher.end(ending)
        self._watchers.clear()


class _Handed(NamedTuple):
    """Changes that were handed to the store, and the actions for when they are durable."""

    commit: Commit
    answer: Answer
    reply: Reply
    stamp_ms: int
    """The time of the first entry."""
    acted: int | None
    """The seat whose act it was; None: no seat's."""


class _GoingOn(Reply):
    """Stops clocks again if their restart does not become durable."""

    __slots__ = ("_hold", "_keeper", "_reply")

    def __init__(self, keeper: Timekeeper, hold: Hold, reply: Reply) -> None:
        self._keeper, self._hold, self._reply = keeper, hold, reply

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:
        if isinstance(outcome, StoreFailed):
            self._keeper.hold = self._hold
        self._reply.deliver(outcome, commit)


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


def _is_signed(record: Record, act: Act) -> bool:
    key = record.keyring.signer(act.author, act.body, act.signature)
    return key is not None and key.is_signed(intent_encoding(act.body), act.signature)


def _row(written: Written) -> Row:
    return Row(written.seq, written.data)
