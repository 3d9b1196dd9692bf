"""StatusService: how the referee is doing, and which game waits for whom since when."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from heapq import nsmallest

from referee import __version__
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.service.auth import Caller
from referee.service.queries import Queries
from referee.service.tally import Tally
from referee.service.watching import Gallery, Pulse
from referee.store.store import StoreFailed
from referee.table.errors import BadField, TableError
from referee.table.house import House
from referee.table.table import Table
from referee.table.view import awaited_seats, game_state, is_scribe_awaited
from referee.v1 import status_service_pb2 as pb

PAGE_GAMES, MAX_PAGE_GAMES = 100, 1000
_AT_ONCE = 64
_PATIENCE_S = 1.0
"""For commits under way, of all games of a page together."""
_TOKEN = re.compile(r"([0-9]{1,15})-([0-9a-f]{32})\Z", re.ASCII)


class StatusService:
    """Every method is one of the API's."""

    def __init__(self, house: House, tally: Tally, pulse: Pulse, gallery: Gallery, queries: Queries) -> None:
        self._house = house
        self._tally = tally
        self._pulse = pulse
        self._gallery = gallery
        self._queries = queries
        self._started_ms = house.means.time.now_ms()

    async def GetStatus(self, request: pb.GetStatusRequest, caller: Caller) -> pb.GetStatusResponse:
        size = min(request.page_size or PAGE_GAMES, MAX_PAGE_GAMES)
        after = _place(request.page_token) if request.page_token else (0, b"")
        tables = list(self._house.open_tables)
        page = nsmallest(size + 1, (table for table in tables if _key(table) > after), key=_key)
        response = pb.GetStatusResponse(server=self._server(len(tables)))
        if len(page) > size:
            since_ms, game_id = _key(page[size - 1])
            response.next_page_token = f"{since_ms}-{game_id.hex()}"
        response.games.extend(await self._games(page[:size]))
        response.set_aside.extend(
            pb.GameSetAside(id=game_id.hex(), why=why.what) for game_id, why in self._house.aside.items()
        )
        return response

    def _server(self, open_games: int) -> pb.ServerStatus:
        acts, streams = self._tally.acts, self._pulse.open
        median_us, p99_us = self._tally.commits.lately_us()
        return pb.ServerStatus(
            version=__version__,
            started_ms=self._started_ms,
            now_ms=self._house.means.time.now_ms(),
            draining=self._house.is_draining(),
            open_games=open_games,
            players=streams["PlayGame"],
            watchers=streams["WatchGame"],
            seat_watchers=streams["WatchSeat"],
            acts_accepted=acts.of("accepted"),
            acts_refused=acts.of("refused"),
            acts_failed=acts.of("failed"),
            commit_median_us=median_us,
            commit_p99_us=p99_us,
            solver_workers=self._queries.workers,
            solver_at_work=self._queries.at_work,
            solver_waiting=self._queries.waiting,
        )

    async def _games(self, tables: Sequence[Table]) -> list[pb.GameStatus]:
        """Without those that are over by the time that they are looked at."""
        found = []
        until = asyncio.get_running_loop().time() + _PATIENCE_S
        for number, table in enumerate(tables):
            if number % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)  # acts do not wait for a long list
            record = await _record(table, until)
            if not table.is_closed:
                found.append(self._game(table, record))
        return found

    def _game(self, table: Table, record: Record | None) -> pb.GameStatus:
        """Without a state or seats if the record cannot be looked at just now."""
        status = pb.GameStatus(
            id=table.game_id.hex(),
            rules_id=table.rules[0],
            size=table.size,
            since_ms=table.since_ms,
            watchers=self._gallery.watchers_of(table.game_id),
            scribe_connected=any(author.role is Role.SCRIBE for author in table.present),
        )
        if record is not None:
            status.state = game_state(record)
            status.scribe_awaited = is_scribe_awaited(record)
            awaited, principals = awaited_seats(record), self._house.principals(table.game_id)
            for number, seat in enumerate(record.opened.seats):
                status.seats.add(
                    awaited=number in awaited,
                    connected=Author(Role.SEAT, number) in table.present,
                    principal=principals.get(number, ""),
                    scribed=seat.scribed,
                )
        return status


def _key(table: Table) -> tuple[int, bytes]:
    return table.since_ms, table.game_id


async def _record(table: Table, until: float) -> Record | None:
    """None if the store does not let go of the game in time, or cannot tell how it stands."""
    if (record := table.peek()) is not None:
        return record
    try:
        async with asyncio.timeout_at(until):
            return await table.record()
    except (TimeoutError, TableError, StoreFailed):
        return None


def _place(token: str) -> tuple[int, bytes]:
    if (match := _TOKEN.match(token)) is None:
        raise BadField("page_token", "the one from the answer before")
    return int(match[1]), bytes.fromhex(match[2])
