"""A bot that is a program, in any language: it is asked in lines of JSON, and answers in them (docs/exec-bots.md).

It runs as the user who starts it, in a process group of its own, which is killed when the game is over. That is no
sandbox.
"""

from __future__ import annotations

import os
import select
import selectors
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import IO, Any, ClassVar, Final

from referee.console import printable
from referee.process.child import popen
from referee.process.lifetime import ending, signal_group, usage
from referee.text.notation.questions import QueryError, shown
from referee_clients.bots import protocol
from referee_clients.bots.bot import Ending, Proposal, Table, UnknownBot

PREFIX: Final = "exec:"
START_S: Final = 60.0
"""The seconds from its start until its first answer."""
END_S: Final = 2.0
"""The seconds from the end of its input until it is killed."""
MEMORY_MIB: Final = 2048
"""Resident, of all its processes; measured where there is /proc, while an answer is awaited."""
MOST_PROCESSES: Final = 256
"""The most processes in its group, itself included; counted with the memory."""
LINE_BYTES: Final = 64 << 10
"""The most bytes of an answer."""
TOLD_BYTES: Final = 1 << 20
"""The most bytes of its standard error that are passed on; the rest is read and dropped."""
_TAIL_BYTES: Final = 1000
_LOOK_S: Final = 0.2
_WEIGH_S: Final = 0.5
"""The seconds between two looks at its use of memory, while it is asked."""
_PASSED_ON: Final = frozenset({"PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ"})


class ProgramFailed(Exception):
    """The program gave no answer that can be read; the message says what it did, and the expected answer."""


class ProgramLate(ProgramFailed):
    """The program did not answer in time."""


class ProgramIllegal(ProgramFailed):
    """The program answered a move that no position allows."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The time limit of a step, in seconds, and its end; None: no limit."""

    seconds: float | None
    until: float | None

    @classmethod
    def of(cls, seconds: float | None) -> Patience:
        """Return the one that begins now."""
        return cls(seconds, None if seconds is None else time.monotonic() + seconds)


