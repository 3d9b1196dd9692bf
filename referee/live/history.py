"""A game's durable past, read from the store: a page at a time, never kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from time import monotonic

from referee.live.answers import Accepted
from referee.live.context import Context
from referee.live.errors import Unsound
from referee.live.watch import Commit
from referee.log.entry import Clock, clock_of, decode_entry
from referee.log.errors import LogError
from referee.log.events import Refused
from referee.log.merkle import leaf_hash
from referee.log.note import open_checkpoint
from referee.log.replay import Record
from referee.log.terms import MAX_ATTEMPTS
from referee.log.v1 import log_pb2
from referee.store.errors import StoreDamaged
from referee.store.marks import Mark
from referee.store.store import Row, Store

PAGE_ROWS = 256
REPLAYED_AT_ONCE = 16
REPLAYED_GENTLY = 8
MAX_ATTEMPTS_IN_GAME = 2048
"""With bodies of 16 KiB each they take half of a game file, and a small part of the entries."""


@dataclass(slots=True)
class Attempts:
    """How many refused moves became entries, in a game whose terms record them."""

    at_decision: int = 0
    in_game: int = 0

    def count(self, *, is_refused: bool) -> None:
        """Count the next entry."""
        self.at_decision = self.at_decision + 1 if is_refused else 0
        self.in_game += is_refused

    @property
    def are_enough(self) -> bool:
        """Whether one more is answered, but not recorded."""
        return self.at_decision >= MAX_ATTEMPTS or self.in_game >= MAX_ATTEMPTS_IN_GAME


class History:
    """One game's entries. Whatever cannot be read, or is not what was signed for, raises ``Unsound``."""

    def __init__(self, store: Store, game_id: bytes, on_unsound: Callable[[Unsound], None] | None = None) -> None:
        """``on_unsound`` is called with the error, too, whoever was reading."""
        self._store = store
        self._game_id = game_id
        self._on_unsound = on_unsound

    def _unsound(self, what: str) -> Unsound:
        error = Unsound(self._game_id, what)
        if self._on_unsound is not None:
            self._on_unsound(error)
        return error

    async def _page(self, first: int, limit: int) -> list[Row]:
        try:
            return await self._store.entries(self._game_id, first, limit)
        except StoreDamaged as error:
            raise self._unsound(f"entries from {first} on cannot be read: {error}") from error

    async def rows(self, first: int, end: int, page_rows: int = PAGE_ROWS) -> AsyncIterator[Row]:
        """Yield entry ``first`` up to before ``end``. Raise ``Unsound`` if one is missing."""
        while first < end:
            page = await self._page(first, min(page_rows, end - first))
            if not page:
                raise self._unsound(f"entry {first} is missing")
            for row in page:
                yield row
            first += len(page)

    async def commits(self, first: int, end: int) -> AsyncIterator[Commit]:
        """Yield the same entries as they became durable together; of the first commit only those from ``first`` on."""
        rows: list[Row] = []
        async for row in self.rows(first, end):
            rows.append(row)
            if row.note:
                yield Commit(self._game_id, rows)
                rows = []
        if rows:
            raise self._unsound(f"no checkpoint from entry {rows[0].seq} on")

    async def entry(self, seq: int) -> log_pb2.Entry:
        """Return the entry there. Raise ``Unsound``."""
        async for row in self.rows(seq, seq + 1):
            return self._decoded(row)
        raise self._unsound(f"entry {seq} is missing")

    async def accepted(self, seq: int, end: int) -> Accepted:
        """Return the receipt that was given with the entry. Raise ``Unsound``."""
        clock: Clock | None = None
        async for row in self.rows(seq, end, REPLAYED_AT_ONCE):
            clock = clock or clock_of(self._decoded(row))
            if row.note:
                return Accepted(seq, row.note, row.seq + 1, leaf_hash(row.data), clock, repeated=True)
        raise self._unsound(f"no checkpoint from entry {seq} on")

    def _decoded(self, row: Row) -> log_pb2.Entry:
        try:
            return decode_entry(row.data)
        except LogError as error:
            raise self._unsound(f"entry {row.seq}: {error}") from error

    async def replay(
        self, context: Context, *, gently: bool = False, without_secret: bool = False
    ) -> tuple[Record, Attempts]:
        """Replay the game as it stands, every entry checked in full; return it with its attempts. Its head is marked.

        ``without_secret``: also if nothing but an end can follow, as the secret that it deals from is lost.

        Raise ``Unsound``; ``StoreFailed`` if it cannot be marked. Whoever asks for an old game must not hold up the
        others, so the event loop gets its turn now and then; ``gently``, for at least half of the time.
        """
        record: Record | None = None
        row: Row | None = None
        attempts = Attempts()
        mark = self._store.marks.of(self._game_id)
        secret, lost = None, "the secret that it deals from is lost"
        try:
            secret = await self._store.secret(self._game_id)
        except StoreDamaged as error:
            lost = f"{lost}: {error}"
        try:
            at_once = REPLAYED_GENTLY if gently else REPLAYED_AT_ONCE
            while page := await self._page(record.size if record else 0, at_once):
                begun_s = monotonic()
                if record is None:
                    opened = decode_entry(page[0].data).open
                    record = Record(opened, engines=context.engines, secret=secret, max_entries=context.max_entries)
                for row in page:
                    attempts.count(is_refused=isinstance(record.read(row.data).event, Refused))
                    if mark is not None and record.size == mark.size and record.root() != mark.root:
                        raise self._unsound(f"its first {mark.size} entries are not those that were signed")
                await asyncio.sleep(monotonic() - begun_s if gently else 0)
        except LogError as error:
            at = error.at(entry=record.size if record else 0)
            raise self._unsound(f"cannot be read back: {at}") from error
        if record is None or row is None:
            raise self._unsound("has no entries")
        if mark is not None and record.size < mark.size:
            entries = f"{mark.size - record.size} entries are lost"
            raise self._unsound(f"{entries}: {mark.size} were signed, {record.size} are there")
        self._check_promise(record, row.note, context)
        if record.game.deal.is_dealt and secret is None and not (record.is_final or without_secret):
            raise self._unsound(lost)
        await self._mark(record, mark)
        return record, attempts

    def _check_promise(self, record: Record, note: bytes, context: Context) -> None:
        """Check that this history is the one that was signed for, and not another that obeys the rules as well.

        The last entry of every commit has a checkpoint, and it covers all that come before.
        """
        try:
            promised = open_checkpoint(note, context.signer.verifier)
        except LogError as error:
            what = error if note else "it has none"
            raise self._unsound(f"checkpoint of entry {record.size - 1}: {what}") from error
        if (promised.game_id, promised.size, promised.root) != (record.game_id, record.size, record.root()):
            raise self._unsound("its entries are not those that were signed")

    async def _mark(self, record: Record, mark: Mark | None) -> None:
        """Raise the mark: readers may now see this head, also what became durable without being marked."""
        marks = self._store.marks
        if marks.is_permitted(record.game_id):
            return
        if mark is None or mark.size < record.size:
            await asyncio.to_thread(marks.raise_to, [(record.game_id, record.size, record.root())])
        elif not record.is_final:
            marks.hold(record.game_id, mark)
        if record.is_final:
            marks.let_go(record.game_id)
