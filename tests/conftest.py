"""Settings for every test: no deadlines, as machines differ in speed."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import costs, one_loop, sizes

if TYPE_CHECKING:
    from tests.server.store.postgres import Postgres

settings.register_profile("tile-referee", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tile-referee")

# A shell that starts something in the background has it ignore Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


_PAGES = Path(__file__).parent / "web"
_MEMORY = "/dev/shm"
_ROOM_BYTES = 2 << 30


def _has_memory() -> bool:
    """Check that files of tests, programs among them, may lie in memory: in many containers there is no room."""
    try:
        there = os.statvfs(_MEMORY)
    except OSError:
        return False
    may_run = not there.f_flag & os.ST_NOEXEC
    return may_run and os.access(_MEMORY, os.W_OK) and there.f_bavail * there.f_frsize >= _ROOM_BYTES


# A referee syncs all that it acknowledges: on a disk, tests would mostly wait for that.
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _has_memory():
    os.environ["PYTEST_DEBUG_TEMPROOT"] = _MEMORY


# Bots keep their keys in the user's folder: not in that of the person who runs the tests.
_DATA_HOME = TemporaryDirectory(prefix="tile-referee-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
os.environ["XDG_DATA_HOME"] = _DATA_HOME.name


# Imported and collected objects stay to the end. To look there for garbage takes half the time of the collection.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage from the first test on, only in what tests make, and less often than a small program does."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Have every process of a run take the same sample, and be measured."""
    os.environ[sizes.VARIABLE] = sizes.day()
    costs.plug_in(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    costs.tell_collection(session.config)


def pytest_report_header() -> str:
    return f"sample: {sizes.VARIABLE}={sizes.day()} repeats it"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of pages, which are a tier of their own.

    Leave out the campaigns that are not due on the day, if the environment says that they take several days.
    """
    for item in items:
        if _PAGES in item.path.parents or "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("web")
    days, today = sizes.days_of_campaigns(), sizes.day()
    out = [item for item in items if sizes.is_out(item, days, today)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]


@pytest.fixture(autouse=True, scope="session")
def garbage_at_the_end() -> Iterator[None]:
    """Collect what the last tests of a process left open, while its warnings still reach a report."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Yield a real PostgreSQL, started when the first test asks for it."""
    from tests.server.store import postgres

    with postgres.running() as server:
        if server is None:
            why = "there is no PostgreSQL here: neither pgserver from PyPI nor one of the system"
            assert "REFEREE_TESTS_POSTGRESQL" not in os.environ, why
            pytest.skip(why)
        yield server


@pytest.fixture
def nothing_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have callers get back nothing of what they drew: on a slow machine it would be more than on a fast one."""
    monkeypatch.setattr("referee.server.service.limits.monotonic", lambda: 1_000_000.0)


@pytest.fixture(autouse=True, scope="session")
async def one_loop_for_all() -> None:
    one_loop.set_up()


@pytest.fixture(autouse=True)
async def nothing_goes_on() -> AsyncIterator[None]:
    """All tests share one event loop: what a test leaves running ends with it, as it would with a loop of its own."""
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before - {task for task in (asyncio.current_task(),) if task is not None}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
