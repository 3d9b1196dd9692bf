"""One solver's worker for all commands that a process of tests runs: to start one takes longer than most answers.

A worker is left to the next question by the program itself. That a command ends its own is tested with a process.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from functools import cache

from referee.cli.shared import solver
from referee.cli.shared.solver import Solver
from referee.process.pool import Workers


class _Workers(Workers):
    """Are one."""

    async def start(self) -> None:
        """Start one where there is none, or none any longer."""
        if not self.has_idle:
            await super().start()


_init, _exit = Solver.__init__, Solver.__exit__


def init(solver: Solver) -> None:
    """Give it what is kept. A worker ends with the thread that started it: in other threads a solver has its own."""
    if _is_kept():
        solver._runner, solver._workers = _kept()
    else:
        _init(solver)


def leave(solver: Solver, *error: object) -> None:
    """Leave a worker that is kept to the end of the process."""
    if not _is_kept():
        _exit(solver, *error)


def _is_kept() -> bool:
    return threading.current_thread() is threading.main_thread()


@cache
def _kept() -> tuple[asyncio.Runner, _Workers]:
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    workers = _Workers(memory_mib=solver._MEMORY_MIB, module=solver._MODULE)

    def end() -> None:
        runner.run(workers.stop())
        runner.close()

    atexit.register(end)
    return runner, workers
