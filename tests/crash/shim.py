"""The library under the referee (``shim.c``): compiled once, told what to do through a mapped page."""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp

import pytest

_FAULTS = struct.Struct("=iiq")


@cache
def library() -> Path:
    """The shared library. Skips the test where there is no compiler for it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: nothing can stand between the referee and the C library")
    made = Path(mkdtemp(prefix="crash-shim-", dir=gettempdir())) / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


class Shim:
    """Under one referee, in one folder."""

    def __init__(self, folder: Path, *, traced: bool = False) -> None:
        """``folder``: the data directory is ``data`` in it, as ``process.Referee`` has it."""
        self.trace = folder / "trace"
        path = folder / "faults"
        path.write_bytes(bytes(_FAULTS.size))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _FAULTS.size)
        self.env = {"LD_PRELOAD": str(library()), "CRASH_DIR": str(folder / "data"), "CRASH_FAULTS": str(path)}
        if traced:
            self.env["CRASH_TRACE"] = str(self.trace)

    def fail(self, *, writes: int = 0, syncs: int = 0, clock_s: int = 0) -> None:
        """From now on writes and syncs fail with these errno, and the clock is off by so much."""
        self._page[:] = _FAULTS.pack(writes, syncs, clock_s * 1_000_000_000)
