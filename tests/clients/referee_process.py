"""A referee in a process of its own, which a test can kill and start again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO

from tests.addresses import free_address

REFEREE = (sys.executable, "-c", "from referee.cli import main; main()")
"""The command, whether or not it is on the path."""


class Referee:
    """On one folder and, whenever it starts, one address."""

    def __init__(self, folder: Path, *, changed: str = "") -> None:
        """``changed``: what is other than in this program, in Python."""
        self.folder = folder
        self._command = (sys.executable, "-c", f"{changed}; {REFEREE[2]}") if changed else REFEREE
        self._process: subprocess.Popen[str] | None = None
        self.address = free_address()

    def start(self) -> None:
        """Return when it listens."""
        self._process = subprocess.Popen(
            [*self._command, "serve", "--data", str(self.folder), "--listen", self.address, "--log-level", "warning"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # It prints much more later on: no test must have to wait until that is read.
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
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def token(self) -> str:
        """The organiser's."""
        return (self.folder / "organiser.token").read_text(encoding="ascii").strip()


def _read(stream: IO[str], said: Queue[str | None]) -> None:
    with stream:
        for line in stream:
            said.put(line)
    said.put(None)
