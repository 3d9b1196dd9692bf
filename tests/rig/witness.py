"""A player that writes down its acts and its messages; besides, it tries moves that are against the rules."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import grpc

from referee.games.alhambra.moves import PlaceTile
from referee.games.game import Decision
from referee.log import intent
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey, open_checkpoint
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients import Join
from referee_clients.bot_check.relay import Stream
from referee_clients.bots import load
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.player import Player
from tests.rig.history import Act, History, Outcome

CALL_S = 2.0


class _Recorded(Connection):
    """Knows when an act was first sent."""

    def __init__(self, name: str, join: Join, history: History, silence_s: float) -> None:
        super().__init__(join.address, join.game_id, join.token, patience_s=60.0, silence_s=silence_s)
        self.acts: dict[bytes, Act] = {}
        self._name = name
        self._history = history

    async def send(self, act: SignedIntent, number: int, thought_ms: int | None = None) -> None:
        if act.intent not in self.acts:
            self.acts[act.intent] = self._history.act(self._name, act.intent)
        await super().send(act, number, thought_ms)


class Witness(Player):
    """Plays a seat through whatever is at the address."""

    def __init__(
        self, name: str, join: Join, verifier: str, history: History, *, silence_s: float, submit_to: str
    ) -> None:
        """``submit_to``: where its unary calls go."""
        key = VerifierKey.parse(verifier)
        super().__init__(join, load("greedy"), key=PrivateKey.generate(), verifier=key, patience_s=60.0)
        self.name = name
        self.history = history
        self._submit_to = submit_to
        self.connection: _Recorded = _Recorded(name, join, history, silence_s)
        self._verifier = key
        self._rng = random.Random(f"{name}/unary")
        self._tried = -1
        self._calls: set[asyncio.Task[None]] = set()
        self._streams = -1
        self._read = 0

    async def run(self) -> Any:
        try:
            async with open_channel(self._submit_to, self.join.token) as channel:
                self._stub = GameServiceStub(channel)
                result = await super().run()
                await asyncio.gather(*self._calls)
                return result
        finally:
            for call in self._calls:
                call.cancel()
            self.history.receipts += self.ledger.receipts

    async def _take(self, message: pb.PlayGameResponse) -> None:
        if self._streams != self.connection.reconnects:
            self._streams = self.connection.reconnects
            self.history.streams.append(Stream(self.name, self._read - 1))
            self._stream = self.history.streams[-1]
        stream = self._stream
        stream.entries += self.ledger.entries[self._read :]
        stream.seqs.append(message.seq)
        self._read = self.ledger.size
        await super()._take(message)

    def _settle(self, message: pb.PlayGameResponse) -> None:
        sent = self._sent
        super()._settle(message)
        if sent is not None and self._sent is None:
            signed, seq = sent
            if self.ledger.holds(signed.intent, seq):
                self.connection.acts[signed.intent].answer(Outcome.ACCEPTED, seq)
            else:
                self.connection.acts[signed.intent].answer(Outcome.VOID)

    async def _act(self) -> None:
        if self._may_try() and self._rng.random() < 0.05:
            self._tried = self.ledger.size
            signed = self._against_the_rules()
            await self._submit(signed, self.history.act(self.name, signed.intent))
        await super()._act()
        if self._sent is not None and self._rng.random() < 0.1:
            # Equal bytes the other way, at the same time.
            signed, _ = self._sent
            act = self.history.act(self.name, signed.intent)
            self._calls.add(asyncio.create_task(self._submit(signed, act)))

    def _may_try(self) -> bool:
        record = self.ledger.record
        return (
            self._tried < record.size
            and record.phase is Phase.PLAYING
            and any(
                isinstance(awaited, Decision) and awaited.seat == self.join.seat
                for awaited in record.game.position.pending()
            )
        )

    def _against_the_rules(self) -> SignedIntent:
        course, place = self.ledger.record.game, self.ledger.record.place
        data = course.position.codec.encode_move(PlaceTile(0, (0, 0)), course.position.components)
        return intent.move(place, Author(Role.SEAT, self.join.seat), self.key, data)

    async def _submit(self, signed: SignedIntent, act: Act) -> None:
        """By the unary call, once; without an answer its outcome stays unknown."""
        request = pb.SubmitIntentRequest(game_id=self.join.game_id, intent=signed.intent, signature=signed.signature)
        try:
            answer = await self._stub.SubmitIntent(request, metadata=bearer(self.join.token), timeout=CALL_S)
        except grpc.aio.AioRpcError:
            return
        recorded = answer.refused.recorded if answer.refused.HasField("recorded") else None
        accepted = answer.accepted if answer.HasField("accepted") else recorded
        if accepted is not None:
            try:
                size = open_checkpoint(accepted.checkpoint, self._verifier).size
            except LogError as error:
                raise AssertionError(f"{self.name}: a receipt that does not hold: {error}") from error
            assert size == accepted.size > accepted.seq
            self.history.receipts.append(accepted.checkpoint)
        if answer.HasField("accepted"):
            act.answer(Outcome.ACCEPTED, answer.accepted.seq)
        else:
            rules = tuple(violation.rule_id for violation in answer.refused.violations)
            act.answer(Outcome.REFUSED, recorded.seq if recorded is not None else None, rules)
