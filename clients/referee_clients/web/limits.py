"""The limits of one address, requests a second and open streams, and the end of connections that only take up room.

Knows no game. An IPv4 address is counted, or an IPv6 network of 64 bits. Without ``Protocol``, which is for
``uvicorn.Config(http=Protocol)``, a client that never reads keeps its connection for as long as it likes.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from time import monotonic
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from referee.text.words.catalogue import phrase
from referee_clients.web.refusals import Refusal, Stalled, limit_reached

STALL_S = 30.0
"""Longest time in which a client takes none of the bytes that wait for it."""
REQUEST_S = 10.0
"""Longest time of a new connection without its first request."""
SEND_BYTES = 64 << 10
"""Bytes that the system may hold for a client that does not read; Linux takes twice as much."""
_ABORT = "referee.abort"


class Protocol(H11Protocol):
    """One connection."""

    _slow: asyncio.TimerHandle | None = None
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self.app_state = {**self.app_state, _ABORT: transport.abort}
        self._late = self.loop.call_later(REQUEST_S, self._end_if_silent)
        connection: Any = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        # The rest of a closed connection, too, is not to be kept for a client that takes nothing.
        with suppress(AttributeError, OSError):  # Linux has it
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * STALL_S))

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._slow, self._late):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._slow = self.loop.call_later(STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _end_if_silent(self) -> None:
        cycle: object = self.cycle  # None before the first request, though its type does not say so
        if cycle is None:
            self.transport.abort()


async def cut(scope: Scope, receive: Receive) -> None:
    """Drop the connection, with its waiting bytes, and return when it is gone.

    Under another protocol than this one return at once: the server then ends the connection when it can.
    """
    abort: Callable[[], None] | None = scope.get("state", {}).get(_ABORT)
    if abort is None:
        return
    abort()
    while (await receive())["type"] != "http.disconnect":
        pass


# --- requests and streams of an address ------------------------------------------------------------------------------


REQUESTS_PER_S = 50
STREAMS_EACH = 20
STREAMS = 2_000
ADDRESSES = 10_000
STREAM_PATHS = ("/api/v1/live",)
ADMITTED = "referee.admitted"
"""The key in the scope of a request whose token the referee took: its bearer has requests of its own from then on,
which others at the same address cannot use up."""
_COUNTED = "/api/"
_RETRY_S = 5.0
"""The seconds after which a stream may have ended."""

CALLER: ContextVar[IPv4Address | IPv6Address | None] = ContextVar("caller", default=None)
"""The address of the request that is answered now, as far as the proxies are believed; None: it has none."""

_log = logging.getLogger("referee.web")


class _Address:
    """The rest of one address's allowance: a bucket of requests, kept as the time at which it will be full."""

    __slots__ = ("full_s", "streams")

    def __init__(self) -> None:
        self.full_s = 0.0
        self.streams = 0


class Limits:
    """All recent addresses. An address without requests for a while begins anew, and has lost nothing by it."""

    def __init__(
        self,
        *,
        requests_per_s: float = REQUESTS_PER_S,
        streams_each: int = STREAMS_EACH,
        streams: int = STREAMS,
        addresses: int = ADDRESSES,
        now: Callable[[], float] = monotonic,
    ) -> None:
        """``requests_per_s``: at once as well. ``addresses``: remembered, besides those with open streams."""
        self._interval_s = 1 / requests_per_s
        self._held_s = max(1.0, self._interval_s)  # at a very low rate, still one request
        self._streams_each = streams_each
        self._most_streams = streams
        self._most_addresses = addresses
        self._now = now
        self._addresses: OrderedDict[str, _Address] = OrderedDict()
        """The addresses without open streams; the one that asked last is last."""
        self._streaming: dict[str, _Address] = {}
        self.streams = 0

    def __len__(self) -> int:
        """Return how many addresses are remembered."""
        return len(self._addresses) + len(self._streaming)

    def request(self, who: str) -> None:
        """Count one request. Raise ``Refusal``, with the time until there is one again."""
        address, now = self._of(who), self._now()
        full_s = max(address.full_s, now) + self._interval_s
        over_s = full_s - now - self._held_s
        if over_s > 1e-9:
            raise limit_reached(phrase("requests"), over_s)
        address.full_s = full_s

    @contextmanager
    def stream(self, who: str) -> Iterator[None]:
        """Count one stream while it is open. Raise ``Refusal``."""
        address = self._of(who)
        if address.streams >= self._streams_each:
            raise limit_reached(phrase("streams from this address"), _RETRY_S)
        if self.streams >= self._most_streams:
            raise limit_reached(phrase("streams"), _RETRY_S)
        self._addresses.pop(who, None)
        self._streaming[who] = address
        address.streams += 1
        self.streams += 1
        try:
            yield
        finally:
            address.streams -= 1
            self.streams -= 1
            if not address.streams:
                del self._streaming[who]
                self._remember(who, address)

    def _of(self, who: str) -> _Address:
        address = self._streaming.get(who)
        if address is None:
            address = self._addresses.pop(who, None) or _Address()
            self._remember(who, address)
        return address

    def _remember(self, who: str, address: _Address) -> None:
        self._addresses[who] = address
        if len(self._addresses) > self._most_addresses:
            self._addresses.popitem(last=False)


