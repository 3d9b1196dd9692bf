"""Floods from the whole world at a port, while a game is played there: it continues, and the excess is cut off.

Bounded in count and time; over loopback.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import grpc
import pytest

from referee.alhambra.v1.alhambra_pb2 import Options
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import Client, Play, connected, refusal
from tests.server.service.process import serve

SHORT = Options(max_turns=30).SerializeToString()
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
ENHANCE_YOUR_CALM = 11


@dataclass
class Storm:
    """The parameters and the outcome of a flood."""

    address: str
    game_id: str
    """The id of a game that is over."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """By the flood: it is in full spate."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """The game in play has ended."""


Flood = Callable[[Storm], Coroutine[None, None, int]]
"""Returns how much it did."""


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0) -> bytes:
    """Return a frame of HTTP/2, RFC 9113."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


async def connection(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def frames(reader: asyncio.StreamReader) -> list[tuple[int, bytes]]:
    """Return all that comes until the other side closes."""
    found: list[tuple[int, bytes]] = []
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readexactly(9)
            found.append((head[3], await reader.readexactly(int.from_bytes(head[:3], "big"))))
    return found


async def pings(storm: Storm) -> int:
    """Thousands at once, over and over: the connection is ended for it."""
    cut = 0
    while not storm.over.is_set() and cut < 100:
        reader, writer = await connection(storm.address)
        writer.write(PREFACE + frame(SETTINGS) + frame(PING, bytes(8)) * 2000)
        found = await frames(reader)
        goaways = [payload for kind, payload in found if kind == GOAWAY]
        assert any(struct.unpack(">I", payload[4:8])[0] == ENHANCE_YOUR_CALM for payload in goaways)
        writer.transport.abort()
        cut += 1
        storm.begun.set()
    return cut


async def garbage(storm: Storm) -> int:
    """From the first byte on, or after a good beginning: the connection is closed."""
    rng, cut = Random(1), 0
    while not storm.over.is_set() and cut < 300:
        reader, writer = await connection(storm.address)
        begin = (b"", PREFACE, PREFACE + frame(SETTINGS), b"GET / HTTP/1.1\r\n\r\n")[cut % 4]
        with suppress(OSError):
            writer.write(begin + rng.randbytes(rng.randrange(1000, 20_000)))
            writer.write_eof()  # what looks like the beginning of something longer is waited for, for a while
            while await reader.read(65536):
                pass
        writer.transport.abort()
        cut += 1
        storm.begun.set()
    return cut


async def oversize(storm: Storm) -> int:
    """Messages beyond what we take and beyond what gRPC takes: each is refused."""
    refused = 0
    async with connected(storm.address, "") as client:
        while not storm.over.is_set() and refused < 200:
            size = (1 << 20, 3 << 20)[refused % 2]
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.games.ListGames(pb.ListGamesRequest(page_token="x" * size))
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert size > 2 << 20 or refusal(caught.value).reason == "LIMIT"
            refused += 1
            storm.begun.set()
    return refused


async def idle(storm: Storm) -> int:
    """Hundreds of connections that say nothing, or no more than that they are there."""
    opened = []
    for i in range(400):
        _, writer = await connection(storm.address)
        if i % 2:
            writer.write(PREFACE + frame(SETTINGS))
        opened.append(writer)
    storm.begun.set()
    await storm.over.wait()
    for writer in opened:
        writer.transport.abort()
    return len(opened)


async def slow_readers(storm: Storm) -> int:
    """Ask for all of a game on as many streams as allowed, and then read nothing."""
    narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
    streams = []
    async with connected(storm.address, "", **narrow) as client:
        for _ in range(100):
            request = pb.WatchGameRequest(game_id=storm.game_id, after_seq=-1)
            streams += [client.games.WatchGame(request), client.games.GetLog(pb.GetLogRequest(game_id=storm.game_id))]
            try:
                await streams[-2].read()
            except grpc.aio.AioRpcError as error:
                if refusal(error).reason != "LIMIT":
                    raise
                break
        assert len(streams) > 2
        storm.begun.set()
        await storm.over.wait()
        for stream in streams:
            stream.cancel()
    return len(streams)


async def played(client: Client, seed: int) -> Play:
    play = await client.play(2, seed=seed, options=SHORT)
    await play.to_the_end()
    assert play.record.game.end is not None
    return play


async def test_a_game_goes_on_whatever_comes(tmp_path: Path) -> None:
    """One flood after the other, and one game during each; then the referee stops as it should."""
    running = await serve(tmp_path / "data", tmp_path / "log", "--log-level", "warning")
    done: dict[str, int] = {}
    async with connected(running.address, running.token) as client:
        first = await played(client, 0)
        floods: tuple[Flood, ...] = (pings, garbage, oversize, idle, slow_readers)
        for number, flood in enumerate(floods, 1):
            storm = Storm(running.address, first.id)
            flooding = asyncio.create_task(flood(storm))
            begun = asyncio.create_task(storm.begun.wait())
            await asyncio.wait((flooding, begun), return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
            await played(client, number)
            storm.over.set()
            done[flood.__name__] = await flooding
    assert all(done.values()), done
    running.process.terminate()
    assert await running.process.wait() == 0
    assert "incident" not in (tmp_path / "log").read_text()
