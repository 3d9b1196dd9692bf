"""Runs a bot's own code in a process apart: that may end, print and leave processes behind as it likes.

What the process tells comes in lines of JSON. With it ends whatever was started from it.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Final, NoReturn

from referee_clients.match.worker import adopt, end_children
from referee_clients.signals import send

_PR_SET_PDEATHSIG: Final = 1
_LINE_BYTES: Final = 64 << 20
_STOP_S: Final = 10.0
"""For its way out, before it is killed."""
_END: Final = "end"


class EndedEarly(Exception):
    """The process ended before it had told everything; the message says how."""


async def told_by(module: str, words: Sequence[str], stderr: IO[bytes] | None = None) -> AsyncGenerator[Any, None]:
    """Run the module with these words and yield what it tells. Close this to stop it. Raise ``EndedEarly``.

    ``stderr``: where it goes that the bot prints; None: to ours.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        limit=_LINE_BYTES,
        start_new_session=True,  # Ctrl-C in the terminal is for the parent, which then stops it
    )
    assert process.stdout is not None  # noqa: S101 - a pipe
    ended = asyncio.create_task(_ended(process))
    try:
        async for line in process.stdout:
            told = json.loads(line)
            if told == _END:
                return
            yield told
        raise EndedEarly(_how(await ended))
    finally:
        send(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(asyncio.shield(ended), _STOP_S)
        except TimeoutError:
            send(process, signal.SIGKILL)
            await ended


async def _ended(process: asyncio.subprocess.Process) -> int:
    """Wait for its end. Who is left of its group would keep its output open."""
    code = await process.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return code


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@contextmanager
def telling() -> Iterator[Callable[[Any], None]]:
    """Make this the process that is apart, and end it: yield what tells the parent something.

    What is printed goes to standard error. SIGTERM, which comes with the parent's end, too, ends everything at once.
    """
    with os.fdopen(os.dup(1), "w", encoding="ascii") as out:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        signal.signal(signal.SIGTERM, _leave)
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        adopt()

        def tell(told: Any) -> None:
            out.write(json.dumps(told) + "\n")
            out.flush()

        try:
            yield tell
            end_children()
            tell(_END)
        except asyncio.CancelledError:  # the parent has stopped it
            _leave()
        finally:
            end_children()
        os._exit(0)  # a thread of the bot's may go on for ever


def _leave(*_: object) -> NoReturn:
    end_children()
    os._exit(1)
