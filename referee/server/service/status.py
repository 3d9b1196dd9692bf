"""StatusService: how the referee is doing, and which game waits for which seat since when."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from heapq import nlargest, nsmallest

from referee import __version__
from referee.log.events import Author, Role
from referee.log.replay import Record
from referee.server.live.docket import call_message
from referee.server.live.game import LiveGame
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import BadField, LiveGameError
from referee.server.live.turns import Payer
from referee.server.live.view import awaited_seats, clock_messages, game_state, is_scribe_awaited, open_disputes
from referee.server.publishing.sequencer import Sequencer
from referee.server.service.auth import Caller
from referee.server.service.counters import Counters
from referee.server.service.data import Data, DataError
from referee.server.service.messages import game_id_of
from referee.server.service.permissions import OVERSEERS
from referee.server.service.watch_stream import Heartbeats, WatchLimits
from referee.server.service.worker_queue import WorkerQueue
from referee.server.store.store import StoreFailed
from referee.telling.docket import asked_to_consent
from referee.tournament.rules import TOURNAMENT
from referee.v1 import status_service_pb2 as pb

PAGE_GAMES, MAX_PAGE_GAMES = 100, 1000
CALLERS, MAX_CALLERS = 20, 100
"""The callers in an answer of ``GetCallers``: the default number, and the most."""
_AT_ONCE = 64
_PATIENCE_S = 1.0
"""Time for commits under way, of all games of a page together."""
_TOKEN = re.compile(r"([0-9]{1,15})-([0-9a-f]{32})\Z", re.ASCII)


class StatusService:
    """Every method is one of the API's."""

    def __init__(
        self,
        data: Data,
        live_games: LiveGames,
        *,
        counters: Counters,
        heartbeats: Heartbeats,
        watch_limits: WatchLimits,
        worker_queue: WorkerQueue,
        public_log: Sequencer | None = None,
    ) -> None:
        self._data = data
        self._live_games = live_games
        self._counters = counters
        self._heartbeats = heartbeats
        self._watch_limits = watch_limits
        self._worker_queue = worker_queue
        self._public_log = public_log
        self._started_ms = live_games.context.time.now_ms()

    async def GetStatus(self, request: pb.GetStatusRequest, caller: Caller) -> pb.GetStatusResponse:
        size = min(request.page_size or PAGE_GAMES, MAX_PAGE_GAMES)
        after = _place(request.page_token) if request.page_token else (0, b"")
        games = [game for game in self._live_games.open_games if caller.game_id in {None, game.game_id}]
        games = [game for game in games if game.rules[0] != TOURNAMENT.rules_id]  # which waits for no seat
        asked = await self._one(game_id_of(request.game_id), caller) if request.game_id else games
        page = nsmallest(size + 1, (game for game in asked if _key(game) > after), key=_key)
        # An arbiter rules on games, and does not run the referee.
        oversees = not caller.scopes.isdisjoint(OVERSEERS)
        response = pb.GetStatusResponse(server=self._server(len(games)) if oversees else self._about(len(games)))
        if len(page) > size:
            since_ms, game_id = _key(page[size - 1])
            response.next_page_token = f"{since_ms}-{game_id.hex()}"
        response.games.extend(await self._games(page[:size], caller.account))
        if oversees:
            response.set_aside.extend(
                pb.GameSetAside(id=game_id.hex(), why=why.what)
                for game_id, why in self._live_games.aside.items()
                if request.game_id in {"", game_id.hex()}
            )
        return response

    async def GetCallers(self, request: pb.GetCallersRequest, caller: Caller) -> pb.GetCallersResponse:
        most = min(request.most or CALLERS, MAX_CALLERS)
        found, every, period_s = self._counters.callers.lately()
        response = pb.GetCallersResponse(period_ms=round(1000 * period_s), calls=every.calls, refused=every.refused)
        sums = {name: sum(counted.calls for counted in methods.values()) for name, methods in found.items()}
        for name in nlargest(most, sums, key=lambda name: (sums[name], name)):
            methods = sorted(found[name].items(), key=lambda item: (-item[1].calls, item[0]))
            response.callers.add(
                name=name,
                calls=sums[name],
                refused=sum(counted.refused for _, counted in methods),
                methods=[
                    pb.MethodCalls(method=method, calls=counted.calls, refused=counted.refused)
                    for method, counted in methods
                ],
            )
        return response

    async def _one(self, game_id: bytes, caller: Caller) -> list[LiveGame]:
        """Return the game, unless it is over or set aside.

        Raise ``Elsewhere``, ``UnknownGame``, ``PermissionDenied``.
        """
        caller.check_game(game_id)
        await self._live_games.check_here(game_id)
        if game_id in self._live_games.aside:
            return []
        game = await self._live_games.game(game_id, caller.account)
        return [] if game.is_closed else [game]

    def _about(self, open_games: int) -> pb.ServerStatus:
        return pb.ServerStatus(
            version=__version__,
            started_ms=self._started_ms,
            now_ms=self._live_games.context.time.now_ms(),
            draining=self._live_games.is_draining(),
            open_games=open_games,
        )

    def _server(self, open_games: int) -> pb.ServerStatus:
        acts, streams = self._counters.acts, self._heartbeats.open
        median_us, p99_us = self._counters.commits.lately_us()
        server = pb.ServerStatus(
            players=streams["PlayGame"],
            watchers=streams["WatchGame"],
            seat_watchers=streams["WatchSeat"],
            acts_accepted=acts.of("accepted"),
            acts_refused=acts.of("refused"),
            acts_failed=acts.of("failed"),
            acts_overtaken=acts.of("failed", "STALE_HEAD"),
            commit_median_us=median_us,
            commit_p99_us=p99_us,
            solver_workers=self._worker_queue.workers,
            solver_at_work=self._worker_queue.at_work,
            solver_waiting=self._worker_queue.waiting,
            log_trouble=self._public_log.trouble if self._public_log is not None else "",
        )
        server.MergeFrom(self._about(open_games))
        if (node := self._live_games.context.store.nodes.this) is not None:
            server.node = node.words
        with suppress(OSError, DataError):
            server.backup_ms = self._data.backup_ms()
            if (beside := self._data.can_go_back_together) is not None:
                server.marks_beside_games = beside
        return server

    async def _games(self, games: Sequence[LiveGame], payer: Payer) -> list[pb.GameStatus]:
        """Return the games, but for those that are over by the time that they are looked at."""
        found = []
        until = asyncio.get_running_loop().time() + _PATIENCE_S
        for number, game in enumerate(games):
            if number % _AT_ONCE == _AT_ONCE - 1:
                await self._live_games.context.turns.next(payer)
            record = await _record(game, until)
            if not game.is_closed:
                found.append(self._game(game, record))
        return found

    def _game(self, game: LiveGame, record: Record | None) -> pb.GameStatus:
        """Return the game, without a state or seats if the record cannot be looked at just now."""
        status = pb.GameStatus(
            id=game.game_id.hex(),
            rules_id=game.rules[0],
            size=game.size,
            since_ms=game.since_ms,
            watchers=self._watch_limits.watchers_of(game.game_id),
            scribe_connected=any(author.role is Role.SCRIBE for author in game.present),
            calls=map(call_message, game.calls.open),
        )
        if record is not None:
            status.open_disputes.extend(open_disputes(record))
            status.asked_to_consent.extend(asked_to_consent(record))
            status.until_ms = record.game.result_ms() or 0
            status.arbiter_keys.extend(record.opened.arbiter_keys)
            status.clocks.extend(clock_messages(record))
            status.state = game_state(record)
            status.scribe_awaited = is_scribe_awaited(record)
            awaited, principals = awaited_seats(record), self._live_games.seats.principals(game.game_id)
            for number, seat in enumerate(record.opened.seats):
                status.seats.add(
                    awaited=number in awaited,
                    connected=Author(Role.SEAT, number) in game.present,
                    principal=principals.get(number, ""),
                    scribed=seat.scribed,
                )
        return status


def _key(game: LiveGame) -> tuple[int, bytes]:
    return game.since_ms, game.game_id


async def _record(game: LiveGame, until: float) -> Record | None:
    """Return the record; None if the store does not let go of the game in time, or cannot say how it stands."""
    if (record := game.peek()) is not None:
        return record
    try:
        async with asyncio.timeout_at(until):
            return await game.record()
    except (TimeoutError, LiveGameError, StoreFailed):
        return None


def _place(token: str) -> tuple[int, bytes]:
    if (match := _TOKEN.match(token)) is None:
        raise BadField("page_token", "the one from the answer before")
    return int(match[1]), bytes.fromhex(match[2])
