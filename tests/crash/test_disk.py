"""The disk is full, read-only, failing or damaged: a clear error, no false acknowledgement, and play goes on after it."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import resource
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from referee.service.data import STORE_FILE
from referee.v1 import game_service_pb2 as pb
from tests.crash.journal import Told
from tests.crash.load import Load
from tests.crash.process import Referee
from tests.crash.rig import all_complete, loaded, log_of, nothing_is_lost
from tests.crash.shim import Shim
from tests.service.player import refused

TABLES = 4
SOME = 20
"""Acts or failures that are waited for."""


@dataclass
class Club:
    """A referee and some games in play."""

    referee: Referee
    load: Load
    games: dict[str, asyncio.Task[None]]

    @property
    def receipts(self) -> int:
        return sum(act.receipt is not None for told in self.load.games.values() for act in told.acts)

    @property
    def told(self) -> list[Told]:
        return list(self.load.games.values())

    async def until(self, holds: Callable[[], bool]) -> None:
        """Meanwhile nobody stops playing."""
        while not holds():
            if failed := [task for task in self.games.values() if task.done() and task.exception()]:
                await failed[0]
            await asyncio.sleep(0.005)

    async def some_acts(self) -> None:
        before = self.receipts
        await self.until(lambda: self.receipts >= before + SOME)

    async def some_failures(self, number: int = SOME) -> None:
        before = len(self.load.failures)
        await self.until(lambda: len(self.load.failures) >= before + number)


@asynccontextmanager
async def club(referee: Referee) -> AsyncIterator[Club]:
    """Games that are long enough not to end meanwhile."""
    try:
        await referee.start()
        async with loaded(referee, random.Random(1)) as load:
            here = Club(referee, load, {})
            for _ in range(TABLES):
                told, tokens = await load.create(2)
                here.games[told.game_id] = asyncio.create_task(load.play(told, tokens))
            try:
                await here.some_acts()
                yield here
            finally:
                for task in here.games.values():
                    task.cancel()
                await asyncio.gather(*here.games.values(), return_exceptions=True)
    finally:
        await referee.put_down()


async def goes_on(here: Club) -> None:
    """Play goes on, everything that was told is there, also after a kill, and every game audits."""
    await here.some_acts()
    await here.load.pause()
    await nothing_is_lost(here.load, here.told)
    await here.referee.kill()
    await here.referee.start()
    await nothing_is_lost(here.load, here.told)
    here.load.may_act.set()
    await here.some_acts()
    await here.load.pause()
    assert await all_complete(here.load) == TABLES


# --- writes and syncs that fail --------------------------------------------------------------------------------

FAULTS = {
    "full": ({"writes": errno.ENOSPC}, "full"),
    "read-only": ({"writes": errno.EROFS}, "I/O error"),
    "failing": ({"writes": errno.EIO}, "I/O error"),
    "failing at syncs": ({"syncs": errno.EIO}, "I/O error"),
}


async def nothing_is_acknowledged(here: Club, said: str) -> None:
    """The players are told to send it again, the operator what it is, and whoever reads can read."""
    await here.some_failures(len(here.games))
    before = here.receipts
    await here.some_failures()
    assert here.receipts == before, "an act was acknowledged"
    assert set(here.load.failures[-SOME:]) == {"STORE_FAILED"}
    assert "store failed" in here.referee.logged()
    assert said in here.referee.logged()
    healthy = await here.load.stub.ListGames(pb.ListGamesRequest())
    assert {game.id for game in healthy.games} == set(here.games)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_disk_that_does_not_take_it(fault: str, tmp_path: Path) -> None:
    how, said = FAULTS[fault]
    shim = Shim(tmp_path)
    async with club(Referee(tmp_path, env=shim.env)) as here:
        shim.fail(**how)
        await nothing_is_acknowledged(here, said)
        shim.fail()
        await goes_on(here)


@pytest.mark.slow
async def test_no_file_may_grow(tmp_path: Path) -> None:
    """The kernel's own refusal, without a library in between: a limit on the size of files, set and lifted."""
    async with club(Referee(tmp_path)) as here:
        limit = (here.referee.data / f"{STORE_FILE}-wal").stat().st_size
        before = resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE, (limit, before[1]))
        await nothing_is_acknowledged(here, "store failed")
        resource.prlimit(here.referee.pid, resource.RLIMIT_FSIZE, before)
        await goes_on(here)
