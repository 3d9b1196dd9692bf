"""A game's durable past, read from the store: a page at a time, never kept.

Rows that were read and checked once, or written, are known by their fingerprints, a hash for every few: whatever the
store gives later is compared with them before any reader gets it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from referee.log.entry import Clock, clock_of, decode_entry
from referee.log.errors import LogError
from referee.log.events import Refused
from referee.log.header import header_hash
from referee.log.heads import Loss, Losses
from referee.log.merkle import HASH_BYTES, Tree, leaf_hash
from referee.log.note import Checkpoint, open_checkpoint
from referee.log.replay import Record
from referee.log.terms import MAX_ATTEMPTS
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted
from referee.server.live.context import Context
from referee.server.live.refusals import Unsound
from referee.server.live.watch import Commit
from referee.server.store.marks import Mark
from referee.server.store.store import Row, StoreDamaged

ROWS = 16
"""The number of entries that share a fingerprint and are read together. So an entry costs 2 bytes of memory."""


class Fingerprints:
    """The fingerprints of the rows of one game, in order, checkpoints included."""

    __slots__ = ("_full", "_last", "size")

    def __init__(self) -> None:
        self.size = 0
        """Rows that are known."""
        self._full = bytearray()
        """The fingerprints of full pages, one after the other."""
        self._last = sha256()
        """The hash of the rows after these."""

    def append(self, row: Row) -> None:
        """Note the next row."""
        self._last.update(_of(row))
        self.size += 1
        if self.size % ROWS == 0:
            self._full += self._last.digest()
            self._last = sha256()

    def pages(self, first: int, end: int) -> tuple[int, list[bytes]]:
        """Return where the page with row ``first`` begins, and the fingerprints from there up to row ``end`` - 1.

        Each is of ``ROWS`` rows, the last one perhaps of fewer: of all that are known. Raise ``IndexError``.
        """
        if not 0 <= first < end <= self.size:
            raise IndexError(f"rows {first} to {end} of {self.size}")
        begin = first // ROWS
        pages = range(begin, (end + ROWS - 1) // ROWS)
        full = len(self._full) // HASH_BYTES
        return begin * ROWS, [
            bytes(self._full[page * HASH_BYTES : (page + 1) * HASH_BYTES]) if page < full else self._last.digest()
            for page in pages
        ]


def fingerprint(rows: Iterable[Row]) -> bytes:
    """Return the fingerprint of a page."""
    return sha256(b"".join(map(_of, rows))).digest()


def _of(row: Row) -> bytes:
    """Return the row, with its lengths first, so that no two rows run into each other."""
    return b"%d %d %b%b" % (len(row.data), len(row.note), row.data, row.note)


PAGE_ROWS = 64
REPLAYED_AT_ONCE = 16
REPLAYED_GENTLY = 8
MAX_ATTEMPTS_IN_GAME = 2048
"""With bodies of 16 KiB each they take half of a game file, and a small part of the entries."""


@dataclass(slots=True)
class Attempts:
    """The number of refused moves that became entries, in a game whose terms record them."""

    at_decision: int = 0
    in_game: int = 0

    def count(self, *, is_refused: bool) -> None:
        """Count the next entry."""
        self.at_decision = self.at_decision + 1 if is_refused else 0
        self.in_game += is_refused

    @property
    def are_enough(self) -> bool:
        """True if one more is answered, but not recorded."""
        return self.at_decision >= MAX_ATTEMPTS or self.in_game >= MAX_ATTEMPTS_IN_GAME


class History:
    """One game's entries. Reading raises ``Unsound`` for any entry that is unreadable, or not what was written and
    signed."""

    def __init__(self, context: Context, game_id: bytes, on_unsound: Callable[[Unsound], None] | None = None) -> None:
        """``on_unsound`` is called with every such error, too."""
        self._context = context
        self._store = context.store
        self._game_id = game_id
        self.on_unsound = on_unsound
        self._known = Fingerprints()
        self._read_back = 0
        """The number of replayed entries. The last one's checkpoint, whose signature was checked then, covers them
        all; those of the others are checked when they are sent."""

    def unsound(self, what: str) -> Unsound:
        """Return the error that says what is wrong, after ``on_unsound`` was called."""
        error = Unsound(self._game_id, what)
        if self.on_unsound is not None:
            self.on_unsound(error)
        return error

    def written(self, rows: Sequence[Row]) -> None:
        """Note the rows that follow those that are known: they are durable as they are here."""
        for row in rows:
            self._known.append(row)

    async def _page(self, first: int, limit: int) -> list[Row]:
        try:
            return await self._store.entries(self._game_id, first, limit)
        except StoreDamaged as error:
            raise self.unsound(f"entries from {first} on cannot be read: {error}") from error

    async def unchecked(self, first: int, end: int, page_rows: int = PAGE_ROWS) -> AsyncIterator[Row]:
        """Yield entry ``first`` up to before ``end`` as the store has them. Raise ``Unsound`` if one is missing."""
        while first < end:
            page = await self._page(first, min(page_rows, end - first))
            if [row.seq for row in page] != list(range(first, first + len(page))) or not page:
                there = {row.seq for row in page}
                missing = next(seq for seq in range(first, end) if seq not in there)
                raise self.unsound(f"entry {missing} is missing")
            for row in page:
                yield row
            first += len(page)

    async def rows(self, first: int, end: int, page_rows: int = PAGE_ROWS) -> AsyncIterator[Row]:
        """Yield entry ``first`` up to before ``end``, which are known. Raise ``Unsound`` before what is not theirs."""
        while first < end:
            start, prints = self._known.pages(first, min(first + page_rows, end))
            stop = min(start + len(prints) * ROWS, self._known.size)
            page = [row async for row in self.unchecked(start, stop, stop - start)]
            for number, expected in enumerate(prints):
                found = page[number * ROWS : (number + 1) * ROWS]
                if fingerprint(found) != expected:
                    numbers = f"{found[0].seq} to {found[-1].seq}" if len(found) > 1 else str(found[0].seq)
                    raise self.unsound(f"entries {numbers} in the database are not those that the referee wrote")
            for row in page[first - start : end - start]:
                yield row
            first = stop

    async def commits(self, first: int, end: int) -> AsyncIterator[Commit]:
        """Yield the same entries as they became durable together; of the first commit only those from ``first`` on."""
        rows: list[Row] = []
        async for row in self.rows(first, end):
            rows.append(row)
            if row.note:
                self._check_note(row)
                yield Commit(self._game_id, rows)
                rows = []
        if rows:
            raise self.unsound(f"no checkpoint from entry {rows[0].seq} on")

    def check_text(self, row: Row, root: bytes) -> None:
        """Check that the row's note, if it has one, is over this root. Raise ``Unsound``."""
        if not row.note:
            return
        text = Checkpoint(self._context.signer.verifier.name, self._game_id, row.seq + 1, root).text()
        if not row.note.startswith(text.encode()):
            raise self.unsound(f"checkpoint of entry {row.seq}: it is for other entries")

    async def check_notes(self) -> None:
        """Check the signature of every checkpoint that was read back. Raise ``Unsound``, ``StoreFailed``."""
        async for _ in self.commits(0, self._read_back):
            pass

    def _check_note(self, row: Row) -> None:
        """Check the signature of the row's note, unless that was done or it was made here. Raise ``Unsound``."""
        if row.seq + 1 < self._read_back:
            self.check_signature(row)

    def check_signature(self, row: Row) -> Checkpoint:
        """Return what the row's note promises. Raise ``Unsound`` unless the referee signed it."""
        try:
            return open_checkpoint(row.note, self._context.signer.verifier)
        except LogError as error:
            what = error if row.note else "it has none"
            raise self.unsound(f"checkpoint of entry {row.seq}: {what}") from error

    async def has_head(self, checkpoint: Checkpoint, end: int) -> bool:
        """Return whether a checkpoint that was let out is one of the first ``end`` entries'. Raise ``Unsound``.

        Each that was let out stands beside the last entry that it covers.
        """
        if not 0 < checkpoint.size <= end:
            return False
        async for row in self.rows(checkpoint.size - 1, checkpoint.size):
            return bool(row.note) and self.check_signature(row) == checkpoint
        return False

    async def explains(self, checkpoint: Checkpoint, end: int) -> bool:
        """Return whether the first ``end`` entries have this checkpoint's root or declare a loss that explains it.

        A declaration after as many entries as it covers was made by an organiser who knew of another history. Raise
        ``Unsound``.
        """
        losses, tree, is_known = Losses(), Tree(), False
        async for row in self.rows(0, end):
            entry = self.decoded(row)
            if entry.HasField("recovered"):
                losses.add(Loss(row.seq, entry.recovered.lost_size, entry.recovered.lost_root))
                is_known |= row.seq >= checkpoint.size
            tree.append(leaf_hash(row.data))
            if tree.size == checkpoint.size and tree.root() == checkpoint.root:
                return True
            if row.seq % REPLAYED_AT_ONCE == 0:
                await asyncio.sleep(0)
        return is_known or losses.covering(checkpoint) is not None

    async def header(self, expected_hash: bytes) -> bytes:
        """Return the header of the game's file. Raise ``Unsound`` if it is not the one with this hash."""
        try:
            header = await self._store.header(self._game_id)
        except StoreDamaged as error:
            raise self.unsound(f"the header of its file cannot be read: {error}") from error
        if header_hash(header) != expected_hash:
            raise self.unsound("the header of its file is not the one that its entry 0 names")
        return header

    async def entry(self, seq: int) -> log_pb2.Entry:
        """Return the entry there. Raise ``Unsound``."""
        async for row in self.rows(seq, seq + 1):
            return self.decoded(row)
        raise self.unsound(f"entry {seq} is missing")

    async def accepted(self, seq: int, end: int) -> Accepted:
        """Return the receipt that was given with the entry. Raise ``Unsound``."""
        clock: Clock | None = None
        async for row in self.rows(seq, end, REPLAYED_AT_ONCE):
            clock = clock or clock_of(self.decoded(row))
            if row.note:
                self._check_note(row)
                return Accepted(seq, row.note, row.seq + 1, leaf_hash(row.data), clock, repeated=True)
        raise self.unsound(f"no checkpoint from entry {seq} on")

    def decoded(self, row: Row) -> log_pb2.Entry:
        """Return what the row says. Raise ``Unsound``."""
        try:
            return decode_entry(row.data)
        except LogError as error:
            raise self.unsound(f"entry {row.seq}: {error}") from error

    async def replay(
        self, *, gently: bool = False, without_secret: bool = False, without_mark: bool = False
    ) -> tuple[Record, Attempts]:
        """Replay the game as it stands, every entry checked by the rules; return it with its attempts, its head marked.

        Signatures of entries were checked when they were entered, and are not again: the referee's own last checkpoint,
        which is checked, covers every byte of them.

        ``without_secret``: also if nothing but an end can follow, as the secret that it deals from is lost.
        ``without_mark``: also if it is not what was signed for last; the mark stays as it is.

        Raise ``Unsound``; ``StoreFailed`` if it cannot be marked. Reading an old game must not delay the others, so the
        event loop gets its turn now and then; ``gently``, for at least half of the time.
        """
        record: Record | None = None
        row: Row | None = None
        context, known, attempts = self._context, Fingerprints(), Attempts()
        mark = None if without_mark else self._store.marks.of(self._game_id)
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
                    attempts.count(is_refused=isinstance(record.reread(row.data).event, Refused))
                    known.append(row)
                    if mark is not None and record.size == mark.size and record.root() != mark.root:
                        raise self.unsound(f"its first {mark.size} entries are not those that were signed")
                    self.check_text(row, record.root())
                await asyncio.sleep(monotonic() - begun_s if gently else 0)
        except LogError as error:
            at = error.at(entry=record.size if record else 0)
            raise self.unsound(f"cannot be read back: {at}") from error
        if record is None or row is None:
            raise self.unsound("has no entries")
        if mark is not None and record.size < mark.size:
            lacking = mark.size - record.size
            entries = "1 entry is" if lacking == 1 else f"{lacking} entries are"
            raise self.unsound(f"{entries} lost: {mark.size} were signed, {record.size} are there")
        self.check_promise(row, record.root())
        if record.game.deal.is_dealt and secret is None and not (record.is_final or without_secret):
            raise self.unsound(lost)
        record.copied_ms = await self._store.doubt_of(self._game_id)
        if not without_mark:
            await self._mark(record, mark)
        self._known, self._read_back = known, record.size
        return record, attempts

    def check_promise(self, last: Row, root: bytes) -> None:
        """Check that the history with this root is the one that was signed for, and not another that obeys the rules as
        well.

        The last entry of every commit has a checkpoint, and it covers all that come before. Raise ``Unsound``.
        """
        promised = self.check_signature(last)
        if (promised.game_id, promised.size, promised.root) != (self._game_id, last.seq + 1, root):
            raise self.unsound("its entries are not those that were signed")

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
