"""Waiting for facts: however slow the machine is, and not for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST_S = 300.0
"""Every test is faster on a machine that does anything at all; half of what ``pyproject.toml`` gives a test."""


@asynccontextmanager
async def waiting_for(what: str) -> AsyncIterator[None]:
    """Raise ``AssertionError`` that says for what, if what is inside does not come to its end."""
    limit = asyncio.timeout(MOST_S)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise AssertionError(f"waited {MOST_S:.0f} s in vain: {what}") from None


async def until(holds: Callable[[], object], what: str, *, every_s: float = 0) -> None:
    """Return when ``holds`` does, for conditions that send no signal.

    ``every_s``: how often to look; 0: whenever anything happened."""
    async with waiting_for(what):
        while not holds():  # noqa: ASYNC110 - no signal
            await asyncio.sleep(every_s)


def is_there(pid: int) -> bool:
    """Return whether there is a process, a dead one that has not been waited for included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
