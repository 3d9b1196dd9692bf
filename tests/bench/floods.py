"""The harm of strangers to players: how long an act takes, and what a bot is charged for a second of thought, in quiet
and under each flood.

The referee has a processor to itself; flood and players share another, and the flood stands back. ``python -m
tests.bench floods`` prints the figures; ``FLOODS`` lists the floods.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.log.entry import decode_entry
from referee.log.terms import MAX_LAG_MS
from referee.log.v1 import log_pb2
from referee.tournament.rules.acts import EnterResult
from referee.tournament.simulate import Chances
from referee.v1 import event_service_pb2, game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee.v1.event_service_pb2_grpc import EventServiceStub
from referee_clients.join import Join
from referee_clients.sdk.player import Player
from tests.bench.acts import REFEREE, Stream, desks, running
from tests.bench.measure import Figure
from tests.server.service.event import Events, acts_of, over_the_board
from tests.server.service.player import Client

OPEN, OVER = 1000, 100
SECONDS, ACTS_S, PAIRS, THOUGHT_S = 10.0, 20, 3, 1.0
LOOPS, HALF_OPEN = 32, 900
LAG_MS = min(200, MAX_LAG_MS)
CLOCK = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000), lag_ms=LAG_MS)

Once = Callable[["pb_grpc.GameServiceAsyncStub", grpc.aio.Channel, str], Awaitable[object]]
"""One call of a flood; it is given the id of a game that is over."""


async def _list_state(stub: pb_grpc.GameServiceAsyncStub, _: grpc.aio.Channel, __: str) -> object:
    return await stub.ListGames(pb.ListGamesRequest(state=game_pb2.GAME_STATE_PAUSED, page_size=50))


async def _list_page(stub: pb_grpc.GameServiceAsyncStub, _: grpc.aio.Channel, __: str) -> object:
    return await stub.ListGames(pb.ListGamesRequest(page_size=100))


async def _get_game(stub: pb_grpc.GameServiceAsyncStub, _: grpc.aio.Channel, game_id: str) -> object:
    return await stub.GetGame(pb.GetGameRequest(game_id=game_id))


async def _get_log(stub: pb_grpc.GameServiceAsyncStub, _: grpc.aio.Channel, game_id: str) -> object:
    return [message async for message in stub.GetLog(pb.GetLogRequest(game_id=game_id))]


async def _watch(stub: pb_grpc.GameServiceAsyncStub, _: grpc.aio.Channel, game_id: str) -> object:
    return [message async for message in stub.WatchGame(pb.WatchGameRequest(game_id=game_id, after_seq=-1))]


async def _get_event(_: pb_grpc.GameServiceAsyncStub, channel: Any, event_id: str) -> object:
    stub: Any = EventServiceStub(channel)
    return await stub.GetEvent(event_service_pb2.GetEventRequest(id=event_id))


async def _get_standings(_: pb_grpc.GameServiceAsyncStub, channel: Any, event_id: str) -> object:
    stub: Any = EventServiceStub(channel)
    return await stub.GetStandings(event_service_pb2.GetStandingsRequest(id=event_id))


async def _reflect(_: pb_grpc.GameServiceAsyncStub, channel: Any, __: str) -> object:
    async def requests() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        for _ in range(300):
            yield reflection_pb2.ServerReflectionRequest(file_containing_symbol="referee.v1.GameService")

    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    return [answer async for answer in stub.ServerReflectionInfo(requests())]


async def _half_open(_: pb_grpc.GameServiceAsyncStub, channel: grpc.aio.Channel, __: str) -> object:
    """Headers without a request."""
    calls: list[Any] = [channel.stream_stream("/referee.v1.GameService/ListGames")() for _ in range(HALF_OPEN // LOOPS)]
    await asyncio.sleep(2)
    return [call.cancel() for call in calls]


FLOODS: dict[str, Once] = {
    "ListGames with a state": _list_state,
    "ListGames, 100 a page": _list_page,
    "GetGame of games that are over": _get_game,
    "GetLog of games that are over": _get_log,
    "WatchGame of games that are over": _watch,
    "reflection": _reflect,
    "half-open calls": _half_open,
    "GetEvent": _get_event,
    "GetStandings": _get_standings,
}
OF_EVENTS = {"GetEvent", "GetStandings"}
"""Methods that get the id of a running event."""


async def flood(name: str, address: str, games: list[str]) -> None:
    """Flood in a process of its own, until the command to stop; print the numbers of answered and refused calls."""
    answered = refused = 0
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # the players share the processor
    async with grpc.aio.insecure_channel(address) as channel:

        async def loop(at: int) -> None:
            nonlocal answered, refused
            while True:
                at += 1
                try:
                    await FLOODS[name](pb_grpc.GameServiceStub(channel), channel, games[at * 7 % len(games)])
                    answered += 1
                except grpc.aio.AioRpcError:
                    refused += 1
                    await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(loop(number)) for number in range(LOOPS)]  # noqa: F841 - the loop keeps none
        print("flooding", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(answered, refused, flush=True)
        os._exit(0)  # thousands of calls are under way, and gRPC may wait for ever on the command to leave them


@asynccontextmanager
async def flooding(name: str, address: str, games: list[str], told: list[str]) -> AsyncIterator[None]:
    """While the flood lasts; ``told`` gets its two numbers."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.floods", name, address, *games),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        yield
    finally:
        out, _ = await process.communicate(b"stop\n")
        told += out.decode().split()


