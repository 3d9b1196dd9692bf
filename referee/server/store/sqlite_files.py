"""The referee's SQLite files: how they are made and opened, and how their errors are translated."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import disk_usage
from time import monotonic, sleep

from referee.server.store.store import StoreDamaged, StoreFailed

_LARGEST_COMMIT_PAGES = 64
"""The pages by which the write-ahead log may grow beyond its size before it begins anew."""
_FRAME_BYTES = 24
"""The bytes of the log beside each page."""
_SPARE_BYTES = 1 << 20
"""The bytes that stay free when space is set aside: the start and the other files need some, too."""
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


def make_room(connection: sqlite3.Connection, path: Path, pages: int) -> int:
    """Set space aside: give the write-ahead log its full size from the start, and the database as many free pages.

    Return 0, or how many bytes the disk lacks for it; then nothing was set aside, and what is free is left to commits.
    A sync of a file that has grown writes the file system's journal, too; so would every commit of the first minutes.
    The free pages are used first. The log is checkpointed when its size is used up. Raise ``OSError``,
    ``sqlite3.Error``.
    """
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    page_bytes: int
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    pages += _LARGEST_COMMIT_PAGES
    try:
        # The rest of the log would be added to what is set aside; the log begins anew when it is in the database.
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
        (free_pages,) = connection.execute("PRAGMA freelist_count").fetchone()
        log = path.with_name(f"{path.name}-wal")
        log_bytes = log.stat().st_size if log.exists() else 0
        grows = max(0, pages * (page_bytes + _FRAME_BYTES) - log_bytes) + max(0, pages - free_pages) * page_bytes
        if grows == 0:
            return 0
        lacking: int = grows + _SPARE_BYTES - disk_usage(path.parent).free
        if lacking > 0:
            return lacking
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE room (data BLOB)")
        connection.execute("INSERT INTO room VALUES (zeroblob(?))", (page_bytes * pages,))
        connection.execute("DROP TABLE room")
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
    except sqlite3.OperationalError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            return pages * (2 * page_bytes + _FRAME_BYTES)
        # Commits report other faults of the file.
    return 0


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Raise what goes wrong with the file inside as ``StoreFailed``, or ``StoreDamaged`` if it cannot be read."""
    try:
        yield
    except OSError as error:
        file, what = (path, error) if error.filename is None else (error.filename, error.strerror)
        raise StoreFailed(f"{file}: {what}") from error
    except sqlite3.Error as error:
        # The lowest byte of the code is the kind of error; the bits above give details.
        code = getattr(error, "sqlite_errorcode", 0)
        kind = StoreDamaged if code & 0xFF in _DAMAGED else StoreFailed
        # Without space for its index of the log SQLite speaks of an I/O error, too.
        no_space = code & 0xFF == sqlite3.SQLITE_IOERR and not disk_usage(path.parent).free
        is_full = code == sqlite3.SQLITE_FULL or no_space
        raise kind(f"{path}: {error}{_room_expected(path) if is_full else ''}") from error


def _room_expected(path: Path) -> str:
    """Return what a file needs that could not grow: the database takes what its log has, page by page."""
    log = path.with_name(f"{path.name}-wal")
    return f"; expected {(log.stat().st_size if log.exists() else 0) + _SPARE_BYTES} bytes free on its disk"


def copy_whole(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy the database, with the contents of its log, into a file for its owner only, in place of one of that name.

    Raise ``StoreFailed`` if the disk has no room for it, and nothing was written; ``OSError``, ``sqlite3.Error``.
    """
    (size,) = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    if (lacking := size + _SPARE_BYTES - disk_usage(copy.parent).free) > 0:
        raise StoreFailed(f"{copy}: no room for this copy; expected {lacking} bytes more space on its disk")

    def save(beside: Path) -> None:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600))
        with closing(sqlite3.connect(beside)) as target:
            connection.backup(target)

    make_whole(copy, save)


def logs_of(path: Path) -> tuple[Path, Path]:
    """Return the files that SQLite keeps beside a database while it is open, or after a crash."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def make_whole(path: Path, save: Callable[[Path], None]) -> None:
    """Make the file with all that ``save`` writes, or none: stopped half way, it leaves no empty file behind."""
    beside = path.with_name(f".{path.name}.new")
    for left in (beside, *logs_of(beside)):
        left.unlink(missing_ok=True)
    save(beside)
    for left in logs_of(path):  # those of another file that was there; a database would take them for its own
        left.unlink(missing_ok=True)
    beside.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
