"""What a command on a page does where its reader types it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

from tests.cli import inside
from tests.cli.command import REFEREE

ENVIRONMENT = {
    **os.environ,
    "PATH": f"{REFEREE.parent}{os.pathsep}{os.environ['PATH']}",
    "COLUMNS": "100",
    "NO_COLOR": "1",
}
_ALONE = re.compile(r"referee (?!bot )[^|<>;&$`\n]*")
"""What needs no shell but for its quotes; a bot may be a program of the reader's own."""


def ran(command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Return its exit code and what it printed."""
    if _ALONE.fullmatch(command):
        return inside.referee(*shlex.split(command)[1:], cwd=folder)
    words = ["sh", "-c", command]
    return subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
