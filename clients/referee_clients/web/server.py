"""The gateway's process: a socket, uvicorn, a line that says where it listens."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn

from referee_clients.web.app import application

_SHUTDOWN_S: Final = 5
_BACKLOG: Final = 2048
_AT_ONCE: Final = 2500
"""Connections; what comes then is answered 503."""


class CannotServe(Exception):
    """The address or the certificate cannot be used; the message says why."""


def serve(
    host: str, port: int, *, origins: Collection[str] = (), certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve until SIGTERM or Ctrl-C. Raise ``CannotServe``. Port 0 picks a free port."""
    listening = _socket(host, port)
    with listening:
        tls = certificate is not None
        config = uvicorn.Config(
            application(origins=origins, tls=tls),
            http="h11",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_AT_ONCE,
            timeout_graceful_shutdown=_SHUTDOWN_S,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            raise CannotServe(f"The certificate or its key cannot be used: {error}") from error
        at = listening.getsockname()
        name = f"[{at[0]}]" if ":" in at[0] else at[0]
        print(f"Pages are at {'https' if tls else 'http'}://{name}:{at[1]}/", flush=True)
        asyncio.run(_Server(config).serve(sockets=[listening]))


class _Server(uvicorn.Server):
    """Ends by a signal as by itself: uvicorn would end the process by the same signal once more."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Finish on the first signal; do not wait for anybody on the second."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for number in signals:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield
        for number in signals:
            loop.remove_signal_handler(number)


def _socket(host: str, port: int) -> socket.socket:
    try:
        family, *_, place = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_BACKLOG)  # before anybody is told that he may come
    except OSError as error:
        raise CannotServe(f"{host}:{port} cannot be listened on: {error.strerror}") from error
    return listening
