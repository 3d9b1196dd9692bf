"""Running games, for all watchers in a browser: one stream from the referee for each game, however many watch.

A watcher has a place in the game's own list of commits instead of a queue of copies: each commit is encoded once. Knows
nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import json
import logging
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

from referee.log.game import Phase
from referee.log.note import VerifierKey
from referee.text.words.catalogue import phrase
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import Security
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.errors import ClientError
from referee_clients.web.history import History
from referee_clients.web.refusals import away, beyond_head, limit_reached

QUEUE_BYTES = 256 << 10
"""Most bytes that a watcher may fall behind while it watches."""
COMMENT_S = 10.0
"""Longest silence of a stream."""
LINGER_S = 15.0
"""Time for which a game without watchers is still followed."""
KEPT_BYTES = 64 << 20
"""Most bytes kept of games that are over and have no watcher."""
LIVE_BYTES = 256 << 20
MOST_GAMES = 512
"""Games that are followed at one time, and their limits in all."""
READ_AT_ONCE = 4
"""Games that are read from their beginning at one time."""
PATIENCE_S = 20.0
"""Longest time for which a request waits until a game has been read."""
_CHUNK_BYTES = 64 << 10
_RETRY_S = 5.0
_COMMENT = b":\n\n"

_log = logging.getLogger("referee.web")

Sender = Callable[[bytes], Awaitable[None]]
GameOf = Callable[[str], Awaitable[game_pb2.Game]]


def event(kind: str, data: dict[str, Any]) -> bytes:
    """Return one event of a stream of events (WHATWG HTML, section 9.2)."""
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Commit:
    """Entries that became durable together, as all watchers get them."""

    first: int
    last: int
    checkpoint: bytes
    data: bytes
    """The event."""


class Feed:
    """One game, followed."""

    def __init__(self, game_id: str, size: int, verifier: VerifierKey | None) -> None:
        """``size``: entries that there are already."""
        self.game_id = game_id
        self.history = History(game_id, verifier)
        self.commits: list[Commit] = []
        self.clock = b""
        """The newest event about the clocks; none in a game without."""
        self.clock_number = 0
        self.ending = ""
        """The reason that nothing more comes: ``GAME_OVER``, or what went wrong."""
        self.goal = size
        """The number of entries, as far as known."""
        self.bytes = 0
        """The bytes in memory; those that go with a running game are not counted."""
        self.holders = 0
        self.used_s = monotonic()
        self.watchers: set[Watcher] = set()
        self.read = asyncio.Event()
        """Set when all entries from before the question are here, or no more come."""
        self.task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        return self.history.size

    @property
    def is_over(self) -> bool:
        return self.ending == "GAME_OVER"

    @property
    def is_current(self) -> bool:
        return self.size >= self.goal

    def aim(self, size: int) -> None:
        """Note the number of entries."""
        self.goal = max(self.goal, size)
        if not self.is_current and not self.ending:
            self.read.clear()

    def take(self, message: pb.WatchGameResponse) -> None:
        """Pass on the entries that the history has just taken over."""
        if message.HasField("commit"):
            first = message.seq + 1 - len(message.commit.entries)
            checkpoint = message.commit.checkpoint
            commit = Commit(first, message.seq, checkpoint, self._event(first, message.seq, checkpoint))
            self.commits.append(commit)
            self.goal = max(self.goal, self.size)
            self.bytes += len(commit.data) + sum(map(len, message.commit.entries)) + 64 * len(message.commit.entries)
            self.bytes += sum(map(len, set(self.history.positions[first:])))
            if self.is_current:
                self.read.set()
            self._tell_clocks(self.history.record.last_ms)
            for watcher in list(self.watchers):
                watcher.came(self, commit)
        elif message.HasField("heartbeat"):
            self._tell_clocks(message.heartbeat.referee_ms, message.heartbeat.stood_ms)
            self.wake()

    def close(self, ending: str) -> None:
        """End the game for its watchers; the first call counts."""
        if not self.ending:
            self.ending = ending
            self.history.close()
            self.read.set()
            self.wake()

    def wake(self) -> None:
        for watcher in self.watchers:
            watcher.wake.set()

    def part(self, commit: Commit, after: int) -> bytes:
        """Return the event with only the entries after this one."""
        return commit.data if after < commit.first else self._event(after + 1, commit.last, commit.checkpoint)

    def _event(self, first: int, last: int, checkpoint: bytes) -> bytes:
        data = {
            "game": self.game_id,
            "seq": last,
            "entries": _texts(self.history.entries[first : last + 1]),
            "checkpoint": b64encode(checkpoint).decode(),
            "positions": _texts(self.history.positions[first : last + 1]),
        }
        return event("commit", data)

    def _tell_clocks(self, now_ms: int, stood_ms: int = 0) -> None:
        if not self.is_current or self.history.record.phase is Phase.CLOSED:
            return
        clocks = self.history.record.game.clocks
        if clocks is None:
            return
        seats = [
            {"left_ms": left_ms, "running": since_ms is not None, "since_ms": since_ms or 0, "free_ms": free_ms}
            for left_ms, since_ms, free_ms in clocks.shown(stood_ms)
        ]
        data = {"game": self.game_id, "seq": self.size - 1, "referee_ms": now_ms, "clocks": seats}
        self.clock = event("clock", data)
        self.clock_number += 1


class _Place:
    """The place of a watcher in one game."""

    __slots__ = ("after", "clock_number", "closed", "feed", "index", "owed_from")

    def __init__(self, feed: Feed, after: int) -> None:
        self.feed = feed
        self.after = after
        self.index = bisect_right(feed.commits, after, key=lambda commit: commit.last)
        self.owed_from = feed.goal
        """The end of history, which may be long and is not counted as falling behind."""
        self.clock_number = 0
        self.closed = False


class Watcher:
    """One stream to a browser, of one or more games."""

    def __init__(self, games: Sequence[tuple[Feed, int]], queue_bytes: int, comment_s: float) -> None:
        """``games``: each with the entry after which to begin."""
        self.wake = asyncio.Event()
        self.is_dropped = False
        self._places = {feed.game_id: _Place(feed, after) for feed, after in games}
        self._queue_bytes = queue_bytes
        self._comment_s = comment_s
        self._owed = 0
        """Bytes that came since it watches and have not been sent."""
        self._sending: asyncio.Timeout | None = None

    def came(self, feed: Feed, commit: Commit) -> None:
        """Note that there is more; drop the watcher if it is too far behind."""
        place = self._places[feed.game_id]
        if commit.first >= place.owed_from and commit.last > place.after:
            self._owed += len(commit.data)
            if self._owed > self._queue_bytes:
                self.drop()
                return
        self.wake.set()

    def drop(self) -> None:
        """End the stream, also in the middle of sending: its reader resumes by ``after``."""
        self.is_dropped = True
        self.wake.set()
        if self._sending is not None:
            self._sending.reschedule(0)

    async def run(self, send: Sender) -> None:
        """Send what happens, until all games are over or the watcher is dropped."""
        await send(_COMMENT)
        loop = asyncio.get_running_loop()
        sent = loop.time()
        while not self.is_dropped:
            self.wake.clear()
            chunk, owed = self._next()
            if not chunk:
                if all(place.closed for place in self._places.values()):
                    return
                try:
                    # The referee's heartbeats wake it, too, and often there is nothing to send then.
                    async with asyncio.timeout_at(sent + self._comment_s):
                        await self.wake.wait()
                    continue
                except TimeoutError:
                    chunk = _COMMENT
            try:
                async with asyncio.timeout(None) as self._sending:
                    await send(chunk)
            except TimeoutError:
                self.is_dropped = True
                return
            finally:
                self._sending = None
            sent = loop.time()
            self._owed -= owed

    def _next(self) -> tuple[bytes, int]:
        """Return what can be sent now, and how much of it was owed."""
        parts, length, owed = list[bytes](), 0, 0
        for place in self._places.values():
            feed = place.feed
            while place.index < len(feed.commits) and length < _CHUNK_BYTES:
                commit = feed.commits[place.index]
                place.index += 1
                if commit.last <= place.after:
                    continue
                parts.append(feed.part(commit, place.after))
                length += len(parts[-1])
                if commit.first >= place.owed_from:
                    owed += len(commit.data)
            if place.index < len(feed.commits) or place.closed:
                continue
            if place.clock_number != feed.clock_number and not feed.ending:
                place.clock_number = feed.clock_number
                parts.append(feed.clock)
            if feed.ending:
                place.closed = True
                parts.append(event("closing", {"game": feed.game_id, "seq": feed.size - 1, "reason": feed.ending}))
        return b"".join(parts), owed


@dataclass(frozen=True, slots=True)
class HubLimits:
    """The limits of a hub; by default the constants of this module."""

    queue_bytes: int = QUEUE_BYTES
    comment_s: float = COMMENT_S
    linger_s: float = LINGER_S
    kept_bytes: int = KEPT_BYTES
    live_bytes: int = LIVE_BYTES
    most_games: int = MOST_GAMES
    patience_s: float = PATIENCE_S


class Hub:
    """All games that are watched, or were a little while ago."""

    def __init__(
        self,
        address: str,
        game_of: GameOf,
        *,
        verifier: VerifierKey | None = None,
        token: str = "",
        security: Security | None = None,
        limits: HubLimits | None = None,
    ) -> None:
        """``game_of``: asks the referee how far a game is. ``token``: the gateway's own, as games are followed for all.

        ``security``: as the environment says, if not given.
        """
        self._address = address
        self._game_of = game_of
        self._verifier = verifier
        self._token = token
        self._security = security
        self._limits = limits or HubLimits()
        self._feeds: dict[str, Feed] = {}
        self._reading = asyncio.Semaphore(READ_AT_ONCE)
        self._closing = False
        self._ended = set[asyncio.Task[None]]()
        self.streams = 0
        """The number of watchers now."""
        self.dropped = 0
        """Watchers that did not keep up, so far."""

    @property
    def upstreams(self) -> int:
        """Return how many streams of the referee are read."""
        return sum(feed.task is not None for feed in self._feeds.values())

    @property
    def bytes(self) -> int:
        """Return how much all games take."""
        return sum(feed.bytes for feed in self._feeds.values())

    @contextmanager
    def watcher(self, games: Sequence[tuple[Feed, int]]) -> Iterator[Watcher]:
        """Add a watcher of these games, which are held."""
        watcher = Watcher(games, self._limits.queue_bytes, self._limits.comment_s)
        self.streams += 1
        for feed, _ in games:
            feed.watchers.add(watcher)
        try:
            yield watcher
        finally:
            self.streams -= 1
            self.dropped += watcher.is_dropped
            for feed, _ in games:
                feed.watchers.discard(watcher)

    async def hold(self, stack: ExitStack, game_id: str, size: int = 0) -> Feed:
        """Return the game, followed until the stack is left.

        ``size``: entries that the caller knows of. Raise ``Refusal``, also for more entries than there are, and
        ``grpc.aio.AioRpcError``.
        """
        feed = self._feeds.get(game_id)
        if feed is None or (size > feed.goal and not feed.is_over):
            known = int((await self._game_of(game_id)).size)
            feed = self._feeds.get(game_id) or self._begin(game_id, known)
            feed.aim(known)
        if size > feed.goal:
            raise beyond_head(game_id, feed.goal)
        stack.enter_context(self._held(feed))
        return feed

    async def read(self, feed: Feed) -> None:
        """Wait until the game is here as far as it goes. Raise ``Refusal``."""
        try:
            async with asyncio.timeout(self._limits.patience_s):
                await feed.read.wait()
        except TimeoutError:
            raise away(phrase("the game is still being read")) from None
        if feed.ending and not feed.is_current:
            raise away(phrase("the game could not be read"))

    async def close(self) -> None:
        """End every stream and every game."""
        self._closing = True
        for feed in list(self._feeds.values()):
            self._end(feed, "DRAINING")
        await asyncio.gather(*self._ended, return_exceptions=True)

    # --- games ---------------------------------------------------------------------------------------------

    @contextmanager
    def _held(self, feed: Feed) -> Iterator[None]:
        feed.holders += 1
        try:
            yield
        finally:
            feed.holders -= 1
            feed.used_s = monotonic()
            if not feed.holders:
                if feed.task is None:
                    self._tidy()
                else:
                    asyncio.get_running_loop().call_later(self._limits.linger_s, self._leave, feed)

    def _begin(self, game_id: str, size: int) -> Feed:
        if self._closing:
            raise away(phrase("the gateway is stopping"))
        running = [feed for feed in self._feeds.values() if feed.task is not None]
        if len(running) >= self._limits.most_games or self._live() >= self._limits.live_bytes:
            for feed in running:
                if not feed.holders:
                    self._end(feed, "DRAINING")
            if self.upstreams >= self._limits.most_games or self._live() >= self._limits.live_bytes:
                raise limit_reached(phrase("games that are watched"), _RETRY_S)
        feed = self._feeds[game_id] = Feed(game_id, size, self._verifier)
        feed.task = asyncio.create_task(self._follow(feed))
        return feed

    def _live(self) -> int:
        return sum(feed.bytes for feed in self._feeds.values() if feed.task is not None)

    async def _follow(self, feed: Feed) -> None:
        """Read the game until it is over, whatever happens to the way to the referee."""
        reading = ExitStack()
        ending = "INTERNAL"

        async def take(message: pb.WatchGameResponse) -> None:
            feed.take(message)
            if feed.is_current:
                reading.close()
            elif self._live() > self._limits.live_bytes:
                raise _TooMuch

        try:
            await self._reading.acquire()
            reading.callback(self._reading.release)
            connection = Connection(
                self._address,
                feed.game_id,
                self._token,
                patience_s=inf,
                security=self._security,
                on_cut=lambda why: _log.info("game %s: %s", feed.game_id, why),
            )
            async with connection:
                await connection.watch(feed.history, take)
            ending = "GAME_OVER"
        except _TooMuch:
            ending = "LIMIT"
        except ClientError as error:
            ending = "UNREADABLE"
            _log.warning("game %s is no longer followed: %s", feed.game_id, error)
        except Exception:  # noqa: BLE001 - the fault of one game is not to end the others
            _log.exception("game %s is no longer followed", feed.game_id)
        finally:
            reading.close()
            feed.task = None
            feed.close(ending)
            if not feed.is_over and self._feeds.get(feed.game_id) is feed:
                del self._feeds[feed.game_id]
            self._tidy()

    def _leave(self, feed: Feed) -> None:
        """Stop to follow a game that had no watcher for a while."""
        if not feed.holders and feed.task is not None and monotonic() - feed.used_s >= 0.9 * self._limits.linger_s:
            self._end(feed, "DRAINING")

    def _end(self, feed: Feed, ending: str) -> None:
        feed.close(ending)
        if self._feeds.get(feed.game_id) is feed:
            del self._feeds[feed.game_id]
        if feed.task is not None:
            self._ended.add(feed.task)
            feed.task.add_done_callback(self._ended.discard)
            feed.task.cancel()

    def _tidy(self) -> None:
        """Forget games that are over, those that were not asked for longest first, until the rest have room."""
        kept = [feed for feed in self._feeds.values() if feed.task is None and not feed.holders]
        total = sum(feed.bytes for feed in kept)
        for feed in sorted(kept, key=lambda feed: feed.used_s):
            if total <= self._limits.kept_bytes:
                return
            total -= feed.bytes
            del self._feeds[feed.game_id]


class _TooMuch(Exception):
    """The games that are followed take more than they may."""


def _texts(parts: Sequence[bytes]) -> list[str]:
    return [b64encode(part).decode() for part in parts]
