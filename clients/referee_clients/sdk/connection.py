"""The connection of a seat: one game's stream, which survives breaks of the network, and acts on it.

The module knows messages and time, neither games nor signatures.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import grpc

from referee import api
from referee.log.game import Phase
from referee.log.intent import SignedIntent
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import CHANNEL_OPTIONS, Order, Security, bearer, open_channel
from referee_clients.sdk.errors import Answer, ClientError, Denied, Distrust, Unreachable, answer_of, denied
from referee_clients.sdk.ledger import Ledger

SILENCE_S = 30.0
"""The referee sends a heartbeat every 10 s: a stream silent for this long is cut."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
_UNNAMED = (
    "the referee does not say which version of its API it speaks, so it may be older than this program: ask the "
    "organiser"
)
BELIEVED = 3
"""An answer that may be damaged is believed when it comes this often with nothing good in between."""

# A channel that is dropped takes its connection along: it may be the connection that is dead.
_OPTIONS = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))


class Cut(Exception):
    """The way to the referee broke, or is to be taken anew; the message has the last error or act."""

    def __init__(self, why: str, retry_s: float | None = None) -> None:
        """``retry_s``: to wait at least."""
        super().__init__(why)
        self.retry_s = retry_s or 0.0


class Connection:
    """One game at one referee. ``async with`` it."""

    def __init__(
        self,
        address: str,
        game_id: str,
        token: str = "",
        *,
        patience_s: float = 300.0,
        silence_s: float = SILENCE_S,
        security: Security | None = None,
        on_cut: Callable[[str], None] | None = None,
    ) -> None:
        """Without a token a client may watch and nothing else.

        ``patience_s``: how long the referee may be away before ``Unreachable`` is raised. ``silence_s``: how long a
        stream may say nothing before it is taken for dead. ``security``: as the environment says, if not given.
        ``on_cut``: called with the reason each time that the way broke.
        """
        self.address = address
        self.game_id = game_id
        self.silence_s = silence_s
        self.checkpoint = b""
        """The newest checkpoint that the seat has: a stream of ``play`` begins by showing it to the referee."""
        self.reconnects = 0
        self._patience_s = patience_s
        self._token = token
        self._security = security
        self._on_cut = on_cut
        self._order: Order | None = None
        self._channel: grpc.aio.Channel | None = None
        self._stream: Any = None
        self._is_named = False
        """The referee names its generation of the API, and it is ours."""

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def cut(self) -> None:
        """Drop the connection; sent messages stay sent."""
        channel, self._channel = self._channel, None
        if channel is not None:
            if self._order is not None:
                self._order.blame(channel)
            await channel.close()

    async def watch(self, ledger: Ledger, take: Callable[[pb.WatchGameResponse], Awaitable[None]]) -> None:
        """Read the game into the ledger, from where that ends, to the end of the game.

        ``take`` gets every message after the ledger has it. Raise ``ClientError``, and the errors of ``take``; a
        ``Cut`` of ``take`` begins another stream, and so does a ``ClientError`` in doubt.
        """
        await self._follow(ledger, take, self._watch)

    async def play(self, ledger: Ledger, take: Callable[[pb.PlayGameResponse], Awaitable[None]]) -> None:
        """Play: as ``watch``, on a stream that takes acts as well."""
        await self._follow(ledger, take, self._enter)

    async def send(self, act: SignedIntent, number: int, thought_ms: int | None = None) -> None:
        """Put an act on the stream of ``play``; the answer will have the number. Raise ``Cut``.

        ``thought_ms``: since the turn was there, by our own clock; the time beyond it is the network's.
        """
        signed = pb.SignedAct(intent=act.intent, signature=act.signature, id=number, thought_ms=thought_ms)
        await self._write(pb.PlayGameRequest(act=signed))

    async def seats(self, take: Callable[[pb.WatchSeatResponse], Awaitable[None]]) -> None:
        """Take the events in all games of the token's bearer, games that are opened later included; never return.

        After a break each running game starts again from a snapshot. Raises as ``watch`` does.
        """
        taken = 0

        async def attempt(pace: Pace) -> None:
            nonlocal taken
            self._stream = self._stub().WatchSeat(pb.WatchSeatRequest(), metadata=bearer(self._token))
            try:
                await self._compare()
                while not (message := await self._next()).update.HasField("closing") or message.game_id:
                    pace.begin()
                    await take(message)
                    taken += 1
            finally:
                self._stream.cancel()
            raise Cut(f"the stream was closed: {message.update.closing.reason}")

        await self._persist(attempt, lambda: taken)

    # --- streams -------------------------------------------------------------------------------------------

    def channel(self) -> grpc.aio.Channel:
        """Return what the streams go over, for calls beside them. It is closed with the next break: see ``cuts``."""
        if self._channel is None:
            if self._order is None:
                security = self._security or Security.from_environment()
                self._order = Order(self.address, security, self._token)
            self._channel = open_channel(str(self._order), self._token, self._security, options=_OPTIONS)
        return self._channel

    def _stub(self) -> pb_grpc.GameServiceAsyncStub:
        return pb_grpc.GameServiceStub(self.channel())

    async def _watch(self, after_seq: int) -> None:
        request = pb.WatchGameRequest(game_id=self.game_id, after_seq=after_seq)
        self._stream = self._stub().WatchGame(request, metadata=bearer(self._token))

    async def _enter(self, after_seq: int) -> None:
        self._stream = self._stub().PlayGame(metadata=bearer(self._token))
        enter = pb.Enter(game_id=self.game_id, after_seq=after_seq, checkpoint=self.checkpoint)
        await self._write(pb.PlayGameRequest(enter=enter))

    async def _follow(
        self, ledger: Ledger, take: Callable[[Any], Awaitable[None]], begin: Callable[[int], Awaitable[None]]
    ) -> None:
        async def attempt(pace: Pace) -> None:
            """Return at the end of the game, and never before it."""
            await begin(ledger.size - 1)
            try:
                await self._compare()
                while (message := await self._next()).WhichOneof("item") != "closing":
                    pace.begin()
                    ledger.read(message)
                    await take(message)
            finally:
                self._stream.cancel()
            if message.closing.reason != pb.CLOSING_REASON_GAME_OVER:
                raise Cut(f"the stream was closed: {message.closing.reason}")
            if ledger.record.phase is not Phase.CLOSED:
                raise Distrust(f"the referee says that the game is over, after {ledger.size} entries", in_doubt=True)

        await self._persist(attempt, lambda: ledger.size)

    async def _persist(self, attempt: Callable[[Pace], Awaitable[None]], progress: Callable[[], int]) -> None:
        """Repeat the attempt until it returns. An error in doubt is believed when it comes often without progress."""
        pace = Pace(self._patience_s, self.address)
        doubts, got_to = 0, progress()
        while True:
            try:
                return await attempt(pace)
            except Cut as cut:
                why, retry_s = str(cut), cut.retry_s
            except ClientError as error:
                doubts, got_to = (doubts + 1 if progress() == got_to else 1), progress()
                if not error.in_doubt or doubts == BELIEVED:
                    if isinstance(error, Distrust) and not self._is_named:
                        raise Distrust(f"{_UNNAMED}; or else: {error}") from error
                    raise
                why, retry_s = str(error), 0.0
            self.reconnects += 1
            if self._on_cut is not None:
                self._on_cut(why)
            await self.cut()
            await pace.wait(why, retry_s)

    async def _compare(self) -> None:
        """Compare our generation of the API with the referee's, before anything that it sends. Raise ``Denied``.

        A stream that is refused has no metadata: reading it tells why.
        """
        with cuts():
            try:
                async with asyncio.timeout(self.silence_s):
                    metadata = await self._stream.initial_metadata()
            except TimeoutError:
                raise Cut(f"no heartbeat for {self.silence_s:.0f} s") from None
            except grpc.aio.AioRpcError:
                return
        try:
            self._is_named = api.check_named(metadata or ()) or self._is_named
        except api.OtherGeneration as error:
            raise Denied(str(error)) from None
        owner = next((str(value) for key, value in metadata or () if key == api.OWNER), "")
        if owner and self._order is not None:
            self._order.prefer(owner)

    async def _next(self) -> Any:
        """Return the next message. Raise ``Cut`` if another stream may bring it, ``ClientError`` if none will."""
        with cuts():
            try:
                async with asyncio.timeout(self.silence_s):
                    message = await self._stream.read()
            except TimeoutError:
                raise Cut(f"no heartbeat for {self.silence_s:.0f} s") from None
            except grpc.aio.AioRpcError as error:
                answer = answer_of(error)
                if answer.passes:
                    raise Cut(str(answer), answer.retry_s) from None
                raise denied(answer, await self._expired_on(answer)) from None
        if message is grpc.aio.EOF:
            raise Cut("the stream ended without a reason")
        if message is None:  # as gRPC says it
            raise Distrust("the referee sent something that is not a message of its protocol", in_doubt=True)
        return message

    async def _expired_on(self, answer: Answer) -> datetime | None:
        if not answer.is_expired:
            return None
        security = self._security or Security.from_environment()
        return await asyncio.to_thread(security.expired_on, self.address)

    async def _write(self, request: pb.PlayGameRequest) -> None:
        with cuts():
            try:
                async with asyncio.timeout(self.silence_s):
                    await self._stream.write(request)
            except TimeoutError:
                raise Cut(f"nothing could be sent for {self.silence_s:.0f} s") from None
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                pass  # The stream is broken; a read says why.


@contextmanager
def cuts() -> Iterator[None]:
    """Turn the cancelled call of a channel that was closed under it into a ``Cut``, unless the task itself is
    cancelled.
    """
    try:
        yield
    except (asyncio.CancelledError, grpc.aio.UsageError):
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise Cut("the channel was closed") from None


class Pace:
    """The wait before the next attempt: ever longer, up to a limit, and not in step with others."""

    def __init__(self, patience_s: float, address: str) -> None:
        self._patience_s = patience_s
        self._address = address
        self.begin()

    def begin(self) -> None:
        """Start anew after a sign of life."""
        self._since = time.monotonic()
        self._wait_s = FIRST_WAIT_S

    async def wait(self, why: str, at_least_s: float = 0.0) -> None:
        """Wait before the next attempt. Raise ``Unreachable`` when patience is at its end."""
        gone_s = time.monotonic() - self._since
        if gone_s > self._patience_s:
            raise Unreachable(f"no answer from {self._address} for {gone_s:.0f} s; last problem: {why}")
        wait_s = self._wait_s * random.uniform(0.5, 1.0)
        await asyncio.sleep(max(wait_s, min(at_least_s, self._patience_s)))
        self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
