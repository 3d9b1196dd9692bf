"""What is known of a game's rows without keeping them: a hash for every few, so that another row is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from referee.log.merkle import HASH_BYTES
from referee.server.store.store import Row

ROWS = 16
"""That share a fingerprint: whoever wants one of them reads them all. So an entry costs 2 bytes of memory."""


class Fingerprints:
    """Of the rows of one game, in order, checkpoints included."""

    __slots__ = ("_full", "_last", "size")

    def __init__(self) -> None:
        self.size = 0
        """Rows that are known."""
        self._full = bytearray()
        """The fingerprints of full pages, one after the other."""
        self._last = sha256()
        """Of the rows after these."""

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
