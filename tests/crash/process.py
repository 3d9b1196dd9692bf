"""The referee as a process that is killed and started again at the same address."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.addresses import free_address
from tests.cli.command import REFEREE


class Referee:
    """``referee serve`` on one directory and one port."""

    def __init__(
        self,
        folder: Path,
        *,
        wrapper: tuple[str, ...] = (),
        words: Sequence[str | Path] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """``folder``: gets the data and the log. ``wrapper``: what the command is an argument of. ``words``: further
        options of the command.
        """
        folder.mkdir(exist_ok=True)
        self.data, self.log = folder / "data", folder / "referee.log"
        self.address, self.metrics_address = free_address(), free_address()
        self.start_s = 1.0
        """How long the last start took."""
        self._wrapper, self._words = wrapper, words
        self._env = {**os.environ, "NO_COLOR": "1", **(env or {})}
        self._process: Process | None = None
        self._began = 0.0

    async def spawn(self) -> None:
        """Return when the process exists."""
        with self.log.open("ab") as log:
            self._began = time.monotonic()
            self._process = await asyncio.create_subprocess_exec(
                *self._wrapper,
                *(REFEREE, "serve", "--data", self.data, "--listen", self.address, "--log-format", "json"),
                # A load that looks at everything again and again calls more often than strangers may.
                *("--requests-per-s", "100000", "--metrics", self.metrics_address, *self._words),
                stdout=PIPE,
                stderr=log,
                env=self._env,
            )

    async def start(self) -> None:
        """Return when it listens."""
        await self.spawn()
        assert self._process is not None
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode()
        assert line.startswith("listening on "), f"it did not start: {self.logged()[-2000:]}"
        self.start_s = time.monotonic() - self._began

    async def refuses_to_start(self) -> str:
        """Return the message with which it refuses."""
        said = len(self.logged())
        await self.spawn()
        assert self._process is not None
        assert self._process.stdout is not None
        assert await self._process.stdout.readline() == b"", "it started"
        assert await self._process.wait() == 1
        return self.logged()[said:]

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        assert await self._process.wait() == -signal.SIGKILL, self.logged()[-2000:]

    async def stop(self) -> None:
        """Stop it, as an operator does."""
        assert self._process is not None
        self._process.terminate()
        assert await self._process.wait() == 0, self.logged()[-2000:]

    async def put_down(self) -> None:
        """End it, whatever its state."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def token(self) -> str:
        """The organiser's."""
        return (self.data / "organiser.token").read_text(encoding="ascii").strip()

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")
