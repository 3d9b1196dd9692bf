"""Where the files of a log are kept: a folder, which any web server can serve.

Knows paths and bytes, not what they mean. A tile or bundle that is there is never replaced by other bytes,
unless it was damaged.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from secrets import token_hex
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.note import MAX_COSIGNED_BYTES
from referee.log.public.tiles import Source, is_path
from referee.log.public.web import Web, bounded

CHECKPOINT: Final = "checkpoint"
"""The path of the newest checkpoint (C2SP tlog-tiles)."""
NEW: Final = ".new"
"""Ends the name of a file that is not finished."""


class Folder:
    """The files of a log below a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, path: str, most: int = MAX_COSIGNED_BYTES) -> bytes | None:
        """As ``Source`` has it. Raise ``LogError`` for a pipe or a device, which could be waited for without end."""
        try:
            # To open a pipe would wait for whoever writes into it.
            descriptor = os.open(self.path / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise LogError(Code.NOTE, f"{self.path / path} is no file", "a file of the log")
        with os.fdopen(descriptor, "rb") as file:
            return bounded(file.read(most + 1), most, path)

    def write(self, path: str, data: bytes) -> None:
        """Write a tile or a bundle, durably before this returns, or find it there.

        Raise ``LogError`` (``CHECKPOINT``) if other bytes are there; ``OSError``.
        """
        if not is_path(path):
            raise ValueError(f"{path}: not the path of a tile or a bundle")
        there = self.read(path, max(len(data), 1))
        if there is not None and there != data:
            raise LogError(Code.CHECKPOINT, f"{self.path / path}: other bytes are there", "the same, or none")
        self._replace(path, data)

    def mend(self, path: str, data: bytes) -> None:
        """Replace a tile or a bundle that was damaged, durably before this returns. Raise ``OSError``."""
        if (there := self.path / path).is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder is there; expected a file, or nothing", str(there))
        self._replace(path, data)

    def publish(self, note: bytes) -> None:
        """Replace the checkpoint, durably before this returns. Raise ``OSError``."""
        self._replace(CHECKPOINT, note)

    def _replace(self, path: str, data: bytes) -> None:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # By a name of its own: several referees may write into one folder.
        beside = target.with_name(f".{target.name}.{token_hex(8)}{NEW}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fdatasync(file.fileno())
            beside.replace(target)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        # The folders may be new: each has to be found in the one above it.
        for folder in (target.parent, *target.parent.parents):
            _sync(folder)
            if folder == self.path:
                break


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_source(where: str) -> Source:
    """Return the reader of a folder or of an address. Raise ``ValueError`` for an address that cannot be one."""
    if where.startswith(("http://", "https://")):
        return Web(where)
    return Folder(Path(where))
