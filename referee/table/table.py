"""One live game: the only writer of its log. An act goes in; what it became comes out when it is durable.

Everything between two awaits is one step on the event loop. While a commit is under way the game in memory is ahead of
the store, so whoever comes then waits: nobody acts on, or is shown, what may yet fail to become durable.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import NamedTuple, NoReturn, Protocol

from referee.log.entry import Clock, Written
from referee.log.errors import Code, LogError, RulesError
from referee.log.intent import Author, Role, SignedIntent, author_of
from referee.log.keys import key_id
from referee.log.replay import Record, signed_part
from referee.log.steps import Phase
from referee.log.v1 import log_pb2
from referee.store.store import Opening, Row, StoreFailed
from referee.table import answers
from referee.table.answers import Accepted, Answer, Refused
from referee.table.errors import (
    BeyondHead,
    GameOver,
    MalformedIntent,
    MalformedMove,
    NotAwaited,
    StaleHead,
    UnknownGame,
    Unsound,
    WeakKey,
)
from referee.table.history import Attempts, History
from referee.table.means import Means
from referee.table.view import awaited_text
from referee.table.watch import Commit, Ending, Watcher
from referee.v1 import game_service_pb2 as pb

Deliver = Callable[[Answer | StoreFailed, Commit | None], None]
"""Is told once what became of an act; with the commit, if there was one."""
Answered = Callable[[Answer | StoreFailed, Commit | None], pb.Answer]


class Act(NamedTuple):
    """What a seat, a scribe or an arbiter puts before the rules of one game."""

    intent: log_pb2.Intent
    """The strict decode of ``body``."""
    body: bytes
    signature: bytes
    received_ms: int
    remark: bytes | None = None
    """The text that it commits to, as in the game's file."""


class Owner(Protocol):
    """Who is told what becomes of a table."""

    def opened(self, table: Table) -> None:
        """Its game is durable now."""

    def stale(self, table: Table) -> None:
        """What it has in memory may not be what the store has: somebody has to ask for ``record`` until it is."""

    def closed(self, table: Table) -> None:
        """Nothing can follow in the game."""

    def unsound(self, table: Table, error: Unsound) -> None:
        """The game's record turned out to be one that cannot be gone on with."""


