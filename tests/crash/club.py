"""A referee with some games in play, whose disk or clock a test can spoil."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.crash.journal import Told
from tests.crash.load import Load
from tests.crash.process import Referee
from tests.crash.rig import all_complete, loaded, nothing_is_lost
from tests.waiting import waiting_for

TABLES = 4
SOME = 20
"""Acts or failures that are waited for."""


@dataclass
class Club:
    """A referee and some games in play."""

    referee: Referee
    load: Load
    games: dict[str, asyncio.Task[None]]
    """By id, of all players."""
    tokens: dict[str, list[str]]

    @property
    def receipts(self) -> int:
        return sum(act.receipt is not None for told in self.load.games.values() for act in told.acts)

    @property
    def told(self) -> list[Told]:
        return list(self.load.games.values())

    async def open(self) -> None:
        """One more game, that is played."""
        told, tokens = await self.load.create(2)
        self.tokens[told.game_id] = tokens
        self.play(told)

    def play(self, told: Told) -> None:
        """Seat players that know nothing yet."""
        self.games[told.game_id] = asyncio.create_task(self.load.play(told, self.tokens[told.game_id]))

    async def leave(self, game_id: str) -> Told:
        """Stop playing the game, and drop the record of its messages."""
        task = self.games.pop(game_id)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return self.load.games.pop(game_id)

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait, while all continue to play."""
        async with waiting_for(what):
            while not holds():
                if failed := [task for task in self.games.values() if task.done() and task.exception()]:
                    await failed[0]
                await asyncio.sleep(0.005)

    async def some_acts(self) -> None:
        before = self.receipts
        await self.until(lambda: self.receipts >= before + SOME, f"{SOME} more acts beyond {before}")

    async def some_failures(self, number: int = SOME) -> None:
        before = len(self.load.failures)
        await self.until(lambda: len(self.load.failures) >= before + number, f"{number} acts that fail")


@asynccontextmanager
async def club(referee: Referee) -> AsyncIterator[Club]:
    """Games that are long enough not to end meanwhile."""
    try:
        await referee.start()
        async with loaded(referee, random.Random(1)) as load:
            here = Club(referee, load, {}, {})
            try:
                # The first plays alone for a while: there are pages of the database that are all its own.
                await here.open()
                await here.some_acts()
                for _ in range(TABLES - 1):
                    await here.open()
                await here.some_acts()
                yield here
            finally:
                for task in here.games.values():
                    task.cancel()
                await asyncio.gather(*here.games.values(), return_exceptions=True)
    finally:
        await referee.put_down()


async def goes_on(here: Club) -> None:
    """Check that play continues, all messages hold, also after a kill, and every game audits."""
    await here.some_acts()
    await here.load.pause()
    await nothing_is_lost(here.load, here.told)
    await here.referee.kill()
    await here.referee.start()
    await nothing_is_lost(here.load, here.told)
    here.load.may_act.set()
    await here.some_acts()
    await here.load.pause()
    assert await all_complete(here.load) == len(here.games)
