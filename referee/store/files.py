"""Making and opening the referee's SQLite files, and what their errors mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from referee.store.errors import StoreDamaged, StoreFailed

_LARGEST_COMMIT_PAGES = 64
"""How far the write-ahead log may grow beyond its size before it begins anew."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def connect(path: Path, busy_s: float) -> sqlite3.Connection:
    """Open the file, or make it, readable by its owner only; a commit on the connection is durable when it returns.

    ``busy_s``: how long to wait for a lock, in seconds. One thread at a time may use the connection, not only the one
    that opened it. Raise ``OSError``, ``sqlite3.Error``.
    """
    if not path.exists():
        with suppress(FileExistsError):  # another process was quicker
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    elif not os.access(path, os.W_OK):
        # SQLite would make a write-ahead log as read-only as the database, and leave it behind.
        raise PermissionError("read-only; expected a file that this user may write")
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        _switch_to_wal(connection, busy_s)
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _switch_to_wal(connection: sqlite3.Connection, busy_s: float) -> None:
    """Switch to a write-ahead log. Of several that do so at once SQLite refuses all but one, without waiting."""
    end = monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() >= end:
                raise
        sleep(0.01)


def make_room(connection: sqlite3.Connection, pages: int) -> None:
    """Give the write-ahead log its full size from the start, and have it checkpointed when that is used up.

    A sync of a file that has grown writes the file system's journal, too; so would every commit of the first minutes.
    The pages that this takes in the database are free and used first. If the disk has no room, commits report it.
    """
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE room (data BLOB)")
        connection.execute("INSERT INTO room VALUES (zeroblob(?))", (page_bytes * (pages + _LARGEST_COMMIT_PAGES),))
        connection.execute("DROP TABLE room")
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
    except sqlite3.OperationalError:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Raise what goes wrong with the file inside as ``StoreFailed``, or ``StoreDamaged`` if it cannot be read."""
    try:
        yield
    except OSError as error:
        file, what = (path, error) if error.filename is None else (error.filename, error.strerror)
        raise StoreFailed(f"{file}: {what}") from error
    except sqlite3.Error as error:
        # The lowest byte of the code is the kind of error; what is above says more of it.
        kind = StoreDamaged if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED else StoreFailed
        raise kind(f"{path}: {error}") from error


def make_whole(path: Path, save: Callable[[Path], None]) -> None:
    """Make the file with all that ``save`` writes, or none: stopped half way, it leaves no empty file behind."""
    beside = path.with_name(f".{path.name}.new")
    for left in (beside, beside.with_name(f"{beside.name}-wal"), beside.with_name(f"{beside.name}-shm")):
        left.unlink(missing_ok=True)
    save(beside)
    beside.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
