"""Run a ``referee`` command in this process: the ordinary way to test it, as its start would take the longest.

``tests.cli.command`` starts a process, for what is about processes: signals, terminals, pipes, disks, what is imported.
``test_inside.py`` holds the two against each other.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from functools import cache, partial
from io import BufferedReader, BufferedWriter, BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from threading import Lock
from unittest.mock import patch

import structlog
from cyclopts import App

from referee import cli
from referee.cli.shared.solver import Solver
from tests import one_loop
from tests.cli import warm_solver

_LOOKS: Mapping[str, str] = {"COLUMNS": "100", "NO_COLOR": "1"}
_process = Lock()
"""Held by the command that runs, as a process has one standard output, one environment, one directory."""


def referee(
    *words: object, stdin: str = "", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> CompletedProcess[str]:
    """Return its exit code and what it printed.

    A test that serves the command's calls on its own event loop awaits this in another thread. Raises what would end
    the process with a traceback.
    """
    done = in_bytes(*words, stdin=stdin.encode(), env=env, cwd=cwd)
    return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def in_bytes(
    *words: object, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> CompletedProcess[bytes]:
    """Return what ``referee`` returns, for output that is no text."""
    run = partial(_run, ["referee", *map(str, words)], stdin, {**_LOOKS, **(env or {})}, cwd or Path())
    if not one_loop.is_running_here():
        return run(one_loop.run)
    # The loop stands still meanwhile. A command that makes no call has one of its own, for which it takes a thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run, asyncio.run).result()


def _run(
    texts: list[str], stdin: bytes, env: Mapping[str, str], cwd: Path, run: Callable[..., object]
) -> CompletedProcess[bytes]:
    out, error = BytesIO(), BytesIO()
    told, handlers = structlog.get_config(), _handlers()
    with (
        _process,
        patch.dict(os.environ, env),
        patch.object(sys, "argv", texts),
        patch.object(sys, "path", sys.path[:]),  # bots of one's own are imported from where a command runs
        patch.object(sys, "stdin", TextIOWrapper(BufferedReader(BytesIO(stdin)), encoding="utf-8")),
        patch.object(sys, "stdout", TextIOWrapper(BufferedWriter(out), encoding="utf-8")),
        patch.object(sys, "stderr", TextIOWrapper(BufferedWriter(error), encoding="utf-8")),
        patch.object(asyncio, "run", run),
        patch.object(Solver, "__init__", warm_solver.init),
        patch.object(Solver, "__exit__", warm_solver.leave),
        patch.object(cli, "application", lambda names: _application(names) if "--help" in texts else _built(*names)),
        patch.object(logging.getLogger(), "handlers", []),  # a command before this one may have said what libraries say
        chdir(cwd),
    ):
        try:
            cli.main()
        except SystemExit as stopped:
            sys.stdout.flush()
            sys.stderr.flush()
            return CompletedProcess(texts, int(stopped.code or 0), out.getvalue(), error.getvalue())
        finally:
            structlog.configure(**told)
            assert _handlers() == handlers, "what handles signals is to be tested as a process"
    raise AssertionError("the command has not ended with an exit code")


_application = cli.application


@cache
def _built(name: str) -> App:
    """Return the program with this command, which keeps nothing of a run: to build it takes longer than most runs."""
    return _application([name])


def _handlers() -> list[object]:
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
