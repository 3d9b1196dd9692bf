"""Runs the real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REFEREE = Path(sys.executable).parent / "referee"
NOBODY = "nothing listens there; expected the address that referee serve printed"


def referee(*words: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command; return its output and its exit code."""
    return subprocess.run(
        [REFEREE, *map(str, words)],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
    )
