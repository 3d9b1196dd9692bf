"""A referee whose games can be watched, in processes of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.addresses import free_address
from tests.clients.referee_process import REFEREE
from tests.server.service.player import Client
from tests.waiting import MOST_S
from tests.web.gateway import reached
from tests.web.long_words import WITH_FOLDER
from tests.web.words import address_in


@dataclass(frozen=True)
class Started:
    """The output of `referee serve --web`."""

    referee: str
    address: str
    """The address of the pages, without a slash at its end."""
    token: str
    key: str


@dataclass(frozen=True)
class Club:
    """Where games are played, and watched at an address."""

    client: Client
    address: str
    key: str
    referee: str


@contextmanager
def started(folder: Path) -> Iterator[Started]:
    """Yield a referee with pages."""
    where = ("--data", str(folder / "data"), "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--json")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*REFEREE, "serve", *where], stdout=subprocess.PIPE, stderr=log, text=True)
    with process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        token, key = (Path(ready[name]).read_text().strip() for name in ("organiser_token_file", "verifier_key_file"))
        try:
            yield Started(ready["address"], ready["web"].rstrip("/"), token, key)
        finally:
            process.terminate()
            assert process.wait(MOST_S) == 0


class Pages:
    """`referee web` in a process of its own, which a test can kill and start again on the same port."""

    def __init__(self, referee: str, key: str, words: Path | None = None, *options: str) -> None:
        """``referee``: whose games it shows; ``key``: its verifier key; ``words``: a folder with other catalogues."""
        self._words = ("--server", referee, "--key", key, *options)
        self._program = (WITH_FOLDER, str(words)) if words else ("from referee.cli import main; main()",)
        self._process: Process | None = None
        self.address = f"http://{free_address('127.0.0.1')}"
        """Without a slash at its end."""

    async def start(self) -> None:
        """Return when it reaches the referee."""
        words = ("web", "--listen", urlsplit(self.address).netloc, *self._words)
        command = (sys.executable, "-c", *self._program, *words)
        self._process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        assert self._process.stdout is not None
        self.address = address_in((await self._process.stdout.readline()).decode())
        async with httpx.AsyncClient(base_url=self.address, timeout=MOST_S) as browser:
            await reached(browser)

    async def stop(self, how: signal.Signals = signal.SIGKILL) -> int:
        """By default as a power cut does. Return with which code it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(how)
        return await process.wait()


@asynccontextmanager
async def pages(referee: str, key: str, words: Path | None = None, *options: str) -> AsyncIterator[str]:
    """Yield the address of `referee web` that shows this referee's games, without a slash at its end."""
    running = Pages(referee, key, words, *options)
    await running.start()
    try:
        yield running.address
    finally:
        assert await running.stop(signal.SIGTERM) == 0
