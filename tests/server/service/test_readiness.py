"""Health is true: while nothing can be written the services that write are not serving, and readers continue."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.server.service.files import STORE_FILE
from referee.server.service.grpc_errors import status
from referee.server.service.health import WRITING
from referee.server.store.store import Cause, NotReady
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.metrics import http
from tests.server.service.player import refused

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def statuses(channel: grpc.aio.Channel, service: str) -> AsyncIterator[int]:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    async for found in stub.Watch(health_pb2.HealthCheckRequest(service=service)):
        yield found.status


async def health_of(channel: grpc.aio.Channel, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    found: int = (await stub.Check(health_pb2.HealthCheckRequest(service=f"referee.v1.{service}"))).status
    return found


async def page(address: str, path: str) -> str:
    status, _ = await http(address, f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    return status.partition(" ")[2]


async def test_while_nothing_can_be_written_who_writes_is_not_serving(tmp_path: Path) -> None:
    """Another program holds the database, as a full disk or a lost primary would; then it lets go of it."""
    async with running(tmp_path / "data", metrics="127.0.0.1:0", busy_s=0.05, store=None) as (server, client):
        play = await client.play()
        await play.until_play()
        health = statuses(client.channel, "")
        assert await anext(health) == SERVING
        where = ("--server", server.address, "--data", tmp_path / "data")
        with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            act = play.next_act()
            assert act is not None
            assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
            assert await anext(health) == NOT_SERVING
            for service in WRITING:
                assert await health_of(client.channel, service) == NOT_SERVING, service
            for service in ("StatusService", "RulesService", "AdjudicationService"):
                assert await health_of(client.channel, service) == SERVING, service
            assert await page(server.metrics_address, "/readyz") == "503 Service Unavailable"
            assert await page(server.metrics_address, "/livez") == "200 OK", "a restart would not help"
            assert await client.log(play.id), "what reads goes on"
            refusal = await refused(client.create())
            assert "the referee runs, and can enter nothing now: its store cannot be written" in refusal.message
            well = await asyncio.to_thread(referee, "health", *where)
            assert (well.returncode, "cannot write now" in well.stdout) == (0, True), well
            assert (await asyncio.to_thread(referee, "health", "--ready", *where)).returncode == 1
            other.execute("ROLLBACK")
        assert await anext(health) == SERVING, "by itself"
        assert await page(server.metrics_address, "/readyz") == "200 OK"
        assert (await asyncio.to_thread(referee, "health", "--ready", *where)).stdout == "the referee can write\n"
        assert (await play.submit(*act)).WhichOneof("verdict") == "accepted", "the same bytes again"
        assert await page(server.metrics_address, "/healthz") == "404 Not Found"


async def test_nobody_there(tmp_path: Path) -> None:
    done = referee("health", "--server", "127.0.0.1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_other_referees_are_counted_only_where_they_cannot_enter_anything_either() -> None:
    """They have the same database, but another disk, and another way to it."""
    told = {cause: status(NotReady(cause, 2)).message.startswith("2 referees run, and none of them") for cause in Cause}
    assert told == {Cause.STANDBY: True, Cause.NO_PRIMARY: True, Cause.DATABASE: False, Cause.UNKNOWN: False}
