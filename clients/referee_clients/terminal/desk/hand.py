"""The connection of a scribe, and of a seat, to the referee, for the desk.

``Scribe`` enters for all seats; a seat's own is in ``referee_clients.terminal.seat``. Knows no terminal. The rules
judge here first, by the same code as at the referee; what they forbid is never sent.
"""

from __future__ import annotations

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from referee.games.game import Chance
from referee.log import intent
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.intent import SignedIntent, TableAct
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.text.notation.table import ActKind
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.sdk.channel import Security
from referee_clients.sdk.connection import SILENCE_S, Connection, Cut, cuts
from referee_clients.sdk.errors import ClientError, Denied, Distrust, answer_of_failure, denied
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk.acts import NO_KEY, Meant, message


class NotEntered(Exception):
    """The act is in no entry, and the game continues: why, in words."""


class Overtaken(NotEntered):
    """Another entry has taken the place of the act."""


class Hand(ABC):
    """One game, and one author in it: a scribe, or a seat."""

    def __init__(
        self,
        address: str,
        game_id: str,
        token: str,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        silence_s: float = SILENCE_S,
        copy: GameCopy | None = None,
        on_commit: Callable[[], None],
        on_way: Callable[[str], None],
    ) -> None:
        """``on_commit`` is called when there are new entries, and when all have come that there were at the beginning;
        ``on_way`` with why there is no connection, or "" when there is one. ``copy`` keeps what was seen: the
        referee is shown the newest checkpoint that is there at the start, and has to have its entries.
        """
        self._copy = copy or GameCopy(None, game_id, "")
        self.file: Path | None = None
        """The file of the game, once that is over and kept."""
        self.ledger = Ledger(game_id, verifier)
        self.address = address
        self.game_id = game_id
        self.token = token
        self.security = security
        self._grown = asyncio.Event()
        """Set with the next commit."""
        self._on_commit = on_commit
        self._on_way = on_way
        self._connected = False
        self.is_current = False
        """True if all entries from before the beginning were read."""
        self._ahead_ms = -math.inf
        """The referee's clock less our own, as far as it is known."""
        self.heard_s = time.monotonic()
        """The time when we learnt of the newest entry, or that it is our turn."""
        self._sent: tuple[SignedIntent, int] | None = None
        """Our act for the head as we know it, and its seq, until the entry there is known."""
        self._thought_ms: int | None = None
        """The time that act took us, where it counts."""
        self._sent_on = -1
        """The stream that it was last sent on."""
        self._answer_by_s = 0.0
        """The time from which on the act is taken for lost, and sent again on another stream."""
        self._answer: asyncio.Future[int] | None = None
        self._connection = Connection(
            address,
            game_id,
            token,
            patience_s=math.inf,
            silence_s=silence_s,
            security=security,
            on_cut=self._cut,
        )
        self._connection.checkpoint = self._copy.note

    @property
    @abstractmethod
    def author(self) -> Author:
        """The author of our acts. Raise ``Denied`` if this game does not know us."""

    @property
    @abstractmethod
    def key(self) -> PrivateKey:
        """The author's key. Raise ``Denied`` if we do not have it."""

    @property
    def is_waiting(self) -> bool:
        """Return whether an act is on its way."""
        return self._answer is not None

    @property
    def now_ms(self) -> int:
        """The referee's clock, as far as it is known; milliseconds since 1970."""
        return int(self._ahead_ms + 1000 * time.monotonic()) if math.isfinite(self._ahead_ms) else 0

    async def run(self) -> None:
        """Follow the game to its end, through every break of the connection. Raise ``ClientError``."""
        try:
            async with self._connection as connection:
                await connection.play(self.ledger, self._take)
        except ClientError as error:
            self._copy.tell(error, self.ledger)
            self._settled(error)
            raise
        else:
            self.file = self._copy.finish(self.ledger)
        finally:
            self._copy.keep(self.ledger.entries, self.ledger.checkpoint)
        self._settled(NotEntered("the game is over"))

    async def move(self, data: bytes) -> int:
        """Make a move that is legal: its exact bytes. Return and raise as ``send`` does.

        It is meant in this position: whatever other entry comes first, the move is signed again as long as that stays.
        """
        digest = self.ledger.record.game.position.digest()
        while True:
            record = self.ledger.record
            try:
                return await self.send(intent.move(record.place, self.author, self.key, data))
            except Overtaken:
                if not record.game.goes_on or record.game.position.digest() != digest:
                    raise

    async def send(self, signed: SignedIntent) -> int:
        """Send an act for the newest entry. Return the number of its entry, when that is durable.

        Raise ``NotEntered`` and ``ClientError``. A break of the connection raises nothing: the act is sent again.
        """
        if self._sent is not None or self._answer is not None:
            raise NotEntered("the act before this one is not yet acknowledged")
        self._answer = asyncio.get_running_loop().create_future()
        self._make(signed)
        try:
            if self._connected:
                await self._again()
            return await self._answer
        except Cut:  # the stream that breaks reports it, and sent acts are kept
            return await self._answer
        finally:
            self._answer = None
            self._forget(signed)

    async def submit(
        self, author: Author, key: PrivateKey, token: str, act: TableAct, words: str = "", *, tries: int = 1
    ) -> int:
        """Enter an act of the table, with its words. Return the number of its entry; raise as ``send`` does.

        ``tries``: as for ``Arbiter.act``.
        """
        with self.calls(token) as calls:
            seq = (await calls.act(self.ledger.record.place, author, key, act, words, tries=tries)).seq
        while self.ledger.size <= seq:
            self._grown.clear()
            await self._grown.wait()
        return seq

    @contextmanager
    def calls(self, token: str) -> Iterator[Arbiter]:
        """Make calls with this token on the connection that there is. Raise ``NotEntered`` if there is none."""
        if not self._connected:
            raise NotEntered("there is no connection to the referee now")
        try:
            with cuts():
                yield Arbiter(self._connection.channel(), self.game_id, token)
        except Cut:
            raise NotEntered(
                "the connection broke before there was an answer; the entries show whether it was entered"
            ) from None

    def owed(self) -> SignedIntent | None:
        """Return the act that the game awaits from the author before any decision; None: none.

        Raise ``Denied`` if the author cannot be ours.
        """
        return None

    def thought_ms(self) -> int | None:
        """Return how long the author has had the turn, by our own clock; None where it does not count."""
        return None

    # --- the stream ------------------------------------------------------------------------------------------------

    def _make(self, signed: SignedIntent) -> None:
        """Keep an act that is to be sent: for one head always the same bytes."""
        # Before it is sent: whatever becomes of us and the referee, one of us knows this head.
        self._copy.keep(self.ledger.entries, self.ledger.checkpoint)
        self._connection.checkpoint = self.ledger.checkpoint
        self._sent, self._sent_on = (signed, self.ledger.size), -1
        self._thought_ms = self.thought_ms()

    def _forget(self, signed: SignedIntent) -> None:
        if self._sent is not None and self._sent[0] is signed:
            self._sent = None

    async def _again(self) -> None:
        """Send it on this stream, once."""
        if self._sent is not None and self._sent_on != self._connection.reconnects:
            self._sent_on = self._connection.reconnects
            self._answer_by_s = time.monotonic() + self._connection.silence_s / 3
            await self._connection.send(*self._sent, self._thought_ms)

    def _cut(self, why: str) -> None:
        self._connected = False
        self._on_way(why)

    async def _take(self, said: pb.PlayGameResponse) -> None:
        if not self._connected:
            self._connected = True
            self._on_way("")
        if said.HasField("commit") or said.HasField("turn"):
            self.heard_s = time.monotonic()
        self._see_clock(said)
        self._settle(said)
        if said.HasField("commit"):
            self._grown.set()
            self._on_commit()
        has_all = said.HasField("turn") or said.HasField("heartbeat")  # that there was before
        if has_all:
            if problem := self._copy.compare(self.ledger.entries):
                raise Distrust(problem)
            await self._copy.begin(self._connection, self.token, self.ledger.record.opened.header_hash)
        if has_all and not self.is_current:
            self.is_current = True
            self._on_commit()
        if has_all and self._sent is None and (signed := self.owed()) is not None:
            self._make(signed)
        await self._again()
        if said.HasField("heartbeat") and self._sent is not None and time.monotonic() >= self._answer_by_s:
            raise Cut("no answer to an act")

    def _see_clock(self, said: pb.PlayGameResponse) -> None:
        """Note what the referee's clock showed: messages come late, and never early."""
        game, shown_ms = self.ledger.record.game, said.heartbeat.referee_ms
        if said.HasField("commit"):
            shown_ms = self.ledger.record.last_ms
        elif said.turn.HasField("left_ms") and game.clocks is not None:
            since_ms = game.clocks.seat(said.turn.seat).since_ms
            shown_ms = 0 if since_ms is None else since_ms + game.clocks.available(said.turn.seat) - said.turn.left_ms
        self._ahead_ms = max(self._ahead_ms, shown_ms - 1000 * time.monotonic())

    def _settle(self, said: pb.PlayGameResponse) -> None:
        """Take note of the outcome of our act, if the message has it."""
        if self._sent is None:
            return
        signed, seq = self._sent
        if self.ledger.size > seq:
            if self.ledger.holds(signed.intent, seq):
                self.ledger.receipts.append(said.commit.checkpoint)
                self._settled(seq)
            else:
                self._settled(Overtaken(f"another author made entry {seq} in the meantime"))
        elif said.HasField("answer") and said.answer.id == seq:
            self._missing(said.answer)

    def _missing(self, told: pb.Answer) -> None:
        """An answer to an act that is in no entry."""
        if told.HasField("refused"):
            broken = "; ".join(violation.text or violation.rule_id for violation in told.refused.violations)
            self._settled(NotEntered(f"the referee refuses it: {broken}"))
        elif told.HasField("failure"):
            answer = answer_of_failure(told.failure)
            if answer.passes:
                raise Cut(str(answer), answer.retry_s)
            if answer.reason in ("STALE_HEAD", "GAME_OVER"):  # of these the entries tell
                return
            if self._answer is None:  # there is no caller to answer
                raise denied(answer)
            self._settled(NotEntered(str(denied(answer))))

    def _settled(self, outcome: int | Exception) -> None:
        self._sent = None
        if self._answer is None or self._answer.done():
            return
        if isinstance(outcome, Exception):
            self._answer.set_exception(outcome)
        else:
            self._answer.set_result(outcome)


