"""What a node of several remembers of the database, in a file of its own: its own last sign of life in there.

A database can go back: to a backup, to an earlier moment, to a standby that was behind. A sign of life is a commit like
any other, so a database that has this node's last one has whatever was let out before it, by any node. It is known by a
number that is drawn at random at each start, not by one that a database that went back would give again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from referee.server.store.errors import StoreFailed
from referee.server.store.files import make_whole
from referee.server.store.session import Session
from referee.server.store.sql import fact, keep_fact

FILE = "cluster.mark"
_FORM = "tile-referee/v1/cluster-mark {database} {referee} {beats:020d} {doubted}\n"
_FACT = "doubted"
NEVER = bytes(16)
"""Stands for a time before any game was put in doubt."""


class ClusterMark(NamedTuple):
    """The last sign of life that was durable."""

    database: bytes
    """Which one: drawn when its tables were made."""
    referee: bytes
    """Which start, 16 random bytes."""
    beats: int
    """How many signs of life there were of this start."""
    doubted: bytes = NEVER
    """The newest ``Doubting`` of that time; empty: a mark of an earlier program, which did not note it."""

    @classmethod
    def load(cls, path: Path) -> ClusterMark | None:
        """Return what ``save`` wrote last; None: nothing. Raise ``StoreFailed``, ``OSError``."""
        try:
            words = path.read_text(encoding="ascii", errors="replace").split()
        except FileNotFoundError:
            return None
        try:
            _, database, referee, beats, *doubted = words
            mark = cls(bytes.fromhex(database), bytes.fromhex(referee), int(beats), *map(bytes.fromhex, doubted))
            mark = mark if doubted else mark._replace(doubted=b"")
        except (TypeError, ValueError):
            mark = None
        if mark is None or mark._text().split() != words:
            raise StoreFailed(f"{path}: damaged; see referee recover --accept-rollback") from None
        return mark

    def save(self, path: Path) -> None:
        """Keep it, durably. Raise ``OSError``."""
        data = self._text().encode()
        if not path.exists():
            make_whole(path, lambda file: _write(file, data, os.O_CREAT | os.O_EXCL))
        # Within one sector, which is written whole.
        _write(path, data)

    def _text(self) -> str:
        return _FORM.format(
            database=self.database.hex(), referee=self.referee.hex(), beats=self.beats, doubted=self.doubted.hex()
        )


class Doubting(NamedTuple):
    """When all open games were put in doubt last, and the numbers drawn for that and for each time before.

    A number that a mark knows, and that is not the newest one here, shows that games were put in doubt since.
    """

    at_ms: int
    """By the database's clock, in milliseconds since 1970; 0: never."""
    numbers: Sequence[bytes]
    """The newest first; ``NEVER`` is the last."""

    @classmethod
    def of(cls, session: Session) -> Doubting:
        """Return what the database has."""
        # An earlier program noted the time alone.
        at_ms, *numbers = (fact(session, _FACT) or b"0").decode().split()
        return cls(int(at_ms), [*map(bytes.fromhex, numbers), NEVER])

    def is_newer_than(self, doubted: bytes) -> bool:
        """Return whether games were put in doubt after a time whose newest number this is."""
        return doubted in self.numbers[1:]

    def begin(self, session: Session, known: bytes | None) -> None:
        """Note that they are put in doubt now. ``known``: the number of a mark, which the database may have lost."""
        lost = [known] if known and known not in self.numbers else []
        numbers = [secrets.token_bytes(16), *lost, *self.numbers[:-1]]
        (now_ms,) = session.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").fetchone()
        keep_fact(session, _FACT, " ".join([str(now_ms), *(number.hex() for number in numbers)]).encode())


def newest_doubting(session: Session) -> bytes:
    """Return the number of the newest time that games were put in doubt."""
    return Doubting.of(session).numbers[0]


def _write(path: Path, data: bytes, more: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | more, 0o600)
    try:
        os.pwrite(descriptor, data, 0)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
