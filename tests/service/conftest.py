"""A real server on a free loopback port, with a real store in a directory of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import structlog

from referee.service import logs
from referee.service.server import Config, Server
from tests.service.engines import Engine, PostgreSQL, Sqlite
from tests.service.player import Client, Play, connected
from tests.sizes import campaign


@pytest.fixture(autouse=True)
def logged() -> Iterator[StringIO]:
    """What the referee logs, all of it."""
    stream = StringIO()
    logs.configure("json", "debug", stream)
    yield stream
    structlog.reset_defaults()


on_both_engines = pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
"""In every run; what takes an engine without this is run on PostgreSQL by ``make test-long``."""


@asynccontextmanager
async def running(path: Path, **config: Any) -> AsyncIterator[tuple[Server, Client]]:
    """A server and a client; a server with the same path is the same one, started again."""
    server = await Server.start(Config(path, **config))
    try:
        async with connected(server.address, server.data.token_path.read_text().strip()) as client:
            yield server, client
    finally:
        await server.stop(grace_s=0)


@pytest.fixture(params=["sqlite", campaign("postgresql")])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """The database of the referee in ``data``."""
    data = tmp_path / "data"
    return Sqlite(data) if request.param == "sqlite" else PostgreSQL(data, request.getfixturevalue("postgres"))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path / "data") as (_, client):
        yield client


@pytest.fixture
async def play(client: Client) -> Play:
    """A dealt game of two, everybody joined, nobody has moved."""
    play = await client.play()
    await play.until_play()
    return play
