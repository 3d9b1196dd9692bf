"""One live game: the only writer of its log. An act goes in; its outcome comes out when it is durable.

Everything between two awaits is one step on the event loop. ``LiveGame`` judges acts. Its parts are the ``Ledger``,
which makes entries durable; the ``Timekeeper``; ``OwnEntries``, which the referee makes unasked; the ``Audience``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Protocol

from referee.games.results import Result
from referee.log.entry import Clock
from referee.log.errors import Code, LogError, RulesError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import SignedIntent, intent_encoding
from referee.log.replay import Record, signed_part
from referee.log.v1 import log_pb2
from referee.server.live import acts
from referee.server.live.acts import Act, Answer, AwaitedReply, Refused, Reply
from referee.server.live.context import Context
from referee.server.live.docket import Calls
from referee.server.live.history import Attempts, History
from referee.server.live.ledger import Ledger, row_of
from referee.server.live.refusals import BeyondHead, GameOver, InDoubt, NotAwaited, StaleHead, Unsound
from referee.server.live.timekeeper import OwnEntries, Timekeeper, awaited_mover, is_up
from referee.server.live.view import awaited_text
from referee.server.live.watch import Audience, Commit, Ending, Watcher
from referee.server.store.nodes import Node
from referee.server.store.store import Opening, Row
from referee.text.words.catalogue import phrase


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
    """A game, and who plays and watches it."""

    def __init__(
        self, context: Context, record: Record, attempts: Attempts, history: History, owner: Owner | None
    ) -> None:
        """``record``, ``attempts``, ``history``: as the store has it, but for what ``begin`` will add."""
        self._context = context
        self._owner = owner
        history.on_unsound = self._unsound
        self.ledger = Ledger(context, record, attempts, history, self)
        """Its record, and what of it is durable."""
        self._keeper = Timekeeper(context.time, record.opened.terms, self._ring)
        self._own = OwnEntries(context.time, self.ledger, self._keeper)
        self.audience = Audience(record.game_id, Ending.GAME_OVER if record.is_final else None)
        """Everyone who watches the game."""
        self.calls = Calls()
        self._legal: tuple[int, int | None, list[bytes]] = (-1, None, [])

    @classmethod
    def begin(
        cls, context: Context, open_data: bytes, opening: Opening, owner: Owner | None = None
    ) -> tuple[LiveGame, asyncio.Future[Answer]]:
        """Begin a new game: return it, and an awaitable that ends when the game is durable. Raise ``LogError``."""
        clock = Clock(context.time.now_ms())
        record, written = Record.start(
            open_data, clock, engines=context.engines, secret=opening.secret, max_entries=context.max_entries
        )
        game = cls(context, record, Attempts(), History(context, record.game_id), owner)
        ledger = game.ledger
        ledger.size = 0
        rows = [row_of(written)]
        ledger.settle(rows, clock.referee_ms)
        reply = AwaitedReply()
        listing = opening.listing._replace(opened_ms=clock.referee_ms)
        names = [name._replace(named_ms=clock.referee_ms) for name in opening.names]
        ledger.commit(rows, clock, reply, opening=replace(opening, listing=listing, names=names))
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
        ledger, rows = game.ledger, list[Row]()
        record = ledger.record
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
            rows.append(row_of(record.write(log_pb2.Interrupted(alive_ms=alive_ms), clock)))
        # Usually no entry, unless the rules of what is due have changed: a due entry goes with the act that causes it.
        ledger.settle(rows, clock.referee_ms)
        if not rows:
            game._keeper.published(record.game)
            game.freed()
            return game, None
        reply = AwaitedReply()
        ledger.commit(rows, clock, reply)
        return game, reply.answer

    @property
    def game_id(self) -> bytes:
        """16 bytes."""
        return self.ledger.record.game_id

    @property
    def rules(self) -> tuple[str, int]:
        """Their id and version."""
        return self.ledger.record.opened.rules_id, self.ledger.record.opened.rules_version

    @property
    def wants_proofs(self) -> bool:
        """True if certificates are to be made for the game."""
        return self.ledger.record.wants_proofs

    @property
    def size(self) -> int:
        """Entries that are durable."""
        return self.ledger.size

    @property
    def phase(self) -> Phase:
        """The phase of the game, including entries on their way to the disk."""
        return self.ledger.record.phase

    @property
    def since_ms(self) -> int:
        """The time of the last entry by the referee's clock, including entries on their way to the disk."""
        return self.ledger.record.last_ms

    @property
    def result(self) -> Result | None:
        """The result of the game, if it has ended."""
        return self.ledger.record.game.end

    @property
    def is_closed(self) -> bool:
        """True if nothing can follow."""
        ledger = self.ledger
        return ledger.record.is_final and ledger.size == ledger.record.size

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
        ledger = self.ledger
        record = ledger.record if ledger.is_ready() else await ledger.ready()
        if intent.seq < record.size:
            # The await may let others in, but entries that are there stay as they are.
            again = await self._answer_again(intent.seq, act.body, act.signature)
            if again is not None:
                return again
            record = await ledger.ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if record.copied_ms:
            raise InDoubt(record.copied_ms)
        if intent.seq != record.size or intent.prev != record.head:
            raise StaleHead(record.size, record.head)
        if self._keeper.hold is not None and _is_signed(record, act):
            await self._own.before_act(author)
        seat = awaited_mover(record.game, author) if intent.HasField("move") else None
        # Clocks stand while seats that are awaited are not back.
        stands = self._keeper.hold is not None and _is_signed(record, act)
        stamp_ms = record.last_ms if stands else max(act.received_ms, record.last_ms)
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
            rows.append(row_of(record.admit(signed, clock, intent)))
        except RulesError as error:
            clock = self._charge(seat, stamp_ms, act.late_ms, None)  # the network is allowed for with what counts
            is_counted = record.counts_attempts and seat is not None and not is_up(record.game, seat, clock)
            if not is_counted or not intent.HasField("move") or ledger.attempts.are_enough:
                return Refused(error.violations, None)
            refused = error
        except LogError as error:
            if error.code is Code.ENGINE:
                ledger.distrust()
            acts.explain(record, intent, error)
        except BaseException:
            ledger.distrust()
            raise
        with ledger.guard:
            ledger.attempts.count(is_refused=refused is not None)
            if refused is not None:
                rows.append(row_of(record.refuse(signed, refused, clock)))
            ledger.settle(rows, clock.referee_ms)
            acted = author.index if author.role is Role.SEAT else None
            ledger.commit(rows, clock, reply, refused=refused, acted=acted, remark=act.remark)
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
        if self._keeper.hold is not None:
            await self._own.back(author)

    def _charge(self, seat: int | None, stamp_ms: int, late_ms: int, thought_ms: int | None) -> Clock:
        if seat is None:
            return Clock(stamp_ms)
        return self._keeper.charge(self.ledger.record.game, seat, stamp_ms, late_ms=late_ms, thought_ms=thought_ms)

    async def _time_is_up(self, seat: int, stamp_ms: int, late_ms: int) -> NotAwaited:
        """Handle a move that came too late: the flag falls, unless network or referee may still be to blame."""
        reply = AwaitedReply()
        with self.ledger.guard:
            if rows := self._own.due(stamp_ms, late_ms):
                self.ledger.commit(rows, Clock(stamp_ms), reply)
        if rows:
            await reply.answer
        late = phrase("the move came too late: {player} had run out of time", player=seat)
        return NotAwaited(late, awaited_text(self.ledger.record))

    async def abort(self) -> None:
        """End the game without a result. Raise ``GameOver``, ``NotAwaited``, ``StoreFailed``."""
        ledger = self.ledger
        record = await ledger.ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if record.copied_ms:
            raise InDoubt(record.copied_ms)
        if record.game.reached() is not None and not record.game.arbitration.is_disputed:
            raise NotAwaited("the game has come to its end and cannot be aborted", awaited_text(record))
        clock = Clock(max(self._context.time.now_ms(), record.last_ms))
        rows: list[Row] = []
        reply = AwaitedReply()
        with ledger.guard:
            rows.append(row_of(record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED), clock)))
            ledger.settle(rows, clock.referee_ms)
            ledger.commit(rows, clock, reply)
        await reply.answer

    async def _answer_again(self, seq: int, body: bytes, signature: bytes) -> Answer | None:
        """Return the first answer to these bytes, if they are the entry's."""
        history = self.ledger.history
        entry = await history.entry(seq)
        signed = signed_part(entry)
        if signed is None or signed.intent != body or signed.signature != signature:
            return None
        accepted = await history.accepted(seq, self.ledger.size)
        if entry.HasField("signed"):
            return accepted
        kept = await self._context.store.answer(self.game_id, seq)
        return Refused(acts.decode(kept) if kept is not None else (), accepted)

    # --- what becomes of its entries, as ``Holder`` says ------------------------------------------------------

    def published(self, commit: Commit, served: Watcher | None, *, is_new: bool) -> None:
        """Hand the commit to watchers, and the news to the owner."""
        self.audience.publish(commit, served)
        if self._owner is not None:
            self._owner.grown(self)
            if is_new:
                self._owner.opened(self)
        record = self.ledger.record
        if record.phase is not Phase.PLAYING:
            self._keeper.hold = None
        if record.is_final and self.ledger.size == record.size:
            self.audience.close(Ending.GAME_OVER)
            if self._owner is not None:
                self._owner.closed(self)

    def settled(self, acted: int | None, stamp_ms: int) -> None:
        """Let clocks run for the seats that are awaited now."""
        game = self.ledger.record.game
        if self._keeper.hold is not None and self._keeper.are_back(game):
            self._keeper.go_on()  # the last entry is new here: no further one has to say so
        self._keeper.published(game, acted, stamp_ms)

    def failed(self, stamp_ms: int) -> None:
        """Let no seat pay for the time that this took."""
        self._keeper.failed(stamp_ms)

    def reread(self, *, is_newer: bool) -> None:
        """Let clocks run as the record says. While it was in doubt, the seat on turn may not have been notified."""
        record = self.ledger.record
        if record.copied_ms:
            self._keeper.rest()
        if not is_newer:
            self.audience.beat()
        self._keeper.published(record.game)

    def stale(self) -> None:
        """Have the owner read the game back, if no caller does."""
        if self._owner is not None:
            self._owner.stale(self)

    def freed(self) -> None:
        """Set the alarm anew after whatever may have changed when something is due; not while a commit is under way."""
        self._keeper.set_alarm(self.ledger.record.game if self.ledger.is_ready() else None)

    # --- time and presence ----------------------------------------------------------------------------------

    def _ring(self) -> None:
        self._own.enter_due()
        self.freed()

    def rest(self) -> None:
        """Stop entering what no caller asks for."""
        self._keeper.rest()

    def serve(self) -> None:
        """Resume after ``rest``: awaited seats can act from now on. A game in doubt stays at rest."""
        if self.ledger.record.copied_ms:
            return
        self._keeper.serve(self.ledger.record.game)
        self.freed()

    async def leave(self, node: Node) -> None:
        """Let another node continue the game: nothing is under way when this returns, and nothing will be.

        Raise as ``record``, and ``GameOver``.
        """
        self.rest()
        try:
            await self.ledger.ready()
            # Else the next node would take the time until now for one in which seats could act.
            await self._own.end_outage()
            record = await self.ledger.ready()
        except BaseException:
            self.serve()
            raise
        if record.is_final:
            raise GameOver("the game is over")
        self.ledger.left_for = node
        self._keeper.hold = None
        self.audience.close(Ending.DRAINING)

    @property
    def due_ms(self) -> int | None:
        """Return when something is due if no author acts before, in milliseconds since 1970."""
        return self._keeper.alarm_ms(self.ledger.record.game)

    def came(self, author: Author) -> None:
        """Note that a stream of the author's was opened."""
        self._keeper.came(author)

    def left(self, author: Author) -> None:
        """Note that a stream of the author's ended."""
        self._keeper.left(author)
        self.freed()

    @property
    def present(self) -> Mapping[Author, int]:
        """The number of open streams, by their owners."""
        return self._keeper.present

    def _unsound(self, error: Unsound) -> None:
        self._keeper.hold = None
        self.rest()
        self.audience.close(Ending.SET_ASIDE)
        if self._owner is not None:
            self._owner.unsound(self, error)

    # --- reading -------------------------------------------------------------------------------------------

    async def record(self) -> Record:
        """Return the record, to be looked at before the next await. Raise ``Unsound``, ``StoreFailed``."""
        record = await self.ledger.ready()
        record.stood_ms = self.stood_ms
        return record

    def peek(self) -> Record | None:
        """Return the record to look at, unless something is under way just now."""
        record = self.ledger.record
        record.stood_ms = self.stood_ms
        return record if self.ledger.is_ready() else None

    async def legal_moves(self) -> tuple[Record, int | None, list[bytes]]:
        """Return the record, the seat on turn and its canonical moves as exact bytes."""
        record = await self.record()
        if self._legal[0] != record.size:
            self._legal = (record.size, *acts.legal_moves(record))
        return record, *self._legal[1:]

    def left_ms(self, seat: int) -> int | None:
        """Return what the seat has left for the act that is awaited, now; None if its clock does not run."""
        return self._keeper.left_ms(self.ledger.record.game, seat)

    def rows(self, first: int = 0) -> AsyncIterator[Row]:
        """Yield every durable entry from ``first`` on, as of now."""
        return self.ledger.history.rows(first, self.ledger.size)

    async def header(self) -> bytes:
        """Return the header of the game's file. Raise ``Unsound``, ``StoreFailed``; ``UnknownGame`` as ``record``."""
        ledger = self.ledger
        if not ledger.size:
            await ledger.ready()
        return await ledger.history.header(ledger.record.opened.header_hash)

    def watch(self, watcher: Watcher) -> int:
        """Send the watcher every entry from the returned index on."""
        self.audience.add(watcher)
        return self.ledger.size

    async def watch_after(self, seq: int, watcher: Watcher) -> AsyncIterator[Commit]:
        """Yield the durable entries after this one; when they are through, the watcher gets the next.

        Raise ``BeyondHead``, ``Unsound``, ``StoreFailed``; ``UnknownGame`` if the game never became durable.
        """
        ledger = self.ledger
        if not ledger.size:
            await ledger.ready()
        if seq >= ledger.size:
            raise BeyondHead(ledger.size)
        first = seq + 1
        while first < ledger.size:
            async for commit in ledger.history.commits(first, ledger.size):
                yield commit
                first = commit.seq + 1
        self.audience.add(watcher)


def _is_signed(record: Record, act: Act) -> bool:
    key = record.keyring.signer(act.author, act.body, act.signature)
    return key is not None and key.is_signed(intent_encoding(act.body), act.signature)
