"""Child processes that never outlive their parent's work, and whose last words are kept. Knows no game."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.process import child as processes
from referee.process.lifetime import ending

STOP_S = 5.0
"""The most seconds that a child may take to stop; then it is killed."""
LAST_LINES = 12


class ChildFailed(Exception):
    """A child ended when it should not have, with its last lines."""


@dataclass(slots=True)
class Child:
    """One process and the file that its output goes to."""

    name: str
    process: processes.Child
    output: Path

    async def line(self) -> str:
        """Return the next line of a child that speaks. Raise ``ChildFailed`` if it ends instead."""
        said = await self.process.stdout.readline() if self.process.stdout is not None else b""
        if not said:
            await self.process.wait()
            raise self.failure()
        return said.decode().rstrip()

    def last_lines(self) -> str:
        lines = self.output.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  | {line}" for line in lines[-LAST_LINES:]) or "  | (it said nothing)"

    def failure(self) -> ChildFailed:
        return ChildFailed(f"{self.name} {ending(self.process.exit_code or 0)}; its last lines:\n{self.last_lines()}")


class Children:
    """``async with`` it: on the way out, however that is, every child is stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[Child] = []

    async def __aenter__(self) -> Children:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(child.process.stop(STOP_S) for child in self._all))

    async def start(self, name: str, words: Sequence[str], stdin: str = "", *, speaks: bool = False) -> Child:
        """Start ``referee`` with these words. ``stdin`` is where secrets go: a process list shows words.

        ``speaks``: its standard output can be read with ``Child.line``; otherwise it goes where its errors go.
        """
        output = self._folder / f"{len(self._all)}-{name.split(maxsplit=1)[0]}.log"
        with output.open("wb") as file:
            started = await processes.Child.start(
                [sys.executable, "-c", "from referee.cli import main; main()", *words],
                stdin=processes.PIPE,
                stdout=processes.PIPE if speaks else file,
                stderr=file,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        child = Child(name, started, output)
        self._all.append(child)
        if started.stdin is not None:
            started.stdin.write(stdin.encode())
            started.stdin.close()
        return child

    async def start_referee(self, *words: str) -> dict[str, str]:
        """Start a referee on a free port, with its games in the folder. Return what it says when it is ready."""
        where = ("serve", "--data", str(self._folder / "referee"), "--listen", "127.0.0.1:0")
        referee = await self.start("referee", [*where, "--log-level", "warning", "--json", *words], speaks=True)
        ready: dict[str, str] = json.loads(await referee.line())
        return ready

    async def first_failure(self) -> ChildFailed:
        """Wait until a child has failed; one that ended well is not awaited any more."""
        waiting = {child.process.ended: child for child in self._all}
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                child = waiting.pop(task)
                if child.process.exit_code:
                    return child.failure()
        await asyncio.Event().wait()
        raise AssertionError


def read(path: str) -> str:
    """Return the token or the key in a file."""
    return Path(path).read_text(encoding="ascii").strip()


def stop_on_sigterm() -> None:
    """End this task as Ctrl-C does: the way out cleans up."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
