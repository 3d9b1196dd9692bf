"""The one event loop of all tests, for code that would have one of its own.

gRPC has one queue of events in a process, and loses events when a loop is closed whose calls are still in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_loops: list[asyncio.AbstractEventLoop] = []
"""The one, as soon as the first test runs."""


def set_up() -> None:
    """Make the loop that runs here the one."""
    _loops[:] = [asyncio.get_running_loop()]


def is_running_here() -> bool:
    """Return whether this thread runs the loop, so that waiting for it here would last for ever."""
    return asyncio._get_running_loop() is not None


def run(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Return what ``asyncio.run`` does, and run it on the one loop, from whatever thread."""
    (loop,) = _loops
    if loop.is_running():
        return asyncio.run_coroutine_threadsafe(main, loop).result()
    return loop.run_until_complete(main)
