"""Sends signals to child processes that asyncio waits for."""

from __future__ import annotations

import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress


def send(process: Process, how: signal.Signals) -> None:
    """Send it a signal, unless it is known to have ended.

    ``Process.send_signal``, ``terminate`` and ``kill`` look first whether it has ended. That takes the exit code from
    asyncio, which waits for it elsewhere: the code would be 255, and a warning would be logged.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, how)
