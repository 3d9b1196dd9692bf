"""A function whose module takes longer to import than its tasks may take."""

from __future__ import annotations

import time

time.sleep(3)


def quick(task: str) -> str:
    """Return the task."""
    return task
