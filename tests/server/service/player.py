"""A whole table of players over gRPC, in one hand: real keys, random moves, every entry replayed as it comes."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from referee.games.alhambra.moves import PlaceTile
from referee.games.game import Chance, Decision
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.rollwrite.moves import ChangeDice
from referee.log import intent
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey, open_checkpoint
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import Phrase
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc, rules_service_pb2_grpc

SCRIBE = PrivateKey(sha256(b"scribe").digest())
OTHER_SCRIBE = PrivateKey(sha256(b"other scribe").digest())
IDENTITY_POINT = bytes([1]) + bytes(31)
SMALL_ORDER_POINT = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")


S = grpc.StatusCode
_NEVER: dict[str, Any] = {
    "alhambra": PlaceTile(0, (0, 0)),
    "kingdomino": PlaceDomino(1, (0, 0), (1, 0)),
    "rollwrite": ChangeDice((1, 1, 1), (1, 1, 1)),
}
"""By game, a move that is never legal."""
CODE = {
    "NOT_LOGGED": S.FAILED_PRECONDITION,
    "IN_DOUBT": S.FAILED_PRECONDITION,
    "INVALID_ARGUMENT": S.INVALID_ARGUMENT,
    "UNKNOWN_GAME": S.NOT_FOUND,
    "UNKNOWN_RULES": S.NOT_FOUND,
    "UNAUTHENTICATED": S.UNAUTHENTICATED,
    "PERMISSION_DENIED": S.PERMISSION_DENIED,
    "MALFORMED_INTENT": S.INVALID_ARGUMENT,
    "WRONG_GAME": S.INVALID_ARGUMENT,
    "STALE_HEAD": S.ABORTED,
    "BAD_SIGNATURE": S.INVALID_ARGUMENT,
    "WEAK_KEY": S.INVALID_ARGUMENT,
    "NOT_AWAITED": S.FAILED_PRECONDITION,
    "MALFORMED_MOVE": S.INVALID_ARGUMENT,
    "COMMITMENT_MISMATCH": S.INVALID_ARGUMENT,
    "GAME_OVER": S.FAILED_PRECONDITION,
    "ACT_NOT_OFFERED": S.UNIMPLEMENTED,
    "SEQ_OUT_OF_RANGE": S.OUT_OF_RANGE,
    "DRAINING": S.UNAVAILABLE,
    "STORE_FAILED": S.UNAVAILABLE,
    "LIMIT": S.RESOURCE_EXHAUSTED,
    "INTERNAL": S.INTERNAL,
    "DEADLINE": S.DEADLINE_EXCEEDED,
    "SET_ASIDE": S.FAILED_PRECONDITION,
    "SOLVER_FAILED": S.ABORTED,
    "NOT_OWNER": S.UNAVAILABLE,
    "OTHER_API": S.FAILED_PRECONDITION,
}
"""The promise of the API, written down a second time."""


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def seat_key(seat: int) -> PrivateKey:
    return PrivateKey(sha256(f"seat {seat}".encode()).digest())


def seat_seed(seat: int) -> bytes:
    return sha256(f"seed {seat}".encode()).digest()


def against_the_rules(play: Play) -> bytes:
    """Return a well-formed move that is never legal."""
    course = play.record.game
    return course.position.codec.encode_move(_NEVER[play.record.opened.rules_id], course.position.components)


def token_of(play: Play, seat: int) -> str:
    return play.created.seat_tokens[seat]


@dataclass
class Client:
    """Stubs on one channel, and the organiser's token."""

    channel: grpc.aio.Channel
    organiser: str

    def __post_init__(self) -> None:
        self.games: Any = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.rules: Any = rules_service_pb2_grpc.RulesServiceStub(self.channel)

    async def create(self, seats: int = 2, scribed: tuple[int, ...] = (), **fields: Any) -> pb.CreateGameResponse:
        request = pb.CreateGameRequest(**{"rules_id": "alhambra", **fields})
        request.seats.extend(log_pb2.Seat(scribed=seat in scribed) for seat in range(seats))
        response: pb.CreateGameResponse = await self.games.CreateGame(request, metadata=bearer(self.organiser))
        return response

    async def play(self, seats: int = 2, *, seed: int = 1, **fields: Any) -> Play:
        """Create a game without players in it."""
        return Play(self, await self.create(seats, **fields), random.Random(seed))

    async def log(self, game_id: str) -> bytes:
        stream = self.games.GetLog(pb.GetLogRequest(game_id=game_id))
        return b"".join([response.chunk async for response in stream])


