"""Light players that play unattended: they know what the stream sends them, and write it down."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import grpc

from referee.games.alhambra import Options
from referee.log import intent
from referee.log.events import Author, Role
from referee.log.intent import Place
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee.wire.registry import codec
from tests.crash.journal import Act, Told
from tests.server.service.player import bearer, refusal

CHANNEL = {
    "grpc.initial_reconnect_backoff_ms": 20,
    "grpc.min_reconnect_backoff_ms": 20,
    "grpc.max_reconnect_backoff_ms": 100,
}
AGAIN = ("STORE_FAILED", "DRAINING")
"""Reasons to send the same bytes again."""
PATIENCE_S = 0.01
"""Before the next attempt."""

_GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
"""The referee was killed, or stopped while no player read the stream."""
_WRITTEN_TOO_LATE = "Internal error from Core"
"""The library's error for a message on a stream that is over."""


@dataclass
class Load:
    """All players at one referee."""

    channel: grpc.aio.Channel
    organiser: str
    rng: random.Random
    games: dict[str, Told] = field(default_factory=dict)
    """Those whose CreateGame was answered."""
    under_way: int = 0
    """Acts that were sent and are not answered."""
    failures: list[str] = field(default_factory=list)
    """Reasons with which acts were not done, in order."""
    turns: int | None = None
    """The most turns of a new game; a whole game if None."""

    def __post_init__(self) -> None:
        self.stub: Any = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.may_act = asyncio.Event()
        self.may_act.set()
        self.is_closing = False
        """No new games."""
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def create(self, seats: int, rules_id: str = "alhambra") -> tuple[Told, list[str]]:
        """Return a new game and its tokens, whatever happens meanwhile."""
        options = b""
        if self.turns is not None and rules_id == "alhambra":
            options = codec(rules_id, 2).encode_options(Options(max_turns=self.turns))
        request = pb.CreateGameRequest(rules_id=rules_id, seats=[log_pb2.Seat()] * seats, options=options)
        while True:
            try:
                created = await self.stub.CreateGame(request, metadata=bearer(self.organiser), wait_for_ready=True)
            except grpc.aio.AioRpcError as error:
                await self._went_wrong(error)
                continue
            told = Told(created.game.id, VerifierKey.parse(created.verifier_key))
            self.games[told.game_id] = told
            return told, list(created.seat_tokens)

    async def table(self) -> None:
        """One game after another."""
        while not self.is_closing:
            told, tokens = await self.create(self.rng.randint(2, 4))
            await self.play(told, tokens)

    async def play(self, told: Told, tokens: list[str]) -> None:
        """The game to its end."""
        rngs = [random.Random(self.rng.random()) for _ in tokens]
        # Half of them act with SubmitIntent.
        players = [
            Player(self, told, seat, token, rngs[seat], is_unary=seat % 2 == 1) for seat, token in enumerate(tokens)
        ]
        async with asyncio.TaskGroup() as group:
            for player in players:
                group.create_task(player.run())
        told.is_over = True

    async def pause(self) -> None:
        """No act is under way when this returns, and none begins before ``may_act`` is set."""
        self.may_act.clear()
        await self._quiet.wait()

    def sending(self, number: int) -> None:
        self.under_way += number
        if self.under_way:
            self._quiet.clear()
        else:
            self._quiet.set()

    async def _went_wrong(self, error: grpc.aio.AioRpcError) -> None:
        await went_wrong(error, self.failures)


async def went_wrong(error: grpc.aio.AioRpcError, failures: list[str]) -> str:
    """Return the reason, if it is one to continue after; raises it otherwise. No reason: the referee is gone."""
    if any(name == "grpc-status-details-bin" for name, _ in error.trailing_metadata() or ()):
        reason = refusal(error).reason
        failures.append(reason)
        if reason not in (*AGAIN, "STALE_HEAD"):
            raise error
    elif error.code() not in _GONE and error.details() != _WRITTEN_TOO_LATE:
        raise error
    else:
        reason = ""
    await asyncio.sleep(PATIENCE_S)
    return reason


