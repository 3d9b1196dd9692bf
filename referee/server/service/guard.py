"""The way in: every method is reached through here, with its bytes parsed, its caller known and its errors mapped.

Requests are parsed here and not by gRPC, whose own error for bytes that do not parse carries no ErrorInfo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from referee import api
from referee.server.live.refusals import Draining, Elsewhere, LimitReached
from referee.server.live.turns import Turns
from referee.server.service import grpc_errors
from referee.server.service.auth import Authenticator, Caller, Context, Metadata
from referee.server.service.calls import (
    MAX_ACT_BYTES,
    MAX_REQUEST_BYTES,
    Calls,
    Gone,
    RequestStream,
    ResponseStream,
    charge_answer,
    parse,
)
from referee.server.service.forwarder import Forwarder, PassedBack
from referee.server.service.limits import Account, Refusals, TookTooLong
from referee.server.service.permissions import PERMISSIONS
from referee.server.store.store import StoreFailed

Unary = Callable[[Any, Caller], Awaitable[Message]]
Streaming = Callable[[Any, Caller, "ResponseStream"], Awaitable[None]]
Talking = Callable[[Caller, "RequestStream", "ResponseStream"], Awaitable[None]]

ACTS = frozenset({"referee.v1.GameService/SubmitIntent"})
WRITES = frozenset(
    {
        "referee.v1.GameService/CreateGame",
        "referee.v1.GameService/AbortGame",
        "referee.v1.GameService/NamePlayer",
        "referee.v1.ArbiterService/EraseRemark",
        "referee.v1.EventService/CreateEvent",
        "referee.v1.AccessService/IssueToken",
        "referee.v1.AccessService/RevokeToken",
    }
)
"""The calls that wait for the disk. So do acts, which have come in time, whenever they are entered."""
FOUND_S = 3.0
FOUND_STEP_S = 0.05
"""The time for which a game that no node claims is looked for, and the interval."""
_OWN_TROUBLE = frozenset({"STORE_FAILED", "DRAINING", "DEADLINE", "NOT_OWNER", ""})
"""Reasons of another node's error for which the caller can do nothing."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The parts that every call goes through."""

    door: Authenticator
    calls: Calls
    on_answer: Callable[[str, Account], None]
    """Called with the method of every call that is answered, and of every stream that begins, and its caller's account.
    """
    on_error: Callable[[str, str, Account], None]
    """Called with the method and the reason of every call that ends with an error, and its caller's account."""
    turns: Turns
    """The turns of everything but acts."""
    check_ready: Callable[[], None] = lambda: None
    """Raises ``NotReady`` while nothing can be written: so a caller gets the reason instead of waiting."""
    forward: Forwarder | None = None
    """The way to the nodes that have other games; None: there are none, or callers come from them."""
    named: Metadata = field(default_factory=api.named)
    """Metadata that every stream begins with."""

    @property
    def refusals(self) -> Refusals:
        """The callers with nothing left."""
        return self.door.refusals


def handler(service: ServiceDescriptor, servicer: object, gate: Gate) -> grpc.GenericRpcHandler:
    """Serve every method of the service by the servicer's method of the same name.

    Raise ``AttributeError`` or ``KeyError`` if a method has no behaviour or no row of permissions.
    """
    handlers = {
        method.name: _method(method, getattr(servicer, method.name), f"{service.full_name}/{method.name}", gate)
        for method in service.methods
    }
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _method(method: MethodDescriptor, behaviour: Any, name: str, gate: Gate) -> grpc.RpcMethodHandler[Any, Any]:
    PERMISSIONS[name]
    request_class = GetMessageClass(method.input_type)
    if method.client_streaming:
        return grpc.stream_stream_rpc_method_handler(_talk(request_class, behaviour, name, gate))
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_stream(request_class, behaviour, name, gate))
    return grpc.unary_unary_rpc_method_handler(_unary(request_class, behaviour, name, gate))


def _unary(request_class: type[Message], behaviour: Unary, name: str, gate: Gate) -> Any:
    door, calls, short = gate.door, gate.calls, name.rpartition("/")[2]
    is_act = name in ACTS
    most = MAX_ACT_BYTES if is_act else MAX_REQUEST_BYTES

    async def call(data: bytes, context: Context) -> bytes:
        caller: Caller | None = None
        is_free = False
        try:
            caller = await door.caller(context)
            is_free = is_act and caller.may(name)
            if not is_free:
                await gate.refusals.draw(caller.account)
                caller.check_method(name)
            if name in WRITES:
                gate.check_ready()
            request = parse(request_class, data, most)
            task = calls.begin(caller, context)
            try:
                if not is_free:
                    await gate.turns.next(caller.account)
                answer = await _answer(behaviour, request, data, name, caller, context, gate)
            except asyncio.CancelledError as cancelled:
                raise calls.why(task, cancelled) from None
            finally:
                calls.end(task)
            if not is_free:
                charge_answer(caller.account, len(answer))
            gate.on_answer(short, caller.account)
            return answer
        except Exception as error:  # noqa: BLE001 - each becomes a status, and an unexpected one an incident
            if is_free and caller is not None:
                charge(caller, error)
            fail(context, error, name, gate, caller)
            return b""

    return call