@dataclass
class Play:
    """One game as its players know it: nothing but the entries that they watched."""

    client: Client
    created: pb.CreateGameResponse
    rng: random.Random
    record: Record = field(init=False)
    entries: list[bytes] = field(default_factory=list)
    notes: dict[int, bytes] = field(default_factory=dict)
    """The signed checkpoint by size."""
    sent: list[tuple[pb.SubmitIntentRequest, str, pb.SubmitIntentResponse]] = field(default_factory=list)

    stream: Any = None

    def __post_init__(self) -> None:
        self.record = Record(self.created.game.open)

    @property
    def id(self) -> str:
        return self.created.game.id

    @property
    def place(self) -> Place:
        return self.record.place

    @property
    def seats(self) -> list[int]:
        return [i for i, seat in enumerate(self.record.opened.seats) if not seat.scribed]

    async def catch_up(self, size: int) -> None:
        """Read until there are ``size`` entries."""
        if self.stream is None:
            request = pb.WatchGameRequest(game_id=self.id, after_seq=len(self.entries) - 1)
            self.stream = self.client.games.WatchGame(request)
        while len(self.entries) < size:
            message = await self.stream.read()
            if not message.HasField("heartbeat"):
                self.take(message)

    def take(self, message: pb.WatchGameResponse) -> None:
        """The next commit of a stream: in order, legal, and under the referee's signature."""
        assert message.WhichOneof("item") == "commit", message
        for data in message.commit.entries:
            assert decode_entry(data).seq == len(self.entries)
            self.record.read(data)
            self.entries.append(data)
        assert message.seq == len(self.entries) - 1
        head = open_checkpoint(message.commit.checkpoint, VerifierKey.parse(self.created.verifier_key))
        assert (head.size, head.root) == (self.record.size, self.record.root())
        self.notes[head.size] = message.commit.checkpoint

    async def submit(self, signed: SignedIntent, token: str) -> pb.SubmitIntentResponse:
        """Submit the intent unchanged; the caller reads the outcome."""
        request = pb.SubmitIntentRequest(game_id=self.id, intent=signed.intent, signature=signed.signature)
        response: pb.SubmitIntentResponse = await self.client.games.SubmitIntent(request, metadata=bearer(token))
        self.sent.append((request, token, response))
        return response

    async def act(self, signed: SignedIntent, token: str) -> pb.Accepted:
        response = await self.submit(signed, token)
        assert response.WhichOneof("verdict") == "accepted", response
        return await self.accepted(response)

    async def accepted(self, response: pb.SubmitIntentResponse) -> pb.Accepted:
        await self.catch_up(response.accepted.size)
        assert self.notes[response.accepted.size] == response.accepted.checkpoint
        assert self.record.head == response.accepted.head
        return response.accepted

    def join(self, seat: int) -> SignedIntent:
        seed = seat_seed(seat) if self.record.game.deal.is_dealt else None
        return intent.join(self.place, seat, seat_key(seat), seed)

    def reveal(self, seat: int) -> SignedIntent:
        return intent.reveal(self.place, seat, seat_key(seat), seat_seed(seat))

    def move(self, seat: int, data: bytes) -> SignedIntent:
        return intent.move(self.place, Author(Role.SEAT, seat), seat_key(seat), data)

    def seat_on_turn(self) -> int:
        (awaited,) = self.record.game.position.pending()
        assert isinstance(awaited, Decision), awaited
        return awaited.seat

    def a_move(self) -> bytes:
        """Any legal move."""
        course = self.record.game
        return course.position.codec.encode_move(
            self.rng.choice(list(course.position.state.legal_moves())), course.position.components
        )

    def next_act(self) -> tuple[SignedIntent, str] | None:
        """Return the awaited act, signed, with the token to send it; None at the end."""
        record, course = self.record, self.record.game
        tokens = self.created.seat_tokens
        if record.phase is Phase.JOINING:
            seat = next(seat for seat in self.seats if seat not in course.joins)
            return self.join(seat), tokens[seat]
        if record.phase is Phase.REVEALING:
            seat = next(seat for seat in self.seats if seat not in course.deal.seeds)
            return self.reveal(seat), tokens[seat]
        if record.phase is not Phase.PLAYING:
            return None
        (awaited,) = course.position.pending()
        if isinstance(awaited, Chance):
            outcome, _ = next(iter(course.position.state.chance_outcomes()))
            data = course.position.codec.encode_outcome(outcome, course.position.components)
            return intent.declare(self.place, 0, SCRIBE, data), self.created.scribe_token
        seat = self.seat_on_turn()
        if record.opened.seats[seat].scribed:
            author, key = Author(Role.SCRIBE, 0), SCRIBE
            return intent.move(self.place, author, key, self.a_move()), self.created.scribe_token
        return self.move(seat, self.a_move()), tokens[seat]

    async def step(self) -> bool:
        """Make the next act; return False at the end."""
        if not self.entries:
            await self.catch_up(1)
        act = self.next_act()
        if act is not None:
            await self.act(*act)
        return act is not None

    async def until_play(self) -> None:
        while self.record.phase in (Phase.JOINING, Phase.REVEALING):
            await self.step()

    async def steps(self, count: int) -> None:
        for _ in range(count):
            assert await self.step()

    async def to_the_end(self) -> None:
        while await self.step():
            pass


