"""Calls for games of other nodes: passed on as bytes to the node that has the game, its answer passed back.

Any node takes any call. A call that was passed on comes at a port that only nodes can use, whose gate has none of this:
so nothing is passed on twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import grpc
import structlog

from referee.api import KEY, OWNER
from referee.server.live.refusals import RETRY_S, Elsewhere, LimitReached
from referee.server.service.auth import Metadata
from referee.server.service.grpc_errors import STATUS_KEY, reason_in
from referee.server.service.tls import NODE_NAME, NodeCredentials
from referee.server.store.nodes import Node, Nodes
from referee.text.words.catalogue import phrase

MOST_UNDER_WAY = 2_000
"""Unary calls to one node at one time: while it hangs, callers for its games get an answer, and others have room."""
MOST_STREAMS = 100_000
"""Streams of one node to another."""
_SILENCE_S = 1.0, 3.0
"""The silence after which another node is asked for a sign of life, and the time that it has to answer."""
NODE_OPTIONS = (
    # Nothing else shows that a node hangs, or that its network is gone.
    ("grpc.keepalive_time_ms", int(1000 * _SILENCE_S[0])),
    ("grpc.keepalive_timeout_ms", int(1000 * _SILENCE_S[1])),
    # By default gRPC waits a minute for the answer to a ping, whatever the line above says.
    ("grpc.http2.ping_timeout_ms", int(1000 * _SILENCE_S[1])),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.ssl_target_name_override", NODE_NAME),
)

_log = structlog.get_logger("referee.forwarding")

Read = Callable[[], Awaitable[bytes | None]]


class Responses(Protocol):
    """The outgoing messages of a stream."""

    async def begin(self, named: Metadata) -> None:
        """Send what comes before the first message."""

    async def send(self, data: bytes) -> None:
        """Send a message. Raise if it is not taken."""


class PassedBack(Exception):
    """Another node has answered with an error, which is the caller's as it is."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        self.code = error.code()
        self.details = error.details() or ""
        self.trailing = tuple((key, value) for key, value in error.trailing_metadata() or () if key == STATUS_KEY)
        self.reason = reason_in(self.trailing)
        super().__init__(f"{self.reason}: {self.details}")


class _Peer:
    """The way to one node: two connections, so that no number of streams stands in the way of an act."""

    def __init__(self, node: Node, credentials: grpc.ChannelCredentials) -> None:
        options = (*NODE_OPTIONS, ("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", 8 << 20))
        self.calls, self.streams = (
            grpc.aio.secure_channel(node.address, credentials, options=options) for _ in range(2)
        )
        self.methods: dict[str, Any] = {}
        self.under_way = 0

    def method(self, kind: str, name: str) -> Any:
        """Return the method, from bytes to bytes."""
        found = self.methods.get(name)
        if found is None:
            channel = self.calls if kind == "unary_unary" else self.streams
            found = self.methods[name] = getattr(channel, kind)(f"/{name}")
        return found

    async def close(self) -> None:
        await asyncio.gather(self.calls.close(), self.streams.close())


