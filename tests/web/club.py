"""A referee whose games can be watched, in processes of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.clients.referee_process import REFEREE
from tests.service.player import Client
from tests.web.gateway import reached
from tests.web.words import address_in


@dataclass(frozen=True)
class Started:
    """What `referee serve --web` says of itself."""

    referee: str
    address: str
    """Of the pages, without a slash at its end."""
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
    """A referee with pages."""
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
            assert process.wait(60) == 0


@asynccontextmanager
async def pages(referee: str, key: str) -> AsyncIterator[str]:
    """The address of `referee web` that shows this referee's games, without a slash at its end."""
    words = ("web", "--listen", "127.0.0.1:0", "--server", referee, "--key", key)
    command = (sys.executable, "-c", "from referee.cli import main; main()", *words)
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    assert process.stdout is not None
    try:
        address = address_in((await process.stdout.readline()).decode())
        async with httpx.AsyncClient(base_url=address) as browser:
            await reached(browser)
        yield address
    finally:
        process.terminate()
        assert await process.wait() == 0
