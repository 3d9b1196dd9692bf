"""Bulk audits: what isolation costs, what a poisoned file costs, two processes against one, Dask against processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from referee.log.file_audit import Question, audited
from referee.log.verdict import Policy
from referee.process.bulk import run as driver
from referee.process.bulk.isolation import Limits
from referee.process.bulk.run import Done, Place, run
from tests.bench.measure import Figure
from tests.log import registered
from tests.log.games import SIGNER, play
from tests.log.registered import at_random

FILES = 150
"""So many that the second in which processes start does not count for much."""
_ROUNDS = 3
DEADLY: Final = "deadly"
_POLICY = Policy(SIGNER.verifier)
_LIMITS = Limits(memory_mib=512, seconds=60.0)


def figures(files: int = FILES, rounds: int = _ROUNDS) -> Iterator[Figure]:
    """Files a second, by the clock."""
    with TemporaryDirectory() as folder:
        questions = _questions(Path(folder), files)
        deadly = Question(DEADLY, questions[0].path, _POLICY)
        cores = len(os.sched_getaffinity(0))

        def here(jobs: int, asked: list[Question] = questions) -> Callable[[], float]:
            def one() -> float:
                with driver.here(jobs) as place:
                    _all(place, questions[: 4 * jobs])  # the start of the processes
                    return _rate(files, lambda: _all(place, asked))

            return one

        yield _isolation(questions, rounds)
        yield _pair(f"{cores} processes: of one", here(cores), here(1), 0.9 * cores, rounds)
        poisoned = [*questions[: files // 2], deadly, *questions[files // 2 :]]
        yield _pair(
            f"{files} files and one that ends its process, {cores} processes: of those without it",
            here(cores, poisoned),
            here(cores),
            1 / 1.1,
            1,
        )
        yield _pair(
            f"Dask, {cores} workers: of as many processes of Python's pool",
            _dask(cores, questions),
            _pool(cores, questions),
            1 / 1.1,
            rounds,
        )


def audited_or_dead(question: Question) -> dict[str, Any]:
    """Audit a file; end the process for a certain one."""
    if question.name == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    return audited(question)


def _questions(folder: Path, files: int) -> list[Question]:
    data = play(registered.opened("alhambra", seats=3), at_random(1)).file()
    paths = [folder / f"{number:04}.gamelog" for number in range(files)]
    for path in paths:
        path.write_bytes(data)
    return [Question(path.name, str(path), _POLICY) for path in paths]


def _rate(files: int, work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return files / (perf_counter() - begin)


def _all(place: Place, questions: list[Question]) -> None:
    found: list[Done[Question, object]] = []
    run(place, audited_or_dead, questions, found.append, total=len(questions), limits=_LIMITS)
    assert [each.task.name for each in found if each.lost] == [each.name for each in questions if each.name == DEADLY]


def _pool(jobs: int, questions: list[Question]) -> Callable[[], float]:
    def one() -> float:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            list(pool.map(audited, questions[: 4 * jobs]))
            return _rate(len(questions), lambda: list(pool.map(audited, questions, chunksize=4)))

    return one


def _dask(jobs: int, questions: list[Question]) -> Callable[[], float]:
    def one() -> float:
        distributed = import_module("distributed")
        options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
        with (
            distributed.LocalCluster(n_workers=jobs, **options) as cluster,
            driver.dask(cluster.scheduler_address.replace("tcp://", driver.SCHEME)) as place,
        ):
            _all(place, questions[: 4 * jobs])
            return _rate(len(questions), lambda: _all(place, questions))

    return one


def _isolation(questions: list[Question], rounds: int) -> Figure:
    """Compare in turn, a few files at a time: a machine that others use, too, changes its speed within seconds."""
    few = questions[: max(1, len(questions) // 8)]
    with driver.here(1) as place:
        _all(place, few)  # the start of the process

        def ours() -> float:
            return _rate(len(few), lambda: _all(place, few))

        def bare() -> float:
            return _rate(len(few), lambda: [audited(each) for each in few])

        return _pair("one file at a time in a process of its own: of a plain loop", ours, bare, 0.95, 7 * rounds)


def _pair(name: str, ours: Callable[[], float], floor: Callable[[], float], target: float, rounds: int) -> Figure:
    pairs = [(ours(), floor()) for _ in range(rounds)]
    rates, floors = zip(*pairs, strict=True)
    return Figure(name, median(rates), round(target, 2), median(floors), median(one / other for one, other in pairs))
