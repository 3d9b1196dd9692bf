"""All tables of a referee: opens games, finds them, lists them, lets go of those that are over."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

import structlog

from referee.log.errors import Code, LogError
from referee.table.errors import BadField, Draining, LimitReached, UnknownGame, Unsound
from referee.table.means import Means
from referee.table.opening import Prepared, prepare
from referee.table.table import Table
from referee.table.view import game_message
from referee.table.watch import Ending
from referee.v1 import game_pb2 as pb
from referee.v1.game_service_pb2 import CreateGameRequest

MAX_OPEN_GAMES = 10_000
KEPT_CLOSED = 64
"""Games that are over and may be looked at again soon."""
_PAGE_GAMES = 100

_log = structlog.get_logger("referee.house")


class House:
    """Where every game is found."""

    def __init__(self, means: Means, *, producer: str, max_open_games: int = MAX_OPEN_GAMES) -> None:
        """``producer``: name and version of the program, for the headers of files."""
        self.means = means
        self._draining = False
        self._producer = producer
        self._max_open_games = max_open_games
        self._open: dict[bytes, Table] = {}
        self._closed: OrderedDict[bytes, Table] = OrderedDict()

    async def start(self) -> list[Unsound]:
        """Reads every open game back and goes on with it; returns those with which that is impossible."""
        unsound: list[Unsound] = []
        before: int | None = None
        while page := await self.means.store.games(before, _PAGE_GAMES, closed=False):
            for stored in page:
                try:
                    table = await Table.load(self.means, stored.game_id, self._close)
                except Unsound as error:
                    unsound.append(error)
                else:
                    if not table.is_closed:
                        self._open[stored.game_id] = table
            before = page[-1].number
        return unsound

    @property
    def open_tables(self) -> Iterator[Table]:
        """Every game that is not over."""
        return iter(self._open.values())

    def is_draining(self) -> bool:
        """Whether the referee is stopping."""
        return self._draining

    async def create(self, request: CreateGameRequest) -> tuple[Table, Prepared]:
        """Opens a game. Raises ``TableError``, ``LogError``, ``StoreFailed``."""
        if self._draining:
            raise Draining("the referee is stopping: no new games")
        if len(self._open) >= self._max_open_games:
            raise LimitReached("open games")
        prepared = prepare(request, self.means.engines, self._producer)
        try:
            table = await Table.open(self.means, prepared.open_data, prepared.opening, self._close)
        except LogError as error:
            if error.code is Code.MALFORMED:
                raise BadField("options", f"{error.expected} ({error.what})") from error
            if error.code is Code.RULES:
                raise BadField("seats and options", f"a game that can be set up ({error.what})") from error
            raise
        self._open[table.game_id] = table
        return table, prepared

    async def table(self, game_id: bytes) -> Table:
        """The game's table. Raises ``UnknownGame``, ``Unsound``, ``StoreFailed``."""
        table = self._open.get(game_id) or self._closed.get(game_id)
        if table is not None:
            return table
        if await self.means.store.game(game_id) is None:
            raise UnknownGame(f"no game {game_id.hex()}")
        table = await Table.load(self.means, game_id, self._close)
        if not table.is_closed:
            # At the start it could not be read back. Somebody has put it in order.
            return self._open.setdefault(game_id, table)
        self._keep(table)
        return table

    async def games(
        self, before: int | None, limit: int, state: pb.GameState.ValueType
    ) -> tuple[list[pb.Game], int | None]:
        """Newest first, those in this state if one is given, and where the next page begins if there is one."""
        closed = None if state == pb.GAME_STATE_UNSPECIFIED else state == pb.GAME_STATE_OVER
        found: list[pb.Game] = []
        while True:
            page = await self.means.store.games(before, _PAGE_GAMES, closed=closed)
            for stored in page:
                if len(found) == limit:
                    return found, before
                before = stored.number
                if stored.closed is not None:
                    game = pb.Game.FromString(stored.closed)
                elif (table := self._open.get(stored.game_id) or self._closed.get(stored.game_id)) is not None:
                    game = game_message(await table.record())
                else:
                    continue
                if state in (pb.GAME_STATE_UNSPECIFIED, game.state):
                    found.append(game)
            if not page:
                return found, None

    def drain(self) -> None:
        """No new games and no more acts; watchers are told to come back later."""
        self._draining = True
        for table in [*self._open.values(), *self._closed.values()]:
            table.end_watching(Ending.DRAINING)

    def _close(self, table: Table) -> None:
        if self._open.pop(table.game_id, None) is not None:
            self._keep(table)
            _log.info("game over", game=table.game_id.hex(), entries=table.size)

    def _keep(self, table: Table) -> None:
        self._closed[table.game_id] = table
        if len(self._closed) > KEPT_CLOSED:
            self._closed.popitem(last=False)
