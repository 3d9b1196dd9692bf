"""Records to judge, and a caller of AdjudicationService."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from referee.server.service.server import Server
from referee.text.report.rulings import Policy
from referee.v1 import adjudication_service_pb2 as pb
from referee.v1 import adjudication_service_pb2_grpc as pb_grpc
from referee_clients.sdk.adjudication import ACCEPT_AS_PLAYED, SKIP, STOP, Adjudicator
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer
from tests.text.report.adjudication import AWAY, OUTSIDE, START
from tests.text.report.sheet import POSITION

FOUL = f"{START}{AWAY}\n{OUTSIDE}\n0: choose 23\n"
"""With two illegal moves, the first of which can stand."""
API = {Policy.STOP: STOP, Policy.SKIP: SKIP, Policy.ACCEPT: ACCEPT_AS_PLAYED}


class Asker:
    """A caller with one token; each method returns the call."""

    def __init__(self, client: Client, token: str = "") -> None:
        self._stub: Any = pb_grpc.AdjudicationServiceStub(client.channel)
        self._metadata = bearer(token or client.organiser)

    def adjudicate(self, text: str, **fields: Any) -> Any:
        timeout = fields.pop("timeout", None)
        request = pb.AdjudicateRecordRequest(text=text, **fields)
        return self._stub.AdjudicateRecord(request, metadata=self._metadata, timeout=timeout)

    def score(self, text: str) -> Any:
        return self._stub.ScorePosition(pb.ScorePositionRequest(text=text), metadata=self._metadata)

    def report(self, **fields: Any) -> Any:
        return self._stub.ReportGame(pb.ReportGameRequest(**fields), metadata=self._metadata)


@asynccontextmanager
async def judging(path: Path) -> AsyncIterator[tuple[Server, Client, Asker, Adjudicator]]:
    """With a worker that has answered before."""
    async with running(path / "data") as (server, client):
        asker = Asker(client)
        await asker.score(POSITION)
        yield server, client, asker, Adjudicator(client.channel, client.organiser)
        workers = server.adjudication.workers
    assert not workers.pids
