"""The driver: what becomes of tasks whose process dies, hangs or takes all memory, and of their neighbours."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from math import inf
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from referee.process.bulk import isolation
from referee.process.bulk import run as driver
from referee.process.bulk.isolation import Limits
from referee.process.bulk.results import OtherVersion, PlaceLost, TooManyLost
from referee.process.bulk.run import Done, Place, TaskFailed, run
from referee.process.bulk.worker import Raised
from tests.process.bulk.jobs import do, last_words
from tests.waiting import is_there

FEW = Limits(memory_mib=100, seconds=60.0)
NEIGHBOURS = [f"echo:{number}" for number in range(20)]


def done(place: Place, tasks: Sequence[str], limits: Limits = FEW) -> dict[str, Done[str, str]]:
    """Return the outcome of each task."""
    found: list[Done[str, str]] = []
    run(place, do, tasks, found.append, total=len(tasks), limits=limits)
    assert sorted(each.task for each in found) == sorted(tasks), "each once"
    return {each.task: each for each in found}


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with driver.here(2) as place:
        yield place


@pytest.mark.parametrize(
    ("task", "why", "words", "seconds"),
    [
        ("die", "died", "the worker was killed by SIGKILL", 60.0),
        ("halt", "hung", "it took more than 2 s", 2.0),
        ("spin", "hung", "it took more than 2 s", 2.0),
        ("hog", "memory", "it takes more than 100 MiB of memory", 60.0),
    ],
)
def test_a_poisoned_task_costs_itself(here: Place, task: str, why: str, words: str, seconds: float) -> None:
    found = done(here, [*NEIGHBOURS[:7], task, *NEIGHBOURS[7:]], Limits(memory_mib=100, seconds=seconds))
    lost = found.pop(task)
    assert (lost.result, lost.lost) == (None, isolation.Lost(why, words))
    assert {each.task: each.result for each in found.values()} == {name: name[5:] for name in NEIGHBOURS}


@pytest.mark.parametrize("kind", ["pickle", "refusal", "no-refusal"])
def test_what_a_task_writes_to_the_pipe_of_its_process_is_read_as_data(here: Place, kind: str, tmp_path: Path) -> None:
    """It costs the task, and a pickle in it is not run."""
    found = done(here, [*NEIGHBOURS[:3], f"forge:{kind}:{tmp_path / 'run'}", *NEIGHBOURS[3:]])
    lost = {each.lost for each in found.values() if each.lost is not None}
    assert lost == {isolation.Lost("garbled", "the worker's answer cannot be read")}
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["early", "done", "next"])
def test_a_late_answer_is_never_that_of_another_task(here: Place, kind: str) -> None:
    """A task forges its own answer, and the end of its request as well; then its process answers it once more."""
    asked = [(f"forge:{kind}", FEW), ("echo:1", FEW), ("echo:2", FEW)]
    keeper = isolation.Keeper()
    try:
        isolation.give(keeper)
        found = [*isolation.calls(do, asked, 60.0)]
    finally:
        keeper.stop()
        del isolation._of_thread.keeper
    garbled = isolation.Lost("garbled", "the worker's answer cannot be read")
    assert found == ["forged", garbled, "2"]


def test_a_process_that_dies_by_chance_costs_nothing(here: Place, tmp_path: Path) -> None:
    tasks = [f"die_once:{tmp_path / str(number)}" for number in range(15)]
    assert {each.result for each in done(here, tasks).values()} == {"alive"}


def test_processes_are_kept_for_the_next_task(here: Place) -> None:
    pids = {each.result for each in done(here, [f"pid:{number}" for number in range(50)]).values()}
    assert 1 <= len(pids) <= 2
    assert str(os.getpid()) not in pids


def test_if_most_tasks_are_lost_the_run_stops(here: Place) -> None:
    """It is the machine. Of few tasks ten may be lost."""
    found: list[Done[str, str]] = []
    tasks = [f"die:{number}" for number in range(50)]
    with pytest.raises(TooManyLost, match="11 tasks were lost, and at most 10 may be; the last one: the worker was"):
        run(here, do, tasks, found.append, total=len(tasks), limits=FEW)
    assert len(found) == 11


def test_what_the_function_raises_ends_the_run(here: Place) -> None:
    with pytest.raises(KeyError, match="'me'"):
        run(here, do, ["echo:1", "fail:me"], print, total=2, limits=FEW, errors=[KeyError])
    with pytest.raises(TaskFailed, match="KeyError: me"):
        done(here, ["echo:1", "fail:me"])
    with pytest.raises(TaskFailed, match="Refused: not me"):
        done(here, ["refuse"])


def test_tasks_are_taken_as_they_are_needed(here: Place) -> None:
    """A million of them do not wait in a queue."""
    taken = 0

    def tasks() -> Iterator[str]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield f"echo:{number}"

    waiting: list[int] = []
    one_by_one = replace(here, part_s=0.0)
    run(one_by_one, do, tasks(), lambda _: waiting.append(taken - len(waiting)), total=100, limits=FEW)
    assert (taken, max(waiting)) == (100, 4)


def test_in_a_part_only_the_task_that_ended_the_process_is_lost(tmp_path: Path) -> None:
    """And its neighbours before and after it are done once, the ones after it by another process."""
    tasks = [f"pid:{number}" for number in range(3)]
    asked = [*tasks, "die", *tasks, f"die_once:{tmp_path / 'once'}", *tasks, "halt", *tasks]
    soon = replace(FEW, seconds=1.0)
    found = list(isolation.calls(do, [(task, soon if task == "halt" else FEW) for task in asked], inf))
    whys = [each.why if isinstance(each, isolation.Lost) else "" for each in found]
    assert whys == ["", "", "", "died", "", "", "", "died", "", "", "", "hung", "", "", ""]
    pids = [found[at : at + 3] for at in (0, 4, 8, 12)]
    assert [len({*each}) for each in pids] == [1, 1, 1, 1], "one process had them all in its pipe"
    assert len({pid for each in pids for pid in each}) == 4


def test_a_part_that_takes_longer_than_it_should_is_left_to_others(here: Place) -> None:
    """Or a line of results would come late, and few would do what many can."""
    machines = _Machines(set())
    tasks = [*[f"echo:{number}" for number in range(100)], *[f"rest:{number}" for number in range(20)]]
    assert len(done(Place(machines, lambda: 1, part_s=0.3), tasks)) == len(tasks)
    slow = [len(part) for part in machines.parts if "rest:19" in part]
    assert max(map(len, machines.parts)) > 10
    assert slow[-1] <= 4


def test_in_a_part_each_task_has_its_own_time() -> None:
    """The time that those before it have not needed is not its own."""
    asked = [("echo:1", Limits(100, 60.0)), ("halt", Limits(100, 0.7)), ("echo:2", Limits(100, 60.0))]
    assert list(isolation.calls(do, asked, inf)) == ["1", isolation.Lost("hung", "it took more than 0.7 s"), "2"]


def test_a_process_that_ends_when_it_has_answered_everything_costs_nothing() -> None:
    (found,) = isolation.calls(last_words, [("", FEW)], inf)
    assert isinstance(found, dict), found
    assert list(isolation.calls(do, [("echo:1", FEW)], inf)) == ["1"], "nor the next"


def test_what_the_function_imports_is_not_taken_from_the_time_of_a_task() -> None:
    quick = importlib.import_module("tests.process.bulk.slow_to_import").quick
    with driver.here(1) as place:
        found: list[Done[str, str]] = []
        run(place, quick, ["1", "2"], found.append, total=2, limits=Limits(memory_mib=100, seconds=2.0))
    # A task whose process was stopped for a moment is tried once more, after the other.
    assert sorted(each.result or "lost" for each in found) == ["1", "2"]


def test_what_is_raised_in_a_part_ends_it() -> None:
    one, raised = isolation.calls(do, [("echo:1", FEW), ("fail:me", FEW), ("echo:2", FEW)], inf)
    assert (one, raised) == ("1", Raised("KeyError", "me"))


def test_at_home_and_not(here: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only what the person who runs it has written gets folder and environment."""
    monkeypatch.setenv("BULK_TEST", "secret")
    monkeypatch.chdir(tmp_path)
    assert done(here, ["home"])["home"].result == "/ "
    assert done(here, ["home"], Limits(memory_mib=0, at_home=True))["home"].result == f"{tmp_path} secret"


