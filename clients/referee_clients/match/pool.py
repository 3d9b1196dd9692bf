"""Worker processes that play the games of a match: what is ready is taken, and one that dies is replaced."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Final

from referee_clients.match.worker import Match, Played, Task, serve

_CONTEXT: Final = get_context("spawn")
_MOST_DEATHS: Final = 2
"""Of workers, with the same game: then it is the game."""
_WITH_EACH: Final = 2
"""Games that a worker has: one that it plays, and one that waits, so that it never does."""
_LEAVE_S: Final = 5.0


Keep = Callable[[Played], None] | None


class WorkerDied(Exception):
    """Workers end while they play one game."""


class _Worker:
    def __init__(self, match: Match, keep: Keep) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(
            target=serve, args=(theirs, match, keep, os.getpid(), list(sys.path)), daemon=False
        )
        self.process.start()
        theirs.close()
        self.tasks: deque[Task] = deque()

    def end(self) -> None:
        with suppress(OSError):
            self.connection.close()
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(_LEAVE_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Pool:
    """So many workers."""

    def __init__(self, match: Match, processes: int, keep: Keep = None) -> None:
        self._match, self._keep = match, keep
        self._workers = [_Worker(match, keep) for _ in range(processes)]
        self._deaths: Counter[Task] = Counter()
        self._back: deque[Task] = deque()
        """Games whose worker died."""
        self.failed: dict[Task, WorkerDied] = {}
        """Games that cannot be played, which matters if they count."""

    @classmethod
    @contextmanager
    def of(cls, match: Match, processes: int, keep: Keep = None) -> Iterator[Pool]:
        """Start workers, and end them with all that bots have started.

        ``keep``: what a worker does with a game before it tells of it; it is sent to the workers.
        """
        pool = cls(match, processes, keep)
        try:
            yield pool
        finally:
            for worker in pool._workers:
                worker.end()

    @property
    def most(self) -> int:
        """How many games can be given out at one time."""
        return len(self._workers) * _WITH_EACH

    def give(self, tasks: Sequence[Task]) -> int:
        """Give games to workers, as many as they take, and return how many."""
        given = 0
        waiting = deque(tasks)
        while self._back or waiting:
            worker = min(self._workers, key=lambda each: len(each.tasks))
            if len(worker.tasks) >= _WITH_EACH:
                break
            is_back = bool(self._back)
            task = self._back.popleft() if is_back else waiting.popleft()
            worker.tasks.append(task)
            given += not is_back
            with suppress(OSError):  # it is dead, which is found when it is listened to
                worker.connection.send(task)
        return given

    def take(self, seconds: float) -> list[Played]:
        """Return what is done, after at most so long; games of which nothing more comes are in ``failed``."""
        by_connection: dict[Connection, _Worker] = {worker.connection: worker for worker in self._workers}
        found: list[Played] = []
        for each in connection.wait(list(by_connection), seconds):
            worker = by_connection[each]  # type: ignore[index]
            try:
                while worker.connection.poll():
                    played = worker.connection.recv()
                    worker.tasks.popleft()
                    found.append(played)
            except (EOFError, OSError):
                self._replace(worker)
        return found

    def _replace(self, worker: _Worker) -> None:
        worker.process.join()
        code = worker.process.exitcode or 0
        tasks = list(worker.tasks)
        if tasks:
            self._deaths[tasks[0]] += 1
            if self._deaths[tasks[0]] >= _MOST_DEATHS:
                how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
                task = tasks.pop(0)
                self.failed[task] = WorkerDied(
                    f"game {task.block}/{task.rotation}: the process that plays it {how}, twice; "
                    "expected it to live: is there enough memory?"
                )
        self._back.extend(tasks)
        worker.end()
        self._workers[self._workers.index(worker)] = _Worker(self._match, self._keep)
