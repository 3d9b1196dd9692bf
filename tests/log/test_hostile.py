"""Attacks of a hostile file that its auditor withstands: to take long, take much memory, open anything, or fail.

Most files here have a 256th of the largest size that a file may have; the time for each byte is the same, as every
frame costs the same wherever it stands. Memory that is kept until the end is bounded by the number of frames: the files
with the most of them, and those of the longest, have the largest allowed size in the campaign. ``make attack`` makes
all files of that size.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from referee.log.entry import MAX_ENTRIES
from referee.log.file import MAX_FILE_BYTES
from tests.log.hostile import FILES, held
from tests.sizes import campaign

SMALL = MAX_FILE_BYTES // 256
LARGE = MAX_FILE_BYTES
SLOWER = 5
"""Work whose time for each byte grows with the file exceeds this."""


@pytest.mark.parametrize(
    ("name", "size", "entries"),
    [
        *((name, SMALL, 0) for name in FILES),
        *(campaign(name, LARGE, MAX_ENTRIES) for name in ("tiny", "checkpoints")),
        *(campaign(name, LARGE, 2000) for name in ("longest", "nested")),
        *(campaign("texts", LARGE, 15_000), campaign("skipped", LARGE, 0)),
    ],
)
def test_time_and_reach(name: str, size: int, entries: int, tmp_path: Path) -> None:
    found = held(tmp_path / "hostile.gamelog", FILES[name](size), SLOWER)
    assert found["entries"] >= entries


def test_the_process_can_open_nothing() -> None:
    """Forbidden acts are refused there, so files that pass have not asked for one."""
    code = (
        "import socket, sys\nfrom tests.log.hostile import forbid\nsys.addaudithook(forbid)\n"
        "for ask in (lambda: open('x'), socket.socket, lambda: __import__('os').listdir('.')):\n"
        "    try:\n        ask()\n    except PermissionError:\n        print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["refused"] * 3
