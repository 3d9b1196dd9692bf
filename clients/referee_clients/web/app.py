"""The gateway as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response

from referee_clients.web import pages, positions
from referee_clients.web.errors import Refusal, refuse
from referee_clients.web.safety import Safety

_GZIP_FROM_BYTES = 600


def application(*, origins: Collection[str] = (), tls: bool = False) -> Starlette:
    """Return the gateway. ``origins``: names under which it is reached, such as ``https://club.example``."""
    judge = positions.Judge()

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        await judge.start()
        yield
        await judge.stop()

    return Starlette(
        routes=[*positions.routes(judge), *pages.routes()],
        middleware=[
            Middleware(Safety, origins=origins, tls=tls),
            Middleware(GZipMiddleware, minimum_size=_GZIP_FROM_BYTES),
        ],
        exception_handlers={Refusal: refuse, HTTPException: _not_here},
        lifespan=running,
    )


async def _not_here(_request: Request, error: Exception) -> Response:
    """Answer what starlette itself refuses: a path that leads nowhere, or another method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    if error.status_code == 405:
        return Refusal(405, "WRONG_METHOD", "This cannot be done here.").response()
    return Refusal(error.status_code, "NOT_FOUND", "There is nothing here.").response()
