"""Calls under way: what streams read from and write to, and the clock that cuts off what takes too long, is not read,
or came with a token that has run out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, Protocol, cast

import grpc
from google.protobuf.message import DecodeError, Message

from referee.server.live.refusals import BadField, Draining, LimitReached
from referee.server.live.turns import Work
from referee.server.live.watch import Ending, Watcher
from referee.server.service.auth import Authenticator, Caller, Context, Metadata
from referee.server.service.forwarder import Forwarder
from referee.server.service.limits import Account, TookTooLong

MAX_REQUEST_BYTES = 1 << 20
MAX_ACT_BYTES = 20 << 10
"""Largest act, alone or as the message of a stream: an intent of 16 KiB and what goes with it."""
PAID_BYTES = 8 << 10
"""The size of the pieces for which an answer is charged."""
CALL_S = 30.0
WRITE_S = 30.0


class Gone(Exception):
    """The client of a stream has left, or does not read: nothing can be sent to it, an error neither."""


class Entrance(Protocol):
    """The port that the stream came through."""

    @property
    def door(self) -> Authenticator:
        """The authenticator that knows its caller."""

    @property
    def forward(self) -> Forwarder | None:
        """The way to the nodes that have other games; None: there are none, or callers come from them."""

    @property
    def named(self) -> Metadata:
        """Metadata that every stream begins with."""


class ResponseStream:
    """The outgoing messages of one stream, one at a time."""

    __slots__ = (
        "_context",
        "_entrance",
        "_given_up",
        "_is_charged",
        "_sent",
        "_task",
        "caller",
        "has_begun",
        "is_passed_on",
        "last_s",
        "since_s",
        "watcher",
    )

    def __init__(self, context: Context, caller: Caller, entrance: Entrance, *, is_charged: bool = False) -> None:
        """``is_charged``: whether the caller pays for what is sent."""
        self._context = context
        self._entrance = entrance
        self._is_charged = is_charged
        self._sent = 0
        self.caller = caller
        self.watcher: Watcher | None = None
        """The watcher that feeds the stream, if there is one; through it the stream can be ended."""
        self._task: asyncio.Task[Any] | None = None
        self.has_begun = False
        """Something was sent."""
        self.is_passed_on = False
        """Another node tells what there is to tell, whenever there is something."""
        self._given_up = False
        self.last_s = monotonic()
        """The time when the last message was taken."""
        self.since_s: float | None = None
        """The time since when a message waits for its reader."""

    async def send(self, data: bytes) -> None:
        """Send a message. Raise ``Gone`` if the client has left, or does not read."""
        self._task = asyncio.current_task()
        try:
            if not self.has_begun:
                await self.begin(self._entrance.named)
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

    async def begin(self, named: Metadata) -> None:
        """Send the metadata that precedes the first message.

        They go alone: gRPC treats parts of a message that is given up as unsent, sends them again with the status, and
        fails; then its client would wait for ever.
        """
        await self._context.send_initial_metadata(named)
        self.has_begun = True

    @property
    def forward(self) -> Forwarder | None:
        """The way to other nodes; None if the caller has come on it."""
        return self._entrance.forward

    async def told_to_node(self) -> Metadata:
        """Return the metadata about the caller for another node."""
        return await self._entrance.door.told_to_node(self._context, self.caller)

    def remaining_s(self) -> float:
        """Return how long the client waits; infinite if it did not say."""
        return patience_s(self._context)

    @property
    def is_given_up(self) -> bool:
        """True if its client did not read."""
        return self._given_up

    def give_up(self) -> None:
        """End the stream of a client that does not read: it cannot even be sent an end."""
        if self.since_s is not None and self._task is not None:
            self._given_up = True
            self._task.cancel()


class RequestStream:
    """The incoming messages of one stream."""

    __slots__ = ("_context", "_first", "_is_again", "_request_class")

    def __init__(self, request_class: type[Message], context: Context) -> None:
        self._request_class = request_class
        self._context = context
        self._first: bytes | None = None
        self._is_again = False

    async def receive(self) -> Message | None:
        """Return the next message; None after the last. Raise ``BadField`` for bytes that are none, and ``Gone``."""
        data = await self.read()
        return None if data is None else _parsed(self._request_class, data)

    async def read(self) -> bytes | None:
        """Return the next message as it came. Raise ``LimitReached`` for one that is too large, and ``Gone``."""
        if self._is_again:
            self._is_again = False
            return self._first
        try:
            data: bytes | Any = await self._context.read()
        except Exception as error:
            raise Gone from error
        if data is grpc.aio.EOF:
            return None
        check_size(data, MAX_ACT_BYTES)
        if self._first is None:
            self._first = data
        return data

    def again(self) -> None:
        """Begin with the first message again, after which nothing was read."""
        self._is_again = True


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
        return ours if context is None else min(ours, patience_s(context))

    def why(self, task: asyncio.Task[Any], cancelled: asyncio.CancelledError) -> BaseException:
        """Return what to raise instead: the reason if the call was cut off here, otherwise that the client has left.

        If neither is so, something was cancelled that the call waited for. gRPC would send no status then.
        """
        if (reason := self._cut.pop(task, None)) is None:
            return cancelled if task.cancelling() else RuntimeError("a task that the call waited for was cancelled")
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

    def digests(self) -> set[bytes]:
        """Return the digests of all tokens that calls under way came with."""
        callers = [caller for caller, _, _ in self._unary.values()]
        callers += [responses.caller for responses in self._streams.values()]
        return {caller.digest for caller in callers if caller.digest}

    def revoke(self, digest: bytes, asking: asyncio.Task[Any] | None = None) -> None:
        """End everything that came with this token, but for the call that asks for it, by its task."""
        for task, (caller, _, _) in list(self._unary.items()):
            if caller.digest == digest:
                caller.is_revoked = True
                if task is not asking:
                    self._cut_off(task, caller.lapsed())
        for task, responses in list(self._streams.items()):
            if responses.caller.digest == digest:
                responses.caller.is_revoked = True
                self._end_stream(task, responses)

    def drain(self) -> None:
        """End the streams of other nodes' games: their clients find another way there."""
        for task, responses in list(self._streams.items()):
            if responses.is_passed_on:
                self._cut_off(task, Draining("the referee is stopping"))

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
                    responses.watcher is None
                    and not responses.is_passed_on
                    and responses.since_s is None
                    and now_s - responses.last_s > self._call_s
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


def charge_answer(account: Account, size: int, sent: int = 0) -> int:
    """Charge an answer of ``size`` bytes, or one more message of a stream with ``sent`` so far; return their sum.

    Each full ``PAID_BYTES`` is charged, as the request itself paid for a short answer.
    """
    if pieces := (sent + size) // PAID_BYTES - sent // PAID_BYTES:
        account.charge(Work.SEND, pieces)
    return sent + size


def parse(request_class: type[Message], data: bytes, most: int) -> Message:
    """Return the message. Raise ``LimitReached`` for one that is too large, ``BadField`` for bytes that are none."""
    check_size(data, most)
    return _parsed(request_class, data)


def _parsed(request_class: type[Message], data: bytes) -> Message:
    try:
        return request_class.FromString(data)
    except DecodeError:
        raise BadField("request", request_class.DESCRIPTOR.full_name) from None


def check_size(data: bytes, most: int) -> None:
    if len(data) > most:
        raise LimitReached(f"messages of {most} bytes")


def patience_s(context: Context) -> float:
    """Return the client's patience: the time until its deadline."""
    left_s = cast("float | None", context.time_remaining())
    return inf if left_s is None else left_s
