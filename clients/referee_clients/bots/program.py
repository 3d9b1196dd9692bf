"""A bot that is a program, in any language: it is asked in lines of JSON, and answers in them (docs/exec-bots.md).

It runs as whoever starts it, in a process group of its own, which is killed when the game is over. That is no sandbox.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

from referee.console import printable
from referee.notation.strict_json import QueryError, shown
from referee_clients.bots import lines
from referee_clients.bots.bot import RESIGN, Ending, Table, UnknownBot

PREFIX: Final = "exec:"
START_S: Final = 60.0
"""From its start until it has said what it is."""
END_S: Final = 2.0
"""From the end of its input until it is killed."""
MEMORY_MIB: Final = 2048
"""Resident, of all its processes; measured where there is /proc, while an answer is awaited."""
LINE_BYTES: Final = 64 << 10
"""Of an answer."""
TOLD_BYTES: Final = 1 << 20
"""Of its standard error that is passed on; the rest is read and dropped."""
_TAIL_BYTES: Final = 1000
_LOOK_S: Final = 0.2
_PASSED_ON: Final = frozenset({"PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ"})


class ProgramFailed(Exception):
    """The program gave no answer that can be read; the message says what it did, and what was expected."""


class Program:
    """One game of a program, which is started when the game begins and ended with it."""

    def __init__(self, name: str, *, memory_mib: int = MEMORY_MIB, start_s: float = START_S) -> None:
        """``name``: ``exec:`` and a command with its arguments. Raise ``UnknownBot`` if there is no such program."""
        self._name = name
        self._command = _command(name)
        self._memory_bytes = memory_mib << 20
        self._start_s = start_s
        self._process: subprocess.Popen[bytes] | None = None
        self._listening: Thread | None = None
        self._table: Table | None = None
        self._replies = b""
        self._has_said_hello = False
        self._turns = 0
        self._told = bytearray()
        """The end of its standard error."""

    def begin(self, table: Table) -> None:
        """Start it. Raise ``ProgramFailed`` if that is not possible."""
        self._table = table
        environment = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name[:3] == "LC_"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - it is what the user named
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramFailed(f"{self._shown} cannot be started: {error.strerror}") from error
        self._listening = Thread(target=self._listen, args=(self._process,), name="stderr", daemon=True)
        self._listening.start()
        self._send(lines.hello())

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return its move, or ``RESIGN``. Raise ``ProgramFailed``, also if it does not play this game."""
        if self._table is None:
            raise ProgramFailed(f"{self._shown} was asked before its game began")
        table = self._table
        if not self._has_said_hello:
            self._meet(table)
        self._turns += 1
        self._send(lines.turn(table, self._turns, observation, legal_moves))
        with self._understood():
            answer = lines.answer(self._line(None))
            return RESIGN if lines.resigns(answer) else lines.move_of(table, answer, legal_moves)

    def end(self, ending: Ending | None) -> None:
        """Tell it how the game ended, if that is known, and end it."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None  # noqa: S101 - a pipe
        with suppress(OSError):
            if ending is not None:
                process.stdin.write(lines.end(ending))
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        # Whatever it has started goes with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None  # noqa: S101 - a pipe
        process.stdout.close()
        if self._listening is not None:
            self._listening.join(END_S)

    # --- lines -----------------------------------------------------------------------------------------------

    def _meet(self, table: Table) -> None:
        """Read what it says of itself, and tell it of the game."""
        with self._understood():
            plays = lines.games_of(lines.answer(self._line(self._start_s)))
        if plays is not None and table.rules_id not in plays:
            named = ", ".join(map(printable, plays)) or "no game"
            raise self._failed(f"plays {named}, not {table.rules_id}")
        self._has_said_hello = True
        self._send(lines.new(table))

    def _send(self, line: bytes) -> None:
        process = self._running()
        assert process.stdin is not None  # noqa: S101 - a pipe
        if self._replies or self._has_output(process):
            self._read(0)
            raise self._failed(f"wrote {shown(self._replies[:60].decode(errors='replace'))}, which nobody asked for")
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except OSError:
            raise self._ended(process) from None

    @staticmethod
    def _has_output(process: subprocess.Popen[bytes]) -> bool:
        with selectors.DefaultSelector() as selector:
            assert process.stdout is not None  # noqa: S101 - a pipe
            selector.register(process.stdout, selectors.EVENT_READ)
            return bool(selector.select(0))

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """Raise what cannot be read in an answer as ``ProgramFailed``."""
        try:
            yield
        except QueryError as error:
            raise self._failed(f"answered {error}") from None

    def _line(self, seconds: float | None) -> bytes:
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._replies:
            if len(self._replies) > LINE_BYTES:
                raise self._failed(f"answered a line of more than {LINE_BYTES} bytes")
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise self._failed(f"said nothing for {seconds:g} s; expected an answer to hello")
            self._read(_LOOK_S if left is None else min(left, _LOOK_S))
        line, _, self._replies = self._replies.partition(b"\n")
        return line

    def _read(self, seconds: float) -> None:
        """Take what there is, after at most so long. Raise ``ProgramFailed`` if it has ended, or takes too much."""
        process = self._running()
        assert process.stdout is not None  # noqa: S101 - a pipe
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                self._weigh(process)
                return
        data = os.read(process.stdout.fileno(), LINE_BYTES)
        if not data:
            raise self._ended(process)
        self._replies += data

    def _weigh(self, process: subprocess.Popen[bytes]) -> None:
        if (taken := _resident_bytes(process.pid)) > self._memory_bytes:
            raise self._failed(f"takes {taken >> 20} MiB of memory; expected at most {self._memory_bytes >> 20}")

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on its standard error, and keep the end."""
        assert process.stderr is not None  # noqa: S101 - a pipe
        left = TOLD_BYTES
        with process.stderr as stream:
            while data := os.read(stream.fileno(), 4096):
                self._told = (self._told + data)[-_TAIL_BYTES:]
                if left > 0:
                    text = data[:left].decode(errors="replace")
                    sys.stderr.write("".join(each if each == "\n" else printable(each) for each in text))
                    sys.stderr.flush()
                    left -= len(data)
                    if left <= 0:
                        print(f"\n{self._shown}: no more of its standard error is shown", file=sys.stderr)

    # --- what goes wrong ---------------------------------------------------------------------------------------

    @property
    def _shown(self) -> str:
        return printable(self._name)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ProgramFailed(f"{self._shown} has been ended")
        return self._process

    def _failed(self, what: str) -> ProgramFailed:
        return ProgramFailed(f"{self._shown} {what}")

    def _ended(self, process: subprocess.Popen[bytes]) -> ProgramFailed:
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            if self._listening is not None:
                self._listening.join(END_S)  # its last words may still be on their way
        code = process.poll()
        match code:
            case None:
                how = "closed its output"
            case code if code < 0:
                how = f"was killed by {signal.Signals(-code).name}"
            case _:
                how = f"ended with exit code {code}"
        last = self._told.decode(errors="replace").strip().rpartition("\n")[2]
        return self._failed(how + (f": {printable(last)}" if last else ""))


def _command(name: str) -> list[str]:
    try:
        command = shlex.split(name.removeprefix(PREFIX))
    except ValueError as error:
        raise UnknownBot(f"no bot {shown(name)}: {error}") from None
    if not command:
        raise UnknownBot(f"no bot {shown(name)}: expected {PREFIX}COMMAND, such as {PREFIX}./mybot")
    if shutil.which(command[0]) is None:
        raise UnknownBot(f"no bot {shown(name)}: there is no program {shown(command[0])}")
    return command


def _resident_bytes(group: int) -> int:
    """Return what the processes of the group take; 0 where that is not to be known."""
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                pages += int(fields[21])
    return pages * os.sysconf("SC_PAGE_SIZE")