# --- a scribe --------------------------------------------------------------------------------------------------------


class Scribe(Hand):
    """One game, entered by one scribe."""

    def __init__(
        self,
        address: str,
        game_id: str,
        token: str,
        key: PrivateKey,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        copy: GameCopy | None = None,
        on_commit: Callable[[], None],
        on_way: Callable[[str], None],
    ) -> None:
        """See ``Hand``."""
        super().__init__(
            address,
            game_id,
            token,
            verifier=verifier,
            security=security,
            copy=copy,
            on_commit=on_commit,
            on_way=on_way,
        )
        self._key = key

    @property
    def key(self) -> PrivateKey:
        return self._key

    @property
    def author(self) -> Author:
        keys = list(self.ledger.record.opened.scribe_keys)
        if self._key.public.raw not in keys:
            raise Denied("this desk's key is not a scribe's key of this game")
        return Author(Role.SCRIBE, keys.index(self._key.public.raw))

    async def enter(self, event: Any) -> int:
        """Enter what the rules await, and allow. Return and raise as ``send`` does."""
        record = self.ledger.record
        position = record.game.position
        if isinstance(position.pending()[0], Chance):
            data = position.codec.encode_outcome(event, position.components)
            return await self.send(intent.declare(record.place, self.author.index, self._key, data))
        return await self.move(position.encoded_move(event))

    async def correct(self, to_seq: int) -> int:
        """Go back to the position after that entry. Return and raise as ``send`` does."""
        return await self.send(
            intent.act(self.ledger.record.place, self.author, self._key, log_pb2.Correct(to_seq=to_seq))
        )

    async def act(self, meant: Meant, arbiter: PrivateKey | None, arbiter_token: str, organiser_token: str) -> int:
        """Enter what happened beside the moves. Return and raise as ``send`` does."""
        record, act = self.ledger.record, meant.act
        if act.kind is ActKind.ABORT:
            async with organiser(self.address, organiser_token, self.security) as there:
                return await there.abort(self.game_id)
        author, key, token = self.author, self._key, self.token
        if act.is_ruling:
            if arbiter is None or arbiter.public.raw not in record.opened.arbiter_keys:
                raise NotEntered(NO_KEY)
            author = Author(Role.ARBITER, list(record.opened.arbiter_keys).index(arbiter.public.raw))
            key, token = arbiter, arbiter_token
        try:
            made = message(record, meant, author)
        except LogError as error:
            raise NotEntered(f"{error.what}; expected {error.expected}") from None
        return await self.submit(author, key, token, made, act.words)
