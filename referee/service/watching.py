"""The stream of one watcher: a snapshot or the entries that were missed, then each new one, a heartbeat, an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from referee.service.guard import Send
from referee.store.store import Row
from referee.table.errors import Draining, LimitReached
from referee.table.house import House
from referee.table.table import Table
from referee.table.view import game_message, position_message
from referee.table.watch import Ending, Watcher
from referee.v1 import game_service_pb2 as pb

_REASONS = {
    Ending.GAME_OVER: pb.CLOSING_REASON_GAME_OVER,
    Ending.DRAINING: pb.CLOSING_REASON_DRAINING,
    Ending.TOO_SLOW: pb.CLOSING_REASON_TOO_SLOW,
}


class Gallery:
    """Room for so many watchers, in all and at each game. Everybody may watch, so nobody may take all of it."""

    def __init__(self, most: int, most_of_game: int) -> None:
        self._most = most
        self._most_of_game = most_of_game
        self._of_game: Counter[bytes] = Counter()

    @contextmanager
    def place(self, game_id: bytes) -> Iterator[None]:
        """Taken until it is left. Raises ``LimitReached``."""
        if self._of_game[game_id] >= self._most_of_game:
            raise LimitReached("watchers of this game")
        if self._of_game.total() >= self._most:
            raise LimitReached("watchers")
        self._of_game[game_id] += 1
        try:
            yield
        finally:
            self._of_game[game_id] -= 1
            if not self._of_game[game_id]:
                del self._of_game[game_id]


async def watch(
    house: House, table: Table, after_seq: int | None, send: Send, *, heartbeat_s: float, limit: int
) -> None:
    """Returns after Closing; raises ``TableError`` before the first message, if at all."""
    if house.is_draining():
        raise Draining("the referee is stopping")
    watcher = Watcher(limit)
    seq = -1 if after_seq is None else after_seq
    try:
        if after_seq is None:
            record = await table.record()
            # No await between the picture and the place from which on entries follow.
            snapshot = pb.Snapshot(game=game_message(record, record.open_data), position=position_message(record))
            seq = table.watch(watcher) - 1
            await send(pb.WatchGameResponse(seq=seq, snapshot=snapshot))
        else:
            async for row in table.watch_after(after_seq, watcher):
                seq = row.seq
                await send(_entry(row))
        if house.is_draining():
            watcher.end(Ending.DRAINING)
        while True:
            found = await watcher.next(heartbeat_s)
            if isinstance(found, Row):
                seq = found.seq
                await send(_entry(found))
            elif found is None:
                await send(pb.WatchGameResponse(seq=seq, heartbeat=pb.Heartbeat(referee_ms=house.means.now_ms())))
            else:
                await send(pb.WatchGameResponse(seq=seq, closing=pb.Closing(reason=_REASONS[found])))
                return
    finally:
        table.unwatch(watcher)


def _entry(row: Row) -> pb.WatchGameResponse:
    return pb.WatchGameResponse(seq=row.seq, entry=pb.EntryAdded(entry=row.data, checkpoint=row.note))
