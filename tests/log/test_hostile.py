"""What a hostile file cannot make its auditor do: take long, take much memory, open anything, or fail.

The files here have a 256th of the largest size that a file may have; the time for each byte is the same, as every
frame costs the same wherever it stands. What is kept until the end is bounded by the number of frames.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.log.entry import MAX_ENTRIES
from referee.log.frames import MAX_FILE_BYTES
from tests.log.hostile import FILES

SECONDS_A_MIB = 10
MOST_BYTES = 256 << 20


def audited(path: Path, data: bytes) -> dict[str, Any]:
    """What it took, told by the process that did it."""
    path.write_bytes(data)
    command = [sys.executable, "-m", "tests.log.hostile", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_time_and_reach(name: str, tmp_path: Path) -> None:
    data = FILES[name](MAX_FILE_BYTES // 256)
    found = audited(tmp_path / "hostile.gamelog", data)
    assert found["verdict"] in ("CORRUPT", "PREFIX")
    assert found["seconds"] < SECONDS_A_MIB * len(data) / (1 << 20)
    assert found["peak"] < MOST_BYTES
    assert found["text"] < 4096


@pytest.mark.slow
@pytest.mark.parametrize(("name", "entries"), [("tiny", 65_000), ("checkpoints", 13_000)])
def test_memory_for_the_most_frames(name: str, entries: int, tmp_path: Path) -> None:
    """As if there were as many of them as there may be."""
    found = audited(tmp_path / "hostile.gamelog", FILES[name](MAX_FILE_BYTES // 20))
    assert found["entries"] >= entries
    assert found["before"] + (found["peak"] - found["before"]) * (MAX_ENTRIES / found["entries"]) < MOST_BYTES


def test_the_process_can_open_nothing() -> None:
    """What is forbidden there is refused, so that files that pass have not asked for it."""
    code = (
        "import socket, sys\nfrom tests.log.hostile import forbid\nsys.addaudithook(forbid)\n"
        "for ask in (lambda: open('x'), socket.socket, lambda: __import__('os').listdir('.')):\n"
        "    try:\n        ask()\n    except PermissionError:\n        print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["refused"] * 3
