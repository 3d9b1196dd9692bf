"""Games that are over, read again unasked: damage by a disk or a person is found before the game is wanted.

A round reads all of them, and rounds follow one another. Each begins at a game that is drawn by lot, so that a referee
with frequent restarts reaches all of them as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import SystemRandom
from time import monotonic

import structlog

from referee.server.live.archive import Archive
from referee.server.live.history import History
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import Unsound
from referee.server.store.store import Row, StoredGame

START_S = 60.0
"""The time from the start to the first round: players come back first."""
ROUND_S = 7 * 24 * 3600.0
"""The time from the begin of one round to the next; it is longer only if the games are too many for it."""
ROWS_AT_ONCE = 4
"""Rows that are checked before players have their turn: each has a signature at most."""
REST = 19
"""The rest in multiples of the work before it: so it has a twentieth of the processor at most."""
_AGAIN_S = 60.0
_GAMES_AT_ONCE = 100

_log = structlog.get_logger("referee.scrub")


class Scrub:
    """Checks the games that are over; those that are damaged are set aside."""

    def __init__(self, live_games: LiveGames, *, rest: float = REST) -> None:
        """``rest``: how many times as long as it works it rests."""
        self._rest_times = rest
        self._live_games = live_games
        self._store = live_games.context.store
        self._task: asyncio.Task[None] | None = None
        self._begun_s = 0.0
        """The time when the rows of this slice were begun."""
        self._rows = 0
        self.games = 0
        """Games that were checked since the start."""
        self.round_ended_ms = 0
        """The end of the last whole round by the referee's clock, in milliseconds since 1970; 0: there was none."""

    def start(self) -> None:
        """Go round after round until it is closed."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop. Call before the store is closed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        await asyncio.sleep(START_S)
        while True:
            begun_s = monotonic()
            try:
                await self.round()
            except Exception as error:  # noqa: BLE001 - whatever it is, it has to be tried again
                _log.warning("games not checked", error=str(error), again_s=_AGAIN_S)
                await asyncio.sleep(_AGAIN_S)
            else:
                self.round_ended_ms = self._live_games.context.time.now_ms()
                await asyncio.sleep(max(0.0, begun_s + ROUND_S - monotonic()))

    async def round(self) -> None:
        """Check every game that is over now, once. Raise ``StoreFailed`` if the store has trouble with all of them."""
        newest = await self._store.games(None, 1, closed=True)
        if not newest:
            return
        first = SystemRandom().randint(1, newest[0].number)
        for highest, lowest in ((first, 1), (newest[0].number, first + 1)):
            async for stored in self._games(highest, lowest):
                await self._check(stored)

    async def _games(self, highest: int, lowest: int) -> AsyncIterator[StoredGame]:
        """Yield the games with numbers from the highest down to the lowest."""
        before = highest + 1
        while page := await self._store.games(before, _GAMES_AT_ONCE, closed=True):
            for stored in page:
                if stored.number < lowest:
                    return
                yield stored
            before = page[-1].number

    async def _check(self, stored: StoredGame) -> None:
        """Set the game aside if it is not what the referee wrote. Raise ``StoreFailed``."""
        if stored.game_id in self._live_games.aside:
            return
        self._begun_s = monotonic()
        try:
            archive = await Archive.open(
                self._live_games.context, stored, self._live_games.set_aside, checked=self._checked
            )
            await archive.header()
        except Unsound:
            pass  # it has been set aside for that
        self.games += 1
        await self._rest()

    async def _checked(self, history: History, row: Row) -> None:
        """Check the row's signature, too, and give players their turn."""
        if row.note:
            history.check_signature(row)
        self._rows += 1
        if self._rows % ROWS_AT_ONCE == 0:
            await self._rest()

    async def _rest(self) -> None:
        await asyncio.sleep(self._rest_times * (monotonic() - self._begun_s))
        self._begun_s = monotonic()
