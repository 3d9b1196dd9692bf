"""`referee serve --web` in a process of its own."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.cli.command import REFEREE


@asynccontextmanager
async def serving(data: Path, *words: str | Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    """Yield a referee with pages, and what it says of itself."""
    command = (REFEREE, "serve", "--data", data, "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--json", *words)
    with (data.parent / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=log)
    assert process.stdout is not None
    try:
        yield process, json.loads(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
