"""The suite itself: what `make test` takes by the clock and of the processors, by folder and by cause."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.bench.measure import Figure
from tests.costs import COLLECTION, SHARED, VARIABLE, Cost

WORKERS = 3
"""The number of processes that `make test` starts."""


def figures() -> Iterator[Figure]:
    """Run `make test`, and yield seconds: the whole, each folder, and each cause. Raise if a test fails."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "costs"
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS)]
        began = monotonic()
        subprocess.run(command, env={**os.environ, VARIABLE: str(path)}, check=True, stdout=sys.stderr)
        spent_s = monotonic() - began
        costs = {name: Cost(**cost) for name, cost in map(json.loads, path.read_text().splitlines())}
    yield Figure("make test, by the clock", spent_s, at_most=300)
    yield Figure("its processor time, collection included", sum(cost.seconds for cost in costs.values()), at_most=540)
    yield Figure("collection, one worker", costs[COLLECTION].seconds / WORKERS, at_most=7)
    yield from _sums(costs, folder_of)
    yield from _sums({name: cost for name, cost in costs.items() if "::" in name}, cause_of)


def _sums(costs: dict[str, Cost], key: Callable[[str, Cost], str]) -> Iterable[Figure]:
    found: dict[str, list[float]] = defaultdict(list)
    for name, cost in costs.items():
        found[key(name, cost)].append(cost.seconds)
    for name, seconds in sorted(found.items(), key=lambda each: -sum(each[1])):
        yield Figure(f"{name}: {len(seconds)}", sum(seconds))


def folder_of(test: str, cost: Cost) -> str:
    """Return the folder of a test, or what it is if it is none."""
    if test in (SHARED, COLLECTION):
        return test
    return test.partition("::")[0].rpartition("/")[0]


def cause_of(test: str, cost: Cost) -> str:
    """Return what of a test is likely to cost most: of what it starts, the dearest."""
    if cost.nodes:
        return "tests that start Node"
    if cost.processes:
        return "tests that start a process"
    return "tests that start a server" if cost.servers else "tests that start nothing"
