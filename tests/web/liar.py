"""A gateway that lies: real pages, and behind them whatever a test wants delivered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from referee.log.note import VerifierKey
from referee.text.words.catalogue import languages
from referee_clients.web.hub import event
from referee_clients.web.refusals import beyond_head
from referee_clients.web.server import application
from referee_clients.web.upstream import Upstream
from tests.log.games import SIGNER
from tests.web.feed import Commit, Gateway, b64
from tests.web.gateway import serving


@dataclass
class Liar:
    """A gateway that delivers what the test sets for one game; at first the truth."""

    honest: Gateway
    address: str = ""
    log: bytes = b""
    positions: list[bytes] = field(default_factory=list)
    size: int = 0
    """The number of entries that it claims; a request to resume after more is refused."""
    verifier: VerifierKey = SIGNER.verifier
    _streams: set[asyncio.Queue[bytes]] = field(default_factory=set)

    @property
    def id(self) -> str:
        return self.honest.played.record.game_id.hex()

    def at(self, size: int) -> None:
        """Be at this point of the game, and honest."""
        self.log, self.positions, self.size = self.honest.running(size), self.honest.positions[:size], size

    def send(self, kind: str, data: dict[str, Any]) -> None:
        """Send an event to all who watch."""
        for queue in self._streams:
            queue.put_nowait(event(kind, {"game": self.id, **data}))

    def commit(self, commit: Commit, seq: int) -> None:
        """Send a commit, whose last entry is said to be this one."""
        entries, positions = list(map(b64, commit.entries)), list(map(b64, commit.positions))
        self.send(
            "commit", {"seq": seq, "entries": entries, "checkpoint": b64(commit.checkpoint), "positions": positions}
        )

    def cut(self) -> None:
        """Break every stream."""
        for queue in self._streams:
            queue.put_nowait(b"")

    @property
    def watchers(self) -> int:
        return len(self._streams)

    async def of_game(self, _request: Request) -> Response:
        return JSONResponse({"id": self.id, "rules_id": "alhambra", "size": self.size, "state": "PLAYING"})

    async def file(self, _request: Request) -> Response:
        return Response(self.log)

    async def all_positions(self, request: Request) -> Response:
        later = self.positions[int(request.query_params["from"]) :]
        return Response(b"".join(len(each).to_bytes(4, "big") + each for each in later))

    async def live(self, request: Request) -> Response:
        after = int(request.query_params["g"].rpartition(":")[2])
        if after >= self.size:
            return beyond_head(self.id, self.size).response(request.scope)

        async def events() -> AsyncIterator[bytes]:
            queue = asyncio.Queue[bytes]()
            self._streams.add(queue)
            try:
                yield b":\n\n"
                while part := await queue.get():
                    yield part
            finally:
                self._streams.discard(queue)

        return StreamingResponse(events(), media_type="text/event-stream")


@asynccontextmanager
async def lying(honest: Gateway) -> AsyncIterator[Liar]:
    """Yield a gateway to a referee that is never asked."""
    liar = Liar(honest)
    async with Upstream("127.0.0.1:9", verifier=liar.verifier) as referee:
        app = Starlette(
            routes=[
                Route("/api/v1/games/{id}", liar.of_game),
                Route("/api/v1/games/{id}/log", liar.file),
                Route("/api/v1/games/{id}/positions", liar.all_positions),
                Route("/api/v1/names", lambda _: JSONResponse({"games": {}})),
                Route("/api/v1/live", liar.live),
                Mount("/", application(referee, languages=languages("web"))),
            ]
        )
        async with serving(app) as (_, port):
            liar.address = f"http://127.0.0.1:{port}"
            yield liar
            liar.cut()
