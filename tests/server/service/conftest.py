"""A real server on a free loopback port, with a real store in a directory of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import structlog

from referee.process.pool import Workers
from referee.server.service import logs
from referee.server.service.calls import CALL_S
from referee.server.service.limits import REQUESTS_PER_S
from referee.server.service.server import Config, Server
from referee.server.store import postgres_nodes
from referee.server.store.postgres import PostgresStore
from tests.server.service import forked
from tests.server.service.engines import Engine, PostgreSQL, Sqlite, place
from tests.server.service.player import Client, Play, connected
from tests.server.service.warm import WarmWorkers
from tests.sizes import campaign


@pytest.fixture(autouse=True)
def logged() -> Iterator[StringIO]:
    """Yield all that the referee logs."""
    stream = StringIO()
    logs.configure("json", "debug", stream)
    yield stream
    structlog.reset_defaults()


on_both_engines = pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
"""In every run; for what is about the store."""
of_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
of_postgresql = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
"""For what is about this one."""

_START = ("Server", "running", "serve")
"""The names that start a referee."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run whatever starts a referee on each engine: ``make test`` on SQLite, ``make test-long`` on PostgreSQL, too.

    Not what names its engine, or the server.
    """
    is_named = any("engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    starts = {"client", "play"} & {*metafunc.fixturenames} or any(hasattr(metafunc.module, name) for name in _START)
    if "engine" in metafunc.fixturenames and starts and not is_named and "postgres" not in metafunc.fixturenames:
        metafunc.parametrize("engine", ["sqlite", campaign("postgresql")], indirect=True)


@asynccontextmanager
async def running(path: Path, **config: Any) -> AsyncIterator[tuple[Server, Client]]:
    """Yield a server and a client; a server with the same path is the same one, started again.

    Tests call faster than people, so callers may take ten times as much as by default, unless a test says otherwise;
    and their machines are slow, so calls may take ten times as long.
    """
    patient = {"requests_per_s": 10 * REQUESTS_PER_S, "call_s": 10 * CALL_S}
    server = await Server.start(Config(path, **({"store": place(path)} | patient | config)))
    try:
        async with connected(server.address, server.data.token_path.read_text().strip()) as client:
            yield server, client
    finally:
        await server.stop(grace_s=0)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Where the games of every referee are that the test starts; it is asked of the one in ``data``."""
    data = tmp_path / "data"
    if getattr(request, "param", "sqlite") == "sqlite":
        Engine.chosen = Sqlite(data)
    else:
        Engine.chosen = PostgreSQL(data, request.getfixturevalue("postgres"))
    yield Engine.chosen
    Engine.chosen.close()
    Engine.chosen = None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def workers_go_on() -> AsyncIterator[None]:
    """End the remaining workers, and the process that referees are forked from, with the last test."""
    yield
    await WarmWorkers.end()
    forked.end()


@pytest.fixture(autouse=True)
def warm_workers(workers_go_on: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each referee of this process take over the workers that the one before it had."""
    for where in ("server", "adjudication", "tournaments"):
        monkeypatch.setattr(f"referee.server.service.{where}.Workers", WarmWorkers)


@pytest.fixture
def new_workers(warm_workers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no referee take over a worker."""
    for where in ("server", "adjudication", "tournaments"):
        monkeypatch.setattr(f"referee.server.service.{where}.Workers", Workers)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No node of this process is taken for dead, and no session ended, because the machine is slow."""
    defaults = PostgresStore.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "lease_s", 60.0)
    monkeypatch.setattr(postgres_nodes, "IDLE_S", 60.0)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path / "data") as (_, client):
        yield client


@pytest.fixture
async def play(client: Client) -> Play:
    """Return a dealt game of two seats, all joined, without a move."""
    play = await client.play()
    await play.until_play()
    return play