class Program:
    """One game of a program, which is started when the game begins and ended with it."""

    kind: ClassVar = "bot"
    """Its name in messages."""

    def __init__(
        self,
        name: str,
        *,
        memory_mib: int = MEMORY_MIB,
        start_s: float = START_S,
        is_shown: bool = True,
        ends_with_thread: bool = False,
    ) -> None:
        """``name``: ``exec:`` and a command with its arguments; ``is_shown``: whether its standard error is passed on.
        ``ends_with_thread``: whether it is killed when the thread that started it is gone, however that was (on Linux).

        Raise ``UnknownBot`` if there is no such program.
        """
        self.patience_s: float | None = None
        """The seconds that it has for the next move; None: no limit."""
        self.asked_s = 0.0
        """The time when it was asked last, by ``time.monotonic``: the work of asking takes nothing of its time."""
        self._name = name
        self._is_shown = is_shown
        self._ends_with_thread = ends_with_thread
        self._command = _command(name, self.kind)
        self._memory_bytes = memory_mib << 20
        self._start_s = start_s
        self._process: subprocess.Popen[bytes] | None = None
        self._listening: Thread | None = None
        self._table: Table | None = None
        self._replies = b""
        self._has_said_hello = False
        self._answers_take_backs = False
        self._turns = 0
        self._told = bytearray()
        self._weighed_s = time.monotonic()

    def begin(self, table: Table) -> None:
        """Start it. Raise ``ProgramFailed`` if that is not possible."""
        self._table = table
        self._start()
        self._send(protocol.hello(), Patience.of(self._start_s))

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name[:3] == "LC_"}
        try:
            self._process = popen(self._command, env=environment, ends_with_thread=self._ends_with_thread)
        except OSError as error:
            raise ProgramFailed(f"{self._shown} cannot be started: {error.strerror}") from error
        self._listening = Thread(target=self._listen, args=(self._process,), name="stderr", daemon=True)
        self._listening.start()

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return what it chose. Raise ``ProgramFailed``, also if it does not play this game."""
        table = self.meet()
        self._turns += 1
        question = protocol.turn(table, self._turns, observation, legal_moves)
        self.asked_s = time.monotonic()
        patience = Patience.of(self.patience_s)
        self._send(question, patience)
        with self._understood():
            return protocol.choice_of(table, protocol.answer(self._line(patience, "a move")), legal_moves)

    def agrees(self, proposal: Proposal) -> bool:
        """Return whether it consents; one that did not ask to be asked does not. Raise ``ProgramFailed``."""
        self.meet()
        if not self._answers_take_backs:
            return False
        patience = Patience.of(self.patience_s)
        self._send(protocol.take_back(proposal), patience)
        with self._understood():
            return protocol.agreed(protocol.answer(self._line(patience, "an answer to a take-back")))

    def end(self, ending: Ending | None) -> None:
        """Tell it how the game ended, if that is known, and end it."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None  # noqa: S101 - a pipe
        with suppress(OSError):
            if ending is not None and self._table is not None:
                self._written(process, protocol.end(self._table, ending), Patience.of(END_S))
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        # All that it has started ends with it.
        signal_group(process.pid)
        process.wait()
        assert process.stdout is not None  # noqa: S101 - a pipe
        process.stdout.close()
        if self._listening is not None:
            self._listening.join(END_S)

    def plays(self) -> tuple[str, ...] | None:
        """Start it, to learn what it plays, and end it; None: everything. Raise ``ProgramFailed``."""
        try:
            self._start()
            patience = Patience.of(self._start_s)
            self._send(protocol.hello(), patience)
            with self._understood():
                return protocol.games_of(protocol.answer(self._line(patience, "an answer to hello")))
        finally:
            self.end(None)

    # --- lines -----------------------------------------------------------------------------------------------

    def meet(self) -> Table:
        """Return where it sits. At first read what it says of itself, and tell it of the game.

        Raise ``ProgramFailed``.
        """
        if self._table is None:
            raise ProgramFailed(f"{self._shown} was asked before its game began")
        table = self._table
        if self._has_said_hello:
            return table
        patience = Patience.of(self._start_s)
        with self._understood():
            said = protocol.answer(self._line(patience, "an answer to hello"))
            plays, self._answers_take_backs = protocol.games_of(said), protocol.answers_take_backs(said)
        if plays is not None and table.rules_id not in plays:
            named = ", ".join(map(printable, plays)) or "no game"
            raise self._failed(f"plays {named}, not {table.rules_id}")
        self._has_said_hello = True
        self._send(protocol.new(table), patience)
        return table

    def _send(self, line: bytes, patience: Patience) -> None:
        process = self._running()
        assert process.stdin is not None  # noqa: S101 - a pipe
        assert process.stdout is not None  # noqa: S101 - a pipe
        if self._replies or _is_ready(process.stdout, selectors.EVENT_READ, 0):
            self._read(0)
            raise self._failed(f"wrote {shown(self._replies[:60].decode(errors='replace'))}, an answer to no question")
        try:
            is_read = self._written(process, line, patience)
        except OSError:
            raise self._ended(process) from None
        if not is_read:
            raise ProgramLate(f"{self._shown} did not read for {patience.seconds:.3g} s")

    def _written(self, process: subprocess.Popen[bytes], line: bytes, patience: Patience) -> bool:
        """Return whether it has read the line by then. Raise ``ProgramFailed`` if it takes too much, and
        ``OSError``."""
        assert process.stdin is not None  # noqa: S101 - a pipe
        while line:
            if not _is_ready(process.stdin, selectors.EVENT_WRITE, _LOOK_S):
                if patience.until is not None and time.monotonic() > patience.until:
                    return False
                self._weigh(process)
                continue
            # No more than a pipe takes at once: a program that does not read must not hold the game up.
            line = line[os.write(process.stdin.fileno(), line[: select.PIPE_BUF]) :]
        return True

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """Raise what cannot be read in an answer as ``ProgramFailed``."""
        try:
            yield
        except QueryError as error:
            raise self._failed(f"answered {error}") from None

    def _line(self, patience: Patience, expected: str) -> bytes:
        """Return what it answers. Raise ``ProgramFailed``, ``ProgramLate``."""
        while b"\n" not in self._replies and len(self._replies) <= LINE_BYTES:
            left = None if patience.until is None else patience.until - time.monotonic()
            if left is not None and left <= 0:
                raise ProgramLate(f"{self._shown} said nothing for {patience.seconds:.3g} s; expected {expected}")
            self._read(_LOOK_S if left is None else min(left, _LOOK_S))
        line, _, self._replies = self._replies.partition(b"\n")
        if len(line) > LINE_BYTES:
            raise self._failed(f"answered a line of more than {LINE_BYTES} bytes")
        return line

    def _read(self, seconds: float) -> None:
        """Take what there is, after at most ``seconds``. Raise ``ProgramFailed`` if it has ended, or takes too much."""
        process = self._running()
        assert process.stdout is not None  # noqa: S101 - a pipe
        if time.monotonic() > self._weighed_s + _WEIGH_S:
            self._weigh(process)
        if not _is_ready(process.stdout, selectors.EVENT_READ, seconds):
            return
        data = os.read(process.stdout.fileno(), LINE_BYTES)
        if not data:
            raise self._ended(process)
        self._replies += data

    def _weigh(self, process: subprocess.Popen[bytes]) -> None:
        self._weighed_s = time.monotonic()
        taken, processes = usage(process.pid)
        if taken > self._memory_bytes:
            raise self._failed(f"takes {taken >> 20} MiB of memory; expected at most {self._memory_bytes >> 20}")
        if processes > MOST_PROCESSES:
            raise self._failed(f"has {processes} processes; expected at most {MOST_PROCESSES}")

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on its standard error, and keep the end."""
        assert process.stderr is not None  # noqa: S101 - a pipe
        left = TOLD_BYTES
        with process.stderr as stream:
            while data := os.read(stream.fileno(), 4096):
                self._told = (self._told + data)[-_TAIL_BYTES:]
                if left > 0 and self._is_shown:
                    text = data[:left].decode(errors="replace")
                    sys.stderr.write("".join(each if each == "\n" else printable(each) for each in text))
                    sys.stderr.flush()
                    left -= len(data)
                    if left <= 0:
                        print(f"\n{self._shown}: no more of its standard error is shown", file=sys.stderr)

    @property
    def told(self) -> str:
        """The end of its standard error."""
        return self._told.decode(errors="replace")

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
        how = "closed its output" if code is None else ending(code)
        last = self._told.decode(errors="replace").strip().rpartition("\n")[2]
        return self._failed(how + (f": {printable(last)}" if last else ""))


def _command(name: str, kind: str) -> list[str]:
    try:
        command = shlex.split(name.removeprefix(PREFIX))
    except ValueError as error:
        raise UnknownBot(f"no {kind} {shown(name)}: {error}") from None
    if not command:
        raise UnknownBot(f"no {kind} {shown(name)}: expected {PREFIX}COMMAND, such as {PREFIX}./mybot")
    if shutil.which(command[0]) is None:
        raise UnknownBot(f"no {kind} {shown(name)}: there is no program {shown(command[0])}")
    return command


def _is_ready(stream: IO[bytes], event: int, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(stream, event)
        return bool(selector.select(seconds))
