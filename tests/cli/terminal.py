"""Runs the real command at a terminal: its input is there, and its output, its errors, or both."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

from tests.cli.command import REFEREE


class Terminal:
    """The other side of it."""

    def __init__(self, descriptor: int, process: subprocess.Popen[str]) -> None:
        self._descriptor = descriptor
        self.process = process
        self.shown = ""

    def wait_for(self, words: str) -> None:
        """Until it shows them. Raises ``AssertionError`` if it ends without."""
        while words not in self.shown:
            if select([self._descriptor], [], [], 1.0)[0]:
                self.shown += os.read(self._descriptor, 4096).decode(errors="replace")
            else:
                assert self.process.poll() is None, f"it ended without {words!r} and showed {self.shown!r}"

    def press_ctrl_c(self) -> None:
        """Interrupt all programs in the foreground, as the keyboard does."""
        self.press("\x03")

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def end(self) -> str:
        """Wait for the command to end; return its standard output."""
        output, _ = self.process.communicate()
        return output


@contextmanager
def at_a_terminal(*words: str | Path, draws: bool = False, errors: Path | None = None) -> Iterator[Terminal]:
    """Start the command at a terminal; kill it in the end if it still runs.

    ``draws``: its output reaches the terminal, too; otherwise it is read apart. ``errors``: where they go instead.
    """
    ours, theirs = pty.openpty()
    # The first terminal that the leader of a session opens is its own: Ctrl-C comes from there.
    opens = 'terminal=$0; errors=$1; shift; exec "$@" <"$terminal"'
    script = f'{opens} {">$terminal" if draws else ""} 2>"${{errors:-$terminal}}"'
    process = subprocess.Popen(
        ["sh", "-c", script, os.ttyname(theirs), str(errors or ""), REFEREE, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )
    try:
        yield Terminal(ours, process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        os.close(ours)
        os.close(theirs)
