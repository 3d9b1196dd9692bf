"""A disk of a few megabytes, which a test can fill."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """Mounted at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    @property
    def free_bytes(self) -> int:
        about = os.statvfs(self.path)
        return about.f_bavail * about.f_frsize

    def fill(self, leave: int = 0) -> None:
        """Fill the disk until ``leave`` bytes are free, or fewer by less than a page."""
        self.empty()
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while (more := self.free_bytes - leave) > 0:
                    file.write(bytes(min(more, 1 << 20)))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[SmallDisk]:
    """Mount a file system of ``size`` bytes in memory. Skips the test where none may be mounted."""
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
