"""How long a game stands still when a part that it was played on is lost: two referees on one PostgreSQL with a
standby, and the clock of the player who waits for the answer to an act. Then, how long it takes until many games
with running clocks are all back, at a referee with one processor.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import grpc
import psycopg

from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import REFEREE, Desk, Running, Stream, opened, rate, running, script
from tests.bench.measure import Figure
from tests.nemesis.pair import Pair, pair
from tests.server.service.nodes import directories
from tests.waiting import waiting_for

ROUNDS, ENTRIES, GAMES, ENTRIES_EACH = 5, 300, 200, 170
_AGAIN_S = 0.01
_CLOCK = log_pb2.Terms(clock=log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=3_600_000, increment_ms=1_000)))
_SERVING = "SELECT count(*) FROM nodes WHERE NOT dead AND address <> ''"
_OWNER = "SELECT owner FROM games WHERE id = %s"


class _Club:
    """Two referees: one that has the games, and one that takes them over."""

    def __init__(self, stack: AsyncExitStack, database: Pair, folder: Path) -> None:
        self._stack = stack
        self.database = database
        self._paths = [folder / name for name in ("one", "two")]
        self._referees: list[tuple[Path, Running, pb_grpc.GameServiceAsyncStub]] = []
        """In this order."""

    async def begin(self) -> None:
        await directories(self.database.url, *self._paths)
        for path in self._paths:
            await self._start(path)

    async def _start(self, path: Path) -> None:
        words = ("--listen", "127.0.0.1:0", "--data", str(path))
        referee = await self._stack.enter_async_context(running(REFEREE, "serve", *words))
        channel = await self._stack.enter_async_context(grpc.aio.insecure_channel(referee.address))
        self._referees.append((path, referee, pb_grpc.GameServiceStub(channel)))
        await self._until(_SERVING, len(self._referees))

    async def _until(self, question: str, wanted: int) -> None:
        """Return when the database answers with this number."""
        async with waiting_for(question):
            while (await asyncio.to_thread(self.database.ask, question)) != [(wanted,)]:  # noqa: ASYNC110 - no signal
                await asyncio.sleep(_AGAIN_S)

    @property
    def owner(self) -> tuple[int, pb_grpc.GameServiceAsyncStub]:
        """Return the process that has the games, and the way there."""
        return self._referees[0][1].pid, self._referees[0][2]

    @property
    def other(self) -> pb_grpc.GameServiceAsyncStub:
        return self._referees[1][2]

    async def open(self, acts: int, number: int = 0, terms: log_pb2.Terms | None = None) -> Desk:
        """Return a game with ``acts`` acts or a few more, in which a player is awaited."""
        token = (self._paths[0] / "organiser.token").read_text().strip()
        desk = await opened(self.owner[1], token, script(number), terms=terms)
        stream = Stream(self.owner[1], desk)
        await stream.begin()
        await rate([stream], acts)
        while not desk.acts[desk.at][0]:
            await stream.once()
        return desk

    async def replace_owner(self) -> None:
        """End it, whatever its state, and start it again: the other one is the owner now."""
        path, referee, _ = self._referees.pop(0)
        with suppress(ProcessLookupError):
            os.kill(referee.pid, signal.SIGKILL)
        await self._until(_SERVING, 1)
        await self._start(path)


async def answered(stub: pb_grpc.GameServiceAsyncStub, desk: Desk) -> float:
    """Return when the next act was answered, sent again until it is."""
    signed = desk.signed()
    request = pb.SubmitIntentRequest(game_id=desk.game_id, intent=signed.intent, signature=signed.signature)
    async with waiting_for("an act to be answered"):
        while True:
            with suppress(grpc.aio.AioRpcError):
                response = await stub.SubmitIntent(request, metadata=desk.metadata)
                if not response.HasField("accepted"):
                    raise AssertionError(response)
                at = perf_counter()
                desk.took(response.accepted, at)
                return at
            await asyncio.sleep(_AGAIN_S)


async def owned_by_another(database: Pair, desk: Desk, first: int) -> float:
    """Return when the game had another owner than the first one."""
    values = (bytes.fromhex(desk.game_id),)
    async with await _connected(database) as connection, waiting_for("an owner"):
        while await (await connection.execute(_OWNER.encode(), values)).fetchone() in {(None,), (first,)}:  # noqa: ASYNC110
            await asyncio.sleep(_AGAIN_S)
    return perf_counter()


def _connected(database: Pair) -> Awaitable[psycopg.AsyncConnection[Any]]:
    return psycopg.AsyncConnection.connect(database.url, autocommit=True)


async def commits_again(database: Pair) -> float:
    """Return when anybody could commit there."""
    async with waiting_for("a commit"):
        while True:
            with suppress(psycopg.Error):
                async with await _connected(database) as connection:
                    await connection.execute(b"SELECT pg_logical_emit_message(true, 'bench', '')")
                    return perf_counter()
            await asyncio.sleep(_AGAIN_S)


async def referees_lost(club: _Club, how: signal.Signals, rounds: int, entries: int) -> tuple[list[float], list[float]]:
    """Return the seconds until the game has another owner, and until it answers there."""
    owned, spoke = list[float](), list[float]()
    for _ in range(rounds):
        desk = await club.open(entries)
        ((first,),) = await asyncio.to_thread(club.database.ask, _OWNER, bytes.fromhex(desk.game_id))
        start = perf_counter()
        os.kill(club.owner[0], how)
        at = await asyncio.gather(owned_by_another(club.database, desk, first), answered(club.other, desk))
        owned.append(at[0] - start)
        spoke.append(at[1] - start)
        await club.replace_owner()
    return owned, spoke


async def database_lost(club: _Club, lose: Callable[[], Awaitable[None]], rounds: int, entries: int) -> list[float]:
    """Return the seconds from the first commit that anybody can make again until the game answers.

    The first that waits for a standby, of which a server that has just taken the place of another one has none yet.
    """
    late = []
    for _ in range(rounds):
        desk = await club.open(entries)
        connection = await _connected(club.database)
        losing = asyncio.ensure_future(lose())
        with suppress(psycopg.Error):
            while True:
                await connection.execute(b"SELECT")
                await asyncio.sleep(0)
        answering = asyncio.ensure_future(answered(club.owner[1], desk))
        await losing
        there = await commits_again(club.database)
        late.append(max(await answering - there, 0.0))
    return late


async def all_back(club: _Club, games: int, entries: int) -> float:
    """Return the seconds until the last of many games is taken up, whose clocks all run."""
    await asyncio.gather(*(club.open(entries, number % 4, _CLOCK) for number in range(games)))
    question = "SELECT count(*) FROM entries"
    ((before,),) = await asyncio.to_thread(club.database.ask, question)
    start = perf_counter()
    os.kill(club.owner[0], signal.SIGKILL)
    async with waiting_for("all games to be taken up"):  # each gets an entry that it was interrupted
        while (await asyncio.to_thread(club.database.ask, question)) != [(before + games,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return perf_counter() - start


async def measured(rounds: int, entries: int, games: int, entries_each: int) -> list[Figure]:
    """Everything that can be lost, one after the other."""
    async with AsyncExitStack() as stack:
        database = stack.enter_context(pair())
        if database is None:
            return []
        club = _Club(stack, database, Path(stack.enter_context(TemporaryDirectory())))
        await club.begin()
        game = f"a game of {entries} entries"
        owned, spoke = await referees_lost(club, signal.SIGKILL, rounds, entries)
        found = [
            Figure("kill -9 of a referee: its game has another owner, median", median(owned)),
            Figure("the same, the longest", max(owned), at_most=1.0),
            Figure(f"the same: {game} answers, median", median(spoke)),
            Figure("the same, the longest", max(spoke), at_most=1.5),
        ]
        _, spoke = await referees_lost(club, signal.SIGSTOP, rounds, entries)
        found += [
            Figure(f"a referee hangs: {game} answers, median", median(spoke)),
            Figure("the same, the longest", max(spoke), at_most=4.0),
        ]
        for what, lose, most in (
            ("the primary is lost, and its standby takes its place", database.lose_primary, 1.0),
            ("the primary is killed and started", database.restart, 2.0),
        ):
            late = await database_lost(club, lose, rounds, entries)
            found += [
                Figure(f"{what}: from the first commit there until {game} answers, median", median(late)),
                Figure("the same, the longest", max(late), at_most=most),
            ]
        name = (
            f"{games} games of {entries_each} entries with running clocks, of a killed referee: all back, one processor"
        )
        found.append(Figure(name, await all_back(club, games, entries_each), at_most=10.0))
    return found


def figures() -> Iterator[Figure]:
    """One size."""
    yield from asyncio.run(measured(ROUNDS, ENTRIES, GAMES, ENTRIES_EACH))