class Forwarder:
    """Passes calls on to other nodes.

    Every method returns without an answer if that node said that the game is not its own, before anything was sent:
    then whose it is has to be found out again. Raise ``PassedBack``; ``Elsewhere`` if the node does not answer, or is
    found dead meanwhile.
    """

    def __init__(self, nodes: Nodes, credentials: NodeCredentials) -> None:
        self.nodes = nodes
        self._credentials = credentials.of_client()
        self._peers: dict[int, _Peer] = {}
        """The peers by the id of the node: a restart at the same address is another one."""
        self.settled: Counter[str] = Counter()
        """The number of calls that were passed on, by outcome: ``answered``, perhaps with an error; ``not_owner``,
        ``no_answer``."""
        self.streams = 0
        """The number of streams that are passed on now."""
        self._closing: set[asyncio.Task[None]] = set()

    async def unary(self, found: Elsewhere, name: str, data: bytes, told: Metadata, timeout_s: float) -> bytes | None:
        """Pass a call on; return its answer."""
        peer = self._peer(found)
        if peer.under_way >= MOST_UNDER_WAY:
            raise LimitReached(phrase("calls for games of another referee"), retry_s=RETRY_S)
        peer.under_way += 1
        try:
            with self._unless_closed(found):
                answer: bytes = await peer.method("unary_unary", name)(data, metadata=told, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            self._check(found, error)
            return None
        finally:
            peer.under_way -= 1
        self.settled["answered"] += 1
        return answer

    async def stream(self, found: Elsewhere, name: str, data: bytes, told: Metadata, responses: Responses) -> bool:
        """Pass a call on whose answer is a stream."""
        call = self._peer(found).method("unary_stream", name)(data, metadata=told)
        with self._unless_closed(found):
            return await self._passed(found, call, responses)

    async def talk(self, found: Elsewhere, name: str, read: Read, told: Metadata, responses: Responses) -> bool:
        """Pass on a stream of messages both ways. ``read`` returns the caller's next one; None after the last."""
        call = self._peer(found).method("stream_stream", name)(metadata=told)
        answered = asyncio.Event()
        reader = asyncio.create_task(_read(read, call, answered))
        try:
            with self._unless_closed(found):
                try:
                    return await self._passed(found, call, responses, answered)
                except asyncio.CancelledError:
                    if not reader.done() or reader.cancelled() or (error := reader.exception()) is None:
                        raise
                    raise error from None  # which has cancelled the call
        finally:
            reader.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reader

    async def messages(self, node: Node, name: str, data: bytes, told: Metadata) -> AsyncIterator[bytes]:
        """Yield what this node tells, of whatever is its own, as long as it lives. Raise ``grpc.aio.AioRpcError``."""
        call = self._way(node).method("unary_stream", name)(data, metadata=told)
        try:
            async for message in call:
                yield message
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
        finally:
            call.cancel()

    async def _passed(
        self, found: Elsewhere, call: Any, responses: Responses, answered: asyncio.Event | None = None
    ) -> bool:
        has_begun = False
        self.streams += 1
        try:
            initial = await call.initial_metadata()
            async for message in call:
                if not has_begun:
                    await responses.begin([(key, value) for key, value in initial if key in {KEY, OWNER}])
                    has_begun = True
                    if answered is not None:
                        answered.set()
                await responses.send(message)
        except grpc.aio.AioRpcError as error:
            self._check(found, error, is_final=has_begun)
            return False
        finally:
            self.streams -= 1
            call.cancel()
        self.settled["answered"] += 1
        return True

    def _check(self, found: Elsewhere, error: grpc.aio.AioRpcError, *, is_final: bool = False) -> None:
        """Return if that node said that the game is not its own; otherwise raise what became of the call."""
        passed = PassedBack(error)
        if not passed.reason and passed.code in _NO_ANSWER:
            raise self._no_answer(found, passed.details) from None
        if passed.reason != "NOT_OWNER" or is_final:
            self.settled["answered"] += 1
            raise passed from None
        self.settled["not_owner"] += 1
        self.nodes.forget(found.game_id)

    @contextmanager
    def _unless_closed(self, found: Elsewhere) -> Iterator[None]:
        """Raise ``Elsewhere`` if the way to the node is closed meanwhile. gRPC reports that as a cancelled task; a
        handler that ended so would leave its client without any answer."""
        try:
            yield
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise self._no_answer(found, "the node is dead") from None

    def _no_answer(self, found: Elsewhere, error: str) -> Elsewhere:
        self.settled["no_answer"] += 1
        _log.warning("no answer from a node", node=found.node.name, address=found.node.address, error=error)
        self.nodes.forget(found.game_id)
        return Elsewhere(found.game_id, found.node, what="does not answer")

    def _peer(self, found: Elsewhere) -> _Peer:
        if not found.node.address:
            raise Elsewhere(found.game_id, found.node, what="cannot be reached from here")
        return self._way(found.node)

    def _way(self, node: Node) -> _Peer:
        peer = self._peers.get(node.id)
        if peer is None:
            peer = self._peers[node.id] = _Peer(node, self._credentials)
        return peer

    def leave_the_dead(self) -> None:
        """Close the way to nodes that are no more, which ends the calls that are under way there.

        A node that only the database has lost sight of would otherwise send signs of life in games that it has lost.
        """
        living = {node.id for node in self.nodes.others}
        for node_id in [node_id for node_id in self._peers if node_id not in living]:
            task = asyncio.create_task(self._peers.pop(node_id).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close every connection; calls under way end."""
        await asyncio.gather(*(peer.close() for peer in self._peers.values()), *self._closing)


_NO_ANSWER = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)


def _is_cancelled() -> bool:
    """Return whether this task is cancelled, and not only something that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _read(read: Read, call: Any, answered: asyncio.Event) -> None:
    """Pass on all messages of the caller; an error in them ends the call.

    The second message waits for an answer to the first: until then another node may have to get all of it.
    """
    try:
        while (data := await read()) is not None:
            await call.write(data)
            await answered.wait()
        await call.done_writing()
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        pass  # the other node has ended the stream; reading it gives the reason
    except Exception:
        call.cancel()
        raise
