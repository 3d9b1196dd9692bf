"""A relay of whole gRPC messages, and its faults: each fault hits exactly one message, drawn from a seed or placed.

The relay passes bytes on and keeps the messages that the referee sent.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

import grpc

from referee.v1 import game_service_pb2 as pb

SERVICE = "referee.v1.GameService"
DELAY_S = 0.1


class Relay:
    """``async with`` it, for its own address."""

    def __init__(self, target: str) -> None:
        self.parties: dict[str, Party] = {}
        """The parties by token."""
        self._target = target
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0), ("grpc.max_concurrent_streams", 1000)))
        self._channel: grpc.aio.Channel

    async def __aenter__(self) -> str:
        # Clients are to see a referee that is back as soon as it is.
        quick = [
            (f"grpc.{which}_reconnect_backoff_ms", ms) for which, ms in (("initial", 100), ("min", 100), ("max", 300))
        ]
        self._channel = grpc.aio.insecure_channel(self._target, options=quick)
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "PlayGame": grpc.stream_stream_rpc_method_handler(self._play),
            "SubmitIntent": grpc.unary_unary_rpc_method_handler(self._submit),
            "WatchGame": grpc.unary_stream_rpc_method_handler(self._watch),
            "GetGame": grpc.unary_unary_rpc_method_handler(partial(self._ask, "GetGame")),
            "ListLegalMoves": grpc.unary_unary_rpc_method_handler(partial(self._ask, "ListLegalMoves")),
        }
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return f"127.0.0.1:{port}"

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(0)
        await self._channel.close()

    def _party(self, context: Any) -> tuple[Party, tuple[tuple[str, str], ...]]:
        token = dict(context.invocation_metadata())["authorization"]
        return self.parties[token.removeprefix("Bearer ")], (("authorization", token),)

    # --- PlayGame ------------------------------------------------------------------------------------------

    async def _play(self, _: object, context: Any) -> None:
        party, metadata = self._party(context)
        call: Any = self._channel.stream_stream(f"/{SERVICE}/PlayGame")(metadata=metadata)
        back = asyncio.Lock()
        up, down = (asyncio.create_task(way(party, context, call, back)) for way in (self._up, self._down))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if not down.done() and up.exception() is None:
                await asyncio.wait((down,))
            for way in (down, up):
                if way.done():
                    way.result()
        except Ended:
            return
        except Broken as broken:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(broken))
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
        finally:
            call.cancel()
            for way in (up, down):
                way.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(up, down, return_exceptions=True)

    async def _up(self, party: Party, context: Any, call: Any, back: asyncio.Lock) -> None:
        held: list[bytes] = []
        while (data := await context.read()) is not grpc.aio.EOF:
            enter = pb.PlayGameRequest.FromString(data).enter
            if enter.game_id and enter.after_seq > party.after_seq:
                party.after_seq, party.damaged = enter.after_seq, min(1, party.damaged)
            on, returned = await party.passed(Way.UP, data)
            for answer in returned:
                async with back:
                    await context.write(answer)
            for one in on:
                async for out in _through(party, Way.UP, one, held):
                    with suppress(asyncio.InvalidStateError):  # the call is over; ``_down`` tells why
                        await call.write(out)

    async def _down(self, party: Party, context: Any, call: Any, back: asyncio.Lock) -> None:
        held: list[bytes] = []
        stream = Stream(f"{party.name} at the referee", None)
        party.streams.append(stream)
        while (data := await call.read()) is not grpc.aio.EOF:
            message = pb.PlayGameResponse.FromString(data)
            if stream.resume is None:
                stream.resume = message.seq - len(message.commit.entries)
            stream.entries += message.commit.entries
            stream.seqs.append(message.seq)
            on, _ = await party.passed(Way.DOWN, data)
            for one in on:
                async for out in _through(party, Way.DOWN, one, held):
                    async with back:
                        await context.write(out)
            if party.ends:
                party.ends = False
                raise Ended

    # --- calls beside it -----------------------------------------------------------------------------------

    async def _watch(self, data: bytes, context: Any) -> None:
        """Break like streams of PlayGame do, which a bot that acts by SubmitIntent reads."""
        party, metadata = self._party(context)
        method: Any = self._channel.unary_stream(f"/{SERVICE}/WatchGame")
        call = method(data, metadata=metadata)
        held: list[bytes] = []
        try:
            while (message := await call.read()) is not grpc.aio.EOF:
                async for out in _through(party, Way.DOWN, message, held):
                    await context.write(out)
        except Broken as broken:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(broken))
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
        finally:
            call.cancel()

    async def _ask(self, method: str, data: bytes, context: Any) -> bytes:
        _, metadata = self._party(context)
        try:
            call: Any = self._channel.unary_unary(f"/{SERVICE}/{method}")
            answer: bytes = await call(data, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
            raise
        return answer

    # --- SubmitIntent --------------------------------------------------------------------------------------

    async def _submit(self, data: bytes, context: Any) -> bytes:
        """Pass one message up, one down. The answer is not flipped: a refusal has no signature to notice it by."""
        party, metadata = self._party(context)
        call: Any = self._channel.unary_unary(f"/{SERVICE}/SubmitIntent")
        up = party.next(Way.UP)
        cut = grpc.StatusCode.UNAVAILABLE
        if up in (Fault.CUT_BEFORE, Fault.DROP):
            await context.abort(cut, "cut before the request")
        if up is Fault.STALL:
            await asyncio.Event().wait()
        if up is Fault.FLIP:
            data = party.flipped(data, Way.UP)
        try:
            if up is Fault.DUPLICATE:
                await call(data, metadata=metadata)
            answer: bytes = await call(data, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
            raise
        if up in (Fault.CUT_AFTER, Fault.SWAP):
            await context.abort(cut, "cut before the answer")
        return answer


async def _through(party: Party, way: Way, data: bytes, held: list[bytes]) -> AsyncIterator[bytes]:
    """Yield the messages that come out for one that goes in. Raise ``Broken``. ``held``: the stream's, first empty."""
    late, held[:] = held[:], []
    fault = party.next(way)
    match fault:
        case Fault.CUT_BEFORE:
            raise Broken(f"cut before message {party.counts[way] - 1} {way.value}")
        case Fault.STALL:
            await asyncio.Event().wait()
        case Fault.SWAP:
            held.append(data)
        case Fault.DROP:
            pass
        case Fault.FLIP:
            yield party.flipped(data, way)
        case Fault.DUPLICATE:
            yield data
            yield data
        case _:
            if fault is Fault.DELAY:
                await asyncio.sleep(DELAY_S)
            yield data
    for one in late:
        yield one
    if fault is Fault.CUT_AFTER:
        raise Broken(f"cut after message {party.counts[way] - 1} {way.value}")


