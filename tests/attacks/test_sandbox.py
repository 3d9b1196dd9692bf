"""Attacks of a hostile file that the auditor withstands: to open, ask or start anything, or take much memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

from referee.log.file import MAGIC, encode_frame
from tests.attacks.corpus import game
from tests.attacks.everything import ATTACKS


def test_no_attack_makes_it_reach_out() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.attacks.sandbox"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{len(ATTACKS)} files, and nothing was asked for\n"


def test_memory_is_bounded() -> None:
    """Files of 2 MiB and more that say all there is to make a reader keep something."""
    played = game("toy, dealt")
    header, entry = encode_frame(1, played.header), encode_frame(2, played.entries[0])
    announced = (32 * 1024).to_bytes(4, "big") + b"\2" + bytes(2 << 20)
    for data in (
        MAGIC
        + header
        + encode_frame(0x82, bytes(64 * 1024)) * 32
        + entry
        + encode_frame(0x80, played.notes[0])
        + announced,
        MAGIC + header + encode_frame(2, b"\xff" * (32 * 1024)) * 64 + announced,
        MAGIC + announced,
    ):
        tracemalloc.start()
        report = played.audit(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert report.exit_code != 0
        assert peak < 16 << 20, peak
