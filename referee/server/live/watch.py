"""Streams are fed from here: bounded queues of commits that never skip, the word that ends them, the news of games."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from referee.server.live.turns import Turns
from referee.server.store.store import Row
from referee.v1 import game_service_pb2 as pb

QUEUE_ITEMS = 256
WOKEN_AT_ONCE = 8
"""Readers that can wait, in each round of the event loop: a thousand watchers of one game do not hold up every other
game at each of its moves.
"""


class Ending(Enum):
    """The reason why a game or a stream has nothing more to come."""

    GAME_OVER = 1
    DRAINING = 2
    TOO_SLOW = 3
    REVOKED = 4
    BROKEN = 5
    """The stream's own client broke it; the reason is sent in another way."""
    SET_ASIDE = 6
    """The game cannot continue for now."""
    REPLACED = 7
    """Newer streams of the same caller took its place."""
    NOT_THERE = 8
    """There is no such game, or no such entry in it to resume from."""


@dataclass(slots=True)
class Commit:
    """Entries that became durable together; the last one has their checkpoint."""

    game_id: bytes
    rows: list[Row]
    _message: bytes = field(default=b"", repr=False)

    @property
    def seq(self) -> int:
        """Number of its last entry."""
        return self.rows[-1].seq

    @property
    def message(self) -> bytes:
        """Exact bytes of a ``WatchGameResponse``: made once, however many watch."""
        if not self._message:
            # Filled in place: a message of its own would be copied into the one around it.
            message = pb.WatchGameResponse(seq=self.seq)
            message.commit.entries.extend([row.data for row in self.rows])
            message.commit.checkpoint = self.rows[-1].note
            self._message = message.SerializeToString()
        return self._message


@dataclass(slots=True)
class Item:
    """The next item: a commit, the answer to an act of the stream's own, both in one, or the end of a game."""

    commit: Commit | None = None
    answer: pb.PlayGameResponse | None = None
    """The message with the answer, and nothing else so far."""
    over: bytes = b""
    """The id of a game that has ended for this stream."""
    ending: Ending = Ending.GAME_OVER
    """The reason for the end of that game."""
    opened: bytes = b""
    """The id of a game that is new."""


