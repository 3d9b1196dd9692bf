"""Many at once: live games in one process, a very long game, a hundred watchers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import grpc

from referee.alhambra.v1 import alhambra_pb2
from referee.games import registry
from referee.games.alhambra.moves import RebuildAdd, RebuildRemove
from referee.games.game import Chance, Over
from referee.harness import Shuffler
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee.wire.registry import codec as codec_of
from tests.bench.acts import REFEREE, SEATS, Stream, desks, opened, processor_s, rate, running
from tests.bench.measure import Figure

GAMES, BEGUN = 2000, 25
FAR, NEAR = 9_800, 100
WATCHERS, EVENTS_S, EVENTS = 100, 100, 300
ORDINARY_TURNS = 150
OPTIONS = alhambra_pb2.Options(max_turns=10_000).SerializeToString(deterministic=True)


@lru_cache
def endless() -> tuple[tuple[bool, bytes], ...]:
    """Return a game in which, after some ordinary turns, everybody rebuilds to its end: one entry an act."""
    rng, game, codec = random.Random(5), registry.get("alhambra"), codec_of("alhambra", 2)
    components = codec.decode_components(codec.encode_components(None))
    options = codec.decode_options(OPTIONS)
    state, dealer = game.new(SEATS, options, None), game.dealer(SEATS, options, None, Shuffler(rng))
    found: list[tuple[bool, bytes]] = []
    while not isinstance(pending := state.pending()[0], Over):
        event: Any
        if isinstance(pending, Chance):
            event = dealer.outcome(state)
            found.append((False, codec.encode_outcome(event, components)))
        else:
            moves = list(state.legal_moves())
            event = rng.choice(moves)
            if state.turns >= ORDINARY_TURNS:
                event = next((move for move in moves if isinstance(move, RebuildRemove | RebuildAdd)), event)
            found.append((True, codec.encode_move(event, components)))
        state.apply(event)
    return tuple(found)


def memory(pid: int) -> int:
    """Return bytes that a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


@asynccontextmanager
async def referee() -> AsyncIterator[tuple[int, str, str]]:
    """Yield a referee's process, its address and its organiser's token."""
    with TemporaryDirectory() as folder:
        async with running(REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", folder) as server:
            yield server.pid, server.address, (Path(folder) / "organiser.token").read_text().strip()


async def live_games() -> list[Figure]:
    """Each with its scribe's stream, some way into the game."""
    async with referee() as (pid, address, token), AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(
                grpc.aio.insecure_channel(address, options=(("grpc.use_local_subchannel_pool", 1),))
            )
            for _ in range(4)
        ]
        stubs = [pb_grpc.GameServiceStub(channel) for channel in channels]
        warm = [Stream(stubs[0], desk) for desk in await desks(stubs[0], token, 20)]
        for stream in warm:
            await stream.begin()
        await rate([*warm], BEGUN)
        before = memory(pid)
        streams: list[Stream] = []
        for stub in stubs:
            streams += [Stream(stub, desk) for desk in await desks(stub, token, GAMES // len(stubs))]
        for stream in streams:
            await stream.begin()
        for first in range(0, GAMES, 100):
            await rate([*streams[first : first + 100]], BEGUN)
        grown = (memory(pid) - before) / GAMES / 1024
        idle, start = processor_s(pid), perf_counter()
        await asyncio.sleep(20)
        share = (processor_s(pid) - idle) / (perf_counter() - start)
    return [
        Figure(f"{GAMES} live games, each with a stream: KiB each", grown, at_most=200),
        Figure(f"{GAMES} live games, idle: percent of a processor", 100 * share, at_most=5),
    ]


async def long_game() -> list[Figure]:
    """An act at entry 10,000 against one at entry 100."""
    async with referee() as (_, address, token), grpc.aio.insecure_channel(address) as channel:
        stub = pb_grpc.GameServiceStub(channel)
        streams = []
        for start in (NEAR, FAR):
            desk = await opened(stub, token, endless(), options=OPTIONS)
            stream = Stream(stub, desk)
            await stream.begin()
            await rate([stream], start)
            streams.append(stream)
        pairs = []
        for _ in range(25):
            near, far = [await rate([stream], 10) for stream in streams]
            pairs.append(near / far)
    return [Figure(f"an act at entry {FAR:,} against one at entry {NEAR}", median(pairs), at_most=1.2)]


async def watch(address: str, game_id: str) -> None:
    """Watch in a process of its own: on the command to stop, print when which commit came to each of many watchers."""
    seen: list[tuple[int, float]] = []

    async def one(stub: pb_grpc.GameServiceAsyncStub) -> None:
        stream = stub.WatchGame(pb.WatchGameRequest(game_id=game_id))
        async for message in stream:
            if message.HasField("commit"):
                seen.append((message.seq, perf_counter()))  # noqa: PERF401 - it ends by being cancelled

    os.nice(10)  # the acts' own client shares the processor
    async with grpc.aio.insecure_channel(address) as channel:
        tasks = [asyncio.create_task(one(pb_grpc.GameServiceStub(channel))) for _ in range(WATCHERS)]
        await asyncio.sleep(1)
        print("watching", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for task in tasks:
            task.cancel()
    print(json.dumps(seen))


async def paced(stream: Stream, sent: dict[int, float], events: int, per_s: float) -> float:
    """Return the median round trip of an act, at ``per_s`` acts a second; ``sent``: when each was sent, by entry."""
    desk = stream.desk
    desk.trips.clear()
    next_s = perf_counter()
    for _ in range(events):
        await asyncio.sleep(max(0.0, next_s - perf_counter()))
        next_s += 1 / per_s
        sent[desk.place.seq] = perf_counter()
        await stream.once()
    return median(desk.trips)


@asynccontextmanager
async def crowd(seen: list[tuple[int, float]], module: str, *words: str) -> AsyncIterator[None]:
    """Watchers in a process of their own, meanwhile; ``seen`` then has which entry came to one of them, and when."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 26
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"watching\n"
    yield
    await asyncio.sleep(0.5)
    out, _ = await process.communicate(b"stop\n")
    seen += json.loads(out)


async def watchers() -> list[Figure]:
    """How long a commit takes to each of many watchers, and what they cost the acts."""
    async with referee() as (_, address, token), grpc.aio.insecure_channel(address) as channel:
        stub = pb_grpc.GameServiceStub(channel)
        desk = await opened(stub, token, endless(), options=OPTIONS)
        stream = Stream(stub, desk)
        await stream.begin()
        await rate([stream], 50)
        sent: dict[int, float] = {}
        delays, ratios = list[float](), list[float]()
        for _ in range(3):
            alone, seen = await paced(stream, sent, EVENTS, EVENTS_S), list[tuple[int, float]]()
            async with crowd(seen, "tests.bench.crowd", address, desk.game_id):
                ratios.append(await paced(stream, sent, EVENTS, EVENTS_S) / alone)
            delays += [at - sent[seq] for seq, at in seen]
    if len(delays) != 3 * EVENTS * WATCHERS:
        raise AssertionError(f"{len(delays)} deliveries")
    delays.sort()
    what = f"{WATCHERS} watchers, {EVENTS_S} acts a second"
    return [
        Figure(f"{what}: p99 of a delivery, ms", 1000 * delays[len(delays) * 99 // 100], at_most=50),
        Figure(f"{what}: an act, against without watchers", median(ratios), at_most=1.15),
    ]


def figures() -> Iterator[Figure]:
    """Yield all of them."""
    for part in (long_game, watchers, live_games):
        yield from asyncio.run(part())


if __name__ == "__main__":
    asyncio.run(watch(*sys.argv[1:]))
