"""Calls whose request does not come, and services that are not ours."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.server.service import admission, limits
from referee.server.service.calls import PAID_BYTES
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.facts import impatient
from tests.server.service.limits import SPARSE, let_in, to_the_end
from tests.server.service.player import Client, bearer, connected, refusal, refused

METHODS = ("referee.v1.GameService/SubmitIntent", "referee.v1.GameService/WatchGame", "grpc.health.v1.Health/Check")


def begun(client: Client, method: str) -> Any:
    """Return a call that sends no request."""
    call: Any = client.channel.stream_stream(f"/{method}")(metadata=(("x", "y"),))
    return call


async def test_calls_without_a_request_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but a few calls end, of every method, announced as empty or not; other calls continue meanwhile."""
    monkeypatch.setattr(admission, "MOST_WAITING", 6)
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        async with connected(server.address, "", **{"grpc.use_local_subchannel_pool": 1}) as other:
            left = [begun(other, METHODS[i % 3]) for i in range(3)]
            for call in left:
                await call.done_writing()
            waiting = [begun(other, METHODS[i % 3]) for i in range(3)]
            await play.steps(3)
            late = [begun(other, METHODS[i % 3]) for i in range(9)]
            with impatient(server, call_s=0.1):
                for call in late:
                    assert (await refused(call)).reason == "DEADLINE"
            empty = begun(other, METHODS[0])
            await empty.done_writing()
            assert (await refused(empty)).reason == "INVALID_ARGUMENT"
            garbled = begun(other, METHODS[2])
            await garbled.write(b"\xff")
            assert (await refused(garbled)).reason == "INVALID_ARGUMENT"
            assert not any(call.done() for call in (*left, *waiting)), "so few that they may stay"
            await play.until_play()
            assert (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size == play.record.size
            health: Any = health_pb2_grpc.HealthStub(client.channel)
            answer = await health.Check(health_pb2.HealthCheckRequest())
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            for call in (*left, *waiting):
                call.cancel()
        await play.steps(3)


async def test_calls_without_a_request_are_streams_of_their_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MOST_WAITING", 0)
    async with running(tmp_path / "data", max_streams=2) as (server, client):
        game_id = (await client.create()).game.id
        async with connected(server.address, "", **{"grpc.use_local_subchannel_pool": 1}) as other:
            calls = [begun(other, METHODS[i % 3]) for i in range(5)]
            ends = [asyncio.ensure_future(ended(call)) for call in calls]
            for refused_ in itertools.islice(asyncio.as_completed(ends), 3):
                assert refusal(await refused_).metadata == {"limit": "streams"}
            assert sum(call.done() for call in calls) == 3, "two have room"
            for end in ends:
                end.cancel()
            for call in calls:
                call.cancel()
        await let_in(client, game_id)


async def test_strangers_calls_without_a_request_shut_out_nobody_with_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind one address: a club, or a proxy."""
    monkeypatch.setattr(admission, "MOST_WAITING", 0)
    apart = {"grpc.use_local_subchannel_pool": 1}
    async with (
        running(tmp_path / "data", max_streams=3) as (server, client),
        connected(server.address, "", **apart) as other,
    ):
        play = await client.play()
        await play.steps(1)  # its stream, which has no token, is the first of this address
        calls = [begun(other, METHODS[i % 3]) for i in range(6)]
        ends = [asyncio.ensure_future(ended(call)) for call in calls]
        for refused_ in itertools.islice(asyncio.as_completed(ends), 4):
            found = refusal(await refused_)
            assert (found.reason, found.metadata, found.retry_s > 0) == ("LIMIT", {"limit": "streams"}, True)
        await play.steps(3)
        token = bearer(client.organiser)
        await client.games.ListGames(pb.ListGamesRequest(), metadata=token)
        health: Any = health_pb2_grpc.HealthStub(client.channel)
        await health.Check(health_pb2.HealthCheckRequest(), metadata=token)
        await client.create()
        assert (await refused(client.games.ListGames(pb.ListGamesRequest()))).metadata == {"limit": "streams"}
        for end in ends:
            end.cancel()
        for call in calls:
            call.cancel()


async def ended(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await to_the_end(call)
    return caught.value


@pytest.mark.usefixtures("nothing_refills")
async def test_health_and_reflection_cost_their_address(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        health: Any = health_pb2_grpc.HealthStub(client.channel)
        request = health_pb2.HealthCheckRequest()
        await health.Check(request)
        assert (await refused(health.Check(request))).metadata == {"limit": "requests"}
        assert (await refused(health.Watch(request))).metadata == {"limit": "requests"}
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(client.channel)  # type: ignore[arg-type]
        call = reflection.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        assert (await refused(call)).metadata == {"limit": "requests"}
        await client.create()


@pytest.mark.usefixtures("nothing_refills")
async def test_every_request_for_reflection_counts(tmp_path: Path) -> None:
    """Also those that come on one stream; and its two versions say the same."""
    names = []
    for version in ("v1", "v1alpha"):
        async with running(tmp_path / version, requests_per_s=SPARSE) as (_, client):
            call: Any = client.channel.stream_stream(
                f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
                response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
            )()
            await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
            names.append([service.name for service in (await call.read()).list_services_response.service])
            await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
            assert (await refused(call)).metadata == {"limit": "requests"}
    assert names[0] == names[1]
    assert {"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"} < set(names[0])


@pytest.mark.usefixtures("nothing_refills")
async def test_reflection_pays_for_what_it_sends(tmp_path: Path) -> None:
    """A file with all that it imports is worth several requests."""
    symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol="referee.v1.GameService")
    async with running(tmp_path / "data", requests_per_s=0.2) as (_, client):  # two at once
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(client.channel)  # type: ignore[arg-type]
        call = reflection.ServerReflectionInfo()
        await call.write(symbol)
        assert (await call.read()).ByteSize() >= 2 * PAID_BYTES
        await call.write(symbol)
        assert (await refused(call)).metadata == {"limit": "requests"}


@pytest.mark.usefixtures("nothing_refills")
async def test_refusals_that_come_by_the_dozen_come_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call too many to wait is refused at once."""
    monkeypatch.setattr(limits, "MOST_REFUSED_LATER", 5)
    monkeypatch.setattr(limits, "REFUSED_AFTER_S", 3600)
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        request = pb.ListGamesRequest()
        await client.games.ListGames(request)
        calls = [asyncio.ensure_future(refused(client.games.ListGames(request))) for _ in range(8)]
        for call in itertools.islice(asyncio.as_completed(calls), 3):
            assert (await call).metadata == {"limit": "requests"}
        assert sum(call.done() for call in calls) == 3
        for call in calls:
            call.cancel()


async def test_watchers_of_the_health_are_streams(tmp_path: Path) -> None:
    async with running(tmp_path / "data", max_streams=1) as (_, client):
        health: Any = health_pb2_grpc.HealthStub(client.channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        assert (await refused(health.Watch(health_pb2.HealthCheckRequest()))).metadata == {"limit": "streams"}
        watch.cancel()
        await let_in(client, (await client.create()).game.id)
