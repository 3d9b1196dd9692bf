"""A solver's worker process, asked from a command that waits for the answers.

Z3 takes Ctrl-C for itself while it works, and can use up the memory: in a process of its own it does neither here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Annotated, Final, Self, TypeVar

from cyclopts import Parameter
from cyclopts.validators import Number
from google.protobuf.message import Message

from referee.cli.shared.failure import need
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from referee.text.notation.questions import QueryError

Rlimit = Annotated[
    int | None,
    Parameter(
        metavar="N",
        help="Limit on Z3's work, which does not depend on the machine's speed.",
        show_default=False,
        validator=Number(gte=1, lte=(1 << 32) - 1),
    ),
]

_MODULE: Final = "referee.server.service.solver_worker"
_MEMORY_MIB: Final = 4096
_FUSE_SECONDS: Final = 3600.0
"""The time limit of questions whose budget is work, not time."""
_BEAT_SECONDS: Final = 0.1
"""The interval of a search's signs of life while it has nothing new."""
_SLACK_SECONDS: Final = 1.0
"""The time that is kept back from the worker's limit."""

_Answer = TypeVar("_Answer", bound=Message)


class NoAnswer(Exception):
    """The worker ended before its time. Another question gets another worker."""


class OutOfTime(NoAnswer):
    """The worker did not end in time."""


class Solver:
    """A worker in a ``with`` block, which starts and ends it."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._workers = Workers(memory_mib=_MEMORY_MIB, module=_MODULE)

    def __enter__(self) -> Self:
        need("this command", "solver")
        with _told():
            self._runner.run(self._workers.start())
        return self

    def __exit__(self, *error: object) -> None:
        with self._runner:
            self._runner.run(self._workers.stop())

    def ask(self, method: str, request: Message, answer: type[_Answer], seconds: float = _FUSE_SECONDS) -> _Answer:
        """Return the one answer. Raise ``QueryError`` for a question that is wrong, ``NoAnswer``.

        Without an answer after ``seconds`` and a moment, that is ``OutOfTime``.
        """
        found = list[_Answer]()
        self._run(method, request, seconds, None, lambda reply: found.append(answer.FromString(reply or b"")))
        (one,) = found
        return one

    def search(
        self,
        method: str,
        request: Message,
        answer: type[_Answer],
        seconds: float,
        news: Callable[[_Answer | None], None],
    ) -> None:
        """Call ``news`` with the answers as they come, and with None now and then in between.

        Returns after the last answer. Raise what ``ask`` does, and ``KeyboardInterrupt``, after which nothing is
        searched any longer.
        """
        self._run(
            method,
            request,
            seconds,
            _BEAT_SECONDS,
            lambda reply: news(None if reply is None else answer.FromString(reply)),
        )

    def _run(
        self,
        method: str,
        request: Message,
        seconds: float,
        beat_s: float | None,
        news: Callable[[bytes | None], None],
    ) -> None:
        """Run one request in an event loop of its own; Ctrl-C ends its wait, wherever that is."""
        until = self._runner.get_loop().time() + seconds + _SLACK_SECONDS

        async def ask() -> None:
            replies = self._workers.ask(method, request.SerializeToString(), until_s=until, beat_s=beat_s)
            async with aclosing(replies):
                async for reply in replies:
                    news(reply)

        with _told():
            self._runner.run(ask())


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BadQuestion as error:
        raise QueryError(str(error)) from None
    except WorkerFailed as error:
        raise (OutOfTime if error.why == "hung" else NoAnswer)(str(error)) from None
    except WorkerFault as error:
        print(error, file=sys.stderr)
        raise NoAnswer("the solver failed, see standard error; this is a bug, please report it") from None