class Player:
    """One seat of one game."""

    def __init__(self, load: Load, told: Told, seat: int, token: str, rng: random.Random, *, is_unary: bool) -> None:
        self._load = load
        self._told = told
        self._seat = seat
        self._metadata = bearer(token)
        self._rng = rng
        self._is_unary = is_unary
        self._key = PrivateKey(sha256(f"seat {seat}".encode()).digest())
        self._seed = sha256(f"seed {seat}".encode()).digest()
        self._seq = -1
        self._act: Act | None = None
        """Not answered yet."""
        self._turn: pb.Turn | None = None
        """The last turn that was announced, unless it was used."""
        self._is_over = False

    async def run(self) -> None:
        """To the end of the game."""
        try:
            await self._run()
        finally:
            if self._act is not None:
                self._load.sending(-1)

    async def _run(self) -> None:
        while not self._is_over:
            call = self._load.stub.PlayGame(metadata=self._metadata, wait_for_ready=True)
            try:
                await self._stream(call)
            except grpc.aio.AioRpcError as error:
                await went_wrong(error, self._load.failures)
            except asyncio.InvalidStateError:
                pass  # the stream was cut between two messages
            finally:
                call.cancel()

    async def _stream(self, call: Any) -> None:
        enter = pb.Enter(game_id=self._told.game_id, after_seq=self._seq, legal_moves=True)
        await call.write(pb.PlayGameRequest(enter=enter))
        if self._act is not None:
            await self._send(call, self._act)
        while (message := await call.read()) is not grpc.aio.EOF:
            self._take(message)
            if message.closing.reason == pb.CLOSING_REASON_GAME_OVER:
                self._is_over = True
                return
            if message.answer.HasField("failure") and self._act is not None:
                await asyncio.sleep(PATIENCE_S)
                await self._send(call, self._act)
            if message.HasField("turn"):
                self._turn = message.turn
            # A turn is announced once: it may come before the answer to an act whose first answer was lost.
            turn = self._turn
            if self._act is None and turn is not None and turn.size == self._seq + 1:
                await self._load.may_act.wait()
                self._turn = None
                await self._send(call, self._decide(turn))

    def _take(self, message: pb.PlayGameResponse) -> None:
        commit = message.commit
        first = message.seq + 1 - len(commit.entries)
        if commit.entries:
            assert first == self._seq + 1, f"game {self._told.game_id}: entry {first} after entry {self._seq}"
            for seq, data in enumerate(commit.entries, first):
                self._told.see(seq, data)
            self._told.note(message.seq + 1, commit.checkpoint)
            self._seq = message.seq
        answer, act = message.answer, self._act
        if not message.HasField("answer"):
            return
        assert act is not None
        assert answer.id == act.seq
        if answer.HasField("accepted"):
            receipt = answer.accepted
            receipt.checkpoint = receipt.checkpoint or commit.checkpoint
            self._answered(act, receipt)
        else:
            reason = pb.ErrorReason.Name(answer.failure.reason).removeprefix("ERROR_REASON_")
            self._load.failures.append(reason)
            self._failed(act, reason, str(answer))

    def _answered(self, act: Act, receipt: pb.Accepted) -> None:
        self._told.acknowledge(act, receipt)
        self._act = None
        self._load.sending(-1)

    def _failed(self, act: Act, reason: str, what: str) -> None:
        if reason in AGAIN:
            return
        # Only where several may act can somebody else come first.
        assert reason == "STALE_HEAD", what
        assert decode(act).WhichOneof("act") in ("join", "reveal"), f"a move on turn: {what}"
        act.is_denied = True
        self._act = None
        self._load.sending(-1)

    def _decide(self, turn: pb.Turn) -> Act:
        place = Place(bytes.fromhex(self._told.game_id), turn.size, turn.head)
        if turn.awaited == pb.AWAITED_JOIN:
            signed = intent.join(place, self._seat, self._key, self._seed)
        elif turn.awaited == pb.AWAITED_REVEAL:
            signed = intent.reveal(place, self._seat, self._key, self._seed)
        else:
            move = self._rng.choice(turn.moves)
            signed = intent.move(place, Author(Role.SEAT, self._seat), self._key, move)
        self._act = act = Act(turn.size, signed.intent, signed.signature)
        self._told.acts.append(act)
        self._load.sending(+1)
        return act

    async def _send(self, call: Any, act: Act) -> None:
        if not self._is_unary:
            await call.write(
                pb.PlayGameRequest(act=pb.SignedAct(intent=act.intent, signature=act.signature, id=act.seq))
            )
            return
        request = pb.SubmitIntentRequest(game_id=self._told.game_id, intent=act.intent, signature=act.signature)
        while self._act is act:
            try:
                response = await self._load.stub.SubmitIntent(request, metadata=self._metadata, wait_for_ready=True)
            except grpc.aio.AioRpcError as error:
                if reason := await went_wrong(error, self._load.failures):
                    self._failed(act, reason, str(error))
            else:
                self._answered(act, response.accepted)


def decode(act: Act) -> log_pb2.Intent:
    return intent.decode_intent(act.intent)
