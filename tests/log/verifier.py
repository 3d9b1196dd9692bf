"""The verifier in JavaScript, in one process of node that a test process keeps: its start costs more than most jobs.

A test of the command line itself starts ``verify.mjs`` as a process, as its reader does.
"""

from __future__ import annotations

import atexit
import json
import subprocess
from functools import cache
from pathlib import Path
from subprocess import PIPE, CompletedProcess
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Final

FOLDER = Path(__file__).parents[2] / "clients" / "verify-js"
_JOBS: Final = Path(__file__).with_name("verifier.mjs")


class Node:
    """A process that answers question after question, started with the first; a dead one is reported and replaced."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._stderr = TemporaryFile()  # noqa: SIM115 - as long as this process
        self._asking = Lock()

    def ask(self, job: str, **given: object) -> Any:
        """Return the answer. Raises ``AssertionError`` with what node says if there is none, or if it says anything."""
        with self._asking:
            process = self._process or self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                print(json.dumps({"job": job, **given}), file=process.stdin, flush=True)
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                self._end()
            assert (line != "", said := self._said()) == (True, ""), f"{job}: {said}"
        found = json.loads(line)
        assert "error" not in found, found["error"]
        return found.get("answer")

    def _started(self) -> subprocess.Popen[str]:
        command = ["node", str(_JOBS), str(FOLDER)]
        self._process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=self._stderr, text=True, cwd=FOLDER)
        return self._process

    def _said(self) -> str:
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace")
        self._stderr.seek(0)
        self._stderr.truncate()
        return said

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def close(self) -> None:
        with self._asking:
            self._end()
        self._stderr.close()


@cache
def node() -> Node:
    """Return the process of this one."""
    kept = Node()
    atexit.register(kept.close)
    return kept


def verify(*words: object) -> CompletedProcess[str]:
    """Return what ``verify.mjs`` does with these words, run in the process that is kept."""
    texts = [str(word) for word in words]
    return CompletedProcess(texts, **node().ask("command", words=texts))
