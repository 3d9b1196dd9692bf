"""Somebody with an ordinary gRPC tool, and no file of ours, can find out what there is and call it."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.server.service.admission import ALPHA, V1
from referee.server.service.permissions import SERVICES
from tests.server.service.conftest import running

BUF = Path(sys.executable).parent / "buf"
CACHE = BUF.parents[1] / "cache" / "buf"


async def curl(address: str, method: str, request: dict[str, Any] | None = None, *words: str) -> tuple[int, str]:
    """Return exit code and output of ``buf curl``, which knows nothing but the address."""
    process = await asyncio.create_subprocess_exec(
        *(str(BUF), "curl", "--reflect", "--protocol", "grpc", "--http2-prior-knowledge", *words),
        *(() if request is None else ("--data", json.dumps(request))),
        f"http://{address}{method}",
        stdout=PIPE,
        stderr=PIPE,
        cwd="/",  # away from the .proto files
        env={**os.environ, "BUF_CACHE_DIR": str(CACHE)},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, (out or err).decode()


async def called(address: str, method: str, request: dict[str, Any]) -> Any:
    code, out = await curl(address, method, request)
    assert code == 0, out
    return json.loads(out)


async def test_what_is_served_can_be_found_out_and_called(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        ids = [(await client.create(seats)).game.id for seats in (2, 3)]
        code, listed = await curl(server.address, "", None, "--list-services")
        assert code == 0, listed
        ours = {service.full_name for service in SERVICES}
        assert set(listed.split()) == ours | {health.SERVICE_NAME, ALPHA, V1}
        _, methods = await curl(server.address, "", None, "--list-methods")
        assert set(methods.split()) >= {f"{s.full_name}/{method.name}" for s in SERVICES for method in s.methods}

        found = await called(server.address, "/referee.v1.GameService/ListGames", {"page_size": 1})
        assert [game["id"] for game in found["games"]] == ids[1:]
        following = {"page_size": 1, "page_token": found["nextPageToken"]}
        found = await called(server.address, "/referee.v1.GameService/ListGames", following)
        assert [(game["id"], game["state"]) for game in found["games"]] == [(ids[0], "GAME_STATE_JOINING")]


@pytest.mark.parametrize("service", ["", *(service.full_name for service in SERVICES)])
async def test_health_is_told(tmp_path: Path, service: str) -> None:
    async with running(tmp_path / "data") as (server, _):
        told = await called(server.address, f"/{health.SERVICE_NAME}/Check", {"service": service})
        assert told == {"status": "SERVING"}


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_an_error_keeps_its_status_words_and_reason(tmp_path: Path, version: str) -> None:
    async with running(tmp_path / "data") as (server, _):
        words = ("--reflect-protocol", f"grpc-{version}")
        code, out = await curl(server.address, "/referee.v1.GameService/GetGame", {"game_id": "?"}, *words)
        assert code == grpc.StatusCode.INVALID_ARGUMENT.value[0] << 3, "as buf documents it"
        told = json.loads(out)
        assert told["message"] == "game_id: expected 32 lower-case hexadecimal digits"
        (detail,) = told["details"]
        assert detail["type"] == "google.rpc.ErrorInfo"
        info = ErrorInfo.FromString(base64.b64decode(detail["value"] + "=="))
        assert (info.reason, info.metadata["field"]) == ("INVALID_ARGUMENT", "game_id")


@pytest.mark.parametrize("name", ["ErrorInfo", "RetryInfo", "BadRequest"])
async def test_what_errors_tell_can_be_looked_up(tmp_path: Path, name: str) -> None:
    async with running(tmp_path / "data") as (_, client):
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(cast("Any", client.channel))
        asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=f"google.rpc.{name}")
        (answer,) = [answer async for answer in stub.ServerReflectionInfo(iter([asked]))]
        files = map(FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto)
        assert name in {message.name for file in files for message in file.message_type}
