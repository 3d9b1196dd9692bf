"""The gateway as an ASGI application and as a process: routes, a socket, uvicorn, and the line with its address."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from referee.log.note import VerifierKey
from referee.text.words.catalogue import ENGLISH
from referee_clients.sdk.channel import Security
from referee_clients.web import acts_api, desk_api, games_api, positions_api
from referee_clients.web.headers import Safety
from referee_clients.web.in_browser.pyodide import BadPyodide, check
from referee_clients.web.languages import Speaking
from referee_clients.web.limits import Limits, LimitsMiddleware, Protocol
from referee_clients.web.pages import Site
from referee_clients.web.refusals import HANDLERS
from referee_clients.web.request import LEAST_BYTES
from referee_clients.web.secure import Lack, lacks
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
    ``languages``: those of the pages; a request for none of them gets the first.
    """
    judge = positions_api.Judge()
    verifier, has_solver = (None, False) if referee is None else (referee.verifier, referee.may_bear_tokens)
    site = Site(verifier, has_solver=has_solver, lacking=lacking, python=python, languages=languages)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        await judge.start()
        yield
        await judge.stop()

    found = Starlette(
        routes=[
            *positions_api.routes(judge),
            *(games_api.routes(referee) if referee else ()),
            *(games_api.tournament_routes(referee) if referee else ()),
            *(positions_api.solver_routes(referee) if referee else ()),
            *(acts_api.routes(referee) if referee else ()),
            *(desk_api.routes(referee) if referee else ()),
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


# --- the process -----------------------------------------------------------------------------------------------------


_SHUTDOWN_S: Final = 5
_BACKLOG: Final = 2048
_AT_ONCE: Final = 2500
"""Connections; later ones are answered 503."""
Ready = Callable[[str, Sequence[Lack]], None]


class CannotServe(Exception):
    """The address or the certificate cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the gateway's process."""

    origins: Collection[str] = ()
    trusted: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None
    referee: str = ""
    """The referee's address; empty: no games."""
    verifier: VerifierKey | None = None
    token: str = field(default="", repr=False)
    """The token by which the referee believes the gateway's word on callers; empty: none."""
    security: Security | None = None
    python: Path | None = None
    """A folder with Pyodide; None: browsers check no rules of games."""
    languages: Sequence[str] = (ENGLISH,)
    """The languages of the pages; the first is for readers who ask for none of them."""


def serve(settings: Settings, bound: socket.socket, ready: Ready = lambda _address, _lacks: None) -> None:
    """Serve until SIGTERM or Ctrl-C, and close the socket. Raise ``CannotServe``, ``BadAddress`` and ``Insecure``.

    ``ready`` is called when browsers may come, with the address and with their lacks.
    """
    with bound:
        listen(bound)
        asyncio.run(_serve(settings, bound, ready))


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that has the address, for ``listen``; port 0 picks a free one. Raise ``CannotServe``."""
    try:
        family, *_, place = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
    except OSError as error:
        raise _cannot(host, port, error) from error
    return bound


def listen(bound: socket.socket) -> None:
    """Let browsers come from now on. Raise ``CannotServe``: another program was first."""
    try:
        bound.listen(_BACKLOG)
    except OSError as error:
        host, port, *_ = bound.getsockname()
        raise _cannot(host, port, error) from error


def _cannot(host: str, port: int, error: OSError) -> CannotServe:
    return CannotServe(f"{host}:{port} cannot be listened on: {error.strerror}")


def address_of(listening: socket.socket, *, tls: bool) -> str:
    """Return where the pages are."""
    at = listening.getsockname()
    name = f"[{at[0]}]" if ":" in at[0] else at[0]
    return f"{'https' if tls else 'http'}://{name}:{at[1]}/"


async def _serve(settings: Settings, listening: socket.socket, ready: Ready) -> None:
    async with AsyncExitStack() as stack:
        referee = None
        if settings.referee:
            upstream = Upstream(
                settings.referee, verifier=settings.verifier, token=settings.token, security=settings.security
            )
            referee = await stack.enter_async_context(upstream)
        tls = settings.certificate is not None
        try:
            lacking = lacks(listening.getsockname()[0], settings.origins, settings.certificate, settings.key)
        except (OSError, ValueError) as error:
            raise CannotServe(f"The certificate or its key cannot be used: {error}") from error
        if settings.python is not None:
            try:
                check(settings.python)
            except BadPyodide as error:
                raise CannotServe(str(error)) from error
        config = uvicorn.Config(
            application(
                referee,
                origins=settings.origins,
                trusted=settings.trusted,
                tls=tls,
                lacking=lacking,
                python=settings.python,
                languages=settings.languages,
            ),
            http=Protocol,
            ws="none",
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_AT_ONCE,
            timeout_graceful_shutdown=_SHUTDOWN_S,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
        )
        config.load()
        ready(address_of(listening, tls=tls), lacking)
        await Server(config, referee).serve(sockets=[listening])


class Server(uvicorn.Server):
    """A server whose end by a signal is normal: uvicorn would end the process by the same signal once more."""

    def __init__(self, config: uvicorn.Config, referee: Upstream | None = None) -> None:
        super().__init__(config)
        self._referee = referee

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first, each with the place to resume from; only then can connections end."""
        if self._referee is not None:
            await self._referee.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Finish on the first signal; wait for no connection on the second."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for number in signals:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield
        for number in signals:
            loop.remove_signal_handler(number)
