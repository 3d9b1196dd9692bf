"""The costs of tests: processor time of the tests' processes and of all that they start, by test.

Every run ends with the files that cost most. With ``REFEREE_TESTS_COSTS=FILE`` each test's figures are written there, a
JSON object a line, from which ``python -m tests.bench suite`` makes its tables.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, Final

import grpc.aio
import pytest

VARIABLE: Final = "REFEREE_TESTS_COSTS"
SHARED: Final = "what tests share"
COLLECTION: Final = "collection"
KEPT: Final = "tests/costs"
"""Where the cache of pytest keeps the seconds of each file."""
_DEAREST: Final = 10
_NAME: Final = "cost"
_COUNTED: Final = ("processes", "nodes", "servers")


@dataclass
class Cost:
    """Processor seconds, here and in processes that ended, and what was started."""

    own_s: float = 0
    children_s: float = 0
    processes: int = 0
    nodes: int = 0
    servers: int = 0

    @property
    def seconds(self) -> float:
        return self.own_s + self.children_s

    def less(self, other: Cost) -> Cost:
        """Return what was added since."""
        before = asdict(other)
        return Cost(**{name: value - before[name] for name, value in asdict(self).items()})


class Meter:
    """Measures each test in the process that runs it."""

    def __init__(self) -> None:
        self._started: Counter[str] = Counter()
        self._before = Cost()
        sys.addaudithook(self._hear)
        start = grpc.aio.server

        def server(*args: Any, **named: Any) -> Any:
            self._started["servers"] += 1
            return start(*args, **named)

        grpc.aio.server = server

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            self._started["processes"] += 1
            self._started["nodes"] += Path(os.fsdecode(args[0])).name == "node"
        elif event in ("os.fork", "os.posix_spawn"):
            self._started["processes"] += 1

    def now(self) -> Cost:
        """Return what the process has cost so far."""
        return Cost(_used_s(RUSAGE_SELF), _used_s(RUSAGE_CHILDREN), *(self._started[name] for name in _COUNTED))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._before = self.now()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = self.now()
        report.user_properties.append((_NAME, asdict(now.less(self._before))))
        self._before = now
        return report


class Account:
    """Adds up, in the process that has the terminal, what the others report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.by_test: dict[str, Cost] = {}
        self.skipped: Counter[str] = Counter()
        self.collection_s = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == _NAME and isinstance(value, dict):
                self._add(report.nodeid, report.when, Cost(**value))
        if report.skipped and isinstance(report.longrepr, tuple):
            self.skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1

    def _add(self, test: str, phase: str | None, cost: Cost) -> None:
        # The last test of a module or a process ends what it shared with those before it.
        ends_what_is_shared = phase == "teardown" and cost.seconds > 1
        into = self.by_test.setdefault(SHARED if ends_what_is_shared else test, Cost())
        for name, value in asdict(cost).items():
            setattr(into, name, getattr(into, name) + value)

    def pytest_testnodedown(self, node: Any) -> None:
        self.collection_s += getattr(node, "workeroutput", {}).get(COLLECTION, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.lines():
            terminalreporter.write_line(line)
        if cache := getattr(self._config, "cache", None):
            cache.set(KEPT, {**cache.get(KEPT, {}), **self.by_file()})
        if path := os.environ.get(VARIABLE):
            costs = {COLLECTION: asdict(Cost(self.collection_s)), **{k: asdict(v) for k, v in self.by_test.items()}}
            Path(path).write_text("".join(f"{json.dumps([name, cost])}\n" for name, cost in costs.items()))

    def by_file(self) -> dict[str, float]:
        """Return the seconds of each file of tests."""
        found: dict[str, float] = defaultdict(float)
        for test, cost in self.by_test.items():
            found[test.partition("::")[0]] += cost.seconds
        return dict(found)

    def lines(self) -> Iterator[str]:
        """Yield the lines at the end of a run."""
        by_file = self.by_file()
        if self.collection_s:
            by_file[COLLECTION] = self.collection_s
        if len(by_file) > _DEAREST:
            yield f"Processor time: {sum(by_file.values()):.0f} s. Most of it took:"
            dearest = sorted(by_file.items(), key=lambda each: -each[1])[:_DEAREST]
            yield from (f"{seconds:6.1f} s  {name}" for name, seconds in dearest)
        if self.skipped:
            reasons = (f"{count} ({why})" for why, count in self.skipped.most_common())
            yield f"Skipped: {'; '.join(reasons)}."


def plug_in(config: pytest.Config) -> None:
    """Measure this run: in a process that runs tests, in the one that has the terminal, or in the only one."""
    is_worker = hasattr(config, "workerinput")
    has_workers = not is_worker and bool(config.getoption("numprocesses", default=None))
    if not has_workers:
        config.pluginmanager.register(Meter(), "meter")
    if not is_worker:
        config.pluginmanager.register(Account(config), "account")


def tell_collection(config: pytest.Config) -> None:
    """Hand the processor time so far to the process that has the terminal."""
    output: dict[str, float] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output[COLLECTION] = _used_s(RUSAGE_SELF)


def _used_s(whose: int) -> float:
    use = getrusage(whose)
    return use.ru_utime + use.ru_stime
