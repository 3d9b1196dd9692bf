"""A solver's worker process, asked from a command that waits for the answers.

Z3 takes Ctrl-C for itself while it works, and can use up the memory: in a process of its own it does neither here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from typing import Annotated, Final, Self, TypeVar

import typer
from google.protobuf.message import Message

from referee.notation.strict_json import QueryError
from referee.workers.errors import BadQuestion
from referee.workers.pool import WorkerFailed, WorkerFault, Workers

Rlimit = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=(1 << 32) - 1,
        help="Limit on Z3's work, which does not depend on the machine's speed.",
        show_default=False,
    ),
]

_MODULE: Final = "referee.service.solver_worker"
_MEMORY_MIB: Final = 4096
_FUSE_SECONDS: Final = 3600.0
"""For what has its budget in work, not in time."""
_BEAT_SECONDS: Final = 0.1
"""How often a search gives a sign while it has nothing new."""
_SLACK_SECONDS: Final = 1.0
"""That a worker is told less than there is."""

_Answer = TypeVar("_Answer", bound=Message)


class NoAnswer(Exception):
    """The worker ended before its time. Another question gets another worker."""


class OutOfTime(NoAnswer):
    """The worker did not end in time."""


class Solver:
    """To be entered, which starts a worker, and left, which ends it, by ``with``."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._workers = Workers(memory_mib=_MEMORY_MIB, module=_MODULE)

    def __enter__(self) -> Self:
        with _told():
            self._runner.run(self._workers.start())
        return self

    def __exit__(self, *error: object) -> None:
        with self._runner:
            self._runner.run(self._workers.stop())

    def ask(self, method: str, request: Message, answer: type[_Answer]) -> _Answer:
        """Return the one answer. Raise ``QueryError`` for a question that is wrong, ``NoAnswer``."""
        (found,) = (
            each for each in self.search(method, request, answer, _FUSE_SECONDS, beat_s=None) if each is not None
        )
        return found

    def search(
        self,
        method: str,
        request: Message,
        answer: type[_Answer],
        seconds: float,
        *,
        beat_s: float | None = _BEAT_SECONDS,
    ) -> Generator[_Answer | None]:
        """Yield the answers as they come, and None now and then in between. Raises what ``ask`` does.

        Ends with the last answer; without one after ``seconds`` and a moment with ``OutOfTime``.
        """
        until = self._runner.get_loop().time() + seconds + _SLACK_SECONDS
        replies = self._workers.ask(method, request.SerializeToString(), until_s=until, beat_s=beat_s)
        with _told():
            try:
                while found := self._runner.run(_next(replies)):
                    (reply,) = found
                    yield None if reply is None else answer.FromString(reply)
            finally:
                self._runner.run(replies.aclose())


async def _next(replies: AsyncGenerator[bytes | None]) -> tuple[bytes | None, ...]:
    """Return the next one alone; nothing at the end."""
    async for reply in replies:
        return (reply,)
    return ()


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
