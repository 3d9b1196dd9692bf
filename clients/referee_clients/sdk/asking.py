"""Asks a bot for a move: it may think for long, fail in any way, or never answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Any

from referee_clients.sdk.errors import BotFailed


async def ask(choose: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``choose`` returns. Raise what it raises, and ``BotFailed`` for what would end a process.

    It runs in a thread that the end of the process does not wait for.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(how: Callable[[Any], None], what: Any) -> None:
        def now() -> None:
            if not answer.done():
                how(what)

        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(now)

    def run() -> None:
        try:
            chosen = choose(*arguments)
        except BaseException as error:  # noqa: BLE001 - it is told to whoever asked
            settle(answer.set_exception, _passed_on(error))
        else:
            settle(answer.set_result, chosen)

    Thread(target=run, name="choose", daemon=True).start()
    return await answer


def _passed_on(error: BaseException) -> Exception:
    """Return what can be raised where the bot was asked."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    failed = BotFailed(f"the bot raised {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


def of_the_bot(error: BaseException) -> TracebackType | None:
    """Return the error's traceback from the bot's own code on: what is before it is not its author's."""
    step = trace = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == __file__:
            trace = step.tb_next
        step = step.tb_next
    return trace
