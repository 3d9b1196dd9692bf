"""A club that plays for long: all games, people who watch and leave, tokens that come and go, kills in the middle.

Its messages are compared with the logs as in ``tests.crash``. Its metrics show what the process holds.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import count, pairwise
from pathlib import Path
from statistics import fmean, linear_regression
from time import monotonic
from typing import Any

import grpc

from referee.games.registry import names
from referee.log.audit import audit
from referee.log.file import entries
from referee.log.verdict import Policy, Verdict
from referee.v1 import access_service_pb2 as access
from referee.v1 import access_service_pb2_grpc, game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.crash.journal import Told, broken
from tests.crash.load import Load
from tests.crash.process import Referee
from tests.crash.rig import loaded, log_of, nothing_is_lost
from tests.server.service.metrics import Samples, scrape
from tests.server.service.player import bearer
from tests.waiting import waiting_for

TABLES = 6
LIVES = (1 / 12, 1 / 6, 1)
"""At which part of the time each life of the process ends: the last as an operator ends it, the others by a kill."""
REMEMBERED = 50
"""Games that are over and are looked at once more after a kill."""
AUDITED = 10
"""One game in this many is audited, with the receipts of all its players."""
WATCHED = 20
"""Messages that a watcher reads before it leaves."""
TOKEN_S = 0.2
"""Between two tokens."""
SETTLED_S = 600.0
"""After a start, until caches are full."""
MOST_MB_HOUR, MOST_SLOWER = 5.0, 1.2
SAMPLES = 120
"""In a run."""
STEADY = {"referee_tasks": 0, "referee_threads": 2, "process_open_fds": 0}
"""The growth allowed with no client: asyncio and gRPC start the threads of their pools one by one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The metrics at one moment of one life."""

    life: int
    at_s: float
    """Since the start of the life."""
    metrics: Samples

    def sum(self, name: str) -> float:
        return self.metrics.sum(name)

    @property
    def megabytes(self) -> float:
        return self.sum("process_resident_memory_bytes") / 1e6


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table."""

    what: str
    first: float
    last: float
    bound: str
    is_broken: bool

    def __str__(self) -> str:
        return (
            f"{'BROKEN' if self.is_broken else '':6} {self.what:44} {self.first:10.2f} {self.last:10.2f}  {self.bound}"
        )


