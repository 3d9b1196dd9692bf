"""The driver of every bulk run: ``run`` hands tasks to an executor and what becomes of each to a sink.

An executor is anything that ``concurrent.futures`` knows: threads here, a cluster of machines, one of another library.
Tasks are handed out in parts, so that none waits for the next one, and each is done in a process of its own kind there
(``isolation``). A task whose process dies, hangs or needs too much memory is tried once more. A part that is lost with
its machine is halved until the task is alone, so that no neighbour is blamed. ``place`` is this machine or a cluster.
"""

from __future__ import annotations

import logging
import re
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from time import perf_counter
from typing import Any, Final, Generic, TypeVar

import referee as program
from referee.process.bulk import isolation
from referee.process.bulk.isolation import Limits, Lost
from referee.process.bulk.results import BadOption, OtherVersion, PlaceLost, TooManyLost
from referee.process.bulk.worker import Raised


class TaskFailed(RuntimeError):
    """A task raised an error that its caller does not know: the program is wrong."""


_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

_MOST_TASKS: Final = 1000
"""The most tasks in one part, however short they are."""
_ENOUGH: Final = 2.0
"""Times what a part should take."""
_LOST_AT_LEAST, _LOST_SHARE, _LOST_AT_MOST = 10, 100, 100
"""Ten tasks may be lost, or one in a hundred if that is more, but never more than a hundred."""
_USUAL: Final = Limits()
_ENDED = (BrokenExecutor, CancelledError, OSError)
"""The errors of an executor that can do nothing more."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place where tasks are done."""

    executor: Executor
    slots: Callable[[], int]
    """Returns how many tasks can be done there at one time, now."""
    part_s: float = 0.0
    """Seconds that a part should take, as handing out costs something; 0: every task is a part."""


@dataclass(frozen=True, slots=True)
class Done(Generic[_Task, _Result]):
    """The outcome of a task: a result, or why there is none."""

    task: _Task
    result: _Result | None
    lost: Lost | None = None


@dataclass(slots=True)
class _Item(Generic[_Task]):
    task: _Task
    limits: Limits
    tries: int = 0


@dataclass(slots=True)
class _Part:
    """The tasks that a machine does at one time."""

    version: str
    work: Callable[[Any], Any]
    calls: list[tuple[Any, Limits]]
    enough_s: float
    """The time after which the other tasks are left to another machine: they take longer than those before."""


@dataclass(slots=True)
class _Answers:
    found: list[Any] = field(default_factory=list)
    """Results, ``Lost``, and at the end an error or ``Raised``, after which nothing was done."""
    seconds: float = 0.0


def _do(part: _Part) -> _Answers:
    """Do a part, wherever that is."""
    answers = _Answers()
    if part.version != program.__version__:
        here = f"{socket.gethostname()} has version {program.__version__}"
        answers.found.append(OtherVersion(f"{here} of Tile Referee; expected {part.version}, as here"))
        return answers
    began = perf_counter()
    answers.found += isolation.calls(part.work, part.calls, part.enough_s)
    answers.seconds = perf_counter() - began
    return answers


def run(
    place: Place,
    work: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    sink: Callable[[Done[_Task, _Result]], None],
    *,
    total: int,
    limits: Limits | Callable[[_Task], Limits] = _USUAL,
    errors: Iterable[type[Exception]] = (),
) -> None:
    """Do all tasks; call ``sink`` with each as soon as its part is done, in this thread, in any order.

    ``work`` is a function of a module, not of ``__main__``; it and its tasks can be pickled, and its results can be
    written as JSON. ``total``: the number of tasks; they are taken as they are needed. ``limits``: those of each task.
    ``errors``: those of ``work``, made of one text each.

    Raise those errors, ``TaskFailed`` for others, and ``BulkError``. Unfinished tasks are cancelled then, and after
    Ctrl-C.
    """
    items = (_Item(task, limits(task) if callable(limits) else limits) for task in tasks)
    _Run(place, work, sink, total, errors).all(items)


