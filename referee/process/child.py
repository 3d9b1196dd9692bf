"""Starts child processes: each leads a session of its own, and can be killed no matter which task waits for its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Final, Self

from referee.process.lifetime import end_with_this_thread, signal_group

__all__ = ["DEVNULL", "PIPE", "Child", "popen"]

_BUFFER_BYTES: Final = 64 << 10


class Child:
    """A process that asyncio waits for.

    Its session is its own: Ctrl-C in the terminal is for the parent, which ends its children.
    """

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: SubprocessStreamProtocol) -> None:
        self._transport = transport
        self.stdin = protocol.stdin
        self.stdout = protocol.stdout
        self.stderr = protocol.stderr
        self.pid = transport.get_pid()
        # The handle always means this process and never another one of the same number.
        try:
            self._handle: int | None = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._handle = None
        process = asyncio.subprocess.Process(transport, protocol, asyncio.get_running_loop())
        self.ended: asyncio.Task[int] = asyncio.create_task(process.wait())
        """Its end, with the exit code, negative for a signal."""
        self.ended.add_done_callback(lambda _: self._let_go())

    @classmethod
    async def start(
        cls,
        words: Sequence[str],
        *,
        stdin: int = DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        buffer_bytes: int = _BUFFER_BYTES,
    ) -> Self:
        """Start a program. Raise ``OSError``.

        ``stdout``, ``stderr``: None for those of this process. ``buffer_bytes``: the longest line that can be read.
        """
        loop = asyncio.get_running_loop()
        streams: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=buffer_bytes, loop=loop),
            *words,
            **streams,
            cwd=cwd,
            env=env,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        return cls(transport, protocol)

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self.ended.result() if self.ended.done() else None

    async def wait(self) -> int:
        """Return the exit code when the process has ended."""
        return await asyncio.shield(self.ended)

    def send(self, how: signal.Signals) -> None:
        """Send the process a signal, unless it has ended.

        The transport is not used: it first checks whether the process has ended, and takes its exit code from the task
        that waits for it.
        """
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, how)

    def kill(self) -> None:
        """Kill the process at once; it is gone when ``ended`` is done. A read under way ends by that."""
        self.send(signal.SIGKILL)
        for descriptor in (0, 1):
            pipe = self._transport.get_pipe_transport(descriptor)
            if pipe is not None:
                pipe.close()  # while nothing reads, its end would not be noticed

    async def stop(self, within_s: float) -> int:
        """Ask the process to end, kill it after that time, and return its exit code."""
        self.send(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self.wait(), within_s)
        except TimeoutError:
            self.send(signal.SIGKILL)
            return await self.wait()

    def signal_group(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to the process and to all that it has started and that stayed in its group."""
        signal_group(self.pid, how)

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def popen(
    words: Sequence[str],
    *,
    stderr: int | None = PIPE,
    env: Mapping[str, str] | None = None,
    ends_with_thread: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program with pipes in a session of its own, for a thread that waits for it. Raise ``OSError``.

    ``ends_with_thread``: whether it is killed when the thread that started it is gone, however that was (on Linux).
    """
    return subprocess.Popen(  # noqa: S603 - callers name it
        words,
        stdin=PIPE,
        stdout=PIPE,
        stderr=stderr,
        env=env,
        start_new_session=True,
        preexec_fn=end_with_this_thread() if ends_with_thread else None,  # noqa: PLW1509 - one system call, looked up before
    )
