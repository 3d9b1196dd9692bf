"""Connections of browsers, as uvicorn has them, with an end to those that only take up room.

For ``uvicorn.Config(http=Protocol)``. Without it everything works, but a client that never reads keeps its connection
for as long as it likes.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.types import Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

STALL_S = 30.0
"""How long a client may take nothing of what waits for it."""
REQUEST_S = 10.0
"""How long a new connection may be without its first request."""
SEND_BYTES = 64 << 10
"""What the system may hold for a client that does not read; Linux takes twice as much."""
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
    """Drop the connection, with what waits in it, and return when it is gone.

    Under another protocol than this one return at once: the server then ends the connection when it can.
    """
    abort: Callable[[], None] | None = scope.get("state", {}).get(_ABORT)
    if abort is None:
        return
    abort()
    while (await receive())["type"] != "http.disconnect":
        pass
