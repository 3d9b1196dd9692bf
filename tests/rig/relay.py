"""A relay of whole gRPC messages: each fault hits exactly one. It passes bytes on and keeps what the referee sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import grpc

from referee.v1 import game_service_pb2 as pb
from tests.rig.faults import Fault, Party, Way
from tests.rig.history import Stream

SERVICE = "referee.v1.GameService"
DELAY_S = 0.1


class Broken(Exception):
    """The stream ends here, as when a network breaks."""


class Relay:
    """``async with`` it, for its own address."""

    def __init__(self, target: str) -> None:
        self.parties: dict[str, Party] = {}
        """By token."""
        self._target = target
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0), ("grpc.max_concurrent_streams", 1000)))
        self._channel: grpc.aio.Channel

    async def __aenter__(self) -> str:
        self._channel = grpc.aio.insecure_channel(self._target)
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "PlayGame": grpc.stream_stream_rpc_method_handler(self._play),
            "SubmitIntent": grpc.unary_unary_rpc_method_handler(self._submit),
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
        up, down = (asyncio.create_task(way(party, context, call)) for way in (self._up, self._down))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if not down.done() and up.exception() is None:
                await asyncio.wait((down,))
            for way in (down, up):
                if way.done():
                    way.result()
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

    async def _up(self, party: Party, context: Any, call: Any) -> None:
        held: list[bytes] = []
        while (data := await context.read()) is not grpc.aio.EOF:
            enter = pb.PlayGameRequest.FromString(data).enter
            if enter.game_id and enter.after_seq > party.after_seq:
                party.after_seq, party.damaged = enter.after_seq, min(1, party.damaged)
            async for out in _through(party, Way.UP, data, held):
                with suppress(asyncio.InvalidStateError):  # the call is over; ``_down`` tells why
                    await call.write(out)

    async def _down(self, party: Party, context: Any, call: Any) -> None:
        held: list[bytes] = []
        stream = Stream(f"{party.name} at the referee", None)
        party.streams.append(stream)
        while (data := await call.read()) is not grpc.aio.EOF:
            message = pb.PlayGameResponse.FromString(data)
            if stream.resume is None:
                stream.resume = message.seq - len(message.commit.entries)
            stream.entries += message.commit.entries
            stream.seqs.append(message.seq)
            async for out in _through(party, Way.DOWN, data, held):
                await context.write(out)

    # --- SubmitIntent --------------------------------------------------------------------------------------

    async def _submit(self, data: bytes, context: Any) -> bytes:
        """One message up, one down. What comes down is not flipped: a refusal has no signature to notice it by."""
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
    """What comes out for a message that goes in. Raises ``Broken``. ``held``: the stream's, at first empty."""
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