class Thinker:
    """A bot that thinks for a fixed time, then makes its first move."""

    def choose(self, observation: Any, legal_moves: Any) -> Any:
        """Return the first move."""
        time.sleep(THOUGHT_S)
        return legal_moves[0]


async def thinking(stub: pb_grpc.GameServiceAsyncStub, address: str, token: str, seconds: float) -> list[int]:
    """Return the charges to two bots for each move, in milliseconds."""
    created = await stub.CreateGame(
        pb.CreateGameRequest(rules_id="kingdomino", seats=[log_pb2.Seat()] * 2, terms=log_pb2.Terms(clock=CLOCK)),
        metadata=(("authorization", f"Bearer {token}"),),
    )
    bots = [
        Player(Join(address, created.game.id, seat, seat_token), Thinker())
        for seat, seat_token in enumerate(created.seat_tokens)
    ]
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(bot.run() for bot in bots))
    entries = map(decode_entry, bots[0].ledger.entries)
    return [entry.charged_ms for entry in entries if entry.charged_ms or entry.lag_ms or entry.overhead_ms]


async def honest(
    stub: pb_grpc.GameServiceAsyncStub, address: str, token: str, seconds: float
) -> tuple[list[float], list[int]]:
    """How long acts took, in ascending seconds; and what bots were charged."""
    (desk,) = await desks(stub, token, 1)
    stream = Stream(stub, desk)
    await stream.begin()

    async def paced() -> None:
        next_s, end_s = time.perf_counter(), time.perf_counter() + seconds
        while time.perf_counter() < end_s and desk.at < len(desk.acts):
            await asyncio.sleep(max(0.0, next_s - time.perf_counter()))
            next_s = max(next_s + 1 / ACTS_S, time.perf_counter())
            await stream.once()

    bots = [asyncio.create_task(thinking(stub, address, token, seconds)) for _ in range(PAIRS)]
    await paced()
    return sorted(desk.trips), [charged for bot in bots for charged in await bot]


async def begun(channel: grpc.aio.Channel, token: str) -> str:
    """Return the id of an event of 64 players, whose last round is played."""
    log = over_the_board(players=64, chances=Chances())
    desk = await Events(Client(channel, token)).begin(log.state.terms)
    for act, _ in acts_of(log):
        if isinstance(act, EnterResult) and act.round == log.state.terms.rounds:
            break
        await desk.enter(act)
    return desk.id


async def measured(names: list[str], seconds: float = SECONDS, games: int = OPEN, over: int = OVER) -> list[Figure]:
    """Quiet first, then each flood, at one referee."""
    found: list[Figure] = []
    with TemporaryDirectory() as folder:
        async with (
            running(REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", folder) as referee,
            grpc.aio.insecure_channel(referee.address) as channel,
        ):
            stub = pb_grpc.GameServiceStub(channel)
            token = (Path(folder) / "organiser.token").read_text().strip()
            ended = await desks(stub, token, over)
            for desk in ended:
                stream = Stream(stub, desk)
                await stream.begin()
                for _ in range(100):
                    await stream.once()
                abort = pb.AbortGameRequest(game_id=desk.game_id)
                await stub.AbortGame(abort, metadata=(("authorization", f"Bearer {token}"),))
            await desks(stub, token, games)
            event = await begun(channel, token)
            quiet = _told("quiet", *await honest(stub, referee.address, token, seconds))
            found += quiet
            for name in names:
                told: list[str] = []
                ids = [event] if name in OF_EVENTS else [desk.game_id for desk in ended]
                async with flooding(name, referee.address, ids, told):
                    figures = _told(name, *await honest(stub, referee.address, token, seconds))
                found += [
                    Figure(figure.name, figure.value, floor=before.value, target=figure.target, at_most=figure.at_most)
                    for figure, before in zip(figures, quiet, strict=True)
                ]
                found += [
                    Figure(f"{name}: calls {what} a second", int(count) / seconds)
                    for what, count in zip(("answered", "refused"), told, strict=True)
                ]
    return found


def _told(name: str, trips: list[float], charged: list[int]) -> list[Figure]:
    return [
        Figure(f"{name}: an act, p50, ms", 1000 * trips[len(trips) // 2]),
        Figure(f"{name}: an act, p95, ms", 1000 * trips[len(trips) * 95 // 100]),
        Figure(f"{name}: charged for {THOUGHT_S:g} s of thought, mean, ms", fmean(charged), at_most=1030),
    ]


def figures() -> Iterator[Figure]:
    """Yield every flood."""
    yield from asyncio.run(measured([*FLOODS]))


if __name__ == "__main__":
    asyncio.run(flood(sys.argv[1], sys.argv[2], sys.argv[3:]))
