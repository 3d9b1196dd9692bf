"""How much space is left."""

from __future__ import annotations

import os
from pathlib import Path


def free_bytes(folder: Path) -> int:
    """Return the space on the folder's disk that anybody may use. Raise ``OSError``."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize
