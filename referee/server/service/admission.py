"""The ports of the referee: admission of calls whose request has not come yet, reflection, the port for other nodes.

gRPC asks for a handler when a call begins and calls it when the whole request is there, which may be never; a handler
does not hear of that, and gRPC has no time limit for it. So such calls are counted here. While they are few, the usual
case, gRPC handles a method in its fastest way. While they are many, further ones read their request themselves, and
count as streams of the caller: limited in number and time. A token is known before that, so its caller is not shut out
by others at the same address.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import grpc
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha.reflection_pb2_grpc import add_ServerReflectionServicer_to_server

from referee.server.live.refusals import BadField, LimitReached
from referee.server.service.auth import Caller, Context, PermissionDenied, Unauthenticated
from referee.server.service.calls import Gone, ResponseStream, charge_answer
from referee.server.service.forwarder import MOST_STREAMS
from referee.server.service.guard import Gate, fail
from referee.server.service.limits import Account
from referee.server.service.tls import NodeCredentials

MOST_WAITING = 256
"""Calls without their request that are handled by gRPC."""

Handler = Any
"""A ``grpc.RpcMethodHandler``; the stubs only know those for threads."""


class Admission(grpc.GenericRpcHandler):
    """Finds the handler of every call."""

    def __init__(self, services: Sequence[grpc.GenericRpcHandler], gate: Gate) -> None:
        self._services = services
        self._gate = gate
        self._waiting: set[asyncio.Task[Any]] = set()
        self._left: WeakSet[asyncio.Task[Any]] = WeakSet()
        """Tasks that ended without a request: they are there for as long as gRPC keeps the call."""
        self._handlers: dict[str, tuple[Handler, Handler]] = {}
        """The handlers by method: the one that gRPC serves best, and one that reads its request itself."""

    def service(self, details: grpc.HandlerCallDetails) -> Handler | None:
        """Return the handler, in the call's own task."""
        handlers = self._handlers.get(details.method)
        if handlers is None:
            found = next(filter(None, (service.service(details) for service in self._services)), None)
            if found is None or found.request_streaming:
                return found
            handlers = self._handlers[details.method] = (self._quick(found), self._patient(found, details.method))
        if self._is_crowded():
            return handlers[1]
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - gRPC gives every call one
        self._waiting.add(task)
        return handlers[0]

    def _is_crowded(self) -> bool:
        if len(self._waiting) + len(self._left) < MOST_WAITING:
            return False
        over = {task for task in self._waiting if task.done()}
        self._left.update(over)
        self._waiting -= over
        del over
        return len(self._waiting) + len(self._left) >= MOST_WAITING

    def _quick(self, handler: Handler) -> Handler:
        behaviour = handler.unary_stream if handler.response_streaming else handler.unary_unary
        waiting = self._waiting

        async def call(request: Any, context: Context) -> Any:
            waiting.discard(asyncio.current_task())
            return await behaviour(request, context)

        made = (
            grpc.unary_stream_rpc_method_handler if handler.response_streaming else grpc.unary_unary_rpc_method_handler
        )
        return made(call, handler.request_deserializer, handler.response_serializer)

    def _patient(self, handler: Handler, method: str) -> Handler:
        behaviour = handler.unary_stream if handler.response_streaming else handler.unary_unary
        gate = self._gate

        async def call(_: object, context: Context) -> None:
            caller: Caller | None = None
            try:
                caller = await gate.door.caller(context)
                with caller.account.stream(), gate.calls.stream(ResponseStream(context, caller, gate)):
                    request = await _request(handler, context)
            except Gone:
                return
            except Exception as error:  # noqa: BLE001
                fail(context, error, method.removeprefix("/"), gate, caller)
                return
            response = await behaviour(request, context)
            if not handler.response_streaming:
                await context.write(response)

        return grpc.stream_stream_rpc_method_handler(call, None, handler.response_serializer)


async def _request(handler: Handler, context: Context) -> Any:
    try:
        data = await context.read()
    except Exception as error:
        raise Gone from error
    if data is grpc.aio.EOF:
        raise BadField("request", "one message")
    try:
        return handler.request_deserializer(data) if handler.request_deserializer else data
    except Exception:  # noqa: BLE001 - whatever the service's own parser raises
        raise BadField("request", "a message of this method") from None


class ForeignServices:
    """Services of others, such as health and reflection: served like ours, and charged to the caller."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.handlers: list[grpc.GenericRpcHandler] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Take the services, as a ``grpc.aio.Server`` does."""
        self.handlers += [_ForeignService(handler, self._gate) for handler in handlers]

    def add_registered_method_handlers(self, service: str, handlers: object) -> None:
        """Do nothing; grpc.aio calls this for its fast path."""


