"""A server whose clocks a test sets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from referee.server.service.data import Data
from referee.server.service.server import Config, Server
from tests.server.service.engines import place
from tests.server.service.player import Client, connected
from tests.virtual_time import VirtualTime

START_MS = 1_800_000_000_000


class TimedServer(Server):
    """A referee whose time passes on command."""

    def __init__(self, config: Config, data: Data) -> None:
        self.time = VirtualTime(START_MS)
        super().__init__(config, replace(data, time=self.time))


@asynccontextmanager
async def timed(path: Path) -> AsyncIterator[tuple[TimedServer, Client]]:
    server = await TimedServer.start(Config(path, store=place(path)))
    assert isinstance(server, TimedServer)
    try:
        async with connected(server.address, server.data.token_path.read_text().strip()) as client:
            yield server, client
    finally:
        await server.stop(grace_s=0)
