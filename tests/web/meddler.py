"""A party between a page and its gateway that passes everything on, and alters what a test wants altered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.web.gateway import serving

Answer = dict[str, Any]

_OF_THE_WAY = {"connection", "content-length", "content-encoding", "date", "transfer-encoding"}


@dataclass
class Meddler:
    """Alters nothing, at first."""

    gateway: httpx.AsyncClient
    address: str = ""
    """Where pages find it, without a slash at its end."""
    answers: dict[str, Callable[[bytes], Answer | None]] = field(default_factory=dict)
    """By the last word of a path: what is answered to a body, instead of the gateway; None: the gateway answers."""
    events: dict[str, Callable[[Answer], Answer]] = field(default_factory=dict)
    """By the kind of an event of the stream: what becomes of it."""
    passed: list[tuple[str, bytes]] = field(default_factory=list)
    """Path and body of what was asked."""

    def sent(self) -> list[bytes]:
        """The bodies that were signed and sent."""
        return [body for path, body in self.passed if path.endswith(("/acts", "/table"))]

    async def take(self, request: Request) -> Response:
        path, body = request.url.path, await request.body()
        self.passed.append((path, body))
        lie = self.answers.get(path.rpartition("/")[2])
        if lie and (answer := lie(body)) is not None:
            return JSONResponse(answer)
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "accept-encoding"}}
        if "origin" in headers:
            headers["origin"] = str(self.gateway.base_url).rstrip("/")
        asked = self.gateway.build_request(request.method, str(request.url.path), headers=headers, content=body)
        asked.url = asked.url.copy_with(query=request.url.query.encode() or None)
        answered = await self.gateway.send(asked, stream=True)
        left = {name: value for name, value in answered.headers.items() if name not in _OF_THE_WAY}
        return StreamingResponse(self._altered(answered), answered.status_code, left)

    async def _altered(self, answered: httpx.Response) -> AsyncIterator[bytes]:
        """Event by event, or as it comes."""
        try:
            if not answered.headers.get("content-type", "").startswith("text/event-stream"):
                async for part in answered.aiter_bytes():
                    yield part
                return
            kind = ""
            async for line in answered.aiter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                if line.startswith("data: ") and kind in self.events:
                    yield f"data: {json.dumps(self.events[kind](json.loads(line.removeprefix('data: '))))}\n".encode()
                else:
                    yield f"{line}\n".encode()
        finally:
            await answered.aclose()


@asynccontextmanager
async def meddling(address: str) -> AsyncIterator[Meddler]:
    """Before the gateway at this address."""
    async with httpx.AsyncClient(base_url=address, timeout=None) as gateway:
        meddler = Meddler(gateway)
        anything = [Route("/{path:path}", meddler.take, methods=["GET", "POST"])]
        async with serving(Starlette(routes=anything)) as (server, port):
            meddler.address = f"http://127.0.0.1:{port}"
            try:
                yield meddler
            finally:
                server.force_exit = True  # pages may still follow a game