class _ForeignService(grpc.GenericRpcHandler):
    def __init__(self, service: grpc.GenericRpcHandler, gate: Gate) -> None:
        self._service = service
        self._gate = gate

    def service(self, details: grpc.HandlerCallDetails) -> Handler | None:
        handler = self._service.service(details)
        return _charged(handler, details.method.removeprefix("/"), self._gate) if handler is not None else None


async def _account(context: Context, gate: Gate) -> Account:
    """Return the account that the call draws from. These services are open: a false token does no harm, nor does the
    name of an address that is not believed."""
    try:
        return (await gate.door.caller(context)).account
    except (Unauthenticated, PermissionDenied, BadField):
        return gate.door.address(context)


def _charged(handler: Handler, name: str, gate: Gate) -> Handler:
    coders = (handler.request_deserializer, handler.response_serializer)
    short = name.rpartition("/")[2]

    async def unary(request: Any, context: Context) -> Any:
        account: Account | None = None
        try:
            account = await _account(context, gate)
            await gate.refusals.draw(account)
        except LimitReached as error:
            fail(context, error, name, gate, account)
            return None
        gate.on_answer(short, account)
        return await handler.unary_unary(request, context)

    async def stream(request: Any, context: Context) -> None:
        account: Account | None = None
        try:
            account = await _account(context, gate)
            await gate.refusals.draw(account)
            with account.stream():
                gate.on_answer(short, account)
                await handler.unary_stream(request, context)
        except LimitReached as error:
            fail(context, error, name, gate, account)

    async def talk(requests: Any, context: Context) -> AsyncIterator[Any]:
        account: Account | None = None
        try:
            account = await _account(context, gate)
            await gate.refusals.draw(account)
            with account.stream():
                gate.on_answer(short, account)
                sent = 0
                async for response in handler.stream_stream(_drawing(requests, account), context):
                    sent = charge_answer(account, response.ByteSize(), sent)
                    yield response
        except LimitReached as error:
            fail(context, error, name, gate, account)

    async def _drawing(requests: AsyncIterator[Any], account: Account) -> AsyncIterator[Any]:
        # The first came with the stream, which has drawn for it.
        is_first = True
        async for request in requests:
            if not is_first:
                await gate.refusals.draw(account)
            is_first = False
            await gate.turns.next(account)
            yield request

    if handler.request_streaming:
        return grpc.stream_stream_rpc_method_handler(talk, *coders)
    if handler.response_streaming:
        return grpc.unary_stream_rpc_method_handler(stream, *coders)
    return grpc.unary_unary_rpc_method_handler(unary, *coders)


_MOST_BYTES = 8 << 20


class NodePort:
    """``start``, then ``stop``; each once."""

    def __init__(self, credentials: NodeCredentials, services: Sequence[grpc.GenericRpcHandler], gate: Gate) -> None:
        self._credentials = credentials
        self._server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", _MOST_BYTES),
                ("grpc.max_send_message_length", _MOST_BYTES),
                # All callers of a node are on two connections.
                ("grpc.max_concurrent_streams", MOST_STREAMS),
                ("grpc.so_reuseport", 0),
                # Nodes ask each other often for a sign of life, and on a busy machine what was apart comes together.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10),
                ("grpc.http2.max_ping_strikes", 0),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.keepalive_time_ms", 10_000),
                ("grpc.keepalive_timeout_ms", 5_000),
                ("grpc.server_handshake_timeout_ms", 5_000),
            )
        )
        self._server.add_generic_rpc_handlers([Admission(services, gate)])

    async def start(self, listen: str) -> str:
        """Listen; return where others reach it. Raise ``RuntimeError`` if the address cannot be listened on."""
        port = self._server.add_secure_port(listen, self._credentials.of_server())
        await self._server.start()
        return f"{listen.rpartition(':')[0]}:{port}"

    async def stop(self, grace_s: float) -> None:
        """Take no new calls; those under way have ``grace_s``."""
        await self._server.stop(grace_s)


ALPHA = reflection.SERVICE_NAME
V1 = "grpc.reflection.v1.ServerReflection"


def add_reflection(names: Sequence[str], server: Any) -> None:
    """Let the server's reflection list these services and itself.

    Reflection is served as v1 and as v1alpha, which have the same messages: tools of different ages ask for one or the
    other.
    """
    _describe_v1()
    servicer = reflection.aio.ReflectionServicer((*names, ALPHA, V1))
    add_ServerReflectionServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]
    method = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(V1, {"ServerReflectionInfo": method}),))


@lru_cache(maxsize=1)
def _describe_v1() -> None:
    """Add the file of v1 to the pool: that of v1alpha, but for the name of its package."""
    alpha = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(alpha)
    text = text_format.MessageToString(alpha).replace("v1alpha", "v1")
    descriptor_pool.Default().AddSerializedFile(text_format.Parse(text, FileDescriptorProto()).SerializeToString())
