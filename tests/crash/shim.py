"""The library under the referee (``shim.c``): compiled once, controlled through a mapped page."""

from __future__ import annotations

import atexit
import mmap
import os
import shutil
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

_FAULTS = struct.Struct("=iiq")


@cache
def library() -> Path:
    """Return the shared library. Skips the test where there is no compiler for it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: nothing can stand between the referee and the C library")
    # Where libraries are loaded from anyhow: the directory of temporary files may forbid it.
    folder = Path(mkdtemp(prefix="crash-shim-", dir=sys.prefix))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made, source = folder / "shim.so", Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    _try_out(made, folder)
    return made


def library_if_any() -> Path | None:
    """Return the library, or None for callers that can do without."""
    try:
        return library()
    except pytest.skip.Exception:
        return None


def _try_out(made: Path, folder: Path) -> None:
    """Skip the test where programs start without it: a disk that should fail would not, and be waited for."""
    trace = folder / "trace"
    env = {**os.environ, "LD_PRELOAD": str(made), "CRASH_DIR": str(folder), "CRASH_TRACE": str(trace)}
    done = subprocess.run(
        [sys.executable, "-c", f"open({str(folder / 'file')!r}, 'w').write('.')"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not trace.exists() or not trace.stat().st_size:
        pytest.skip(f"a library cannot be preloaded here: {done.stderr[-200:] or 'it sees nothing'}")


class Shim:
    """Under one referee, in one folder."""

    def __init__(self, folder: Path, *, traced: bool = False) -> None:
        """``folder``: the data directory is ``data`` in it, as ``process.Referee`` and ``Postgres`` have it."""
        self.trace = folder / "trace"
        path = folder / "faults"
        path.write_bytes(bytes(_FAULTS.size))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _FAULTS.size)
        self.env = {"LD_PRELOAD": str(library()), "CRASH_DIR": str(folder / "data"), "CRASH_FAULTS": str(path)}
        if traced:
            self.env["CRASH_TRACE"] = str(self.trace)

    def fail(self, *, writes: int = 0, syncs: int = 0, clock_s: int = 0) -> None:
        """Make writes and syncs fail with these errno from now on, and set the clock off by ``clock_s``."""
        self._page[:] = _FAULTS.pack(writes, syncs, clock_s * 1_000_000_000)
