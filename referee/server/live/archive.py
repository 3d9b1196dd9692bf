"""Games that are over: read as they are stored, which needs no replay; and replayed one at a time for who wants more.

A replay costs what the whole game cost, everybody may ask for one, and who plays must not notice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from google.protobuf.message import DecodeError

from referee.log.entry import decode_open
from referee.log.errors import LogError
from referee.log.merkle import Tree, leaf_hash
from referee.log.v1 import log_pb2
from referee.server.live.context import Context
from referee.server.live.history import History
from referee.server.live.refusals import BeyondHead, LimitReached, Unsound
from referee.server.live.turns import Payer
from referee.server.live.watch import Commit
from referee.server.store.store import Row, StoredGame
from referee.text.words.catalogue import phrase
from referee.v1 import game_pb2 as pb

MOST_REPLAYS, MOST_REPLAYS_OF_ONE = 32, 4
"""Waiting at one time; the one under way counts."""
_RETRY_S = 1.0
HASHED_AT_ONCE = 32
LAST_ENTRIES = 2
"""The end of a game, and the secret that is disclosed after it."""

Checked = Callable[[History, Row], Awaitable[None]]
"""Waits, or looks at more of a row than everybody does."""


class Archive:
    """A game that is over. Its entries are those that the referee signed for; they are not replayed."""

    def __init__(self, history: History, game: pb.Game, header_hash: bytes) -> None:
        """``game``: as it ended."""
        self._history = history
        self.game = game
        self._header_hash = header_hash

    @classmethod
    async def open(
        cls,
        context: Context,
        stored: StoredGame,
        on_unsound: Callable[[Unsound], None] | None = None,
        *,
        checked: Checked,
    ) -> Archive:
        """Hash every entry, and hold them against what was signed, what was marked, and how the game is said to have
        ended.

        ``on_unsound``: is told whenever the store gives something else, now or later. ``checked`` is awaited before
        each row. Raise ``Unsound``, ``StoreFailed``.
        """
        assert stored.closed is not None  # noqa: S101 - there is no other way to be over
        history, tree = History(context, stored.game_id, on_unsound), Tree()
        try:
            game = pb.Game.FromString(stored.closed)
        except DecodeError:
            raise history.unsound("its ending cannot be read") from None
        if not game.size:
            raise history.unsound("its ending names no entries")
        header_hash, result = b"", log_pb2.GameEnd()
        async for row in history.unchecked(0, game.size):
            await checked(history, row)
            tree.append(leaf_hash(row.data))
            history.check_text(row, tree.root())
            history.written([row])
            if row.seq == 0 or row.seq >= game.size - LAST_ENTRIES:
                entry = history.decoded(row)
                if row.seq == 0:
                    header_hash = _header_hash(history, entry)
                if entry.HasField("end"):
                    result = entry.end
        history.check_promise(row, tree.root())
        mark = context.store.marks.of(stored.game_id)
        # A mark may be behind, after a crash; then it is raised when the game is read back in full.
        if mark is not None and mark.size >= game.size and (mark.size, mark.root) != (game.size, tree.root()):
            raise history.unsound(f"its {game.size} entries are not the {mark.size} that were signed last")
        if (game.id, game.head, game.result) != (stored.game_id.hex(), leaf_hash(row.data), result):
            raise history.unsound("its ending is not the one in its entries")
        return cls(history, game, header_hash)

    @property
    def game_id(self) -> bytes:
        """16 bytes."""
        return bytes.fromhex(self.game.id)

    @property
    def is_closed(self) -> bool:
        """Whether nothing can follow, as of a ``LiveGame``: always."""
        return True

    def rows(self) -> AsyncIterator[Row]:
        """Yield every entry."""
        return self._history.rows(0, self.game.size)

    async def header(self) -> bytes:
        """Return the header of the game's file. Raise ``Unsound``, ``StoreFailed``."""
        return await self._history.header(self._header_hash)

    async def commits_after(self, seq: int) -> AsyncIterator[Commit]:
        """Yield the entries after this one. Raise ``BeyondHead``, ``Unsound``, ``StoreFailed``."""
        if seq >= self.game.size:
            raise BeyondHead(self.game.size)
        async for commit in self._history.commits(seq + 1, self.game.size):
            # Its text was checked when the game was opened. All signatures would take longer then than all the rest.
            self._history.check_signature(commit.rows[-1])
            yield commit


def _header_hash(history: History, entry: log_pb2.Entry) -> bytes:
    try:
        return decode_open(entry.open).header_hash
    except LogError as error:
        raise history.unsound(f"entry 0: {error}") from error


class Replays:
    """Takes those who want a game replayed in their turn, one after the other, and not too many of them."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting: Counter[Payer] = Counter()

    @asynccontextmanager
    async def turn(self, payer: Payer | None) -> AsyncIterator[None]:
        """Wait for a turn to replay. Raise ``LimitReached``, but not if ``payer`` is None: such a caller waits."""
        if payer is None:
            async with self._turn:
                yield
            return
        if self._waiting.total() >= MOST_REPLAYS or self._waiting[payer] >= MOST_REPLAYS_OF_ONE:
            raise LimitReached(phrase("games read back at one time"), retry_s=_RETRY_S)
        self._waiting[payer] += 1
        try:
            async with self._turn:
                yield
        finally:
            self._waiting[payer] -= 1
            if not self._waiting[payer]:
                del self._waiting[payer]
