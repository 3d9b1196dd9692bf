"""The cost of an act with the games in PostgreSQL, whose commits wait for a standby: a referee with its games in a
file, one on a database, and several on another one, all in turn in short slices of the same run.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc

from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import REFEREE, Client, Stream, compared, desks, processor_s, rate, running
from tests.bench.measure import Figure
from tests.server.service.nodes import directories
from tests.server.store.postgres import USER, Postgres, made
from tests.waiting import until

GAMES, ROUNDS, ACTS, NODES = 32, 9, 30, 4
FILE, FEWER, ONE, SEVERAL = "in a file", "in a file, fewer games", "on PostgreSQL", "several"
MOST_OF_FILE, MOST_OF_ONE = 1.10, 1.15
MOST_US = {"primary": 60, "standby": 30}


def server_s(pid: int, database: str) -> float:
    """Seconds of processor time of a PostgreSQL: of its first process and of those that this one has started and that
    are there, each of which has one thread, but for those that serve another database.
    """
    spent_ns = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            title = (
                (folder / "cmdline").read_text().rstrip("\0").split()
            )  # such as: postgres: referee club1 [local] idle
            serves_another = title[1:2] == [USER] and title[2] not in {database, "[local]"}
            if pid in {parent, int(folder.name)} and not serves_another:
                spent_ns += int((folder / "schedstat").read_text().split()[0])
    return spent_ns / 1e9


def follow(primary: Postgres, standby: Postgres) -> None:
    """Return when the primary's commits wait for the standby."""
    primary.ask("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.ask("postgres", "SELECT pg_reload_conf()")
    standby.follow(primary)
    standby.start()


async def measured(games: int, rounds: int, times: int, nodes: int) -> list[Figure]:
    """``nodes``: several referees, with an equal share of the games each."""
    async with AsyncExitStack() as stack:
        servers = stack.enter_context(made(2, on_disk=True))
        if not servers:
            return []
        folder = Path(stack.enter_context(TemporaryDirectory()))
        primary, standby = servers
        await asyncio.to_thread(follow, primary, standby)
        waits = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
        await until(lambda: primary.ask("postgres", waits), "commits to wait for the standby", every_s=0.05)
        pids: dict[str, list[int]] = defaultdict(list)
        clients: dict[str, list[Client]] = defaultdict(list)

        async def start(way: str, data: Path, organiser: Path, games: int, *words: str) -> None:
            command = (REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", str(data), *words)
            referee = await stack.enter_async_context(running(*command))
            stub = pb_grpc.GameServiceStub(await stack.enter_async_context(grpc.aio.insecure_channel(referee.address)))
            token = (organiser / "organiser.token").read_text().strip()
            pids[way].append(referee.pid)
            for desk in await desks(stub, token, games):
                clients[way].append(stream := Stream(stub, desk))
                await stream.begin()

        urls = {FILE: "", FEWER: "", ONE: primary.new(), SEVERAL: primary.new()}
        for way, share in ((FILE, games), (FEWER, games // nodes), (ONE, games)):
            words = ("--store", urls[way]) if urls[way] else ()
            await start(way, folder / way, folder / way, share, *words)
        paths = [folder / f"node{place}" for place in range(nodes)]
        await directories(urls[SEVERAL], *paths)
        for path in paths:
            await start(SEVERAL, path, paths[0], games // nodes)
        for found in clients.values():
            await rate(found, 5)
        rates: dict[str, list[float]] = defaultdict(list)
        spent: dict[tuple[str, str], float] = defaultdict(float)
        for _ in range(rounds):
            for way, found in clients.items():
                database = primary.name_in(urls[way])
                before = _spent(pids[way], servers, database)
                rates[way].append(await rate(found, times))
                for who, seconds in _spent(pids[way], servers, database).items():
                    spent[way, who] += seconds - before[who]
    a_act = {(way, who): 1e6 * each / (rounds * times * len(clients[way])) for (way, who), each in spent.items()}
    return [*_figures(games, nodes, rates, a_act)]


def _spent(referees: list[int], servers: list[Postgres], database: str) -> dict[str, float]:
    primary, standby = (server_s(server.pid, database) for server in servers)
    return {"referee": sum(map(processor_s, referees)), "primary": primary, "standby": standby}


def _figures(
    games: int, nodes: int, rates: dict[str, list[float]], a_act: dict[tuple[str, str], float]
) -> Iterator[Figure]:
    yield compared(f"PlayGame, {games} games, a referee on PostgreSQL: acts a second", rates[ONE], rates[FILE], None)
    ours, floor = a_act[ONE, "referee"], a_act[FILE, "referee"]
    yield Figure("the same: processor time of the referee, µs an act", ours, None, floor)
    yield Figure("the same, of that of the referee in a file", ours / floor, at_most=MOST_OF_FILE)
    for who, most in MOST_US.items():
        yield Figure(f"the same: processor time of the {who}, µs an act", a_act[ONE, who], at_most=most)
    name = f"{games // nodes} games, a referee in a file: processor time of the referee, of that with {games}"
    yield Figure(name, a_act[FEWER, "referee"] / floor)
    name = f"{nodes} referees on one database, all on one processor"
    yield compared(f"{name}: acts a second; the floor is one referee", rates[SEVERAL], rates[ONE], None)
    ours, floor = a_act[SEVERAL, "referee"], a_act[ONE, "referee"]
    yield Figure(f"{name}: processor time of the referees, µs an act", ours, None, floor)
    yield Figure("the same, of that of one referee", ours / floor, at_most=MOST_OF_ONE)
    for who in MOST_US:
        yield Figure(f"{name}: processor time of the {who}, µs an act", a_act[SEVERAL, who], None, a_act[ONE, who])


def figures() -> Iterator[Figure]:
    """One size."""
    yield from asyncio.run(measured(GAMES, ROUNDS, ACTS, NODES))