class Watcher:
    """Filled by live games, emptied by one reader; all on the event loop."""

    __slots__ = ("_ending", "_items", "_limit", "_waker", "_wake", "beat_due")

    def __init__(self, limit: int = QUEUE_ITEMS, waker: Turns | None = None) -> None:
        """``waker``: for a reader that can wait while others play."""
        self.beat_due = False
        self._waker = waker
        self._limit = limit
        self._items: deque[Item] = deque()
        self._ending: Ending | None = None
        self._wake: asyncio.Future[None] | None = None

    def push(self, commit: Commit | None, answer: pb.PlayGameResponse | None = None) -> None:
        """Append what comes next. A reader that is too far behind is cut off: a gap is worse than an end."""
        self._push(Item(commit, answer))

    def over(self, game_id: bytes, ending: Ending = Ending.GAME_OVER) -> None:  # noqa: ARG002 - it watches no other
        """End this game."""
        self.end(ending)

    def end(self, ending: Ending) -> None:
        """End the stream once the queue is drained. The first call counts."""
        if self._ending is None:
            self._ending = ending
            self._ring()

    def beat(self, waker: Turns | None = None) -> None:
        """Make the reader send a sign of life, if there is nothing else to send."""
        self.beat_due = True
        if waker is not None:
            waker.add(self.wake)
        else:
            self._ring()

    def wake(self) -> None:
        """Make the reader look, if it waits."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    @property
    def ending(self) -> Ending | None:
        """The reason why nothing more comes, if so."""
        return self._ending

    @property
    def is_empty(self) -> bool:
        """True if everything so far has been taken, and nothing had to be dropped."""
        return not self._items and self._ending is None

    async def next(self) -> Item | Ending | None:
        """Return what comes next, or the end; None if a sign of life is due."""
        while True:
            if (found := self._take()) is not None:
                return found
            if self.beat_due:
                self.beat_due = False
                return None
            self._wake = asyncio.get_running_loop().create_future()
            try:
                await self._wake
            finally:
                self._wake = None

    def _take(self) -> Item | Ending | None:
        return self._items.popleft() if self._items else self._ending

    def _push(self, item: Item) -> None:
        if self._ending is not None:
            return
        if len(self._items) >= self._limit:
            self._items.clear()
            self.end(Ending.TOO_SLOW)
            return
        self._items.append(item)
        self._ring()

    def _ring(self) -> None:
        if self._waker is not None:
            self._waker.add(self.wake)
        else:
            self.wake()


class Audience:
    """The watchers of one game: each gets every commit that is published while it is here, and one word at its end."""

    __slots__ = ("_ending", "_game_id", "_watchers")

    def __init__(self, game_id: bytes, ending: Ending | None) -> None:
        """``ending``: the reason why nothing more comes; None: something may."""
        self._game_id, self._ending = game_id, ending
        self._watchers: set[Watcher] = set()

    def __len__(self) -> int:
        return len(self._watchers)

    def add(self, watcher: Watcher) -> None:
        """Let the watcher have what is published from now on, or the end if nothing more comes."""
        if self._ending is not None:
            watcher.over(self._game_id, self._ending)
        else:
            self._watchers.add(watcher)

    def remove(self, watcher: Watcher) -> None:
        """Forget the watcher, if it is here."""
        self._watchers.discard(watcher)

    def publish(self, commit: Commit, served: Watcher | None) -> None:
        """Hand a commit to all but ``served``, which has it."""
        for watcher in self._watchers:
            if watcher is not served:
                watcher.push(commit)

    def beat(self) -> None:
        """Have every watcher send a sign of life."""
        for watcher in self._watchers:
            watcher.beat()

    def end(self, ending: Ending) -> None:
        """End every watcher's stream; later watchers are welcome."""
        for watcher in self._watchers:
            watcher.end(ending)
        self._watchers.clear()

    def close(self, ending: Ending) -> None:
        """End the game for its watchers, and for all later ones. The first reason counts, unless it is set aside."""
        if self._ending is None or ending is Ending.SET_ASIDE:
            self._ending = ending
        for watcher in self._watchers:
            watcher.over(self._game_id, ending)
        self._watchers.clear()


class SeatWatcher(Watcher):
    """A watcher of many games: it is sent the end of one game, and continues."""

    __slots__ = ("_opened",)

    def __init__(self, limit: int = QUEUE_ITEMS, waker: Turns | None = None) -> None:
        super().__init__(limit, waker)
        self._opened: dict[bytes, None] = {}
        """Apart from the queue, whose limit is for what a slow reader lets pile up: each game is here at most once."""

    def over(self, game_id: bytes, ending: Ending = Ending.GAME_OVER) -> None:
        self._push(Item(over=game_id, ending=ending))

    def opened(self, game_id: bytes) -> None:
        """Note that there is one more game to watch. It comes after everything else: its end here may be before it."""
        self._opened[game_id] = None
        self._ring()

    def _take(self) -> Item | Ending | None:
        if (found := super()._take()) is not None or not self._opened:
            return found
        game_id = next(iter(self._opened))
        del self._opened[game_id]
        return Item(opened=game_id)


class Feeds:
    """Reports to watchers of many games which games begin that they follow."""

    def __init__(self) -> None:
        self._feeds: dict[str | bytes, set[SeatWatcher]] = {}

    @contextmanager
    def feeding(self, of: Collection[str | bytes], feed: SeatWatcher) -> Iterator[None]:
        """Report to the feed every game that is opened meanwhile, or that becomes this node's.

        ``of``: whose games, by principal, and which, by id.
        """
        for each in of:
            self._feeds.setdefault(each, set()).add(feed)
        try:
            yield
        finally:
            for each in of:
                feeds = self._feeds[each]
                feeds.discard(feed)
                if not feeds:
                    del self._feeds[each]

    def opened(self, game_id: bytes, principals: Mapping[int, str]) -> None:
        """Tell those who follow the game, or one of the principals at its seats."""
        followed: set[str | bytes] = {game_id, *principals.values()}
        for feed in {feed for each in followed for feed in self._feeds.get(each, ())}:
            feed.opened(game_id)

    def end(self, ending: Ending) -> None:
        """End every feed."""
        for feeds in self._feeds.values():
            for feed in feeds:
                feed.end(ending)
