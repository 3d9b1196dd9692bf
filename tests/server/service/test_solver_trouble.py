"""SolverService when something is in its way: workers that fail, callers that leave, too many of them; and players."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.server.service.server import Config, Server
from referee.server.service.worker_queue import MOST_OF_ONE
from referee.v1 import solver_service_pb2 as pb
from referee.v1 import status_service_pb2, status_service_pb2_grpc
from tests.server.service.conftest import running
from tests.server.service.engines import place
from tests.server.service.facts import believing_in_less
from tests.server.service.metrics import scrape
from tests.server.service.player import bearer, connected, refused, token_of
from tests.server.service.process import serve
from tests.server.service.solver import ENDLESS, ILLEGAL, LEGAL, WALL, Asker, lines_of, proving, solving
from tests.waiting import is_there, until, waiting_for

# --- workers that fail ---------------------------------------------------------------------------------------


async def begun(call: Any) -> Any:
    """Return a search that has said something, so it has a worker."""
    assert isinstance(await call.read(), pb.FindLongestWallResponse)
    return call


async def rest(call: Any) -> list[pb.FindLongestWallResponse]:
    parts = []
    while isinstance(part := await call.read(), pb.FindLongestWallResponse):
        parts.append(part)
    return parts


async def test_killed_in_the_middle(tmp_path: Path, logged: StringIO) -> None:
    async with solving(tmp_path, solver_workers=3) as (server, _, asker):
        other = await begun(asker.ask("FindLongestWall", ENDLESS))
        others = set(server.workers.pids)
        call = await begun(asker.ask("FindLongestWall", ENDLESS))
        (pid,) = set(server.workers.pids) - others
        os.kill(pid, signal.SIGKILL)
        found = await refused(rest(call))
        assert (found.reason, found.metadata) == ("SOLVER_FAILED", {"why": "died"})
        assert found.message == "the worker was killed by SIGKILL; ask again"
        assert not is_there(pid)
        await asker.ask("ProveMove", proving(LEGAL))
        await other.read()
        other.cancel()
        await until(lambda: server._worker_queue.at_work == 0, "nobody asks")
    assert {line["why"] for line in lines_of(logged) if line["event"] == "solver failed"} == {"died"}


LESS_S = 100.0
"""So much longer a caller waits than the referee believes."""


async def test_a_worker_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only time tells it from a worker that is busy."""
    believing_in_less(monkeypatch, LESS_S)
    async with solving(tmp_path) as (server, _, asker):
        (pid,) = server.workers.pids
        os.kill(pid, signal.SIGSTOP)
        found = await refused(asker.ask("ProveMove", proving(LEGAL), timeout=LESS_S + 2))
        assert (found.reason, found.metadata) == ("SOLVER_FAILED", {"why": "hung"})
        await until(lambda: not is_there(pid), "it is killed")
        await asker.ask("ProveMove", proving(LEGAL))


async def test_who_leaves_frees_the_worker(tmp_path: Path) -> None:
    async with solving(tmp_path, solver_workers=2) as (server, _, asker):
        (pid,) = server.workers.pids
        call = await begun(asker.ask("FindLongestWall", ENDLESS))
        call.cancel()
        await until(lambda: server._worker_queue.at_work == 0, "its place is free")
        await until(lambda: not is_there(pid), "its work was stopped")
        await asker.ask("ProveMove", proving(LEGAL))
        (pid,) = server.workers.pids
        os.kill(pid, signal.SIGSTOP)
        unary = asker.ask("ProveMove", proving(LEGAL))
        await until(lambda: server._worker_queue.at_work == 1, "it is asked")
        unary.cancel()
        await until(lambda: not is_there(pid), "its work was stopped")
        await asker.ask("ProveMove", proving(LEGAL))


