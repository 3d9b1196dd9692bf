"""kill -9 under load, again and again on one directory; after every start, all that clients heard is in the logs."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from io import BytesIO
from pathlib import Path

import grpc

from referee.log.audit import audit
from referee.log.file import entries
from referee.log.verdict import Policy, Verdict
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.crash.journal import Told, broken
from tests.crash.load import CHANNEL, Load
from tests.crash.process import Referee
from tests.crash.stores import Database, File, Store
from tests.server.service.player import bearer
from tests.server.store.postgres import Postgres

TABLES = 8
TURNS = 40
"""The most turns of a game, so that games end and others begin."""
MOST_S = 0.3
"""The most seconds of play, before a kill at a random moment."""


class Moment(StrEnum):
    """When the referee is killed."""

    IDLE = "idle"
    ACTS = "acts under way"
    CREATION = "games being opened"
    COMMIT = "a commit being written"
    CHECKPOINT = "the write-ahead log on its way into the database"
    START = "while it starts"
    TWICE = "as soon as it is back"
    DATABASE = "together with its database"
    """Where that is a server of its own."""


@asynccontextmanager
async def loaded(referee: Referee, rng: random.Random) -> AsyncIterator[Load]:
    """Players of a referee that has been started; they are gone afterwards, in the middle of what they do."""
    async with grpc.aio.insecure_channel(referee.address, options=list(CHANNEL.items())) as channel:
        yield Load(channel, referee.token, rng)


async def log_of(load: Load, game_id: str) -> bytes:
    stream = load.stub.GetLog(pb.GetLogRequest(game_id=game_id), wait_for_ready=True)
    return b"".join([response.chunk async for response in stream])


async def listed(load: Load) -> dict[str, game_pb2.Game]:
    """Return every game that the referee knows of."""
    games: dict[str, game_pb2.Game] = {}
    token = ""
    while True:
        request = pb.ListGamesRequest(page_size=100, page_token=token)
        page = await load.stub.ListGames(request, wait_for_ready=True)
        games.update((game.id, game) for game in page.games)
        if not (token := page.next_page_token):
            return games


async def nothing_is_lost(load: Load, games: list[Told]) -> None:
    """Compare the messages about these games with their logs."""
    # A game may still be opened while they are listed.
    opened = list(load.games)
    known = await listed(load)
    problems = [f"game {game_id} was opened and is lost" for game_id in opened if game_id not in known]
    for told in games:
        if told.game_id in known:
            log = BytesIO(await log_of(load, told.game_id))
            problems += broken(told, list(entries(log)))
    assert not problems, "\n".join(problems)


async def all_complete(load: Load) -> int:
    """Abort running games and compare every log with the messages and the auditor; return the number of logs."""
    games = await listed(load)
    for game in games.values():
        if game.state != game_pb2.GAME_STATE_OVER:
            await load.stub.AbortGame(pb.AbortGameRequest(game_id=game.id), metadata=bearer(load.organiser))
    await nothing_is_lost(load, list(load.games.values()))
    verifier = next(told.verifier for told in load.games.values())
    for game_id in games:
        receipts = tuple(load.games[game_id].notes.values()) if game_id in load.games else ()
        policy = Policy(verifier, receipts=receipts)
        report = await asyncio.to_thread(audit, BytesIO(await log_of(load, game_id)), policy)
        assert report.verdict is Verdict.COMPLETE, report.as_text()
    return len(games)


class Rig:
    """One run: the same seed draws the same kills, though not to the microsecond."""

    def __init__(
        self, folder: Path, seed: int, say: Callable[[str], object] = print, *, server: Postgres | None = None
    ) -> None:
        """``say`` gets the progress now and then. ``server``: where the games are; in a file if there is none."""
        self._say = say
        self._store: Store = File(folder / "data") if server is None else Database(server)
        self._referee = Referee(folder, words=self._store.words)
        self.moments = [moment for moment in Moment if server is not None or moment is not Moment.DATABASE]
        self._rng = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.caught = 0
        """Kills with acts under way."""
        self.games = 0
        """That were audited."""
        self.acts = 0
        """That were acknowledged."""

    def report(self) -> str:
        """Return the report, line by line."""
        moments = "".join(f"  {number:4} {moment}\n" for moment, number in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills, {self.caught} of them with acts under way:\n{moments}"
            f"{self.acts} acts acknowledged, none lost; {self.games} games, all of them audit COMPLETE"
        )

    async def run(self, rounds: int) -> None:
        """Raise ``AssertionError`` with all that does not hold."""
        try:
            await self._referee.start()
            async with loaded(self._referee, self._rng) as load, asyncio.TaskGroup() as tables:
                load.turns = TURNS
                playing = [tables.create_task(load.table()) for _ in range(TABLES)]
                for number, moment in enumerate(self._moments(rounds), 1):
                    await self._round(load, moment)
                    if number % 20 == 0:
                        self._say(f"{number} of {rounds}")
                    assert not any(task.done() for task in playing)
                await self._end(load, playing)
            await self._referee.stop()
        finally:
            await self._referee.put_down()

    def _moments(self, rounds: int) -> list[Moment]:
        """Return all of them equally often."""
        moments = [self.moments[number % len(self.moments)] for number in range(rounds)]
        self._rng.shuffle(moments)
        return moments

    async def _round(self, load: Load, moment: Moment) -> None:
        opening: list[asyncio.Task[object]] = []
        await asyncio.sleep(self._rng.uniform(0, MOST_S))
        if moment is Moment.IDLE:
            await load.pause()
        elif moment is Moment.CREATION:
            opening = [asyncio.create_task(load.create(2)) for _ in range(4)]
            await asyncio.sleep(self._rng.uniform(0, 0.02))
        elif moment is Moment.CHECKPOINT:
            await asyncio.to_thread(self._store.until_checkpoint)
        elif moment is Moment.COMMIT:
            await asyncio.to_thread(self._store.until_commit)
        self.kills[moment] += 1
        self.caught += load.under_way > 0
        open_games = [told for told in load.games.values() if not told.is_over]
        if moment is Moment.DATABASE and isinstance(self._store, Database):
            await asyncio.to_thread(self._store.crash)
            await self._referee.kill()
            await asyncio.to_thread(self._store.start)
        else:
            await self._referee.kill()
        if moment is Moment.START:
            await self._referee.spawn()
            await asyncio.sleep(self._rng.uniform(0, self._referee.start_s))
            await self._referee.kill()
        elif moment is Moment.TWICE:
            await self._referee.start()
            await self._referee.kill()
        await self._referee.start()
        await load.pause()  # what was under way has its answer by then
        await nothing_is_lost(load, open_games)
        load.may_act.set()
        await asyncio.gather(*opening)

    async def _end(self, load: Load, playing: list[asyncio.Task[None]]) -> None:
        """The games that are being played are played to their end."""
        load.is_closing = True
        await asyncio.wait(playing)
        await load.pause()
        self.acts = sum(act.receipt is not None for told in load.games.values() for act in told.acts)
        self.games = await all_complete(load)
