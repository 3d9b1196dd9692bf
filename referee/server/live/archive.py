"""Games that are over: read as they are stored, without a replay; and replayed one at a time for callers who want more.

A replay costs as much as the whole game did, anybody may ask for one, and players must not notice.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

from google.protobuf.message import DecodeError

from referee.log.entry import decode_open
from referee.log.errors import LogError
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note
from referee.log.v1 import log_pb2
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.live.history import History
from referee.server.live.refusals import BeyondHead, LimitReached, Unsound
from referee.server.live.turns import Payer, Work
from referee.server.live.watch import Commit
from referee.server.store.marks import Mark
from referee.server.store.store import Row, StoreDamaged, StoredGame
from referee.text.words.catalogue import phrase
from referee.v1 import game_pb2 as pb
from referee.v1.game_service_pb2 import Snapshot

MOST_REPLAYS, MOST_REPLAYS_OF_ONE = 32, 4
"""Waiting at one time; the one under way counts."""
_RETRY_S = 1.0
HASHED_AT_ONCE = 32
KEPT_CLOSED = 64
"""Games that are over and may be looked at again soon."""
KEPT_ARCHIVES = 1024
"""Most archives that are kept, without their positions: these are small."""
KEPT_SNAPSHOTS = 512
"""Most games that are over of which game and position are kept, ready to be shown."""
_PAGE_GAMES = 100
LAST_ENTRIES = 2
"""The end of a game, and the secret that is disclosed after it."""

Checked = Callable[[History, Row], Awaitable[None]]
"""Waits, or checks a row more closely than usual."""


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
        """Hash every entry, and compare them with what was signed, with the marks, and with the game's recorded end.

        ``on_unsound`` is called whenever the store gives something else, now or later. ``checked`` is awaited before
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
        """True: nothing can follow (see ``LiveGame.is_closed``)."""
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


class Finished:
    """Games that are over and were asked for of late, in each form in which they are shown: replayed, as an archive, as
    a snapshot. Of each form it keeps a bounded number, those that were used last.
    """

    def __init__(self, context: Context, on_unsound: Callable[[Unsound], None]) -> None:
        """``on_unsound`` is called for an archive that the store gives otherwise than it was written."""
        self._context = context
        self._on_unsound = on_unsound
        self._games: OrderedDict[bytes, LiveGame] = OrderedDict()
        """The most recently used last, here and below."""
        self._archives: OrderedDict[bytes, Archive] = OrderedDict()
        self._archiving = asyncio.Lock()
        self._snapshots: OrderedDict[bytes, Snapshot] = OrderedDict()
        self.replays = Replays()

    def __contains__(self, game_id: bytes) -> bool:
        return game_id in self._games

    def __iter__(self) -> Iterator[LiveGame]:
        return iter(self._games.values())

    def has(self, game: LiveGame) -> bool:
        """Return whether this very object is the game that is kept."""
        return self._games.get(game.game_id) is game

    @property
    def kept(self) -> dict[str, int]:
        """The number of games that are kept, by the way they are kept."""
        return {"games_over": len(self._games), "archives": len(self._archives)}

    def keep(self, game: LiveGame) -> None:
        """Keep a game that was replayed, or has just ended."""
        self._games[game.game_id] = game
        if len(self._games) > KEPT_CLOSED:
            self._games.popitem(last=False)

    def forget(self, game_id: bytes) -> None:
        """Keep no form of the game."""
        self._games.pop(game_id, None)
        self._archives.pop(game_id, None)
        self._snapshots.pop(game_id, None)

    def game(self, game_id: bytes) -> LiveGame | None:
        """Return the game if it is kept, with its position."""
        if (game := self._games.get(game_id)) is not None:
            self._games.move_to_end(game_id)
        return game

    def snapshot(self, game_id: bytes) -> Snapshot | None:
        """Return what ``keep_snapshot`` was given, if it is kept."""
        if (snapshot := self._snapshots.get(game_id)) is not None:
            self._snapshots.move_to_end(game_id)
        return snapshot

    def keep_snapshot(self, game_id: bytes, snapshot: Snapshot) -> None:
        """Keep the game and its position, ready to be shown."""
        self._snapshots[game_id] = snapshot
        if len(self._snapshots) > KEPT_SNAPSHOTS:
            self._snapshots.popitem(last=False)

    async def archive(self, game_id: bytes, payer: Payer) -> Archive | None:
        """Return the archive, opened if it is not kept; None if the store has no ended game of this id.

        Opening is charged to ``payer``. Raise ``Unsound``, ``StoreFailed``.
        """
        if (archive := self._archives.get(game_id)) is not None:
            self._archives.move_to_end(game_id)
            return archive
        stored = await self._context.store.game(game_id)
        if stored is None or stored.closed is None:
            return None

        async def checked(_: History, row: Row) -> None:
            if row.seq % HASHED_AT_ONCE == 0:
                await self._context.turns.next(payer)
                payer.charge(Work.READ, HASHED_AT_ONCE)

        async with self._archiving:
            if (archive := self._archives.get(game_id)) is None:
                archive = await Archive.open(self._context, stored, self._on_unsound, checked=checked)
                self._archives[game_id] = archive
        if len(self._archives) > KEPT_ARCHIVES:
            self._archives.popitem(last=False)
        return archive


async def check_endings(context: Context, marks: dict[bytes, Mark]) -> AsyncIterator[Unsound]:
    """Hold the last checkpoint of every game that is over against its mark; yield the games that are unsound.

    Takes out of ``marks`` those of the games that it has looked at. Raise ``StoreFailed``.
    """
    origin = context.signer.verifier.name
    before: int | None = None
    while page := await context.store.games(before, _PAGE_GAMES, closed=True):
        before = page[-1].number
        try:
            notes = await context.store.last_notes(page)
        except StoreDamaged:
            notes = {}
        for stored in page:
            mark, note = marks.pop(stored.game_id, None), notes.get(stored.game_id, b"")
            if mark is not None:
                # Its signature, and the entries that it covers, are checked when they are read.
                promised = Checkpoint(origin, stored.game_id, mark.size, mark.root).text()
                if note.startswith(promised.encode()):
                    continue
                if context.store.nodes.shares and mark.size < _size_in(note):
                    continue  # another node continued it: it is compared when it is read
            try:
                await LiveGame.load(context, stored.game_id)
            except Unsound as error:
                yield error


def _size_in(note: bytes) -> int:
    """Return how many entries the checkpoint is for; 0 if it is none."""
    try:
        return Checkpoint.parse(Note.parse(note).text).size
    except LogError:
        return 0