async def test_a_deadline_ends_the_search_with_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's, or the referee's own."""
    believing_in_less(monkeypatch, LESS_S)
    for timeout, search_s in ((LESS_S + 3, 600.0), (None, 3.0)):
        async with solving(tmp_path, search_s=search_s) as (_, _, asker):
            parts = await rest(asker.ask("FindLongestWall", ENDLESS, timeout=timeout))
            assert parts[-1].done
            assert 0 < parts[-1].best <= parts[-1].bound
            assert [part.best for part in parts] == sorted(part.best for part in parts)


async def test_a_search_that_finds_nothing_new_gives_signs_of_life(tmp_path: Path) -> None:
    async with solving(tmp_path, heartbeat_s=0.05) as (server, _, asker):
        (pid,) = server.workers.pids
        call = await begun(asker.ask("FindLongestWall", ENDLESS))
        os.kill(pid, signal.SIGSTOP)
        async with waiting_for("the same twice"):
            before = await call.read()
            while (message := await call.read()) != before:
                before = message
        call.cancel()
        await until(lambda: not is_there(pid), "its work was stopped")


# --- many callers, and players -------------------------------------------------------------------------------


async def test_fifty_questions_of_several_callers(tmp_path: Path) -> None:
    async with solving(tmp_path, solver_workers=2, metrics="127.0.0.1:0") as (server, client, _):
        askers = [Asker(client, token) for _ in range(4) for token in (await client.create()).seat_tokens]
        claims = [LEGAL, ILLEGAL]
        questions = [asker.ask("ProveMove", proving(claims[number % 2])) for asker in askers for number in range(7)]
        answers = await asyncio.gather(*questions)
        expected = [pb.FINDING_HOLDS, pb.FINDING_FAILS]
        assert [answer.proof.finding for answer in answers] == [expected[n % 2] for _ in askers for n in range(7)]
        assert server.workers.started == 2
        samples = await scrape(server.metrics_address)
        assert samples.of("referee_solver_queries_total", "ProveMove", "proven") == len(answers) + 1
        assert samples.of("referee_solver_seconds_count", "ProveMove") == len(answers) + 1
        assert samples.of("referee_solver_workers_started_total") == samples.of("referee_solver_workers") == 2
        assert samples.sum("referee_solver_questions") == samples.sum("referee_solver_workers_lost_total") == 0


async def test_too_many_of_one_caller(tmp_path: Path) -> None:
    """And others get their answers meanwhile."""
    async with solving(tmp_path, solver_workers=2) as (server, client, asker):
        calls = [asker.ask("FindLongestWall", ENDLESS) for _ in range(MOST_OF_ONE)]
        await until(lambda: server._worker_queue.waiting == MOST_OF_ONE - 1, "they have all come")
        for call in (asker.ask("ProveMove", proving(LEGAL)), asker.ask("FindLongestWall", WALL)):
            found = await refused(call)
            assert found.reason == "LIMIT"
            assert found.metadata == {"limit": "questions of one caller to the solver at one time"}
            assert found.retry_s > 0
        status: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
        shown = await status.GetStatus(status_service_pb2.GetStatusRequest(), metadata=bearer(client.organiser))
        numbers = (shown.server.solver_workers, shown.server.solver_at_work, shown.server.solver_waiting)
        assert numbers == (2, 1, MOST_OF_ONE - 1)
        play = await client.play()
        other = Asker(client, token_of(play, 0))
        assert (await other.ask("ProveMove", proving(ILLEGAL))).proof.finding == pb.FINDING_FAILS
        for call in calls:
            call.cancel()
        await until(lambda: not server._worker_queue.waiting + server._worker_queue.at_work, "all have left")


async def test_acts_go_on_while_no_worker_is_free(tmp_path: Path) -> None:
    server = await Server.start(Config(tmp_path / "data", store=place(tmp_path / "data"), solver_workers=1))
    async with connected(server.address, server.data.token_path.read_text().strip()) as client:
        asker, play = Asker(client), await client.play()
        await play.until_play()
        await server.workers.start()
        for pid in server.workers.pids:
            os.kill(pid, signal.SIGSTOP)
        asked = [asyncio.create_task(refused(asker.ask("ProveMove", proving(LEGAL)))) for _ in range(3)]
        await until(lambda: (server._worker_queue.at_work, server._worker_queue.waiting) == (1, 2), "they have come")
        await play.steps(20)
        assert not any(task.done() for task in asked)
        await server.stop(grace_s=60)  # without any, gRPC may cut a call before its answer has left
        assert {found.reason for found in await asyncio.gather(*asked)} == {"DRAINING"}


async def test_without_workers_it_is_not_there(tmp_path: Path) -> None:
    async with running(tmp_path / "data", solver_workers=0) as (server, client):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await Asker(client).ask("ProveMove", proving(LEGAL))
        assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
        health: Any = health_pb2_grpc.HealthStub(client.channel)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await health.Check(health_pb2.HealthCheckRequest(service="referee.v1.SolverService"))
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND
        await (await client.play()).until_play()
        assert server.workers.started == 0


@pytest.mark.long
async def test_a_signal_ends_what_is_asked(tmp_path: Path) -> None:
    """With DRAINING, soon, and without leaving a process behind; a referee that is killed leaves none either."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        referee = await serve(tmp_path / "data", tmp_path / "log", "--solver-workers", "2")
        async with connected(referee.address, referee.token) as client:
            call = await begun(Asker(client).ask("FindLongestWall", ENDLESS))
            pids = children_of(referee.process.pid)
            assert len(pids) == 1
            referee.process.send_signal(number)
            if number == signal.SIGTERM:
                assert (await refused(rest(call))).reason == "DRAINING"
            assert await referee.process.wait() == (0 if number == signal.SIGTERM else -number)
        await gone(pids)


async def gone(pids: list[int]) -> None:
    await until(lambda: not any(map(is_there, pids)), "the worker is gone", every_s=0.01)


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            found += map(int, path.read_text().split())
    return found