# --- faults: drawn from a seed, or one at one place -----------------------------------------------------------------


class Way(Enum):
    """The direction of a message."""

    UP = "to the referee"
    DOWN = "to the client"


class Fault(Enum):
    """The fault of one message."""

    DROP = "it is lost, and the stream continues"
    DUPLICATE = "it comes twice"
    SWAP = "it comes after the one that follows it"
    FLIP = "one bit of it is another"
    DELAY = "it comes late"
    CUT_BEFORE = "the stream breaks, and it is lost"
    CUT_AFTER = "the stream breaks right after it"
    STALL = "neither it nor anything after it comes, without any notice"


DAMAGE = frozenset({Fault.DROP, Fault.DUPLICATE, Fault.SWAP, Fault.FLIP})
"""Faults that no network below gRPC has: a client may think that the other side lies."""

MOST_DAMAGE = 2
"""The most damages in a row, while a client gets no further: it believes an error that comes three times."""

Plan = Callable[[Way, int], Fault | None]
"""The fault of the nth message that way, from 0 on."""


def single(way: Way, number: int, fault: Fault) -> Plan:
    """One fault at one message."""
    return lambda at, index: fault if (at, index) == (way, number) else None


@dataclass(slots=True)
class Stream:
    """The messages of one stream, in order."""

    client: str
    resume: int | None
    """The entry after which it was to resume; None: no message came at all."""
    entries: list[bytes] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    """The newest entry so far, as each message gave it."""


Meddle = Callable[[Way, bytes], Awaitable[tuple[tuple[bytes, ...], tuple[bytes, ...]]]]
"""From a message of PlayGame, beside its fault, to the messages that are passed on, and those that go back to its
sender.

It may wait, and raise ``Broken``."""


class Broken(Exception):
    """The stream ends here, as when a network breaks."""


class Ended(Broken):
    """The stream ends here without an error and without a reason."""


@dataclass(slots=True)
class Party:
    """One client's messages over all of its streams: their number, and their planned faults."""

    name: str
    plan: Plan
    most_damage: int = MOST_DAMAGE
    streams: list[Stream] = field(default_factory=list)
    """The messages that the referee sent on each stream of PlayGame, before any fault."""
    counts: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(Way, 0))
    suffered: list[tuple[Way, int, Fault]] = field(default_factory=list)
    damaged: int = 0
    """The damages in a row, while the client has got no further."""
    after_seq: int = -2
    """The entry that the client says it has got to."""
    meddle: Meddle | None = None
    ends: bool = False
    """The stream ends, once, after what goes to the client now."""

    async def passed(self, way: Way, data: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Return the messages passed on in place of one, and those that go back. Raise ``Broken``."""
        return await self.meddle(way, data) if self.meddle is not None else ((data,), ())

    def next(self, way: Way) -> Fault | None:
        """Return the fault of the next message that way."""
        number = self.counts[way]
        self.counts[way] += 1
        fault = self.plan(way, number)
        if fault in DAMAGE and self.damaged >= self.most_damage:
            fault = Fault.CUT_BEFORE
        if fault is not None:
            self.damaged += fault in DAMAGE
            self.suffered.append((way, number, fault))
        return fault

    def flipped(self, data: bytes, way: Way) -> bytes:
        """Return the message with one bit changed, always the same one for the same message."""
        if not data:
            return b"\0"
        bit = random.Random(f"{self.name}/{way.name}/{self.counts[way]}").randrange(8 * len(data))
        return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
