"""The way in: every method is reached through here, with its bytes parsed, its caller known and its errors mapped.

Requests are parsed here and not by gRPC, whose own error for bytes that do not parse carries no ErrorInfo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, NoReturn, cast

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from referee.service import errors
from referee.service.auth import Caller, Doorkeeper, Metadata
from referee.service.permissions import PERMISSIONS
from referee.table.errors import BadField

Unary = Callable[[Any, Caller], Awaitable[Message]]
Streaming = Callable[[Any, Caller, "Outlet"], Awaitable[None]]
Talking = Callable[[Caller, "Inlet", "Outlet"], Awaitable[None]]
WRITE_S = 30.0
Context = grpc.aio.ServicerContext[Any, Any]


class Gone(Exception):
    """The client of a stream has left, or does not read: nothing can be sent to it, an error neither."""


class Outlet:
    """Where the messages of one stream go, one at a time."""

    __slots__ = ("_context", "_given_up", "_task", "last_s", "since_s")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._task: asyncio.Task[Any] | None = None
        self._given_up = False
        self.last_s = monotonic()
        """When the last message was taken."""
        self.since_s: float | None = None
        """Since when a message waits for its reader."""

    async def send(self, data: bytes) -> None:
        """Raises ``Gone`` if the client has left, or does not read."""
        self.since_s = monotonic()
        self._task = asyncio.current_task()
        try:
            await self._context.write(data)
        except asyncio.CancelledError as error:
            if not self._given_up or self._task is None:
                raise
            self._task.uncancel()
            raise Gone from error
        except Exception as error:
            raise Gone from error
        finally:
            self.last_s, self.since_s = self.since_s, None

    @property
    def is_given_up(self) -> bool:
        """Whether its client did not read."""
        return self._given_up

    def give_up(self) -> None:
        """Ends the stream of a client that does not read: it cannot even be told so."""
        if self.since_s is not None and self._task is not None:
            self._given_up = True
            self._task.cancel()


class Inlet:
    """Where the messages of one stream come from."""

    __slots__ = ("_context", "_request_class")

    def __init__(self, request_class: type[Message], context: Context) -> None:
        self._request_class = request_class
        self._context = context

    async def receive(self) -> Message | None:
        """The next message; None after the last. Raises ``BadField`` for bytes that are none, and ``Gone``."""
        try:
            data = await self._context.read()
        except Exception as error:
            raise Gone from error
        return None if data is grpc.aio.EOF else _parse(self._request_class, data)


OnError = Callable[[str, str], None]
"""Is told the method and the reason of every call that ends with an error."""


def handler(
    service: ServiceDescriptor, servicer: object, door: Doorkeeper, on_error: OnError
) -> grpc.GenericRpcHandler:
    """Serves every method of the service by the servicer's method of the same name.

    Raises ``AttributeError`` or ``KeyError`` if a method has no behaviour or no row of permissions.
    """
    handlers = {
        method.name: _method(
            method, getattr(servicer, method.name), f"{service.full_name}/{method.name}", door, on_error
        )
        for method in service.methods
    }
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _method(
    method: MethodDescriptor, behaviour: Any, name: str, door: Doorkeeper, on_error: OnError
) -> grpc.RpcMethodHandler[Any, Any]:
    PERMISSIONS[name]
    request_class = GetMessageClass(method.input_type)
    if method.client_streaming:
        return grpc.stream_stream_rpc_method_handler(_talk(request_class, behaviour, name, door, on_error))
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_stream(request_class, behaviour, name, door, on_error))
    return grpc.unary_unary_rpc_method_handler(_unary(request_class, behaviour, name, door, on_error))


def _unary(request_class: type[Message], behaviour: Unary, name: str, door: Doorkeeper, on_error: OnError) -> Any:
    async def call(data: bytes, context: Context) -> bytes:
        try:
            caller = await door.caller(_metadata(context))
            caller.check_method(name)
            response = await behaviour(_parse(request_class, data), caller)
            return response.SerializeToString()
        except Exception as error:  # noqa: BLE001 - each becomes a status, and what nobody expected an incident
            await _abort(context, error, name, on_error)

    return call


def _stream(request_class: type[Message], behaviour: Streaming, name: str, door: Doorkeeper, on_error: OnError) -> Any:
    async def call(data: bytes, context: Context) -> None:
        try:
            caller = await door.caller(_metadata(context))
            caller.check_method(name)
            await behaviour(_parse(request_class, data), caller, Outlet(context))
        except Gone:
            return
        except Exception as error:  # noqa: BLE001
            await _abort(context, error, name, on_error)

    return call


def _talk(request_class: type[Message], behaviour: Talking, name: str, door: Doorkeeper, on_error: OnError) -> Any:
    async def call(_: object, context: Context) -> None:
        try:
            caller = await door.caller(_metadata(context))
            caller.check_method(name)
            await behaviour(caller, Inlet(request_class, context), Outlet(context))
        except Gone:
            return
        except Exception as error:  # noqa: BLE001
            await _abort(context, error, name, on_error)

    return call


def _metadata(context: Context) -> Metadata:
    # The stubs call it one thing, at runtime it is another; both are pairs.
    return cast("Metadata", context.invocation_metadata() or ())


def _parse(request_class: type[Message], data: bytes) -> Message:
    try:
        return request_class.FromString(data)
    except DecodeError:
        raise BadField("request", request_class.DESCRIPTOR.full_name) from None


async def _abort(context: Context, error: Exception, name: str, on_error: OnError) -> NoReturn:
    on_error(name.rpartition("/")[2], errors.reason_of(error))
    await context.abort_with_status(rpc_status.to_status(errors.status(error, method=name)))
    raise AssertionError("abort raises")