class Table:
    """A game that is durable as far as ``size`` tells."""

    def __init__(self, means: Means, record: Record, attempts: Attempts, owner: Owner | None) -> None:
        """``record`` and ``attempts``: as the store has it, but for what ``open`` will add."""
        self._means = means
        self._record = record
        self._attempts = attempts
        self._owner = owner
        self._history = History(means.store, record.game_id, self._unsound)
        self._durable = record.size
        self._idle = asyncio.Event()
        self._idle.set()
        self._stale = False
        """Memory is not, or may not be, what the store has."""
        self._is_aside = False
        self._watchers: set[Watcher] = set()
        self._legal: tuple[int, int | None, list[bytes]] = (-1, None, [])
        self.present: Counter[Author] = Counter()
        """Whose streams are open."""

    @classmethod
    def begin(
        cls, means: Means, open_data: bytes, opening: Opening, owner: Owner | None = None
    ) -> tuple[Table, asyncio.Future[Answer]]:
        """A new game on its way to the store, and what tells when it is durable. Raises ``LogError``."""
        record, written = Record.start(
            open_data,
            Clock(means.now_ms()),
            engines=means.engines,
            secret=opening.secret,
            max_entries=means.max_entries,
        )
        table = cls(means, record, Attempts(), owner)
        table._durable = 0
        rows = [_row(written)]
        table._settle(rows, Clock(means.now_ms()))
        reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        table._commit(rows, None, partial(_settle_reply, reply), opening=opening)
        return table, reply

    @classmethod
    async def load(cls, means: Means, game_id: bytes, owner: Owner | None = None, *, gently: bool = False) -> Table:
        """The game as the store has it, and with what was due. Raises ``Unsound``, ``StoreFailed``.

        ``gently``: at leisure, as nobody plays it.
        """
        table = cls(means, *await History(means.store, game_id).replay(means, gently=gently), owner)
        rows: list[Row] = []
        # Nothing is, unless the rules of what is due have changed: what is due goes with the act that makes it so.
        table._settle(rows, Clock(means.now_ms()))
        if rows:
            reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            table._commit(rows, None, partial(_settle_reply, reply))
            await reply
        return table

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
        """Whether certificates are to be made for the game."""
        return self._record.wants_proofs

    @property
    def size(self) -> int:
        """Entries that are durable."""
        return self._durable

    @property
    def phase(self) -> Phase:
        """How far the game is; what is on its way to the disk counts."""
        return self._record.phase

    @property
    def since_ms(self) -> int:
        """When the last entry was written, by the referee's clock; what is on its way to the disk counts."""
        return self._record.last_ms

    @property
    def result(self) -> log_pb2.GameEnd | None:
        """How the game ended, if it has."""
        return self._record.course.end

    @property
    def is_closed(self) -> bool:
        """Whether nothing can follow."""
        return self._record.is_final and self._durable == self._record.size

    # --- acts --------------------------------------------------------------------------------------------

    async def submit(self, act: Act) -> Answer:
        """Puts an act of this game before the rules; the answer comes when it is durable.

        The same bytes again get the first answer again. Raises ``TableError``, ``LogError`` and ``StoreFailed``.
        """
        reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        answer = await self._judge(act, partial(_settle_reply, reply), None)
        return answer if answer is not None else await reply

    async def play(self, act: Act, watcher: Watcher, answered: Answered) -> None:
        """As ``submit``, for a stream that watches this game: what became of the act goes through its queue.

        ``answered`` makes of the answer, or of the failure of its commit, what the queue takes. Raises what ``submit``
        raises, but for that failure.
        """

        def deliver(outcome: Answer | StoreFailed, commit: Commit | None) -> None:
            watcher.push(commit, answered(outcome, commit))

        answer = await self._judge(act, deliver, watcher)
        if answer is not None:
            deliver(answer, None)

    async def _judge(self, act: Act, deliver: Deliver, own: Watcher | None) -> Answer | None:
        """The answer, if it needs no commit; otherwise ``deliver`` is called when that is through."""
        intent = act.intent
        record = self._record if self._is_ready() else await self._ready()
        if intent.seq < record.size:
            # The await may let others in, but entries that are there stay as they are.
            again = await self._answer_again(intent.seq, act.body, act.signature)
            if again is not None:
                return again
            record = await self._ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if intent.seq != record.size or intent.prev != record.head:
            raise StaleHead(record.size, record.head)
        signed = SignedIntent(act.body, act.signature, self._key_id(record, intent))
        clock = Clock(act.received_ms)
        rows: list[Row] = []
        refused: RulesError | None = None
        try:
            rows.append(_row(record.admit(signed, clock, intent)))
        except RulesError as error:
            if not record.counts_attempts or intent.WhichOneof("act") != "move" or self._attempts.are_enough:
                return Refused(error.violations, None)
            refused = error
        except LogError as error:
            if error.code is Code.ENGINE:
                self._distrust()
            self._explain(record, intent, error)
        except BaseException:
            self._distrust()
            raise
        with self._all_or_reload():
            self._attempts.count(is_refused=refused is not None)
            if refused is not None:
                rows.append(_row(record.refuse(signed, refused, clock)))
            self._settle(rows, clock)
            self._commit(rows, refused, deliver, own, remark=act.remark)
        return None

    async def abort(self) -> None:
        """Ends the game without a result. Raises ``GameOver``, ``StoreFailed``."""
        record = await self._ready()
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        clock = Clock(self._means.now_ms())
        rows: list[Row] = []
        reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._all_or_reload():
            rows.append(_row(record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED), clock)))
            self._settle(rows, clock)
            self._commit(rows, None, partial(_settle_reply, reply))
        await reply

    async def _answer_again(self, seq: int, body: bytes, signature: bytes) -> Answer | None:
        """The first answer to these bytes, if they are the entry's."""
        entry = await self._history.entry(seq)
        signed = signed_part(entry)
        if signed is None or signed.intent != body or signed.signature != signature:
            return None
        accepted = await self._history.accepted(seq, self._durable)
        if entry.HasField("signed"):
            return accepted
        kept = await self._means.store.answer(self.game_id, seq)
        return Refused(answers.decode(kept) if kept is not None else (), accepted)

    @staticmethod
    def _key_id(record: Record, intent: log_pb2.Intent) -> bytes:
        if intent.WhichOneof("act") == "join":
            return key_id(intent.join.key)
        key = record.roll.key_of(author_of(intent))
        if key is None:
            raise NotAwaited(f"{author_of(intent)} has no key", awaited_text(record))
        return key.id

    @staticmethod
    def _explain(record: Record, intent: log_pb2.Intent, error: LogError) -> NoReturn:
        """Raises the error as its author can use it."""
        act = intent.WhichOneof("act")
        if error.code is Code.MALFORMED:
            kind = MalformedMove if act in ("move", "declare") else MalformedIntent
            raise kind(f"{error.what}; expected {error.expected}") from error
        if error.code is Code.NOT_AWAITED and act == "join":
            author = author_of(intent)
            others = [join.key for seat, join in record.course.joins.items() if seat != author.index]
            if author.role is Role.SEAT and intent.join.key in others:
                raise WeakKey("the key is in use at another seat") from error
        if error.code in (Code.NOT_AWAITED, Code.AUTHOR):
            # Of acts of the table what is awaited says little: they may come at any time.
            of_table = act not in ("join", "reveal", "move", "declare") and error.expected
            what = f"{error.what}; expected {error.expected}" if of_table else error.what
            raise NotAwaited(what, awaited_text(record)) from error
        raise error

    # --- how an act becomes durable ------------------------------------------------------------------------

    def _is_ready(self) -> bool:
        return not self._stale and self._idle.is_set()

    def _distrust(self) -> None:
        """The game is read back before it is used again; by the owner if by nobody else."""
        self._stale = True
        if self._owner is not None:
            self._owner.stale(self)

    async def _ready(self) -> Record:
        """The record when it is what the store has.

        Raises ``Unsound``, ``StoreFailed``; ``UnknownGame`` if the game never became durable.
        """
        while not self._is_ready():
            if not self._idle.is_set():
                await self._idle.wait()
                continue
            self._idle.clear()
            try:
                if not self._durable and await self._means.store.game(self.game_id) is None:
                    raise UnknownGame(f"no game {self.game_id.hex()}")
                record, attempts = await self._history.replay(self._means)
                # A commit that was reported as failed may be durable all the same: then watchers still have to get it,
                # and all of it, before anything that follows.
                missed = [commit async for commit in self._history.commits(self._durable, record.size)]
                self._record, self._attempts = record, attempts
                for commit in missed:
                    self._publish(commit)
                self._stale = False
                if not missed:
                    # Whose turn it is may not have been told while that was in doubt.
                    for watcher in self._watchers:
                        watcher.beat()
            finally:
                self._idle.set()
        return self._record

    def _settle(self, rows: list[Row], clock: Clock) -> None:
        """Everything that follows at once."""
        while (event := self._record.due(clock.referee_ms)) is not None:
            rows.append(_row(self._record.write(event, clock)))

    def _all_or_reload(self) -> _Guard:
        return _Guard(self)

    def _commit(
        self,
        rows: list[Row],
        refused: RulesError | None,
        deliver: Deliver,
        own: Watcher | None = None,
        *,
        opening: Opening | None = None,
        remark: bytes | None = None,
    ) -> None:
        """Hands the rows to the store; ``deliver`` is called when they are durable, or are known not to be.

        ``own`` is told by ``deliver`` and by nothing else. Under the guard: if this raises, nothing was handed over,
        and the game in memory has moved all the same.
        """
        record = self._record
        kept = answers.encode(refused.violations) if refused is not None else None
        change = self._means.change(record, rows, opening, kept, remark)
        accepted = Accepted(rows[0].seq, rows[-1].note, record.size, record.head)
        answer = Refused(refused.violations, accepted) if refused is not None else accepted
        self._idle.clear()
        committed = partial(self._committed, Commit(record.game_id, rows), answer, deliver, own)
        try:
            self._means.store.commit(change, committed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the table must not wait for an answer for ever
            committed(error if isinstance(error, StoreFailed) else StoreFailed(f"{type(error).__name__}: {error}"))

    def _committed(
        self,
        commit: Commit,
        answer: Answer,
        deliver: Deliver,
        own: Watcher | None,
        failure: StoreFailed | None,
    ) -> None:
        """The store has answered. Whoever asked may be gone by now; the entries are there all the same."""
        try:
            if failure is not None:
                self._distrust()
                deliver(failure, None)
                return
            try:
                deliver(answer, commit)
            except BaseException:
                own = None  # the others get the commit, and so does the author
                raise
            finally:
                self._publish(commit, own)
        finally:
            self._idle.set()

    def _publish(self, commit: Commit, told: Watcher | None = None) -> None:
        for watcher in self._watchers:
            if watcher is not told:
                watcher.push(commit)
        is_new, self._durable = not self._durable, commit.seq + 1
        if is_new and self._owner is not None:
            self._owner.opened(self)
        if self.is_closed:
            for watcher in self._watchers:
                watcher.over(self.game_id)
            self._watchers.clear()
            if self._owner is not None:
                self._owner.closed(self)

    def _unsound(self, error: Unsound) -> None:
        self._is_aside = True
        for watcher in self._watchers:
            watcher.over(self.game_id, Ending.SET_ASIDE)
        self._watchers.clear()
        if self._owner is not None:
            self._owner.unsound(self, error)

    # --- reading -------------------------------------------------------------------------------------------

    async def record(self) -> Record:
        """To look at, before the next await. Raises ``Unsound``, ``StoreFailed``."""
        return await self._ready()

    @property
    def is_stale(self) -> bool:
        """Whether it has to be read back."""
        return self._stale

    def peek(self) -> Record | None:
        """The record to look at, unless something is under way just now."""
        return self._record if self._is_ready() else None

    async def legal_moves(self) -> tuple[Record, int | None, list[bytes]]:
        """The record, the seat on turn and its canonical moves as exact bytes."""
        record = await self._ready()
        if self._legal[0] != record.size:
            self._legal = (record.size, *answers.legal_moves(record))
        return record, *self._legal[1:]

    def rows(self, first: int = 0) -> AsyncIterator[Row]:
        """Every durable entry from there on, as of now."""
        return self._history.rows(first, self._durable)

    def watch(self, watcher: Watcher) -> int:
        """Sends the watcher every entry from the returned index on."""
        if self._is_aside:
            watcher.over(self.game_id, Ending.SET_ASIDE)
        elif self.is_closed:
            watcher.over(self.game_id)
        else:
            self._watchers.add(watcher)
        return self._durable

    async def watch_after(self, seq: int, watcher: Watcher) -> AsyncIterator[Commit]:
        """The durable entries after this one; when they are through, the watcher gets the next.

        Raises ``BeyondHead``, ``Unsound``, ``StoreFailed``; ``UnknownGame`` if the game never became durable.
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
        """Forgets the watcher."""
        self._watchers.discard(watcher)

    def end_watching(self, ending: Ending) -> None:
        """Tells every watcher that nothing more comes."""
        for watcher in self._watchers:
            watcher.end(ending)
        self._watchers.clear()


class _Guard:
    """Whatever goes wrong inside, memory may be half way: it is read again before it is used."""

    __slots__ = ("_table",)

    def __init__(self, table: Table) -> None:
        self._table = table

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._table._distrust()


def _row(written: Written) -> Row:
    return Row(written.seq, written.data)


def _settle_reply(reply: asyncio.Future[Answer], outcome: Answer | StoreFailed, _: Commit | None) -> None:
    if reply.done():
        return
    if isinstance(outcome, StoreFailed):
        reply.set_exception(outcome)
    else:
        reply.set_result(outcome)
