"""Bots that are programs in Python."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def python(folder: Path, code: str, name: str = "bot.py") -> str:
    """The name of a bot of this code."""
    (folder / name).write_text(code)
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(folder / name))}"