class _Run(Generic[_Task, _Result]):
    def __init__(
        self,
        place: Place,
        work: Callable[[_Task], _Result],
        sink: Callable[[Done[_Task, _Result]], None],
        total: int,
        errors: Iterable[type[Exception]],
    ) -> None:
        self._errors = {each.__name__: each for each in errors}
        self._place = place
        self._work = work
        self._sink = sink
        self._most_lost = min(_LOST_AT_MOST, max(_LOST_AT_LEAST, total // _LOST_SHARE))
        self._lost = 0
        self._left = total
        """Tasks that are in no part yet, or were done before."""
        self._size = 1.0
        """Tasks in a part."""
        self._again: deque[list[_Item[_Task]]] = deque()
        self._running: dict[Future[_Answers], list[_Item[_Task]]] = {}

    def all(self, items: Iterator[_Item[_Task]]) -> None:
        try:
            while True:
                most = 2 * self._slots()  # one under way and one that waits for its place
                while len(self._running) < most:
                    part = self._again.popleft() if self._again else self._next(items, most)
                    if not part:
                        break
                    self._submit(part)
                if not self._running:
                    return
                for future in wait(self._running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    self._take(future, self._running.pop(future))
        finally:
            for future in self._running:
                future.cancel()

    def _next(self, items: Iterator[_Item[_Task]], parts: int) -> list[_Item[_Task]]:
        """Return the next part. Towards the end parts are smaller, so that all places are done at about one time."""
        part = list(islice(items, min(int(self._size), max(1, self._left // parts))))
        self._left -= len(part)
        return part

    def _slots(self) -> int:
        try:
            return max(1, self._place.slots())
        except _ENDED as error:
            raise _lost(error) from error

    def _submit(self, part: list[_Item[_Task]]) -> None:
        calls = [(item.task, item.limits) for item in part]
        asked = _Part(program.__version__, self._work, calls, _ENOUGH * self._place.part_s)
        try:
            self._running[self._place.executor.submit(_do, asked)] = part
        except (*_ENDED, RuntimeError) as error:
            raise _lost(error) from error

    def _take(self, future: Future[_Answers], part: list[_Item[_Task]]) -> None:
        try:
            answers = future.result()
        except _ENDED as error:
            raise _lost(error) from error
        except Exception as error:  # noqa: BLE001 - what it is depends on the executor
            self._halve(part, Lost("place", f"the machine that had it ended ({_words(error)})"))
            return
        for item, found in zip(part, answers.found, strict=False):
            if isinstance(found, Raised):
                known = self._errors.get(found.name)
                raise TaskFailed(f"{found.name}: {found.words}") if known is None else known(found.words)
            if isinstance(found, Exception):
                raise found
            if isinstance(found, Lost):
                self._retry(item, found)
            else:
                self._sink(Done(item.task, found))
        done = len(answers.found)
        if self._place.part_s and answers.seconds > 0 and (done < len(part) or done >= int(self._size) / 2):
            wanted = self._place.part_s / answers.seconds * done
            self._size = min(max(1.0, wanted), 2 * done, _MOST_TASKS)
        left = iter(part[done:])
        self._again += iter(lambda: list(islice(left, int(self._size))), [])

    def _halve(self, part: list[_Item[_Task]], lost: Lost) -> None:
        if len(part) == 1:
            self._retry(part[0], lost)
            return
        middle = len(part) // 2
        self._again += [part[:middle], part[middle:]]

    def _retry(self, item: _Item[_Task], lost: Lost) -> None:
        item.tries += 1
        if item.tries < 2:
            self._again.append([item])
            return
        self._sink(Done(item.task, None, lost))
        self._lost += 1
        if self._lost > self._most_lost:
            raise TooManyLost(self._lost, self._most_lost, lost.words)


def _lost(error: BaseException) -> PlaceLost:
    return PlaceLost(f"the machines that do the work no longer answer ({_words(error)}); finished work is kept")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


# --- places ---------------------------------------------------------------------------------------------------


SCHEME: Final = "dask://"
_CONNECT_S: Final = 10
_PART_S: Final = 2.0
"""The length of a part there, where handing one out costs some 11 ms."""
_PART_HERE_S: Final = 0.25
"""The length of a part here, where handing one out costs a millisecond, or more under load. A killed run loses its
parts."""


@contextmanager
def here(jobs: int) -> Iterator[Place]:
    """Yield this machine, which does ``jobs`` tasks at one time. On exit no process of it is left."""
    keeper = isolation.Keeper()
    threads = ThreadPoolExecutor(jobs, "bulk", isolation.give, (keeper,))
    try:
        yield Place(threads, lambda: jobs, _PART_HERE_S)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        keeper.stop()
        threads.shutdown()


@contextmanager
def place(address: str | None, jobs: int) -> Iterator[Place]:
    """Yield where ``--on`` says; without it this machine. Raise ``BadOption``, ``PlaceLost``."""
    with here(jobs) if address is None else dask(address) as found:
        yield found


@contextmanager
def dask(address: str) -> Iterator[Place]:
    """Yield the cluster whose scheduler has the address ``dask://HOST:PORT``. Raise ``BadOption``, ``PlaceLost``."""
    if not re.fullmatch(r"dask://[^/\s]+:\d{1,5}", address):
        raise BadOption(f"--on {address[:60]!r}; expected dask://HOST:PORT, of a Dask scheduler")
    if find_spec("distributed") is None:
        raise BadOption("--on: Dask is not installed here; expected pip install 'tile-referee[cluster]' before")
    distributed = import_module("distributed")  # an extra; it takes a second
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is reported in one line
    try:
        client = distributed.Client(address.replace(SCHEME, "tcp://", 1), timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PlaceLost(f"--on {address}: no scheduler of Dask answers there") from error
    with client:
        # Each part is a call of its own: Dask would give the result of an equal one, also that it was lost.
        yield Place(client.get_executor(pure=False, retries=0), lambda: sum(client.nthreads().values()), _PART_S)
