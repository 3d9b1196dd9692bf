"""One solver's worker for all commands that a process of tests runs: to start one takes longer than most answers.

A worker is left to the next question by the program itself. That a command ends its own is tested with a process.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from functools import cache

from referee.cli import solving
from referee.cli.solving import Solver
from referee.workers.pool import Workers


class _Runner(asyncio.Runner):
    """Goes on when a command leaves it."""

    def __exit__(self, *_: object) -> None:
        """Keep the loop, on which the worker's pipes are."""


class _Workers(Workers):
    """Stay when a command stops them."""

    async def start(self) -> None:
        """Start one where there is none, or none any longer."""
        if not self.has_idle:
            await super().start()

    async def stop(self) -> None:
        """Leave that to the end of the process."""


_own = Solver.__init__


def init(solver: Solver) -> None:
    """Give it what is kept. A worker ends with the thread that started it: in other threads a solver has its own."""
    if threading.current_thread() is threading.main_thread():
        solver._runner, solver._workers = _kept()
    else:
        _own(solver)


@cache
def _kept() -> tuple[_Runner, _Workers]:
    runner = _Runner(loop_factory=asyncio.new_event_loop)
    workers = _Workers(memory_mib=solving._MEMORY_MIB, module=solving._MODULE)

    def end() -> None:
        runner.run(Workers.stop(workers))
        runner.close()

    atexit.register(end)
    return runner, workers
