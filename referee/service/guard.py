"""The way in: every method is reached through here, with its bytes parsed, its caller known and its errors mapped.

Requests are parsed here and not by gRPC, whose own error for bytes that do not parse carries no ErrorInfo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, cast

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from referee import api
from referee.live.errors import BadField, Draining, LimitReached
from referee.live.turns import Turns, Work
from referee.live.watch import Ending, Watcher
from referee.service import errors
from referee.service.auth import Authenticator, Caller, Context
from referee.service.limits import Account, TookTooLong
from referee.service.permissions import PERMISSIONS
from referee.store.errors import StoreFailed

Unary = Callable[[Any, Caller], Awaitable[Message]]
Streaming = Callable[[Any, Caller, "ResponseStream"], Awaitable[None]]
Talking = Callable[[Caller, "RequestStream", "ResponseStream"], Awaitable[None]]

MAX_REQUEST_BYTES = 1 << 20
MAX_ACT_BYTES = 20 << 10
"""Largest act, by itself or as the message of a stream: an intent of 16 KiB and what goes with it."""
ACTS = frozenset({"referee.v1.GameService/SubmitIntent"})
PAID_BYTES = 8 << 10
"""Of an answer: each piece of that size is charged."""
REFUSED_AFTER_S = 0.1
MOST_REFUSED_LATER = 256
CALL_S = 30.0
WRITE_S = 30.0


class Gone(Exception):
    """The client of a stream has left, or does not read: nothing can be sent to it, an error neither."""


class ResponseStream:
    """Where the messages of one stream go, one at a time."""

    __slots__ = (
        "_begun",
        "_context",
        "_given_up",
        "_is_charged",
        "_sent",
        "_task",
        "caller",
        "last_s",
        "since_s",
        "watcher",
    )

    def __init__(self, context: Context, caller: Caller, *, is_charged: bool = False) -> None:
        """``is_charged``: whether the caller pays for what is sent."""
        self._context = context
        self._is_charged = is_charged
        self._sent = 0
        self.caller = caller
        self.watcher: Watcher | None = None
        """The watcher that feeds the stream, if there is one; through it the stream can be ended."""
        self._task: asyncio.Task[Any] | None = None
        self._begun = False
        self._given_up = False
        self.last_s = monotonic()
        """When the last message was taken."""
        self.since_s: float | None = None
        """Since when a message waits for its reader."""

    async def send(self, data: bytes) -> None:
        """Send a message. Raise ``Gone`` if the client has left, or does not read."""
        self._task = asyncio.current_task()
        try:
            if not self._begun:
                # By itself: gRPC takes what goes with a message that is given up for unsent, sends it again with the
                # status, and fails; then its client would wait for ever.
                await self._context.send_initial_metadata(api.named())
                self._begun = True
            self.since_s = monotonic()
            await self._context.write(data)
            if self._is_charged:
                self._sent = charge_answer(self.caller.account, len(data), self._sent)
        except asyncio.CancelledError as error:
            if not self._given_up or self._task is None:
                raise
            self._task.uncancel()
            raise Gone from error
        except Exception as error:
            raise Gone from error
        finally:
            if self.since_s is not None:
                self.last_s, self.since_s = self.since_s, None

    def remaining_s(self) -> float:
        """Return how long the client waits; infinite if it did not say."""
        return _patience_s(self._context)

    @property
    def is_given_up(self) -> bool:
        """Whether its client did not read."""
        return self._given_up

    def give_up(self) -> None:
        """End the stream of a client that does not read: it cannot even be sent an end."""
        if self.since_s is not None and self._task is not None:
            self._given_up = True
            self._task.cancel()


class RequestStream:
    """Where the messages of one stream come from."""

    __slots__ = ("_context", "_request_class")

    def __init__(self, request_class: type[Message], context: Context) -> None:
        self._request_class = request_class
        self._context = context

    async def receive(self) -> Message | None:
        """Return the next message; None after the last. Raise ``BadField`` for bytes that are none, and ``Gone``."""
        try:
            data = await self._context.read()
        except Exception as error:
            raise Gone from error
        return None if data is grpc.aio.EOF else _parse(self._request_class, data, MAX_ACT_BYTES)


class Calls:
    """The calls under way, so that they can be cut off: too long, not read, or with a token that has run out.

    One clock for all, as a timer costs more than a call.
    """

    def __init__(self, now_ms: Callable[[], int], *, call_s: float = CALL_S, write_s: float = WRITE_S) -> None:
        """``call_s``: for a unary call, and until a stream begins; ``write_s``: for a message to be taken."""
        self._now_ms = now_ms
        self._call_s = call_s
        self._write_s = write_s
        self._unary: dict[asyncio.Task[Any], tuple[Caller, float, Context | None]] = {}
        self._streams: dict[asyncio.Task[Any], ResponseStream] = {}
        self._cut: dict[asyncio.Task[Any], Exception] = {}
        self._clock: asyncio.Task[None] | None = None

    def begin(self, caller: Caller, context: Context | None = None) -> asyncio.Task[Any]:
        """Begin a unary call. It is ended with ``end``; ``why`` explains a cancellation."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - gRPC gives every call one
        self._unary[task] = (caller, monotonic(), context)
        if self._clock is None:
            self._clock = asyncio.create_task(self._look())
        return task

    def end(self, task: asyncio.Task[Any]) -> None:
        """End the call."""
        del self._unary[task]

    def remaining_s(self) -> float:
        """Return the time until this task's unary call is cut off, or its client waits no longer."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        _, since_s, context = self._unary[task]
        ours = self._call_s - (monotonic() - since_s)
        return ours if context is None else min(ours, _patience_s(context))

    def why(self, task: asyncio.Task[Any], cancelled: asyncio.CancelledError) -> BaseException:
        """Return what to raise instead: the reason if the call was cut off here, otherwise that the client has left."""
        if (reason := self._cut.pop(task, None)) is None:
            return cancelled
        task.uncancel()
        return reason

    @contextmanager
    def stream(self, responses: ResponseStream) -> Iterator[None]:
        """While the stream lasts."""
        task = self.begin(responses.caller)
        self.end(task)
        self._streams[task] = responses
        try:
            yield
        except asyncio.CancelledError as cancelled:
            raise self.why(task, cancelled) from None
        finally:
            del self._streams[task]

    def revoke(self, digest: bytes) -> None:
        """End everything that came with this token, but for the call that asks for it."""
        for task, (caller, _, _) in list(self._unary.items()):
            if caller.digest == digest:
                caller.is_revoked = True
                if task is not asyncio.current_task():
                    self._cut_off(task, caller.lapsed())
        for task, responses in list(self._streams.items()):
            if responses.caller.digest == digest:
                responses.caller.is_revoked = True
                self._end_stream(task, responses)

    def stop(self) -> None:
        """Stop when no call is left."""
        if self._clock is not None:
            self._clock.cancel()

    async def _look(self) -> None:
        step_s = min(self._call_s, self._write_s, 4.0) / 4
        while True:
            await asyncio.sleep(step_s)
            now_s, now_ms = monotonic(), self._now_ms()
            for task, (_, since_s, _) in list(self._unary.items()):
                if now_s - since_s > self._call_s:
                    self._cut_off(task, self._too_long())
            for task, responses in list(self._streams.items()):
                if responses.since_s is not None and now_s - responses.since_s > self._write_s:
                    responses.give_up()
                elif 0 < responses.caller.expires_ms <= now_ms:
                    self._end_stream(task, responses)
                elif (
                    responses.watcher is None and responses.since_s is None and now_s - responses.last_s > self._call_s
                ):
                    self._cut_off(task, self._too_long())

    def _end_stream(self, task: asyncio.Task[Any], responses: ResponseStream) -> None:
        if responses.watcher is not None:
            responses.watcher.end(Ending.REVOKED)
        else:
            self._cut_off(task, responses.caller.lapsed())

    def _cut_off(self, task: asyncio.Task[Any], reason: Exception) -> None:
        if task not in self._cut:
            self._cut[task] = reason
            task.cancel()

    def _too_long(self) -> TookTooLong:
        return TookTooLong(f"no answer within {self._call_s:g} s; an act may be durable all the same: send it again")


class Refusals:
    """Those who have nothing left, while they wait to hear it.

    A program that asks again at once is slowed down by that, and of refusals that come by the dozen an act waits for
    one. Whoever would be one too many hears it at once: waiting takes memory.
    """

    def __init__(self) -> None:
        self._turns = Turns()
        self._waiting = 0

    async def wait(self, account: Account) -> None:
        """Wait for ``REFUSED_AFTER_S`` and a turn, unless many do."""
        if self._waiting >= MOST_REFUSED_LATER:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(REFUSED_AFTER_S)
            await self._turns.next(account)
        finally:
            self._waiting -= 1


@dataclass(frozen=True, slots=True)
class Gate:
    """What every call goes through."""

    door: Authenticator
    calls: Calls
    on_error: Callable[[str, str], None]
    """Called with the method and the reason of every call that ends with an error."""
    turns: Turns
    """For everything but acts."""
    refusals: Refusals = field(default_factory=Refusals)

    async def draw(self, account: Account) -> None:
        """Draw one request. Raise ``LimitReached``, after a while."""
        try:
            account.draw()
        except LimitReached:
            await self.refusals.wait(account)
            raise


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
    door, calls = gate.door, gate.calls
    is_act = name in ACTS
    most = MAX_ACT_BYTES if is_act else MAX_REQUEST_BYTES

    async def call(data: bytes, context: Context) -> bytes:
        caller: Caller | None = None
        is_free = False
        try:
            caller = await door.caller(context)
            is_free = is_act and caller.may(name)
            if not is_free:
                await gate.draw(caller.account)
                caller.check_method(name)
            request = _parse(request_class, data, most)
            task = calls.begin(caller, context)
            try:
                if not is_free:
                    await gate.turns.next(caller.account)
                response = await behaviour(request, caller)
            except asyncio.CancelledError as cancelled:
                raise calls.why(task, cancelled) from None
            finally:
                calls.end(task)
            answer = response.SerializeToString()
            if not is_free:
                charge_answer(caller.account, len(answer))
            return answer
        except Exception as error:  # noqa: BLE001 - each becomes a status, and what nobody expected an incident
            if is_free and caller is not None:
                charge(caller, error)
            fail(context, error, name, gate)
            return b""

    return call


def charge_answer(account: Account, size: int, sent: int = 0) -> int:
    """Charge an answer of ``size`` bytes, or one more message of a stream with ``sent`` so far; return their sum.

    What is charged is each full ``PAID_BYTES``, as the request itself paid for a short answer.
    """
    if pieces := (sent + size) // PAID_BYTES - sent // PAID_BYTES:
        account.charge(Work.SEND, pieces)
    return sent + size


def charge(caller: Caller, error: Exception) -> None:
    """Charge for an act that failed, unless that is the referee's own trouble, or there was nothing left to charge."""
    own_trouble = isinstance(error, StoreFailed | Draining | TookTooLong)
    if not own_trouble and not (isinstance(error, LimitReached) and error.retry_s):
        caller.account.charge()


