"""Games that are over: read as they are stored, which needs no replay; and replayed one at a time for who wants more.

A replay costs what the whole game cost, everybody may ask for one, and who plays must not notice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from google.protobuf.message import DecodeError

from referee.live.context import Context
from referee.live.errors import BeyondHead, LimitReached, Unsound
from referee.live.history import History
from referee.live.turns import Payer, Work
from referee.live.watch import Commit
from referee.log.errors import LogError
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import open_checkpoint
from referee.store.store import Row, StoredGame
from referee.v1 import game_pb2 as pb

MOST_REPLAYS, MOST_REPLAYS_OF_ONE = 32, 4
"""Waiting at one time; the one under way counts."""
_RETRY_S = 1.0
HASHED_AT_ONCE = 64


class Archive:
    """A game that is over. Its entries are those that the referee signed for; they are not replayed."""

    def __init__(self, history: History, game: pb.Game) -> None:
        """``game``: as it ended."""
        self._history = history
        self.game = game

    @classmethod
    async def open(cls, context: Context, stored: StoredGame, payer: Payer) -> Archive:
        """Hash every entry. Raise ``Unsound``, ``StoreFailed``."""
        assert stored.closed is not None  # noqa: S101 - there is no other way to be over
        try:
            game = pb.Game.FromString(stored.closed)
        except DecodeError:
            raise Unsound(stored.game_id, "its ending cannot be read") from None
        payer.charge(Work.READ, game.size)
        history, tree = History(context.store, stored.game_id), Tree()
        note = head = b""
        async for row in history.rows(0, game.size, HASHED_AT_ONCE):
            if row.seq % HASHED_AT_ONCE == 0:
                await context.turns.next(payer)
            head, note = leaf_hash(row.data), row.note
            tree.append(head)
        try:
            promised = open_checkpoint(note, context.signer.verifier)
        except LogError as error:
            raise Unsound(stored.game_id, f"checkpoint of entry {game.size - 1}: {error}") from error
        signed = (promised.game_id, promised.size, promised.root)
        if signed != (stored.game_id, tree.size, tree.root()) or head != game.head:
            raise Unsound(stored.game_id, "its entries are not those that were signed")
        return cls(history, game)

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

    def commits_after(self, seq: int) -> AsyncIterator[Commit]:
        """Yield the entries after this one. Raise ``BeyondHead``."""
        if seq >= self.game.size:
            raise BeyondHead(self.game.size)
        return self._history.commits(seq + 1, self.game.size)


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
            raise LimitReached("games read back at one time", retry_s=_RETRY_S)
        self._waiting[payer] += 1
        try:
            async with self._turn:
                yield
        finally:
            self._waiting[payer] -= 1
            if not self._waiting[payer]:
                del self._waiting[payer]
