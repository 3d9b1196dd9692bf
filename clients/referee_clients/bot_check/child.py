"""Runs a bot's own code in a separate process, which may end, print and leave processes behind as it likes.

The process reports in lines of JSON. All processes started from it end with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, NoReturn

from referee.process.child import PIPE, Child
from referee.process.lifetime import adopt_orphans, end_children, end_with, ending, own_output

_LINE_BYTES: Final = 64 << 20
_STOP_S: Final = 10.0
"""The seconds for its way out, before it is killed."""
_END: Final = "end"


class EndedEarly(Exception):
    """The process ended before its last report; the message says how."""


async def told_by(module: str, words: Sequence[str], stderr: IO[bytes] | None = None) -> AsyncGenerator[Any, None]:
    """Run the module with these words and yield what it tells. Close this to stop it. Raise ``EndedEarly``.

    ``stderr``: where it goes that the bot prints; None: to ours.
    """
    process = await Child.start(
        [sys.executable, "-m", module, *words], stdout=PIPE, stderr=stderr, buffer_bytes=_LINE_BYTES
    )
    assert process.stdout is not None  # noqa: S101 - a pipe
    # The rest of its group would keep its output open.
    process.ended.add_done_callback(lambda _: process.signal_group())
    try:
        async for line in process.stdout:
            told = json.loads(line)
            if told == _END:
                return
            yield told
        raise EndedEarly(ending(await process.wait()))
    finally:
        await process.stop(_STOP_S)


@contextmanager
def telling() -> Iterator[Callable[[Any], None]]:
    """Make this the separate process, and end it: yield the function that reports to the parent.

    Printed text goes to standard error. SIGTERM, which comes with the parent's end, too, ends everything at once.
    """
    with os.fdopen(own_output(), "w", encoding="ascii") as out:
        signal.signal(signal.SIGTERM, _leave)
        end_with(os.getppid(), signal.SIGTERM)
        adopt_orphans()

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
        os._exit(0)  # a thread of the bot's may run for ever


def _leave(*_: object) -> NoReturn:
    end_children()
    os._exit(1)
