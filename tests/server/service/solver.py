"""Claims to prove, and a caller of SolverService."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from referee.games.alhambra.tiles import NAMES
from referee.log.v1 import log_pb2
from referee.server.service.server import Server
from referee.v1 import game_service_pb2 as games_pb
from referee.v1 import solver_service_pb2 as pb
from referee.v1 import solver_service_pb2_grpc as pb_grpc
from referee.wire.certificates.alhambra.claims import Place, StepClaim, message_of
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, bearer
from tests.waiting import is_there


async def a_game(client: Client, **fields: Any) -> Play:
    """Return a dealt game of two seats without players."""
    request = games_pb.CreateGameRequest(rules_id="kingdomino", seats=[log_pb2.Seat(), log_pb2.Seat()], **fields)
    created = await client.games.CreateGame(request, metadata=bearer(client.organiser))
    return Play(client, created, random.Random(5))


LAYOUT = {(1, 0): "garden-10-N", (2, 0): "chambers-10", (-1, 0): "seraglio-9"}


LEGAL = StepClaim(LAYOUT, Place("tower-12", (0, 1)))


ILLEGAL = StepClaim(LAYOUT, Place("tower-7-NEW", (0, 1)))


def proving(claim: Any, **fields: Any) -> pb.ProveMoveRequest:
    return pb.ProveMoveRequest(alhambra=message_of(claim), **fields)


WALL = pb.FindLongestWallRequest(tiles=["garden-10-N", "tower-9-NE", "chambers-6-ES", "pavilion-6-N"])


ENDLESS = pb.FindLongestWallRequest(tiles=NAMES)


class Asker:
    """A caller with one token."""

    def __init__(self, client: Client, token: str = "") -> None:
        self._stub: Any = pb_grpc.SolverServiceStub(client.channel)
        self._metadata = bearer(token or client.organiser)

    def ask(self, method: str, request: Any, **options: Any) -> Any:
        return getattr(self._stub, method)(request, metadata=self._metadata, **options)


@asynccontextmanager
async def solving(path: Path, **config: Any) -> AsyncIterator[tuple[Server, Client, Asker]]:
    """With workers that have answered before, as many as may be."""
    async with running(path / "data", **config) as (server, client):
        asker = Asker(client)
        await asker.ask("ProveMove", proving(LEGAL))
        yield server, client, asker
    assert not any(map(is_there, server.workers.pids))


def lines_of(logged: StringIO) -> Iterator[dict[str, Any]]:
    return map(json.loads, logged.getvalue().splitlines())