def address_of(
    peer: str, forwarded: Sequence[str] = (), trusted: Sequence[str] = ()
) -> IPv4Address | IPv6Address | None:
    """Return where a request comes from; None: from no address.

    ``peer``: the other end of the connection. ``forwarded``: the values of X-Forwarded-For, in their order, believed as
    far as those who wrote them are ``trusted``: addresses or networks of proxies.
    """
    networks = [ip_network(proxy, strict=False) for proxy in trusted]
    found = _parsed(peer)
    hops = [hop for value in forwarded for hop in value.split(",")]
    while hops and found is not None and any(found in network for network in networks):
        hop = _parsed(hops.pop())
        if hop is None:
            break
        found = hop
    return found


def counted(address: IPv4Address | IPv6Address | None) -> str:
    """Return the party that is counted for requests from there."""
    match address:
        case None:
            return "local"
        case IPv4Address():
            return str(address)
    return str(IPv6Network((address, 64), strict=False))


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


class LimitsMiddleware:
    """Counts the requests, and cuts off clients that do not take their answers."""

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        *,
        trusted: Sequence[str] = (),
        stream_paths: Sequence[str] = STREAM_PATHS,
        stall_s: float = STALL_S,
        below: str = _COUNTED,
    ) -> None:
        """``trusted``: addresses or networks of proxies whose X-Forwarded-For is believed. ``below``: which requests
        are counted.
        """
        for proxy in trusted:
            ip_network(proxy, strict=False)  # a wrong one is an error at the start
        self._app = app
        self._limits = limits
        self._trusted = tuple(trusted)
        self._stream_paths = frozenset(stream_paths)
        self._stall_s = stall_s
        self._below = below
        self._admitted: OrderedDict[bytes, None] = OrderedDict()
        """Digests of tokens that the referee took, the one that was used last is last."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = scope.get("client")
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        address = address_of(peer[0] if peer else "", forwarded, self._trusted)
        CALLER.set(address)
        who = counted(address)
        try:
            # Pages and their files lie in memory, and thirty phones of a club open them at once from one address.
            if scope["path"].startswith(self._below):
                self._limits.request(self._bearer(scope) or who)
            place = self._limits.stream(who) if scope["path"] in self._stream_paths else nullcontext()
            with place:
                try:
                    await self._app(scope, receive, self._guarded(scope, send))
                except Stalled as stalled:
                    _log.info("%s: %s", who, stalled)
                    await cut(scope, receive)
        except Refusal as refusal:  # ours: the app answers its own
            await refusal.response(scope)(scope, receive, send)

    def _bearer(self, scope: Scope) -> str:
        """Return the party that is counted for a token that the referee took before; empty for any other."""
        digest = _digest(scope)
        if digest not in self._admitted:
            return ""
        self._admitted.move_to_end(digest)
        return f"token {digest.hex()}"

    def _guarded(self, scope: Scope, send: Send) -> Send:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start" and scope.get(ADMITTED):
                self._admitted[_digest(scope)] = None
                if len(self._admitted) > ADDRESSES:
                    self._admitted.popitem(last=False)
            try:
                async with asyncio.timeout(self._stall_s):
                    await send(message)
            except TimeoutError:
                raise Stalled(f"nothing was taken for {self._stall_s:g} s") from None

        return guarded


def _digest(scope: Scope) -> bytes:
    found = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    return sha256(found).digest()
