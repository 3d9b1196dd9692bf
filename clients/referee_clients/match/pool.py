"""The processes that play the games of a match: finished games are taken, and a worker that dies is replaced.

There are as many as the work needs. A match of our own bots begins in the process of the command, and any other one
with one worker. Further workers start when the match has lasted longer than their start does.
"""

from __future__ import annotations

import json
import os
import pickle
import selectors
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from referee.process.child import popen
from referee.process.frames import LENGTH, MAX_FRAME_BYTES, framed
from referee.process.lifetime import ending
from referee_clients.match.worker import Match, Played, Task, of_json, play

_MOST_DEATHS: Final = 2
"""The most workers that may die in the same game: then the game is the cause."""
_WITH_EACH: Final = 2
"""Games that a worker has: one that it plays, and one that waits, so that it never does."""
_ALONE_S: Final = 1.0
"""The seconds that a match plays in one process. A short one is over before a second process is ready."""
_LEAVE_S: Final = 5.0
_READ_BYTES: Final = 1 << 20
_MAIN: Final = "from referee_clients.match.worker import main; main()"


Keep = Callable[[Played], None] | None


class WorkerDied(Exception):
    """Workers end while they play one game."""


class _Worker:
    def __init__(self, match: Match, keep: Keep) -> None:
        self._process = popen([sys.executable, "-c", _MAIN], stderr=None)
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._requests, self.replies = self._process.stdin, self._process.stdout
        os.set_blocking(self.replies.fileno(), False)
        self._read = bytearray()
        self.is_garbled = False
        """True if it wrote anything but games: it runs foreign code."""
        self.tasks: deque[Task] = deque()
        # Modules are found as here before the match is unpickled, which imports some.
        self._send(pickle.dumps((list(sys.path), os.getpid(), pickle.dumps((match, keep)))))

    def give(self, task: Task) -> None:
        """Have it play a game after those that it has."""
        self.tasks.append(task)
        self._send(json.dumps([task.block, task.rotation, task.seats]).encode())

    def _send(self, payload: bytes) -> None:
        with suppress(OSError):  # it is dead, which is found when it is listened to
            self._requests.write(framed(payload))
            self._requests.flush()

    def take(self) -> list[Played]:
        """Return the games that it has reported. Raise ``EOFError`` when nothing more can come."""
        found: list[Played] = []
        is_over = False
        while not is_over:
            try:
                data = os.read(self.replies.fileno(), _READ_BYTES)
            except BlockingIOError:
                break
            self._read += data
            is_over = not data
            try:
                while (payload := self._frame()) is not None:
                    found.append(self._played(payload))
            except (KeyError, TypeError, ValueError, RecursionError):
                self.is_garbled = is_over = True
        if is_over and not found:
            raise EOFError
        return found

    def _played(self, payload: bytes) -> Played:
        played = of_json(json.loads(payload))
        if not self.tasks or played.task != self.tasks[0]:
            raise ValueError("another game than it was given")
        self.tasks.popleft()
        return played

    def _frame(self) -> bytes | None:
        if len(self._read) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._read)
        if length > MAX_FRAME_BYTES:
            raise ValueError("a frame that is too long")
        end = LENGTH.size + length
        if len(self._read) < end:
            return None
        payload = bytes(self._read[LENGTH.size : end])
        del self._read[:end]
        return payload

    def death(self) -> str:
        """Return how it ended, or had to be ended, twice, and the remedy."""
        if self.is_garbled:
            return "a bot wrote to a pipe of the match, twice; play without --in-process, in a process of its own"
        try:
            how = ending(self._process.wait(_LEAVE_S))
        except subprocess.TimeoutExpired:
            how = "closed its pipe"
        return f"the process that plays it {how}, twice; expected it to live: is there enough memory?"

    def end(self) -> None:
        """End it with all that its bots have started."""
        with suppress(OSError):
            self._requests.close()
        self.replies.close()
        self._process.terminate()
        try:
            self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Pool:
    """This process, or a number of workers."""

    def __init__(self, match: Match, processes: int, keep: Keep = None) -> None:
        self._match, self._processes, self._keep = match, processes, keep
        self._until_s = time.monotonic() + _ALONE_S
        self._here: deque[Task] = deque()
        """Games that this process plays."""
        self._workers: list[_Worker] = []
        self._deaths: Counter[Task] = Counter()
        self._back: deque[Task] = deque()
        """Games whose worker died."""
        self.failed: dict[Task, WorkerDied] = {}
        """Games that cannot be played, which matters if they count."""

    @classmethod
    @contextmanager
    def of(cls, match: Match, processes: int, keep: Keep = None) -> Iterator[Pool]:
        """Start workers as they are needed, ``processes`` at most, and end them with all that bots have started.

        ``keep``: a worker's function for a game before it reports it; it is sent to the workers.
        """
        pool = cls(match, processes, keep)
        try:
            yield pool
        finally:
            for worker in pool._workers:
                worker.end()

    @property
    def most(self) -> int:
        """The most games that can be given out at one time."""
        return self._processes * _WITH_EACH

    def give(self, tasks: Sequence[Task]) -> int:
        """Give out games, as many as are taken, and return how many."""
        if self._is_alone():
            taken = tasks[: _WITH_EACH - len(self._here)]
            self._here.extend(taken)
            return len(taken)
        self._back.extend(self._here)
        self._here.clear()
        given = 0
        waiting = deque(tasks)
        while (self._back or waiting) and (worker := self._free()) is not None:
            is_back = bool(self._back)
            task = self._back.popleft() if is_back else waiting.popleft()
            worker.give(task)
            given += not is_back
        return given

    def _is_alone(self) -> bool:
        """Return whether this process plays: it has no code of others, and too little work for several."""
        if self._workers or not self._match.is_of_ours:
            return False
        return self._processes == 1 or time.monotonic() < self._until_s

    def _free(self) -> _Worker | None:
        """Return the worker that takes the next game, which may be a new one; None: all have enough."""
        least = min(self._workers, key=lambda each: len(each.tasks), default=None)
        if least is not None and len(least.tasks) < _WITH_EACH:
            return least
        if least is None or (len(self._workers) < self._processes and time.monotonic() > self._until_s):
            self._workers.append(_Worker(self._match, self._keep))
            return self._workers[-1]
        return None

    def take(self, seconds: float) -> list[Played]:
        """Return the games that are done, after at most ``seconds``; games without any more results are in
        ``failed``. A game that this process plays takes its time."""
        if self._here:
            played = play(self._match, self._here.popleft())
            if self._keep is not None:
                self._keep(played)
            return [played]
        found: list[Played] = []
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.replies, selectors.EVENT_READ, worker)
            ready = [key.data for key, _ in selector.select(seconds)]
        for worker in ready:
            try:
                found += worker.take()
            except EOFError:
                self._replace(worker)
        return found

    def _replace(self, worker: _Worker) -> None:
        how = worker.death()
        worker.end()
        tasks = list(worker.tasks)
        if tasks:
            self._deaths[tasks[0]] += 1
            if self._deaths[tasks[0]] >= _MOST_DEATHS:
                task = tasks.pop(0)
                self.failed[task] = WorkerDied(f"game {task.block}/{task.rotation}: {how}")
        self._back.extend(tasks)
        self._workers[self._workers.index(worker)] = _Worker(self._match, self._keep)