async def _answer(  # noqa: PLR0917 - all of the call
    behaviour: Unary, request: Message, data: bytes, name: str, caller: Caller, context: Context, gate: Gate
) -> bytes:
    """Return the answer; for a game of another node, that node's."""
    until_s = monotonic() + FOUND_S
    while True:
        try:
            return (await behaviour(request, caller)).SerializeToString()
        except Elsewhere as found:
            if gate.forward is None:
                raise
            if caller.account.is_empty:
                await gate.refusals.wait(caller.account)
            told = await gate.door.told_to_node(context, caller)
            answer = await gate.forward.unary(found, name, data, told, gate.calls.remaining_s())
            if answer is not None:
                return answer
            if monotonic() > until_s:
                raise
        await asyncio.sleep(FOUND_STEP_S)


def charge(caller: Caller, error: Exception) -> None:
    """Charge for an act that failed, unless that is the referee's own trouble, or there was nothing left to charge."""
    own_trouble = isinstance(error, StoreFailed | Draining | TookTooLong | Elsewhere)
    if isinstance(error, PassedBack):
        own_trouble = error.reason in _OWN_TROUBLE
    if not own_trouble and not (isinstance(error, LimitReached) and error.retry_s):
        caller.account.charge()


def _stream(request_class: type[Message], behaviour: Streaming, name: str, gate: Gate) -> Any:
    short = name.rpartition("/")[2]

    async def call(data: bytes, context: Context) -> None:
        caller: Caller | None = None
        try:
            caller = await gate.door.caller(context)
            responses = await _admit(name, context, caller, gate, is_charged=True)
            request = parse(request_class, data, MAX_REQUEST_BYTES)
            with responses.caller.account.stream(), gate.calls.stream(responses):
                gate.on_answer(short, caller.account)
                try:
                    await gate.turns.next(responses.caller.account)
                    await _tell(
                        lambda: behaviour(request, responses.caller, responses),
                        lambda forward, found, told: forward.stream(found, name, data, told, responses),
                        responses,
                    )
                except Gone:
                    if responses.watcher is not None or not responses.is_given_up:
                        return
                    # Without Closing nothing else tells that it was not all.
                    raise TookTooLong("the client did not read for too long") from None
        except Exception as error:  # noqa: BLE001
            fail(context, error, name, gate, caller)

    return call


def _talk(request_class: type[Message], behaviour: Talking, name: str, gate: Gate) -> Any:
    short = name.rpartition("/")[2]

    async def call(_: object, context: Context) -> None:
        caller: Caller | None = None
        try:
            caller = await gate.door.caller(context)
            responses = await _admit(name, context, caller, gate)
            with responses.caller.account.stream(), gate.calls.stream(responses):
                gate.on_answer(short, caller.account)
                requests = RequestStream(request_class, context)
                await _tell(
                    lambda: behaviour(responses.caller, requests, responses),
                    lambda forward, found, told: forward.talk(found, name, requests.read, told, responses),
                    responses,
                    requests,
                )
        except Gone:
            return
        except Exception as error:  # noqa: BLE001
            fail(context, error, name, gate, caller)

    return call


async def _tell(
    here: Callable[[], Awaitable[None]],
    there: Callable[[Forwarder, Elsewhere, Metadata], Awaitable[bool]],
    responses: ResponseStream,
    requests: RequestStream | None = None,
) -> None:
    """Serve a stream here, or have the node that has its game serve it."""
    until_s = monotonic() + FOUND_S
    while True:
        try:
            return await here()
        except Elsewhere as found:
            if responses.forward is None or responses.has_begun:
                raise
            if requests is not None:
                requests.again()
            responses.is_passed_on = True
            if await there(responses.forward, found, await responses.told_to_node()):
                return None
            responses.is_passed_on = False
            if requests is not None:
                requests.again()
            if monotonic() > until_s:
                raise
        await asyncio.sleep(FOUND_STEP_S)


async def _admit(
    name: str, context: Context, caller: Caller, gate: Gate, *, is_charged: bool = False
) -> ResponseStream:
    """Admit the caller to this stream."""
    await gate.refusals.draw(caller.account)
    caller.check_method(name)
    return ResponseStream(context, caller, gate, is_charged=is_charged)


def fail(context: Context, error: Exception, name: str, gate: Gate, caller: Caller | Account | None = None) -> None:
    """Let the call end with the status for the error when its handler returns.

    ``name``: the method's. ``caller``: the caller or its account, if it is known.

    ``context.abort`` would raise, and gRPC would keep the whole call until the garbage collector comes.
    """
    account = (
        gate.door.address(context) if caller is None else caller if isinstance(caller, Account) else caller.account
    )
    short = name.rpartition("/")[2]
    if isinstance(error, PassedBack):
        gate.on_error(short, error.reason or "INTERNAL", account)
        context.set_code(error.code)
        context.set_details(error.details)
        context.set_trailing_metadata(error.trailing)
        return
    gate.on_error(short, grpc_errors.reason_of(error), account)
    status = rpc_status.to_status(grpc_errors.status(error, method=name))
    context.set_code(status.code)
    context.set_details(status.details)
    context.set_trailing_metadata(status.trailing_metadata)
