"""The cost of an act that comes to another referee than the one with the game, on one PostgreSQL: both ways in
turn, in short slices of the same run. Processor time of both referees together; that of PostgreSQL is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import grpc

from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import REFEREE, Calls, Client, Stream, desks, processor_s, rate, running
from tests.bench.measure import Figure
from tests.server.service.nodes import directories
from tests.server.store import postgres

GAMES, ROUNDS, ACTS = 8, 9, 20


async def measured(games: int, rounds: int, times: int) -> list[Figure]:
    """Streams and calls; the floor of each is the same at the game's own referee."""
    with postgres.running() as server, TemporaryDirectory() as folder:
        if server is None:
            return []
        url = server.new()
        await directories(url, Path(folder) / "owner", Path(folder) / "other")
        words = ("--listen", "127.0.0.1:0", "--store", url)
        async with AsyncExitStack() as stack:
            owner, other = [
                await stack.enter_async_context(running(REFEREE, "serve", "--data", f"{folder}/{name}", *words))
                for name in ("owner", "other")
            ]
            organiser = (Path(folder) / "owner" / "organiser.token").read_text().strip()
            there, here = [
                pb_grpc.GameServiceStub(await stack.enter_async_context(grpc.aio.insecure_channel(node.address)))
                for node in (owner, other)
            ]
            ways: dict[str, list[Client]] = {}
            for name, kind in (("PlayGame", Stream), ("SubmitIntent", Calls)):
                ways[f"{name}, at the owner"] = [kind(there, desk) for desk in await desks(there, organiser, games)]
                ways[f"{name}, passed on"] = [kind(here, desk) for desk in await desks(there, organiser, games)]
            for clients in ways.values():
                for client in clients:
                    await client.begin()
                await rate(clients, 5)
            spent: dict[str, list[float]] = {way: [] for way in ways}
            rates: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way, clients in ways.items():
                    before = processor_s(owner.pid) + processor_s(other.pid)
                    rates[way].append(await rate(clients, times))
                    spent[way].append(processor_s(owner.pid) + processor_s(other.pid) - before)
    return [figure for name in ("PlayGame", "SubmitIntent") for figure in _compared(name, rates, spent, games * times)]


def _compared(name: str, rates: dict[str, list[float]], spent: dict[str, list[float]], acts: int) -> Iterator[Figure]:
    far, near = f"{name}, passed on", f"{name}, at the owner"
    pairs = [ours / floor for ours, floor in zip(rates[far], rates[near], strict=True)]
    yield Figure(f"{far}: acts a second", median(rates[far]), None, median(rates[near]), median(pairs))
    ours, floor = (1e6 * sum(spent[way]) / (len(spent[way]) * acts) for way in (far, near))
    yield Figure(f"{far}: processor time of both referees, µs an act", ours, None, floor)


def figures() -> Iterator[Figure]:
    """One size."""
    yield from asyncio.run(measured(GAMES, ROUNDS, ACTS))
