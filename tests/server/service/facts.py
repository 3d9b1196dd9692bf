"""Facts at a referee to wait for: an act under way, a game as its operator sees it, that it drains."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.server.service import calls
from referee.server.service.server import Server
from referee.server.store.sql import SqlStore
from referee.v1 import game_pb2, status_service_pb2_grpc
from referee.v1 import status_service_pb2 as status_pb
from tests.server.service.player import Client, Play, bearer
from tests.waiting import until, waiting_for

NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Nothing becomes durable there meanwhile: somebody else, such as a backup, has the lock of this database."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


def sql_store(server: Server) -> SqlStore:
    """Return the server's store, for a test that reaches into it."""
    assert isinstance(server.data.store, SqlStore)
    return server.data.store


async def status(client: Client, **request: Any) -> status_pb.GetStatusResponse:
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    response: status_pb.GetStatusResponse = await stub.GetStatus(
        status_pb.GetStatusRequest(**request), metadata=bearer(client.organiser)
    )
    return response


async def of_game(client: Client, play: Play) -> status_pb.GameStatus:
    (found,) = [game for game in (await status(client)).games if game.id == play.id]
    return found


@contextmanager
def impatient(server: Server, **limits: float) -> Iterator[None]:
    """Have calls given up after these limits. From the start on, all that a test does first would have to be quick.

    ``limits``: ``call_s`` and ``write_s``, as ``Calls`` takes them; it still looks each second.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in limits.items():
            patch.setattr(server._calls, f"_{name}", seconds)
        yield


def believing_in_less(patch: pytest.MonkeyPatch, by_s: float) -> None:
    """Have the referee believe that callers wait ``by_s`` less than they do: its answers are in time on any machine."""
    patience_s = calls.patience_s
    patch.setattr(calls, "patience_s", lambda context: max(0.0, patience_s(context) - by_s))


async def is_draining(client: Client) -> None:
    """Return when the referee says so."""
    stub: Any = health_pb2_grpc.HealthStub(client.channel)
    async with waiting_for("the referee to say that it drains"):
        async for found in stub.Watch(health_pb2.HealthCheckRequest(service="")):
            if found.status == NOT_SERVING:
                return


async def under_way(server: Server, acts: int) -> None:
    """Return when ``acts`` acts are under way."""
    await until(lambda: server._counters.acts.under_way >= acts, f"{acts} acts under way")


async def commit_under_way(client: Client, play: Play) -> None:
    """Return when an act of the game is at the referee, in another process, and not durable yet."""
    async with waiting_for("an act under way"):
        while (await of_game(client, play)).state != game_pb2.GAME_STATE_UNSPECIFIED:
            pass
