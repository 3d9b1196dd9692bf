"""The referee that the rig breaks the way to: in a process of its own, with heartbeats that do not let a test wait."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.server.service import logs
from referee.server.service.server import Config, Server

HEARTBEAT_S = 0.25


@dataclass(frozen=True, slots=True)
class Referee:
    """Where it is, and its organiser's token."""

    address: str
    token: str


@contextmanager
def running(folder: Path) -> Iterator[Referee]:
    """Until it is left; what it has to say is in ``folder``."""
    folder.mkdir(exist_ok=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.rig.referee", str(folder / "data")],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    with process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, f"the referee did not start: see {folder / 'log'}"
            yield Referee(address, (folder / "data" / "organiser.token").read_text().strip())
        finally:
            process.terminate()


async def _serve(data: Path) -> None:
    logs.configure("json", "warning", sys.stderr)
    server = await Server.start(Config(data, heartbeat_s=HEARTBEAT_S))
    print(server.address, flush=True)
    await server.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
