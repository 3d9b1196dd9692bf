"""One task at a time in a separate process, which may die, hang or take all memory at the cost of that task alone.

The processes are those of ``referee.process``, kept for the next tasks. One has several tasks in its pipe, so that it
never waits for the next, and sends each result at once. So the task without a result is to blame when a process ends,
and the others continue in another process. Any number of threads may ask.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from referee.process.bulk import worker
from referee.process.bulk.worker import Raised, result_of
from referee.process.pool import WorkerFailed, WorkerFault, Workers

_MODULE: Final = "referee.process.bulk.worker"
_START_S: Final = 60.0
"""The time in which a new process must be ready; the task's own time begins later."""
_BEAT_S: Final = 0.5
"""The interval between checks whether a task's time is over."""

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one task."""

    memory_mib: int = 512
    """The limit of address space; 0 for no limit."""
    seconds: float = 120.0
    at_home: bool = False
    """True if a process has the environment, folder and standard error of this one: for the user's own programs."""


class _Kind(NamedTuple):
    """Tasks of one kind can be done by one process."""

    memory_mib: int
    at_home: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """There is no result, because of the process."""

    why: str
    """``died``, ``hung``, ``memory``, ``garbled``, ``fault``, ``late`` (no process was to be had), or ``place`` (the
    machine of the cluster that had the task ended)."""
    words: str


@dataclass(slots=True)
class _Answers:
    """The answers to the tasks of one request, from the first on; later tasks may have none."""

    found: list[Any]
    failure: WorkerFailed | WorkerFault | None = None
    """The reason why the next one has none."""


class _Children:
    """Worker processes of one kind and the event loop that talks to them, in a thread."""

    def __init__(self, memory_mib: int, *, at_home: bool) -> None:
        self._loop = asyncio.new_event_loop()
        self._gate = threading.Lock()
        self._is_stopped = False
        self._workers = Workers(_MODULE, memory_mib=memory_mib, at_home=at_home, refuses=False)
        self._thread = threading.Thread(target=self._loop.run_forever, name="bulk", daemon=True)
        self._thread.start()

    def ask(self, work: bytes, request: bytes, seconds: Sequence[float]) -> _Answers:
        """Return the answers to a request of several tasks, and what ended them early. ``seconds``: the time for
        each task."""
        with self._gate:
            if self._is_stopped:
                return _Answers([], _stopped())
            answers = asyncio.run_coroutine_threadsafe(self._ask(work, request, seconds), self._loop)
        return answers.result()

    async def _ask(self, work: bytes, request: bytes, seconds: Sequence[float]) -> _Answers:
        answers = _Answers([])
        try:
            if not self._workers.has_idle:  # the start is not taken from the time of the task
                await self._answer(worker.READY, work, [_START_S], answers)
            await self._answer(worker.CALL, request, seconds, answers)
        except (WorkerFailed, WorkerFault) as error:
            answers.failure = error
        return answers

    async def _answer(self, method: str, request: bytes, seconds: Sequence[float], answers: _Answers) -> None:
        beat_s = min(_BEAT_S, *seconds)
        until_s = self._loop.time()
        asked = self._workers.ask(method, request, until_s=until_s + sum(seconds), beat_s=beat_s)
        left = iter(seconds)
        until_s += next(left)
        async with aclosing(asked) as found:
            async for answer in found:
                if answer is not None:
                    try:
                        answers.found.append(result_of(answer, len(answers.found)))
                    except (ValueError, RecursionError):
                        raise WorkerFailed("garbled", "the worker's answer cannot be read") from None
                    until_s = self._loop.time() + next(left, _START_S)
                elif self._loop.time() >= until_s:
                    raise WorkerFailed("hung", "no answer in time")

    def stop(self) -> None:
        """End all processes and the thread; calls under way fail."""
        with self._gate:
            self._is_stopped = True
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        await self._workers.stop()
        if asking := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(asking)


class Keeper:
    """Keeps the processes of one run, or of one machine of a cluster, until it is stopped."""

    def __init__(self) -> None:
        self._children: dict[_Kind, _Children] = {}
        self._lock = threading.Lock()
        self._is_stopped = False

    def ask(self, work: bytes, request: bytes, kind: _Kind, seconds: Sequence[float]) -> _Answers:
        """Return the answers of a process of this kind, and what ended them early.

        ``work``: the function, which a new process imports before the time of a task begins. ``seconds``: for each.
        """
        with self._lock:
            if self._is_stopped:
                return _Answers([], _stopped())
            if kind not in self._children:
                self._children[kind] = _Children(kind.memory_mib, at_home=kind.at_home)
            children = self._children[kind]
        return children.ask(work, request, seconds)

    def stop(self) -> None:
        """End every process; whatever is asked from now on fails."""
        with self._lock:
            self._is_stopped = True
        for each in self._children.values():
            each.stop()


_of_process = Keeper()
"""The keeper for threads without one: those of a cluster's machine, whose end ends the processes."""
_of_thread = threading.local()


def _renew() -> None:
    global _of_process  # noqa: PLW0603 - what a fork copied has no threads
    _of_process = Keeper()


os.register_at_fork(after_in_child=_renew)


def give(keeper: Keeper) -> None:
    """Do all calls of this thread with processes of this keeper."""
    _of_thread.keeper = keeper


def calls(
    work: Callable[[_Task], _Result], asked: Sequence[tuple[_Task, Limits]], enough_s: float
) -> Iterator[_Result | Lost | Raised]:
    """Yield the result of each task, in their order, as JSON has it.

    Stop after an error that ``work`` raises, or after ``enough_s`` seconds.
    """
    keeper: Keeper = getattr(_of_thread, "keeper", _of_process)
    began, at = monotonic(), 0
    while at < len(asked):
        kind = _kind(asked[at][1])
        together = [*takewhile(lambda each: _kind(each[1]) == kind, asked[at:])]  # noqa: B023 - it is read at once
        request = pickle.dumps((work, [task for task, _ in together], enough_s))
        answers = keeper.ask(pickle.dumps(work), request, kind, [limits.seconds for _, limits in together])
        for found in answers.found:
            yield found
            if isinstance(found, Raised):
                return
        at += len(answers.found)
        if answers.failure is not None and at < len(asked):  # the process may end when it has answered everything
            yield _lost(answers.failure, asked[at][1])
            at += 1
        if monotonic() - began > enough_s:
            return


def _kind(limits: Limits) -> _Kind:
    return _Kind(limits.memory_mib, limits.at_home)


def _lost(error: WorkerFailed | WorkerFault, limits: Limits) -> Lost:
    if isinstance(error, WorkerFault):
        return Lost(error.why, f"the process failed: {error.last_line}")
    words = _WORDS.get(error.why)
    return Lost(error.why, words.format(limits=limits) if words else error.what)


def _stopped() -> WorkerFailed:
    return WorkerFailed("died", "the run was stopped")


_WORDS: Final = {
    "hung": "it took more than {limits.seconds:g} s",
    "memory": "it takes more than {limits.memory_mib} MiB of memory",
}
