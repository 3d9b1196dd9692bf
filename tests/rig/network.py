"""A network of our own making between client and referee: bytes that stop, break, come late, twice, in turn or wrong.

Below gRPC a change of the bytes breaks the framing of HTTP/2, or a message within it. It must show as a broken
connection, or be noticed by a client that checks its input, and as nothing else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from referee_clients.bot_check.relay import Way

DELAY_S = 0.3
PIECE_BYTES = 24
"""How much comes twice, or in turn: less than most messages are long."""


class ByteFault(Enum):
    """A fault of a connection."""

    NOTHING = "it goes on"
    CUT = "it is reset"
    STALL = "it stays open and says nothing any more, either way"
    DELAY = "everything comes late"
    FLIP = "one bit is another"
    DUPLICATE = "a piece comes twice"
    SWAP = "two pieces change places"


BREAKS = (ByteFault.CUT, ByteFault.STALL, ByteFault.DELAY)
DAMAGES = (ByteFault.FLIP, ByteFault.DUPLICATE, ByteFault.SWAP)


@dataclass(frozen=True, slots=True)
class Mishap:
    """A fault, its way, and the number of bytes that pass before it."""

    fault: ByteFault
    way: Way = Way.DOWN
    after: int = 0


def cutting(after: int) -> Callable[[int], Mishap]:
    """Reset every connection after ``after`` bytes from the referee."""
    return lambda _: Mishap(ByteFault.CUT, Way.DOWN, after)


def random_mishaps(seed: object) -> Callable[[int], Mishap]:
    """Return a mishap for each connection. Of three, one is damaged, one breaks early, and one lasts longer."""

    def mishap(number: int) -> Mishap:
        rng = random.Random(f"{seed}/{number}")
        if number % 3 == 2:
            return Mishap(ByteFault.CUT, Way.DOWN, 40_000)
        way = rng.choice(list(Way))
        return Mishap(rng.choice(BREAKS if number % 3 else DAMAGES), way, int(2 ** rng.uniform(0, 14)))

    return mishap


class Network:
    """A way to an address. ``async with`` it, for its own address."""

    def __init__(self, target: str, mishaps: Callable[[int], Mishap]) -> None:
        """``mishaps``: for the nth connection, from 0 on."""
        self.connections = 0
        self.suffered: list[Mishap] = []
        self._host, _, self._port = target.rpartition(":")
        self._mishaps = mishaps
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._is_over = True
        self._server.close()
        await _rounds()  # a connection accepted at the last moment begins, and sees that it is over
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await _rounds()  # transports that were aborted close
        await self._server.wait_closed()  # since Python 3.12 it waits for connections

    async def _serve(self, near: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        if self._is_over:
            near_out.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        mishap = self._mishaps(self.connections)
        self.connections += 1
        outs, ways = [near_out], list[asyncio.Task[None]]()
        try:
            far, far_out = await asyncio.open_connection(self._host, int(self._port))
            outs.append(far_out)
            stalled = asyncio.Event()
            ways += (
                asyncio.create_task(self._pass(near, far_out, Way.UP, mishap, stalled)),
                asyncio.create_task(self._pass(far, near_out, Way.DOWN, mishap, stalled)),
            )
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except (OSError, asyncio.CancelledError):
            pass  # The referee is away, or the test is over: either way the connection is.
        finally:
            # First, as a task that waits below may be cancelled there.
            for out in outs:
                out.transport.abort()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._open.discard(task)

    async def _pass(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        way: Way,
        mishap: Mishap,
        stalled: asyncio.Event,
    ) -> None:
        passed, mine = 0, mishap.way is way
        while data := await source.read(4096):
            if stalled.is_set():
                continue  # Read, so that a peer that gives up is noticed.
            place = mishap.after - passed
            passed += len(data)
            if mine and 0 <= place < len(data):
                self.suffered.append(mishap)
                before, rest = data[:place], data[place:]
                match mishap.fault:
                    case ByteFault.CUT:
                        sink.write(before)
                        return
                    case ByteFault.STALL:
                        stalled.set()
                        data = before
                    case ByteFault.DELAY:
                        await asyncio.sleep(DELAY_S)
                    case ByteFault.FLIP:
                        data = before + bytes([rest[0] ^ 1 << passed % 8]) + rest[1:]
                    case ByteFault.DUPLICATE:
                        data = before + rest[:PIECE_BYTES] + rest
                    case ByteFault.SWAP:
                        piece, following = rest[:PIECE_BYTES], rest[PIECE_BYTES : 2 * PIECE_BYTES]
                        data = before + following + piece + rest[2 * PIECE_BYTES :]
                    case ByteFault.NOTHING:
                        pass
            sink.write(data)


async def _rounds() -> None:
    """Run rounds of the event loop: one to the transport of a connection, one to the task, one to close it."""
    for _ in range(5):
        await asyncio.sleep(0)
