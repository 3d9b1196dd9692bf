"""``referee serve`` as a process that is forked from one that has imported everything, which takes most of a start.

It is a process like any other: with an environment and files of its own, signalled and killed by its id. How a referee
starts as an operator starts it is for tests with ``tests.cli.command``.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from socket import AF_UNIX, SOCK_SEQPACKET, recv_fds, send_fds, socket, socketpair
from typing import IO, Any

_MOST_BYTES = 1 << 17


class Process:
    """One that was forked, with what tests need of ``asyncio.subprocess.Process``."""

    def __init__(self, pid: int, stdout: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stdout = stdout
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def returncode(self) -> int | None:
        """Return the exit code, or the negative number of the signal that it died by; None: it runs."""
        return self.ended.result() if self.ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self.ended)

    def send_signal(self, number: int) -> None:
        if self.ended.done():
            raise ProcessLookupError
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Origin:
    """The process that the others are forked from, as its clients see it."""

    def __init__(self) -> None:
        self._socket, theirs = socketpair(AF_UNIX, SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, "-m", __name__, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        self._forked: dict[int, Process] = {}
        self._asked: list[tuple[asyncio.Future[Process], asyncio.StreamReader]] = []
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._hear)

    async def fork(self, *, changed: str, words: Sequence[str], env: Mapping[str, str], stderr: IO[bytes]) -> Process:
        """Return a process that runs the command with these words, after what is ``changed``, in Python."""
        loop = asyncio.get_running_loop()
        read_end, write_end = os.pipe()
        stdout = asyncio.StreamReader()
        asked: asyncio.Future[Process] = loop.create_future()
        try:
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdout), os.fdopen(read_end, "rb"))
            job = {"changed": changed, "words": words, "env": {**env}, "cwd": str(Path.cwd())}
            send_fds(self._socket, [json.dumps(job).encode()], [write_end, stderr.fileno()])
        finally:
            os.close(write_end)
        self._asked.append((asked, stdout))
        return await asked

    def _hear(self) -> None:
        """Take what it says: an id is that of a new process, an id and a code are those of one that has ended."""
        pid, *code = json.loads(self._socket.recv(_MOST_BYTES))
        if code:
            self._forked.pop(pid).ended.set_result(code[0])
        else:
            asked, stdout = self._asked.pop(0)
            self._forked[pid] = Process(pid, stdout)
            asked.set_result(self._forked[pid])

    def end(self) -> None:
        """End it, and return when it has ended: it ends when it has no client left."""
        if not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
        self._socket.close()
        self._process.wait()


_origins: list[Origin] = []
"""The one of this process, when it is there."""


def origin() -> Origin:
    """Return the one of this process, which is there to its end at the latest."""
    if not _origins:
        _origins.append(Origin())
    return _origins[0]


@atexit.register
def end() -> None:
    """End it if it is there."""
    if _origins:
        _origins.pop().end()


def _job(asker: socket) -> dict[str, Any] | None:
    """Return what is to be done, in each process that was forked; None in the first one, at its end."""
    handles: dict[int, int] = {}
    with DefaultSelector() as selector:
        selector.register(asker, EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is not None:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    del handles[key.data]
                    _, status = os.waitpid(key.data, 0)
                    asker.send(json.dumps([key.data, os.waitstatus_to_exitcode(status)]).encode())
                    continue
                data, files, _, _ = recv_fds(asker, _MOST_BYTES, 2)
                if not data:
                    return None
                if (pid := os.fork()) == 0:
                    for handle in handles.values():
                        os.close(handle)
                    for number, file in enumerate(files, 1):
                        os.dup2(file, number)
                        os.close(file)
                    job: dict[str, Any] = json.loads(data)
                    return job
                for file in files:
                    os.close(file)
                asker.send(json.dumps([pid]).encode())
                handles[pid] = os.pidfd_open(pid)
                selector.register(handles[pid], EVENT_READ, pid)


def main() -> None:
    from referee import cli

    cli.application(["serve"])
    gc.freeze()
    with socket(fileno=int(sys.argv[1])) as asker:
        job = _job(asker)
    if job is not None:
        os.environ.clear()
        os.environ.update(job["env"])
        os.chdir(job["cwd"])
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1, errors="backslashreplace")
        sys.argv = ["referee", *job["words"]]
        exec(job["changed"], {})
        cli.main()


if __name__ == "__main__":
    main()