def test_no_process_is_left() -> None:
    with driver.here(2) as place:
        pids = {int(each.result or 0) for each in done(place, [f"pid:{number}" for number in range(9)]).values()}
        assert all(map(is_there, pids))
    assert not any(map(is_there, pids))


def test_ctrl_c_ends_the_processes_at_once() -> None:
    def sink(each: Done[str, str]) -> None:
        raise KeyboardInterrupt

    tasks = ["echo:1", *[f"spin:{number}" for number in range(4)]]
    with pytest.raises(KeyboardInterrupt), driver.here(2) as place:
        run(place, do, tasks, sink, total=5, limits=Limits(memory_mib=100, seconds=3600))


# --- other executors -------------------------------------------------------------------------------------------------


def test_any_executor_will_do() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = done(Place(pool, lambda: 2, part_s=0.2), [*NEIGHBOURS, "die"])
    assert [name for name, each in found.items() if each.lost] == ["die"]


class _Machines(Executor):
    """Machines that end with every part that has one of these tasks, as an executor of a cluster says it."""

    def __init__(self, deadly: set[str]) -> None:
        self.deadly = deadly
        self.parts: list[list[str]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        names = [task for task, _ in args[0].calls]
        self.parts.append(names)
        future: Future[Any] = Future()
        if self.deadly & {*names}:
            future.set_exception(RuntimeError("worker tcp://10.0.0.7:4711 is gone"))
        else:
            future.set_result(fn(*args))
        return future


def test_a_part_whose_machine_ends_is_halved_until_the_task_is_alone() -> None:
    machines = _Machines({"echo:60", "echo:77"})
    found = done(Place(machines, lambda: 1, part_s=1e6), [f"echo:{number}" for number in range(100)])
    lost = {name: each.lost for name, each in found.items() if each.lost is not None}
    assert set(lost) == machines.deadly, "and no neighbour"
    assert [each.why for each in lost.values()] == ["place"] * 2
    assert {each.words for each in lost.values()} == {
        "the machine that had it ended (RuntimeError: worker tcp://10.0.0.7:4711 is gone)"
    }
    assert max(map(len, machines.parts)) >= 16
    assert machines.parts.count(["echo:60"]) == 2, "once more, alone"


def test_parts_grow_to_the_time_that_they_should_take_and_are_short_at_the_end() -> None:
    machines = _Machines(set())
    done(Place(machines, lambda: 1, part_s=1e6), [f"echo:{number}" for number in range(5000)])
    sizes = list(map(len, machines.parts))
    assert sizes[:4] == [1, 1, 2, 2]
    assert max(sizes) == 1000
    falling = sizes[sizes.index(1000) :]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] == 1, "so that no place waits long for another"


def test_an_executor_that_has_ended_ends_the_run() -> None:
    threads = ThreadPoolExecutor(1)
    threads.shutdown()
    with pytest.raises(PlaceLost, match="cannot schedule new futures after shutdown"):
        done(Place(threads, lambda: 1), ["echo:1"])


def test_another_version_is_refused_where_it_is(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    part = driver._Part("0.0.1", do, [("echo:1", FEW)], inf)
    (raised,) = driver._do(part).found
    assert isinstance(raised, OtherVersion)
    assert "of Tile Referee; expected 0.0.1, as here" in str(raised)
