"""The demo in a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from tests.clients.referee_process import REFEREE


class Demo:
    """A demo in a process, with a folder for its files and one for what has to be gone afterwards."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        self._folder = folder
        self._temporary = folder / "temporary"
        self._temporary.mkdir()
        self._mark = f"DEMO_TEST_{uuid4().hex}"

    def start(self, *words: str, command: Sequence[str] = (*REFEREE, "demo")) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--out", str(self.out), *words],
            cwd=self._folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"TMPDIR": str(self._temporary), self._mark: "1"}

    def check_gone(self) -> None:
        """No process, no file."""
        assert list(self._temporary.iterdir()) == []
        left = [path for path in Path("/proc").glob("[0-9]*/environ") if self._mark.encode() in _read(path)]
        assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
