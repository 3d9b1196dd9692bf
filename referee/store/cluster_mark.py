"""What a node of several remembers of the database, in a file of its own: its own last sign of life in there.

A database can go back: to a backup, to an earlier moment, to a standby that was behind. A sign of life is a commit like
any other, so a database that has this node's last one has whatever was let out before it, by any node. It is known by a
number that is drawn at random at each start, not by one that a database that went back would give again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from referee.store.errors import StoreFailed
from referee.store.files import make_whole

FILE = "cluster.mark"
_FORM = "tile-referee/v1/cluster-mark {database} {referee} {beats:020d}\n"


class ClusterMark(NamedTuple):
    """The last sign of life that was durable."""

    database: bytes
    """Which one: drawn when its tables were made."""
    referee: bytes
    """Which start, 16 random bytes."""
    beats: int
    """How many signs of life there were of this start."""

    @classmethod
    def load(cls, path: Path) -> ClusterMark | None:
        """Return what ``save`` wrote last; None: nothing. Raise ``StoreFailed``, ``OSError``."""
        try:
            words = path.read_text(encoding="ascii", errors="replace").split()
        except FileNotFoundError:
            return None
        try:
            _, database, referee, beats = words
            mark = cls(bytes.fromhex(database), bytes.fromhex(referee), int(beats))
        except ValueError:
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
        return _FORM.format(database=self.database.hex(), referee=self.referee.hex(), beats=self.beats)


def _write(path: Path, data: bytes, more: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | more, 0o600)
    try:
        os.pwrite(descriptor, data, 0)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
