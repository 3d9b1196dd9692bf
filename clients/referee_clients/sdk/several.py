"""Several ways to one referee, as a channel: every call takes the first of them that is open. Knows no addresses.

gRPC itself has a list of numeric addresses for one name and one certificate; referees that share games are machines
with names and certificates of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from time import monotonic
from typing import Any

import grpc

HEAD_START_S = 0.3
"""How long a way is waited for before the next one is tried beside it."""
LOOK_S = 5.0
"""How long all of them are waited for; then the first one is taken, whose error says why."""
_STEP_S = 0.01
_FAILED = (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN)


class Several(grpc.aio.Channel):
    """Channels, of which the earlier are preferred. The one that was open goes on to be used until it is not."""

    def __init__(self, channels: Sequence[grpc.aio.Channel]) -> None:
        self._channels = channels
        self._open: int | None = None
        self._looking: asyncio.Task[int] | None = None
        self.picked: int | None = None
        """Which of them was taken last."""

    async def __aenter__(self) -> Several:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close all of them."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(channel.close(grace) for channel in self._channels))

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the one that is used."""
        return self._channels[self._open or 0].get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the one that is used is in another state."""
        await self._channels[self._open or 0].wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until one of them is open."""
        await self._channels[await self._pick()].channel_ready()

    def unary_unary(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("unary_unary", method, *coders, **named)

    def unary_stream(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("unary_stream", method, *coders, **named)

    def stream_unary(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("stream_unary", method, *coders, **named)

    def stream_stream(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("stream_stream", method, *coders, **named)

    def _method(self, kind: str, *args: Any, **named: Any) -> Callable[..., _Call]:
        methods = [getattr(channel, kind)(*args, **named) for channel in self._channels]

        def call(*request: Any, **options: Any) -> _Call:
            async def begin() -> Any:
                return methods[await self._pick()](*request, **options)

            return _Call(begin())

        return call

    async def _pick(self) -> int:
        if self._open is None or self._channels[self._open].get_state() is not grpc.ChannelConnectivity.READY:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            self._open = await asyncio.shield(self._looking)
        self.picked = self._open
        return self._open

    async def _look(self) -> int:
        """Return the first that is open. Each has a head start before the next, so that the first is preferred."""
        failed: set[int] = set()
        tried, until_s = 1, monotonic() + HEAD_START_S
        end_s = monotonic() + LOOK_S
        while len(failed) < len(self._channels) and monotonic() < end_s:
            for number, channel in enumerate(self._channels[:tried]):
                state = channel.get_state(try_to_connect=True)
                if state is grpc.ChannelConnectivity.READY:
                    return number
                if state in _FAILED:
                    failed.add(number)
            if len(failed) >= tried or monotonic() > until_s:
                tried, until_s = tried + 1, monotonic() + HEAD_START_S
            else:
                await asyncio.sleep(_STEP_S)
        return 0


class _Call:
    """A call that begins when a way is open. What callers ask of a call of gRPC's, they may ask of this one."""

    def __init__(self, begun: Coroutine[Any, Any, Any]) -> None:
        self._begun = asyncio.create_task(begun)

    def __await__(self) -> Generator[Any, None, Any]:
        call = yield from self._begun.__await__()
        return (yield from call.__await__())

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for message in await self._begun:
            yield message

    def cancel(self) -> bool:
        """End the call."""
        if not self._begun.done():
            return self._begun.cancel()
        return not self._begun.cancelled() and bool(self._begun.result().cancel())

    def done(self) -> bool:
        """Return whether the call is over."""
        return self._begun.done() and (self._begun.cancelled() or bool(self._begun.result().done()))

    async def read(self) -> Any:
        """Return the next message."""
        return await (await self._begun).read()

    async def write(self, request: Any) -> None:
        """Send a message."""
        await (await self._begun).write(request)

    async def done_writing(self) -> None:
        """Say that no message follows."""
        await (await self._begun).done_writing()

    async def initial_metadata(self) -> Any:
        """Return what comes before the first message."""
        return await (await self._begun).initial_metadata()

    async def trailing_metadata(self) -> Any:
        """Return what comes with the status."""
        return await (await self._begun).trailing_metadata()

    async def code(self) -> Any:
        """Return the status's code."""
        return await (await self._begun).code()

    async def details(self) -> Any:
        """Return the status's text."""
        return await (await self._begun).details()
