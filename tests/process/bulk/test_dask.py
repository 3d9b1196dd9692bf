"""Audits on a cluster of Dask's, which is a real one of two workers on this machine."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from referee.process.bulk import run as driver
from referee.process.bulk.isolation import Limits
from referee.process.bulk.results import PlaceLost
from referee.process.bulk.run import Done, run
from tests.cli.inside import referee
from tests.process.bulk.conftest import KEY
from tests.process.bulk.jobs import do

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.long,
    # Warnings of Dask's own sockets and loops, when a worker is killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def cluster() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=2, **options) as found:
        yield found


def address(cluster: Any) -> str:
    return str(cluster.scheduler_address).replace("tcp://", driver.SCHEME)


def test_a_run_on_a_cluster_is_as_here(cluster: Any, games: Path) -> None:
    """The workers read some files, and others are sent to them; then the run continues here."""
    here = referee("audit", games, "--key", KEY, "--jobs", 1)
    out = games.parent / "out.jsonl"
    there = referee("audit", games, "--key", KEY, "--on", address(cluster), "--resume", out)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    sent = referee("audit", games, "--key", KEY, "--on", address(cluster), "--send", "--json")
    assert sent.stdout == referee("audit", games, "--key", KEY, "--jobs", 1, "--json").stdout
    before = out.read_bytes()
    assert referee("audit", games, "--key", KEY, "--resume", out).stdout == here.stdout
    assert out.read_bytes() == before


def test_a_poisoned_task_and_a_killed_worker_cost_no_neighbour(cluster: Any) -> None:
    """A task that ends its process costs itself; a worker that is killed with a part costs nothing."""
    found: list[Done[str, str]] = []
    killed: list[int] = []

    def sink(each: Done[str, str]) -> None:
        found.append(each)
        if len(found) == 20:
            (pid, *_) = (worker.process.pid for worker in cluster.workers.values())
            killed.append(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    tasks = [f"echo:{number}" for number in range(200)]
    with driver.dask(address(cluster)) as place:
        run(place, do, [*tasks[:50], "die", *tasks[50:]], sink, total=201, limits=Limits(100, 30.0))
    assert killed
    assert [(each.task, each.lost.why) for each in found if each.lost is not None] == [("die", "died")]
    assert sorted(each.task for each in found if each.lost is None) == sorted(tasks)


def test_a_scheduler_that_is_lost_ends_the_run_and_keeps_what_is_done(cluster: Any) -> None:
    found: list[Done[str, str]] = []

    def sink(each: Done[str, str]) -> None:
        if not found:
            cluster.close()
        found.append(each)

    with driver.dask(address(cluster)) as place, pytest.raises(PlaceLost):
        run(place, do, [f"echo:{number}" for number in range(1000)], sink, total=1000, limits=Limits(100, 30.0))
    assert found


def test_no_scheduler_is_one_line(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_CONNECT_S", 1)
    done = referee("audit", games, "--key", KEY, "--on", "dask://127.0.0.1:9")
    message = "referee: --on dask://127.0.0.1:9: no scheduler of Dask answers there\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)