@dataclass(frozen=True)
class Refusal:
    """A gRPC error as a client sees it."""

    reason: str
    metadata: dict[str, str]
    message: str
    details_bytes: int
    retry_s: float
    """0 if the referee does not say that waiting helps."""


def refusal(error: grpc.aio.AioRpcError) -> Refusal:
    """Return the error's only ErrorInfo: of our domain, small, and with the status of its reason.

    Beside it there is RetryInfo or nothing. The message in other languages is left out here.
    """
    trailers = dict(error.trailing_metadata() or ())
    data = trailers["grpc-status-details-bin"]
    assert isinstance(data, bytes)
    status = status_pb2.Status.FromString(data)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    detail, *more = status.details
    retry = error_details_pb2.RetryInfo()
    assert [other.Unpack(retry) for other in more] in ([], [True])
    info = error_details_pb2.ErrorInfo()
    assert detail.Unpack(info)
    assert info.domain == "referee.v1"
    assert len(data) < 4096
    pb.ErrorReason.Value(f"ERROR_REASON_{info.reason}")
    assert error.code() is CODE[info.reason]
    retry_s = retry.retry_delay.ToNanoseconds() / 1e9
    metadata = dict(info.metadata)
    if said := metadata.pop("said", ""):
        # Other words for the same facts: a translation says what the message says.
        assert str(Phrase.decoded(said)) in status.message
    return Refusal(info.reason, metadata, status.message, len(data), retry_s)


async def refused(call: Any) -> Refusal:
    """That the call is refused, and how. ``call``: an awaitable, or a stream to be read."""
    try:
        if hasattr(call, "read"):
            answer = await call.read()
        else:
            answer = await call
    except grpc.aio.AioRpcError as error:
        return refusal(error)
    raise AssertionError(f"it was not refused: {answer}")


@asynccontextmanager
async def connected(address: str, organiser: str, **options: int) -> AsyncIterator[Client]:
    async with grpc.aio.insecure_channel(address, options=list(options.items())) as channel:
        yield Client(channel, organiser)
