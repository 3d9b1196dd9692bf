"""The scribe's side of one game: follows it, signs what is entered, and sends it until its entry is known.

Knows no terminal. The rules judge here first, by the same code as at the referee; what they forbid is never sent.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from referee.games.game import Chance
from referee.log import intent
from referee.log.errors import LogError
from referee.log.intent import Author, Role, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.notation.table_acts import Kind
from referee.v1 import game_service_pb2 as pb
from referee_clients.desk.acts import NO_KEY, Meant, message
from referee_clients.sdk.arbiter import arbiter as calls_of
from referee_clients.sdk.channel import Security
from referee_clients.sdk.connection import SILENCE_S, Connection, Cut
from referee_clients.sdk.errors import ClientError, Denied, answer_of_failure, denied
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import organiser


class NotEntered(Exception):
    """The act is in no entry, and the game goes on: why, in words."""


class Scribe:
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
        silence_s: float = SILENCE_S,
        on_commit: Callable[[], None],
        on_way: Callable[[str], None],
    ) -> None:
        """``on_commit`` is called when there are new entries; ``on_way`` with why there is no connection, or "" when
        there is one."""
        self.ledger = Ledger(game_id, verifier)
        self._address = address
        self._game_id = game_id
        self._token = token
        self._security = security
        self._grown = asyncio.Event()
        """Set with the next commit."""
        self._key = key
        self._on_commit = on_commit
        self._on_way = on_way
        self._connected = False
        self._sent: tuple[SignedIntent, int] | None = None
        """Our act for the head as we know it, and its seq, until the entry there is known."""
        self._sent_on = -1
        """The stream that it was last sent on."""
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

    @property
    def is_waiting(self) -> bool:
        """Whether an act is on its way."""
        return self._answer is not None

    async def run(self) -> None:
        """Follow the game to its end, through every break of the connection. Raise ``ClientError``."""
        try:
            async with self._connection as connection:
                await connection.play(self.ledger, self._take)
        except ClientError as error:
            self._settled(error)
            raise
        self._settled(NotEntered("the game is over"))

    async def enter(self, event: Any) -> int:
        """Return the number of its entry, when that is durable. The event is what the rules await, and legal.

        Raise ``NotEntered`` and ``ClientError``. A break of the connection raises nothing: the act is sent again.
        """
        record = self.ledger.record
        game = record.game
        if isinstance(game.position.pending()[0], Chance):
            data = game.position.codec.encode_outcome(event, game.position.components)
            return await self._send(intent.declare(record.place, self._number(), self._key, data))
        author = Author(Role.SCRIBE, self._number())
        data = game.position.codec.encode_move(event, game.position.components)
        return await self._send(intent.move(record.place, author, self._key, data))

    async def correct(self, to_seq: int) -> int:
        """Go back to the position after that entry. Returns and raises as ``enter`` does."""
        author = Author(Role.SCRIBE, self._number())
        correct = log_pb2.Correct(to_seq=to_seq)
        return await self._send(intent.act(self.ledger.record.place, author, self._key, correct))

    async def act(self, meant: Meant, arbiter: PrivateKey | None, arbiter_token: str, organiser_token: str) -> int:
        """Enter what happened beside the moves. Return the number of its entry; raise as ``enter`` does."""
        record, act = self.ledger.record, meant.act
        if act.kind is Kind.ABORT:
            async with organiser(self._address, organiser_token, self._security) as there:
                return await there.abort(self._game_id)
        author, key, token = Author(Role.SCRIBE, self._number()), self._key, self._token
        if act.is_ruling:
            if arbiter is None or arbiter.public.raw not in record.opened.arbiter_keys:
                raise NotEntered(NO_KEY)
            author = Author(Role.ARBITER, list(record.opened.arbiter_keys).index(arbiter.public.raw))
            key, token = arbiter, arbiter_token
        try:
            made = message(record, meant)
        except LogError as error:
            raise NotEntered(f"{error.what}; expected {error.expected}") from None
        async with calls_of(self._address, self._game_id, token, self._security) as there:
            seq = (await there.act(record.place, author, key, made, act.words)).seq
        while self.ledger.size <= seq:
            self._grown.clear()
            await self._grown.wait()
        return seq

    def _number(self) -> int:
        """Return which scribe we are. Raise ``Denied``."""
        keys = list(self.ledger.record.opened.scribe_keys)
        if self._key.public.raw not in keys:
            raise Denied("this desk's key is not a scribe's key of this game")
        return keys.index(self._key.public.raw)

    async def _send(self, signed: SignedIntent) -> int:
        if self._answer is not None:
            raise NotEntered("the act before this one is not yet acknowledged")
        self._answer = asyncio.get_running_loop().create_future()
        self._sent, self._sent_on = (signed, self.ledger.size), -1
        try:
            if self._connected:
                await self._again()
            return await self._answer
        except Cut:  # the stream that breaks tells so itself, and what is sent is kept
            return await self._answer
        finally:
            self._answer = self._sent = None

    async def _again(self) -> None:
        """Send it on this stream, once."""
        if self._sent is not None and self._sent_on != self._connection.reconnects:
            self._sent_on = self._connection.reconnects
            await self._connection.send(*self._sent)

    def _cut(self, why: str) -> None:
        self._connected = False
        self._on_way(why)

    async def _take(self, said: pb.PlayGameResponse) -> None:
        if not self._connected:
            self._connected = True
            self._on_way("")
        self._settle(said)
        if said.HasField("commit"):
            self._grown.set()
            self._on_commit()
        await self._again()

    def _settle(self, said: pb.PlayGameResponse) -> None:
        """What became of our act, if the message tells."""
        if self._sent is None:
            return
        signed, seq = self._sent
        if self.ledger.size > seq:
            if self.ledger.holds(signed.intent, seq):
                self.ledger.receipts.append(said.commit.checkpoint)
                self._settled(seq)
            else:
                self._settled(NotEntered(f"somebody else made entry {seq} in the meantime"))
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
            if answer.reason not in ("STALE_HEAD", "GAME_OVER"):  # of these the entries tell
                self._settled(NotEntered(str(denied(answer))))

    def _settled(self, outcome: int | Exception) -> None:
        self._sent = None
        if self._answer is None or self._answer.done():
            return
        if isinstance(outcome, Exception):
            self._answer.set_exception(outcome)
        else:
            self._answer.set_result(outcome)
