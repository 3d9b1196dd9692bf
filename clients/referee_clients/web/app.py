"""The gateway as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from referee.text.words.catalogue import ENGLISH
from referee_clients.web import acting, events, games, office, positions, solving
from referee_clients.web.coding import LEAST_BYTES
from referee_clients.web.errors import HANDLERS
from referee_clients.web.languages import Speaking
from referee_clients.web.limits import Limits, LimitsMiddleware
from referee_clients.web.pages import Site
from referee_clients.web.safety import Safety
from referee_clients.web.secure import Lack
from referee_clients.web.upstream import Upstream


def application(
    referee: Upstream | None = None,
    *,
    origins: Collection[str] = (),
    trusted: Sequence[str] = (),
    tls: bool = False,
    lacking: Sequence[Lack] = (),
    python: Path | None = None,
    languages: Sequence[str] = (ENGLISH,),
) -> Starlette:
    """Return the gateway.

    ``referee``: whose games are shown; None: no games, everything else. ``origins``: names under which it is reached,
    such as ``https://club.example``. ``trusted``: addresses of proxies whose X-Forwarded-For is believed. ``lacking``:
    why browsers play no seats here. ``python``: a folder with Pyodide, so that browsers check rules as well.
    ``languages``: those of the pages; who asks for none of them gets the first.
    """
    judge = positions.Judge()
    verifier, has_solver = (None, False) if referee is None else (referee.verifier, referee.may_bear_tokens)
    site = Site(verifier, has_solver=has_solver, lacking=lacking, python=python, languages=languages)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        await judge.start()
        yield
        await judge.stop()

    found = Starlette(
        routes=[
            *positions.routes(judge),
            *(games.routes(referee) if referee else ()),
            *(events.routes(referee) if referee else ()),
            *(solving.routes(referee) if referee else ()),
            *(acting.routes(referee) if referee else ()),
            *(office.routes(referee) if referee else ()),
            *site.routes(),
        ],
        middleware=[
            Middleware(Speaking, names=languages),
            Middleware(Safety, origins=origins, tls=tls),
            Middleware(LimitsMiddleware, limits=Limits(), trusted=trusted),
            Middleware(GZipMiddleware, minimum_size=LEAST_BYTES),
        ],
        exception_handlers={**HANDLERS, 404: site.missing},
        lifespan=running,
    )
    # It would lead to the name that the caller says he asked for.
    found.router.redirect_slashes = False
    return found
