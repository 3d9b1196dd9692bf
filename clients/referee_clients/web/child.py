"""The gateway as a child of the referee that it shows: with a lower priority, ended with it, replaced if it dies.

The parent keeps the listening socket, so no client is refused while a dead child is replaced: connections wait.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any, Final

import structlog

from referee.log.note import VerifierKey
from referee.process.child import DEVNULL, PIPE, Child
from referee_clients.sdk.channel import Security
from referee_clients.web.server import Settings, listen, serve

_NICE: Final = 10
"""Below the referee: clocks of games run there, and only pages here."""
_RETRY_S: Final = 1.0
_MOST_RETRY_S: Final = 60.0
_STOP_S: Final = 10.0

_log = structlog.get_logger("referee.pages")


class Gateway:
    """``start``, then ``stop``; each once."""

    def __init__(self, listening: socket.socket, settings: Settings) -> None:
        """``listening``: has its address, and listens from ``start`` on. ``settings``: with address and key of the
        referee, which listens by then.
        """
        self._listening = listening
        self._settings = settings
        self._keeping: asyncio.Task[None] | None = None
        self._process: Child | None = None

    def start(self) -> None:
        """Listen, start the child, and another one whenever it dies. Raise ``CannotServe``."""
        listen(self._listening)
        self._keeping = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """End the child."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)

    def renew(self) -> None:
        """Let a new child take over, which reads the certificate again."""
        if self._process is not None:
            self._process.send(signal.SIGTERM)

    async def _keep(self) -> None:
        retry_s = _RETRY_S
        while True:
            began = monotonic()
            code = await self._run()
            if code == 0:
                continue
            if monotonic() - began > _MOST_RETRY_S:
                retry_s = _RETRY_S
            _log.error("pages died", exit_code=code, starts_again_in_s=retry_s)
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, _MOST_RETRY_S)

    async def _run(self) -> int:
        """Run one child to its end, and return its exit code."""
        number = self._listening.fileno()
        self._process = process = await Child.start(
            [sys.executable, "-I", "-m", __name__],
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=PIPE,
            pass_fds=(number,),
        )
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stderr is not None  # noqa: S101
        try:
            process.stdin.write(_packed(self._settings, number))
            while line := await process.stderr.readline():
                _log.warning("pages", said=line.decode(errors="replace").rstrip())
            return await process.wait()
        finally:
            await process.stop(_STOP_S)


def _packed(settings: Settings, number: int) -> bytes:
    """Return the one line that the child reads. Its standard input stays open: when that ends, the referee is gone."""
    security = settings.security or Security()
    told = {
        "listening": number,
        "origins": list(settings.origins),
        "trusted": list(settings.trusted),
        "certificate": settings.certificate and str(settings.certificate.absolute()),
        "key": settings.key and str(settings.key.absolute()),
        "referee": settings.referee,
        "verifier": str(settings.verifier),
        "token": settings.token,
        "ca": security.ca and str(security.ca.absolute()),
        "name": security.name,
        "python": settings.python and str(settings.python.absolute()),
        "languages": list(settings.languages),
    }
    return json.dumps(told).encode() + b"\n"


def _unpacked(told: dict[str, Any]) -> Settings:
    """Return the settings that the parent packed."""
    return Settings(
        origins=told["origins"],
        trusted=told["trusted"],
        certificate=_path(told["certificate"]),
        key=_path(told["key"]),
        referee=told["referee"],
        verifier=VerifierKey.parse(told["verifier"]),
        token=told["token"],
        # Its address is one of this machine: messages to it stay here.
        security=Security(ca=_path(told["ca"]), name=told["name"], insecure=True),
        python=_path(told["python"]),
        languages=told["languages"],
    )


def main() -> None:
    """Serve pages until the parent ends or says so."""
    os.nice(_NICE)
    told: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    Thread(target=_end_with_parent, daemon=True).start()
    serve(_unpacked(told), socket.socket(fileno=told["listening"]))


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _end_with_parent() -> None:
    with suppress(OSError):
        sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(_STOP_S)
    os._exit(1)  # it hangs, and no parent is left to kill it


if __name__ == "__main__":
    main()
