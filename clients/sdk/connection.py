"""The way to the referee: calls that are repeated until answered, and a stream of entries that survives cuts.

Knows messages and time, not what a game or a signature is.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import grpc

from clients.sdk.channel import Security, bearer, open_channel
from clients.sdk.errors import Answer, Unreachable, answer_of, denied
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc

_T = TypeVar("_T")
_Stream = grpc.aio.UnaryStreamCall[pb.WatchGameRequest, pb.WatchGameResponse]

CALL_S = 15.0
"""A call without an answer for so long is sent again."""
SILENCE_S = 30.0
"""The referee sends a heartbeat every 10 s: a stream silent for so long is cut."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0


@dataclass(frozen=True, slots=True)
class Added:
    """One entry of the log, as it came."""

    seq: int
    data: bytes
    checkpoint: bytes


class Connection:
    """One game at one referee. ``async with`` it."""

    def __init__(
        self,
        address: str,
        game_id: str,
        token: str = "",
        *,
        patience_s: float = 300.0,
        security: Security | None = None,
    ) -> None:
        """Without a token one may watch and nothing else.

        ``patience_s``: how long the referee may be away before ``Unreachable`` is raised. ``security``: as the
        environment says, if not given.
        """
        self.address = address
        self.game_id = game_id
        self.reconnects = 0
        self._patience_s = patience_s
        self._token = token
        self._security = security
        self._metadata = bearer(token)
        self._channel: grpc.aio.Channel | None = None

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def cut(self) -> None:
        """Drops the channel; the next call makes another. What was sent stays sent."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    @property
    def _stub(self) -> pb_grpc.GameServiceAsyncStub:
        if self._channel is None:
            self._channel = open_channel(self.address, self._token, self._security)
        return pb_grpc.GameServiceStub(self._channel)

    async def submit(self, intent: bytes, signature: bytes) -> pb.SubmitIntentResponse | Answer:
        """Puts an intent before the referee, again with the same bytes until there is an answer.

        An ``Answer`` is an error that the seat may have to act on. Raises ``Unreachable``.
        """
        request = pb.SubmitIntentRequest(game_id=self.game_id, intent=intent, signature=signature)
        return await self._until_answered(
            lambda: self._stub.SubmitIntent(request, timeout=CALL_S, metadata=self._metadata)
        )

    async def size(self) -> int:
        """How many entries the log has now. Raises ``Denied`` and ``Unreachable``."""
        request = pb.GetGameRequest(game_id=self.game_id)
        response = await self._until_answered(
            lambda: self._stub.GetGame(request, timeout=CALL_S, metadata=self._metadata)
        )
        if isinstance(response, Answer):
            raise denied(response)
        return response.game.size

    async def watch(self, after_seq: int = -1) -> AsyncGenerator[Added, None]:
        """Every entry after this one, once and in order, over as many streams as it takes; ends with the game.

        Raises ``Denied`` and ``Unreachable``.
        """
        pace = _Pace(self._patience_s, self.address)
        while True:
            try:
                async with aclosing(self._one_stream(after_seq, pace)) as entries:
                    async for added in entries:
                        after_seq = added.seq
                        yield added
                return
            except _Cut as cut:
                self.reconnects += 1
                await pace.wait(str(cut))

    async def _one_stream(self, after_seq: int, pace: _Pace) -> AsyncGenerator[Added, None]:
        """The entries of one stream. Returns at the end of the game, raises ``_Cut`` before it."""
        request = pb.WatchGameRequest(game_id=self.game_id, after_seq=after_seq)
        stream = self._stub.WatchGame(request, metadata=self._metadata)
        try:
            while (message := await self._next(stream)).WhichOneof("item") != "closing":
                pace.begin()
                first, last = message.seq - len(message.commit.entries) + 1, message.seq
                for seq, data in enumerate(message.commit.entries, first):
                    yield Added(seq, data, message.commit.checkpoint if seq == last else b"")
        finally:
            stream.cancel()
        if message.closing.reason != pb.CLOSING_REASON_GAME_OVER:
            raise _Cut(pb.ClosingReason.Name(message.closing.reason))

    async def _next(self, stream: _Stream) -> pb.WatchGameResponse:
        """The next message. Raises ``_Cut`` if another stream may bring it, ``Denied`` if none will."""
        with _cuts():
            try:
                async with asyncio.timeout(SILENCE_S):
                    message = await stream.read()
            except TimeoutError:
                raise _Cut(f"no heartbeat for {SILENCE_S:.0f} s") from None
            except grpc.aio.AioRpcError as error:
                answer = answer_of(error)
                if answer.passes:
                    raise _Cut(str(answer)) from None
                raise denied(answer) from None
        if not isinstance(message, pb.WatchGameResponse):
            raise _Cut("the stream ended without a word")
        return message

    async def _until_answered(self, call: Callable[[], Awaitable[_T]]) -> _T | Answer:
        pace = _Pace(self._patience_s, self.address)
        while True:
            try:
                with _cuts():
                    return await call()
            except grpc.aio.AioRpcError as error:
                answer = answer_of(error)
                if not answer.passes:
                    return answer
                why = str(answer)
            except _Cut as cut:
                why = str(cut)
            await pace.wait(why)


class _Cut(Exception):
    """The way to the referee broke; what it said or did last."""


@contextmanager
def _cuts() -> Iterator[None]:
    """A channel that is closed under a call shows as a cancelled call: a ``_Cut``, unless the task itself is."""
    try:
        yield
    except (asyncio.CancelledError, grpc.aio.UsageError):
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _Cut("the channel was closed") from None


class _Pace:
    """How long to wait before the next attempt: ever longer, up to a limit, and not in step with others."""

    def __init__(self, patience_s: float, address: str) -> None:
        self._patience_s = patience_s
        self._address = address
        self.begin()

    def begin(self) -> None:
        """After a sign of life."""
        self._since = time.monotonic()
        self._wait_s = FIRST_WAIT_S

    async def wait(self, why: str) -> None:
        """Raises ``Unreachable`` when patience is at its end."""
        gone_s = time.monotonic() - self._since
        if gone_s > self._patience_s:
            raise Unreachable(f"no answer from {self._address} for {gone_s:.0f} s; the last that was heard: {why}")
        await asyncio.sleep(self._wait_s * random.uniform(0.5, 1.0))
        self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
