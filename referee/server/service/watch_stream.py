"""Streams that show games: a snapshot or the missed entries, then every commit, a sign of life, an end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from referee.server.live.archive import Archive
from referee.server.live.game import LiveGame
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import RETRY_S, BadField, Draining, LimitReached
from referee.server.live.turns import Turns, Work
from referee.server.live.view import snapshot_message
from referee.server.live.watch import WOKEN_AT_ONCE, Ending, Watcher
from referee.server.service.auth import Caller
from referee.server.service.calls import ResponseStream
from referee.server.service.limits import Account
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import game_service_pb2 as pb

MOST_PLAYING = 4
"""Streams of one caller that play the same seat of one game."""
ONE_OF, STRANGERS_ONE_OF = 10, 2
"""The shares of the places for watchers: one caller may take one in ten, and all without a token one in two."""

Sender = Callable[[bytes], Awaitable[None]]

REASONS = {
    Ending.GAME_OVER: pb.CLOSING_REASON_GAME_OVER,
    Ending.DRAINING: pb.CLOSING_REASON_DRAINING,
    Ending.TOO_SLOW: pb.CLOSING_REASON_TOO_SLOW,
    Ending.REVOKED: pb.CLOSING_REASON_REVOKED,
    Ending.SET_ASIDE: pb.CLOSING_REASON_SET_ASIDE,
    Ending.REPLACED: pb.CLOSING_REASON_REPLACED,
    Ending.NOT_THERE: pb.CLOSING_REASON_NOT_THERE,
}


class Places:
    """A limited number of places for watchers. Watching is open to all, so neither one caller may take all places,
    nor all callers without a token together: one who watches for others, such as a gateway, shows a token."""

    def __init__(self, most: int, what: Phrase) -> None:
        """``what``: the limit's name."""
        self._limits = (
            (what, most),
            (phrase("{what} by one caller", what=what), most // ONE_OF),
            (phrase("{what} without a token", what=what), most // STRANGERS_ONE_OF),
        )
        self._of_caller: Counter[Account] = Counter()
        self._strangers = 0

    @property
    def taken(self) -> int:
        return self._of_caller.total()

    @contextmanager
    def taken_by(self, caller: Caller) -> Iterator[None]:
        """Take a place until it is left. Raise ``LimitReached``."""
        is_stranger, account = not caller.digest, caller.account
        taken = (self.taken, self._of_caller[account], self._strangers if is_stranger else 0)
        for had, (what, most) in zip(taken, self._limits, strict=True):
            if had >= max(most, 1):
                raise LimitReached(what, retry_s=RETRY_S)
        self._of_caller[account] += 1
        self._strangers += is_stranger
        try:
            yield
        finally:
            self._strangers -= is_stranger
            self._of_caller[account] -= 1
            if not self._of_caller[account]:
                del self._of_caller[account]


class WatchLimits:
    """Room for a limited number of watchers, in all and of each game."""

    def __init__(self, most: int, most_of_game: int) -> None:
        self._all = Places(most, phrase("watchers"))
        self._most_of_game = most_of_game
        self._of_game: dict[bytes, Places] = {}
        self._playing: dict[tuple[object, ...], list[Watcher]] = {}
        """The streams that play, the oldest first."""

    @contextmanager
    def place(self, game_id: bytes, caller: Caller) -> Iterator[None]:
        """Take a place until it is left. Raise ``LimitReached``."""
        places = self._of_game.setdefault(game_id, Places(self._most_of_game, phrase("watchers of this game")))
        try:
            with places.taken_by(caller), self._all.taken_by(caller):
                yield
        finally:
            if not places.taken:
                self._of_game.pop(game_id, None)

    @contextmanager
    def seat(self, watcher: Watcher, *who: object) -> Iterator[None]:
        """Seat a stream that plays; ``who`` has few of them: the oldest makes room.

        The oldest may have lost its connection unnoticed: a player who comes back must get in at once.
        """
        playing = self._playing.setdefault(who, [])
        if len(playing) >= MOST_PLAYING:
            playing.pop(0).end(Ending.REPLACED)
        playing.append(watcher)
        try:
            yield
        finally:
            if watcher in playing:
                playing.remove(watcher)
            if not playing and self._playing.get(who) is playing:
                del self._playing[who]

    def watchers_of(self, game_id: bytes) -> int:
        """Return how many there are."""
        places = self._of_game.get(game_id)
        return 0 if places is None else places.taken


class Heartbeats:
    """Count the streams that are fed, and have those that were silent for long send a sign of life.

    One clock for all, as a timer for every message costs more than the message.
    """

    def __init__(self, heartbeat_s: float, held: Callable[[], bool]) -> None:
        """``heartbeat_s``: longest silence before a sign of life. ``held``: whether they wait, as an act goes first."""
        self._heartbeat_s = heartbeat_s
        self._streams: dict[Watcher, ResponseStream] = {}
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.open: Counter[str] = Counter()
        """Streams by kind: the name of their method."""
        self.ended: Counter[tuple[str, str]] = Counter()
        """Streams that have ended, by kind and why: the name of an ``Ending``, ``stalled`` or ``left``."""
        self._task: asyncio.Task[None] | None = None
        self._waker = Turns(WOKEN_AT_ONCE, held)

    def watcher(self, limit: int) -> Watcher:
        """Return the watcher of a stream that only watches."""
        return Watcher(limit, self._waker)

    @contextmanager
    def of(self, watcher: Watcher, responses: ResponseStream, kind: str) -> Iterator[None]:
        """While the stream lasts."""
        if self._task is None:
            self._task = asyncio.create_task(self._beat())
        self._streams[watcher] = responses
        responses.watcher = watcher
        self._quiet.clear()
        self.open[kind] += 1
        try:
            yield
        finally:
            del self._streams[watcher]
            if not self._streams:
                self._quiet.set()
            self.open[kind] -= 1
            self.ended[kind, _why(watcher, responses)] += 1

    async def quiet(self) -> None:
        """Wait until no stream is open."""
        await self._quiet.wait()

    def stop(self) -> None:
        """Stop when no stream is left."""
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        step_s = self._heartbeat_s / 4
        while True:
            await asyncio.sleep(step_s)
            now = monotonic()
            for watcher, responses in list(self._streams.items()):
                if responses.since_s is None and now - responses.last_s + step_s >= self._heartbeat_s:
                    watcher.beat(self._waker)


def _why(watcher: Watcher, responses: ResponseStream) -> str:
    if responses.is_given_up:
        return "stalled"
    return watcher.ending.name.lower() if watcher.ending is not None else "left"


def after_seq_of(request: pb.WatchGameRequest | pb.Enter) -> int | None:
    """Return where to begin; None: with a snapshot. Raise ``BadField``."""
    if not request.HasField("after_seq"):
        return None
    if request.after_seq < -1:
        raise BadField("after_seq", "-1 or more")
    return request.after_seq


async def begin(live_games: LiveGames, game: LiveGame, after_seq: int | None, watcher: Watcher, send: Sender) -> int:
    """Send the first message, and let the watcher have what follows; return the seq so far."""
    live_games.check_streams()
    if after_seq is None:
        record = await game.record()
        # No await between the picture and the place from which on entries follow.
        snapshot = snapshot_message(record)
        seq = game.watch(watcher) - 1
        await send(pb.WatchGameResponse(seq=seq, snapshot=snapshot).SerializeToString())
    else:
        seq = after_seq
        async for commit in game.watch_after(after_seq, watcher):
            seq = commit.seq
            await send(commit.message)
    if live_games.is_draining():
        watcher.end(Ending.DRAINING)
    return seq


async def watch(
    live_games: LiveGames, game: LiveGame, after_seq: int | None, responses: ResponseStream, watcher: Watcher
) -> None:
    """Return after Closing; raises ``LiveGameError`` before the first message, if at all."""

    payer = responses.caller.account

    async def send(data: bytes) -> None:
        await live_games.context.turns.next(payer)
        payer.charge(Work.COMMIT, 1)
        await responses.send(data)

    try:
        seq = await begin(live_games, game, after_seq, watcher, send)
        if game.stood_ms and watcher.is_empty:
            await responses.send(heartbeat(seq, live_games.context.time.now_ms(), game.stood_ms))
        while not isinstance(found := await watcher.next(), Ending):
            if found is None:
                await responses.send(heartbeat(seq, live_games.context.time.now_ms(), game.stood_ms))
            elif found.commit is not None:
                seq = found.commit.seq
                await responses.send(found.commit.message)
        await responses.send(closing(seq, found))
    finally:
        game.audience.remove(watcher)


async def tell(
    live_games: LiveGames, game: Archive, after_seq: int | None, responses: ResponseStream, watcher: Watcher
) -> None:
    """Send what there is of a game that is over. Raise ``LiveGameError`` before the first message, if at all."""
    if live_games.is_draining():
        raise Draining("the referee is stopping")
    payer = responses.caller.account
    if after_seq is None:
        seq = game.game.size - 1
        snapshot = await live_games.snapshot(game.game_id, payer)
        await responses.send(pb.WatchGameResponse(seq=seq, snapshot=snapshot).SerializeToString())
    else:
        seq = after_seq
    async for commit in game.commits_after(seq):
        await live_games.context.turns.next(payer)
        if live_games.is_draining():
            watcher.end(Ending.DRAINING)
        if watcher.ending is not None:
            break
        seq = commit.seq
        payer.charge(Work.COMMIT, 1)
        await responses.send(commit.message)
    watcher.end(Ending.GAME_OVER)
    await responses.send(closing(seq, watcher.ending or Ending.GAME_OVER))


def heartbeat(seq: int, now_ms: int, stood_ms: int = 0) -> bytes:
    """Return the exact bytes of a ``WatchGameResponse``. ``stood_ms``: as ``LiveGame.stood_ms``."""
    told = pb.Heartbeat(referee_ms=now_ms, stood_ms=stood_ms)
    return pb.WatchGameResponse(seq=seq, heartbeat=told).SerializeToString()


def closing(seq: int, ending: Ending) -> bytes:
    """Return the exact bytes of a ``WatchGameResponse``."""
    return pb.WatchGameResponse(seq=seq, closing=pb.Closing(reason=REASONS[ending])).SerializeToString()
