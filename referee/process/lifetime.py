"""Binds processes to the one that started them, and ends them with all that they have started themselves.

Both sides of a start use it, so it imports nothing that takes time. The system calls are those of Linux: prctl(2),
proc(5); elsewhere a process notices the end of its parent at its next read.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_GONE_S: Final = 5.0
"""Seconds for processes that were killed to be gone."""


def end_with(parent: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send this process the signal when ``parent``, which started it, ends; end now if it has ended already."""
    _bind(_prctl(), parent, how)


def end_with_this_thread() -> Callable[[], None] | None:
    """Return a call for ``preexec_fn``: the new process is killed when the thread that starts it ends. None elsewhere
    than on Linux.

    The system call is looked up here, because little is safe between fork and exec.
    """
    if (call := _prctl()) is None:
        return None
    return partial(_bind, call, os.getpid(), signal.SIGKILL)


def _prctl() -> Callable[[int, int], int] | None:
    return ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def _bind(call: Callable[[int, int], int] | None, parent: int, how: signal.Signals) -> None:
    if call is not None:
        call(_PR_SET_PDEATHSIG, how)
        if os.getppid() != parent:
            os._exit(0)


def adopt_orphans() -> None:
    """Make this process the parent of processes that its children leave behind, for ``end_children``."""
    if (call := _prctl()) is not None:
        call(_PR_SET_CHILD_SUBREAPER, 1)


def end_children() -> None:
    """Kill every child of this process, and theirs as they are adopted, and wait for their end."""
    until = time.monotonic() + _GONE_S
    while time.monotonic() < until:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # the rule: there are none
        for child in _children(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)


def _children(parent: int) -> list[int]:
    return [pid for pid, fields in _processes() if int(fields[1]) == parent]


def _processes() -> list[tuple[int, list[str]]]:
    """Return the number of every process, and the fields of its stat file (proc(5)) that follow its name."""
    found: list[tuple[int, list[str]]] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            found.append((int(folder.name), stat.rpartition(")")[2].split()))
    return found


def usage(group: int) -> tuple[int, int]:
    """Return the resident bytes of a process group and the number of its processes; zeros where there is no /proc."""
    resident = [int(fields[21]) for _, fields in _processes() if int(fields[2]) == group]
    return sum(resident) * os.sysconf("SC_PAGE_SIZE"), len(resident)


def signal_group(leader: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to every process of the group, which may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, how)


def ending(code: int) -> str:
    """Return how a process ended, as the end of a sentence. ``code``: negative for a signal, as Python has it."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def own_output() -> int:
    """Return a new descriptor of standard output, which goes to standard error from now on, and standard input to
    nothing: the pipes belong to the frames, whatever foreign code prints.
    """
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return kept
