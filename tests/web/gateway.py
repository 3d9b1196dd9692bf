"""A gateway on a free port, and what a browser does with it."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from referee.log.entry import decode_entry
from referee.log.note import VerifierKey
from referee_clients.web.games_api import routes
from referee_clients.web.hub import HubLimits
from referee_clients.web.limits import Limits, LimitsMiddleware, Protocol
from referee_clients.web.refusals import HANDLERS
from referee_clients.web.upstream import Upstream
from tests.waiting import until, waiting_for


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not ours to take."""
        yield


@dataclass
class Gateway:
    """One that runs."""

    referee: Upstream
    browser: httpx.AsyncClient
    port: int
    limits: Limits
    server: uvicorn.Server

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.browser.get(f"/api/v1{path}", headers=headers)

    async def refused(self, path: str, status: int, reason: str) -> dict[str, str]:
        """That it is refused so, in the form of every refusal. Return the metadata."""
        return check_refusal(await self.get(path), status, reason)

    @asynccontextmanager
    async def live(self, *games: str) -> AsyncIterator[Events]:
        """Yield a stream of events. Each game: ID:AFTER."""
        path = "/api/v1/live?g=" + ",".join(games)
        async with self.browser.stream("GET", path) as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield Events(response)


def check_refusal(answer: httpx.Response, status: int, reason: str) -> dict[str, str]:
    """Return the metadata."""
    body = answer.json()
    assert (answer.status_code, body["reason"]) == (status, reason), body
    assert set(body) == {"reason", "message", "metadata"}
    assert body["message"]
    assert answer.headers["cache-control"] == "no-store"
    if status in (429, 503, 504):
        assert int(answer.headers["retry-after"]) >= 1
    metadata: dict[str, str] = body["metadata"]
    return metadata


@dataclass
class Events:
    """A stream of events, read one at a time."""

    response: httpx.Response
    comments: int = 0
    entries: dict[str, list[bytes]] = field(default_factory=dict)
    positions: dict[str, list[bytes]] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._events = self._read()

    async def _read(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        kind = ""
        async for line in self.response.aiter_lines():
            if line.startswith(":"):
                self.comments += 1
            elif line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield kind, json.loads(line.removeprefix("data: "))

    async def next(self, *kinds: str) -> tuple[str, dict[str, Any]]:
        """Return the next event of these kinds; each commit is checked as a browser has to."""
        async with waiting_for(f"an event {kinds}"):
            async for kind, data in self._events:
                if kind == "commit":
                    self.take(data)
                if kind in kinds:
                    return kind, data
        raise EOFError

    def take(self, data: dict[str, Any]) -> None:
        """Check that the entries follow, and that each position is the one whose digest was signed."""
        game, count = data["game"], len(data["entries"])
        first = data["seq"] + 1 - count
        self.first.setdefault(game, first)
        entries, positions = self.entries.setdefault(game, []), self.positions.setdefault(game, [])
        assert first == self.first[game] + len(entries)
        for number, (entry, position) in enumerate(zip(data["entries"], data["positions"], strict=True), first):
            decoded = decode_entry(b64decode(entry))
            assert decoded.seq == number
            assert sha256(b64decode(position)).digest() == decoded.state_digest
            entries.append(b64decode(entry))
            positions.append(b64decode(position))
        assert b64decode(data["checkpoint"])

    async def until(self, game: str, size: int) -> None:
        """Read until the game has ``size`` entries."""
        while self.first.get(game, 0) + len(self.entries.get(game, ())) < size:
            await self.next("commit")


async def reached(browser: httpx.AsyncClient) -> None:
    """The referee is there, but a connection to a port that another one had just before may still have to be made."""
    async with waiting_for("the gateway reaches the referee"):
        while (await browser.get("/api/v1/games")).status_code == 503:  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    """Yield the application on a free port, as `referee web` serves it."""
    config = uvicorn.Config(
        app,
        "127.0.0.1",
        0,
        http=Protocol,
        log_config=None,
        ws="none",
        proxy_headers=False,
        access_log=False,
        server_header=False,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started, "the gateway", every_s=0.01)
    try:
        yield server, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def gateway(
    address: str,
    verifier: str = "",
    hub: HubLimits | None = None,
    stall_s: float = 30.0,
    token: str = "",
    **limits: Any,
) -> AsyncIterator[Gateway]:
    """Yield a gateway to the referee there. ``token``: its own, with which it names callers."""
    counted = Limits(**({"requests_per_s": 10_000, "streams_each": 100} | limits))
    key = VerifierKey.parse(verifier) if verifier else None
    async with Upstream(address, verifier=key, token=token, limits=hub) as referee:
        app = Starlette(
            routes=[*routes(referee)],
            exception_handlers=dict(HANDLERS),
            middleware=[Middleware(LimitsMiddleware, limits=counted, trusted=("127.0.0.1",), stall_s=stall_s)],
        )
        async with serving(app) as (server, port):
            try:
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as browser:
                    await reached(browser)
                    yield Gateway(referee, browser, port, counted, server)
            finally:
                await referee.close()  # streams end, so that the server can


JUDGE = "/api/v1/position"


@dataclass
class Got:
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def refusal(self) -> dict[str, Any]:
        """Its body, which is that of a refusal."""
        found: dict[str, Any] = json.loads(self.body)
        assert set(found) == {"reason", "message", "metadata"}
        return found


@dataclass
class Caller:
    """Asks the gateway."""

    address: str

    def __call__(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Got:
        """``headers``: with underscores; None leaves one out that is there otherwise.

        All tests of a process share one address, and with it its limit; a refused call waits as long as its answer
        says.
        """
        while (got := self._once(method, path, body, headers)).status == 429:
            time.sleep(int(got.headers["retry-after"]))
        return got

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str | None]) -> Got:
        sent = {"Host": self.host}
        if method == "POST":
            sent |= {"Origin": self.address, "Content-Type": "application/json"}
        for name, value in headers.items():
            word = name.replace("_", "-").title()
            sent.pop(word, None)
            if value is not None:
                sent[word] = value
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for word, value in sent.items():
                connection.putheader(word, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Got(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.address).netloc

    def judge(self, question: dict[str, Any], **headers: str | None) -> Got:
        """Ask for a judgement."""
        return self("POST", JUDGE, json.dumps(question).encode(), **headers)