def _stream(request_class: type[Message], behaviour: Streaming, name: str, gate: Gate) -> Any:
    async def call(data: bytes, context: Context) -> None:
        try:
            responses = await _admit(name, context, gate, is_charged=True)
            request = _parse(request_class, data, MAX_REQUEST_BYTES)
            with responses.caller.account.stream(), gate.calls.stream(responses):
                try:
                    await gate.turns.next(responses.caller.account)
                    await behaviour(request, responses.caller, responses)
                except Gone:
                    if responses.watcher is not None or not responses.is_given_up:
                        return
                    # Without Closing nothing else tells that it was not all.
                    raise TookTooLong("what was sent was not read for too long") from None
        except Exception as error:  # noqa: BLE001
            fail(context, error, name, gate)

    return call


def _talk(request_class: type[Message], behaviour: Talking, name: str, gate: Gate) -> Any:
    async def call(_: object, context: Context) -> None:
        try:
            responses = await _admit(name, context, gate)
            with responses.caller.account.stream(), gate.calls.stream(responses):
                await behaviour(responses.caller, RequestStream(request_class, context), responses)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001
            fail(context, error, name, gate)

    return call


async def _admit(name: str, context: Context, gate: Gate, *, is_charged: bool = False) -> ResponseStream:
    """Admit the caller to this stream."""
    caller = await gate.door.caller(context)
    await gate.draw(caller.account)
    caller.check_method(name)
    return ResponseStream(context, caller, is_charged=is_charged)


def _parse(request_class: type[Message], data: bytes, most: int) -> Message:
    if len(data) > most:
        raise LimitReached(f"messages of {most} bytes")
    try:
        return request_class.FromString(data)
    except DecodeError:
        raise BadField("request", request_class.DESCRIPTOR.full_name) from None


def _patience_s(context: Context) -> float:
    """Return the client's patience: the time until its deadline."""
    left_s = cast("float | None", context.time_remaining())
    return inf if left_s is None else left_s


def fail(context: Context, error: Exception, name: str, gate: Gate) -> None:
    """Have the call end with the status for the error when its handler returns. ``name``: of the method.

    ``context.abort`` would raise, and what gRPC keeps of that holds the whole call until the garbage collector comes.
    """
    gate.on_error(name.rpartition("/")[2], errors.reason_of(error))
    status = rpc_status.to_status(errors.status(error, method=name))
    context.set_code(status.code)
    context.set_details(status.details)
    context.set_trailing_metadata(status.trailing_metadata)
