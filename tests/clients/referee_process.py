"""A referee in a process of its own, which a test can kill and start again; and a network that a test can cut."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO

REFEREE = (sys.executable, "-c", "from referee.cli import main; main()")
"""The command, whether or not it is on the path."""


class Referee:
    """On one folder and, from its first start on, one port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.address = "127.0.0.1:0"

    def start(self) -> None:
        """Returns when it listens."""
        self._process = subprocess.Popen(
            [*REFEREE, "serve", "--data", str(self.folder), "--listen", self.address, "--log-level", "warning"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # It says much more later on: nobody must have to wait until that is read.
        said: Queue[str | None] = Queue()
        Thread(target=_read, args=(self._process.stdout, said), daemon=True).start()
        before = []
        while (line := said.get()) is not None:
            before.append(line)
            if found := re.search(r"listening on (\S+)", line):
                self.address = found[1]
                return
        raise AssertionError(f"the referee did not start: {''.join(before)}")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """By default as a power cut does."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    @property
    def token(self) -> str:
        """The organiser's."""
        return (self.folder / "organiser.token").read_text(encoding="ascii").strip()


def _read(stream: IO[str], said: Queue[str | None]) -> None:
    with stream:
        for line in stream:
            said.put(line)
    said.put(None)


class Network:
    """A way to an address that cuts every connection after so many bytes from there: in the middle of anything."""

    def __init__(self, target: str, cut_after: int) -> None:
        self.cuts = 0
        self._target = target.rpartition(":")
        self._cut_after = cut_after
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[None]] = set()
        self._ways: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> str:
        """Its own address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._busy)
        await self._server.wait_closed()

    async def _serve(self, near: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        host, _, port = self._target
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        far, far_out = await asyncio.open_connection(host, int(port))
        ways = {
            asyncio.create_task(self._pass(near, far_out, None)),
            asyncio.create_task(self._pass(far, near_out, self._cut_after)),
        }
        self._ways |= ways
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for out in (near_out, far_out):
            out.transport.abort()
        self._ways -= ways
        self._busy.discard(task)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, limit: int | None) -> None:
        passed = 0
        while data := await source.read(4096):
            if limit is not None and passed + len(data) > limit:
                sink.write(data[: limit - passed])
                self.cuts += 1
                return
            passed += len(data)
            sink.write(data)