class Soak:
    """One run."""

    def __init__(self, folder: Path, seed: int, duration_s: float) -> None:
        self.folder = folder
        self._duration_s = duration_s
        self._referee = Referee(folder)
        self._rng = random.Random(seed)
        self._numbers = count()
        self._over: deque[Told] = deque(maxlen=REMEMBERED)
        self._life, self._began_s = 0, 0.0
        self.samples: list[Sample] = []
        self.quiet: list[Sample] = []
        """Samples with no client: after the first games of the last life, and at the end."""
        self.games = self.audited = self.acts = self.watchers = self.tokens = self.kills = self.abandoned = 0

    async def run(self) -> None:
        """Raise ``AssertionError`` for whatever was lost, or does not audit."""
        began_s = monotonic()
        try:
            await self._start()
            async with loaded(self._referee, self._rng) as load:
                for life, part in enumerate(LIVES):
                    self._life = life
                    is_last = life == len(LIVES) - 1
                    if is_last:
                        async with self._playing(load):
                            await asyncio.sleep(0)  # one game at each table, to its end
                        await self._abandon(load)
                        self.quiet.append(await self._quiet())
                    async with self._playing(load) as playing:
                        await self._for(began_s + part * self._duration_s - monotonic(), playing)
                        if not is_last:
                            await self._kill(load)
                self.quiet.append(await self._quiet())
            await self._referee.stop()
        finally:
            await self._referee.put_down()

    # --- the club ------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        await self._referee.start()
        self._began_s = monotonic()

    @asynccontextmanager
    async def _playing(self, load: Load) -> AsyncIterator[Sequence[asyncio.Task[None]]]:
        """Everybody is there; at the end the games that have begun are played to theirs."""
        load.is_closing = False
        playing = [asyncio.create_task(self._table(load)) for _ in range(TABLES)]
        office = asyncio.create_task(self._office(load))
        try:
            yield playing
            load.is_closing = True
            await asyncio.gather(office, *playing)
        finally:
            for task in (office, *playing):
                task.cancel()
            await asyncio.gather(office, *playing, return_exceptions=True)

    async def _table(self, load: Load) -> None:
        """One game after the other, at least one."""
        while True:
            number = next(self._numbers)
            told, tokens = await load.create(self._rng.randint(2, 4), names()[number % len(names())])
            watching = asyncio.create_task(self._watch(load, told.game_id))
            await load.play(told, tokens)
            await watching
            await self._check(load, told, is_audited=number % AUDITED == 0)
            self._over.append(load.games.pop(told.game_id))
            self.games += 1
            self.acts += sum(act.receipt is not None for act in told.acts)
            if load.is_closing:
                return

    async def _check(self, load: Load, told: Told, *, is_audited: bool) -> None:
        log = await _again(lambda: log_of(load, told.game_id))
        problems = broken(told, list(entries(BytesIO(log))))
        assert not problems, "\n".join(problems)
        if is_audited:
            policy = Policy(told.verifier, receipts=tuple(told.notes.values()))
            report = await asyncio.to_thread(audit, BytesIO(log), policy)
            assert report.verdict is Verdict.COMPLETE, report.as_text()
            self.audited += 1

    async def _watch(self, load: Load, game_id: str) -> None:
        """From the first entry on, and away in the middle."""
        stream = load.stub.WatchGame(pb.WatchGameRequest(game_id=game_id, after_seq=-1))
        with suppress(grpc.aio.AioRpcError):
            for _ in range(WATCHED):
                if await stream.read() is grpc.aio.EOF:
                    break
        stream.cancel()
        self.watchers += 1

    async def _office(self, load: Load) -> None:
        """A token is issued, watches its games, and is revoked."""
        stub: Any = access_service_pb2_grpc.AccessServiceStub(load.channel)
        metadata = bearer(load.organiser)
        while not load.is_closing:
            with suppress(grpc.aio.AioRpcError):  # killed meanwhile
                request = access.IssueTokenRequest(principal="ani", scopes=[access.SCOPE_PLAY])
                issued = await stub.IssueToken(request, metadata=metadata)
                stream = load.stub.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(issued.secret))
                await stream.initial_metadata()
                await stub.RevokeToken(access.RevokeTokenRequest(id=issued.token.id), metadata=metadata)
                while await stream.read() is not grpc.aio.EOF:
                    pass
                self.tokens += 1
            await asyncio.sleep(TOKEN_S)

    async def _kill(self, load: Load) -> None:
        """Kill it in the middle of things; check that all messages hold, of games that are over, too."""
        told = [*load.games.values()]
        await self._referee.kill()
        self.kills += 1
        await self._start()
        await load.pause()
        await nothing_is_lost(load, [*told, *self._over])
        load.may_act.set()

    async def _abandon(self, load: Load) -> None:
        """Abort games without players: their opening was kept, and the answer to it lost in a kill."""
        request = pb.ListGamesRequest(page_size=500, state=game_pb2.GAME_STATE_JOINING)
        for game in (await load.stub.ListGames(request)).games:
            assert game.size == 1, game
            await load.stub.AbortGame(pb.AbortGameRequest(game_id=game.id), metadata=bearer(load.organiser))
            self.abandoned += 1
        assert self.abandoned <= self.kills * TABLES

    # --- what the process holds ----------------------------------------------------------------------------

    async def _for(self, seconds: float, playing: Sequence[asyncio.Task[None]]) -> None:
        """Let them play, and look now and then."""
        until_s = monotonic() + seconds
        while True:
            left_s = min(until_s - monotonic(), self._duration_s / SAMPLES)
            done, _ = await asyncio.wait(playing, timeout=max(left_s, 0), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
            self.samples.append(await self._sample())
            if monotonic() >= until_s:
                return

    async def _sample(self) -> Sample:
        metrics = await scrape(self._referee.metrics_address)
        return Sample(self._life, monotonic() - self._began_s, metrics)

    async def _quiet(self) -> Sample:
        """When the last stream has ended at the referee's side, too."""
        async with waiting_for("that no stream and no game is open"):
            while True:
                sample = await self._sample()
                if not sample.sum("referee_open_streams") + sample.sum("referee_open_games"):
                    return sample
                await asyncio.sleep(0.05)

    def findings(self) -> list[Finding]:
        """Return what grew; time and memory only if the last life was long enough to tell."""
        before, after = self.quiet
        found = [
            Finding(
                f"{name}, with nobody there",
                before.sum(name),
                after.sum(name),
                f"at most {more} more" if more else "no more",
                after.sum(name) > before.sum(name) + more,
            )
            for name, more in STEADY.items()
        ]
        last = [sample for sample in self.samples if sample.life == len(LIVES) - 1]
        found.append(Finding("memory, MB", last[0].megabytes, last[-1].megabytes, "", is_broken=False))
        settled = [sample for sample in last if sample.at_s > SETTLED_S]
        if len(settled) > SAMPLES // 4:
            slope, _ = linear_regression(
                [sample.at_s / 3600 for sample in settled], [sample.megabytes for sample in settled]
            )
            found.append(
                Finding(
                    "memory after ten minutes, MB an hour", 0, slope, f"at most {MOST_MB_HOUR}", slope > MOST_MB_HOUR
                )
            )
            tenth = len(last) // 10
            first, late = _act_ms(last[: tenth + 1]), _act_ms(last[-tenth - 1 :])
            is_slower = late > MOST_SLOWER * first
            found.append(
                Finding("an act, ms: first and last tenth", first, late, f"at most {MOST_SLOWER} times", is_slower)
            )
        return found

    def report(self) -> str:
        """Return what was done, and the table."""
        done = (
            f"{self.games} games, {self.acts} acts acknowledged, {self.watchers} watchers, {self.tokens} tokens, "
            f"{self.kills} kills, {self.audited} games audited with their receipts: nothing lost"
        )
        return "\n".join([done, f"{'':51} {'first':>10} {'last':>10}", *map(str, self.findings())])


def _act_ms(samples: Sequence[Sample]) -> float:
    """Return the mean time of an accepted act between the first and the last of them, by the referee's clock."""
    name = "referee_act_seconds"
    taken = [
        (b.sum(f"{name}_sum") - a.sum(f"{name}_sum"), b.sum(f"{name}_count") - a.sum(f"{name}_count"))
        for a, b in pairwise(samples)
    ]
    return fmean(1000 * seconds / number for seconds, number in taken if number)


async def _again(ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """Return the answer, from a referee that may be killed meanwhile."""
    async with waiting_for("an answer"):
        while True:
            try:
                return await ask()
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                await asyncio.sleep(0.05)
