"""The way in: every method is reached through here, with its bytes parsed, its caller known and its errors mapped.

Requests are parsed here and not by gRPC, whose own error for bytes that do not parse carries no ErrorInfo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
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

Send = Callable[[Message], Awaitable[None]]
Unary = Callable[[Any, Caller], Awaitable[Message]]
Stream = Callable[[Any, Caller, Send], Awaitable[None]]
WRITE_S = 30.0
Context = grpc.aio.ServicerContext[Any, Any]


class Gone(Exception):
    """The client of a stream has left, or does not read: nothing can be sent to it, an error neither."""


def handler(
    service: ServiceDescriptor, servicer: object, door: Doorkeeper, *, write_s: float = WRITE_S
) -> grpc.GenericRpcHandler:
    """Serves every method of the service by the servicer's method of the same name.

    ``write_s``: how long a message of a stream may wait for its reader.

    Raises ``AttributeError`` or ``KeyError`` if a method has no behaviour or no row of permissions.
    """
    handlers = {
        method.name: _method(
            method, getattr(servicer, method.name), f"{service.full_name}/{method.name}", door, write_s
        )
        for method in service.methods
    }
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _method(
    method: MethodDescriptor, behaviour: Any, name: str, door: Doorkeeper, write_s: float
) -> grpc.RpcMethodHandler[Any, Any]:
    PERMISSIONS[name]
    request_class = GetMessageClass(method.input_type)
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_stream(request_class, behaviour, name, door, write_s))
    return grpc.unary_unary_rpc_method_handler(_unary(request_class, behaviour, name, door))


def _unary(request_class: type[Message], behaviour: Unary, name: str, door: Doorkeeper) -> Any:
    async def call(data: bytes, context: Context) -> bytes:
        try:
            caller = await door.caller(_metadata(context))
            caller.check_method(name)
            response = await behaviour(_parse(request_class, data), caller)
            return response.SerializeToString()
        except Exception as error:  # noqa: BLE001 - each becomes a status, and what nobody expected an incident
            await _abort(context, error, name)

    return call


def _stream(request_class: type[Message], behaviour: Stream, name: str, door: Doorkeeper, write_s: float) -> Any:
    async def call(data: bytes, context: Context) -> None:
        async def send(message: Message) -> None:
            try:
                async with asyncio.timeout(write_s):
                    await context.write(message.SerializeToString())
            except Exception as error:
                raise Gone from error

        try:
            caller = await door.caller(_metadata(context))
            caller.check_method(name)
            await behaviour(_parse(request_class, data), caller, send)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001
            await _abort(context, error, name)

    return call


def _metadata(context: Context) -> Metadata:
    # The stubs call it one thing, at runtime it is another; both are pairs.
    return cast("Metadata", context.invocation_metadata() or ())


def _parse(request_class: type[Message], data: bytes) -> Message:
    try:
        return request_class.FromString(data)
    except DecodeError:
        raise BadField("request", request_class.DESCRIPTOR.full_name) from None


async def _abort(context: Context, error: Exception, name: str) -> NoReturn:
    await context.abort_with_status(rpc_status.to_status(errors.status(error, method=name)))
    raise AssertionError("abort raises")
