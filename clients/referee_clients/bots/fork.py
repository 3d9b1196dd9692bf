"""A bot in Python in a process of its own: it can hang, leak, print or die, and the game continues without it.

The process is a fork, so that it has all of the referee imported, and imports the bot itself: every game has a new one.
It runs as the user who starts it; that is no sandbox. Its answers are read strictly, as bytes.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import random
import resource
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any, Final, NoReturn

from referee.console import printable
from referee.process.frames import LENGTH, framed, read_frame
from referee.process.lifetime import end_with, ending, signal_group, usage
from referee.wire import registry as wire
from referee.wire.strict import MalformedError
from referee_clients.bots.bot import RESIGN, Bot, BrokenBot, Ending, Happening, Table, UnknownBot, begin, end
from referee_clients.bots.loading import load
from referee_clients.bots.program import (
    END_S,
    LINE_BYTES,
    MEMORY_MIB,
    MOST_PROCESSES,
    START_S,
    ProgramFailed,
    ProgramIllegal,
    ProgramLate,
)

_INDEX: Final = struct.Struct(">I")
_TAIL_BYTES: Final = 1000
_LOOK_S: Final = 0.2
_WEIGH_S: Final = 0.5
_LASTING: Final = ("components", "options")
_READY, _NUMBER, _MOVE, _RESIGN, _ERROR, _UNKNOWN = b"k", b"n", b"m", b"r", b"e", b"u"


class Forked:
    """One game of a bot, whose process starts when the game begins and ends with it."""

    def __init__(
        self,
        name: str,
        rules_id: str,
        seed: int | None = None,
        *,
        memory_mib: int = MEMORY_MIB,
        start_s: float = START_S,
    ) -> None:
        """``name``, ``rules_id``, ``seed``: as of ``load``, which is called in the other process."""
        self.patience_s: float | None = None
        """The seconds that it has for the next move; None: no limit."""
        self.asked_s = 0.0
        """The time when it was asked last, by ``time.monotonic``: the work of asking takes nothing of its time."""
        self._name, self._rules_id, self._seed = name, rules_id, seed
        self._memory_bytes = memory_mib << 20
        self._start_s = start_s
        self._pid = 0
        self._table: Table | None = None
        self._is_ready = False
        self._hears = False
        """True if it asks for the story of the game."""
        self._told = bytearray()
        self._weighed_s = 0.0

    @property
    def told(self) -> str:
        """The end of its output."""
        return self._told.decode(errors="replace")

    def begin(self, table: Table) -> None:
        """Start it."""
        self._table = table
        self._weighed_s = time.monotonic()
        self._socket, theirs = socket.socketpair()
        self._output, their_output = os.pipe()
        told = replace(table, left_ms=_none, since=tuple, seed=self._seed)
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _be_the_bot(theirs, their_output, self._name, told, self._memory_bytes, parent=parent)
        theirs.close()
        os.close(their_output)
        self._socket.setblocking(False)
        os.set_blocking(self._output, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._selector.register(self._socket, selectors.EVENT_READ)

    def meet(self) -> Table:
        """Wait until it is imported, unless it is. Raise ``ProgramFailed``, and ``UnknownBot`` if there is none."""
        if self._table is None or not self._pid:
            raise ProgramFailed(f"{self._shown} was asked before its game began, or after it")
        if not self._is_ready:
            _, hears = self._reply(time.monotonic() + self._start_s, "to be imported")
            self._hears = bool(hears)
            self._is_ready = True
        return self._table

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return its move, or ``RESIGN``. Raise ``ProgramFailed``."""
        table = self.meet()
        since = _in_words(table.since()) if self._hears else ()
        question = _pickled((table.left_ms(), since, observation, legal_moves), table)
        self.asked_s = time.monotonic()
        until = None if self.patience_s is None else self.asked_s + self.patience_s
        self._send(question, until)
        kind, data = self._reply(until, "a move")
        try:
            if kind == _NUMBER:
                return legal_moves[_INDEX.unpack(data)[0]]
            if kind == _MOVE:
                return wire.codec(table.rules_id, table.rules_version).decode_move(data, table.components)
            if kind == _RESIGN:
                return RESIGN
        except MalformedError as error:
            raise ProgramIllegal(f"{self._shown} answered a move that cannot be: {error}") from None
        except (struct.error, IndexError):
            pass
        raise ProgramFailed(f"{self._shown} wrote to the wrong file; expected a move")

    def end(self, ending: Ending | None) -> None:
        """Tell it how the game ended, if that is known, and end it with all that it has started."""
        if not self._pid:
            return
        with suppress(ProgramFailed, OSError):
            if ending is not None and self._is_ready:
                until = time.monotonic() + END_S
                since = _in_words(self._table.since()) if self._hears and self._table else ()
                self._send(pickle.dumps((ending, since), pickle.HIGHEST_PROTOCOL), until)
                self._reply(until, "an end")
        self._kill()

    # --- bytes -----------------------------------------------------------------------------------------------

    def _send(self, data: bytes, until: float | None) -> None:
        frame = memoryview(framed(data))
        while frame:
            try:
                frame = frame[self._socket.send(frame) :]
            except BlockingIOError:
                self._look(until, "to read")
            except OSError:
                raise self._ended() from None

    def _reply(self, until: float | None, expected: str) -> tuple[bytes, bytes]:
        data, length = b"", LENGTH.size
        while len(data) < length:
            try:
                more = self._socket.recv(length - len(data))
            except BlockingIOError:
                self._look(until, expected)
                continue
            except OSError:
                raise self._ended() from None
            if not more:
                raise self._ended()
            data += more
            if len(data) == LENGTH.size == length:
                length += LENGTH.unpack(data)[0]
                if not LENGTH.size < length <= LINE_BYTES:
                    raise ProgramFailed(f"{self._shown} wrote to the wrong file; expected a move")
        kind, payload = data[4:5], data[5:]
        if kind == _UNKNOWN:
            raise UnknownBot(payload.decode(errors="replace"))
        if kind == _ERROR:
            self._drain()
            raise ProgramFailed(printable(payload.decode(errors="replace"))[:500])
        return kind, payload

    def _look(self, until: float | None, expected: str) -> None:
        """Wait a little. Raise ``ProgramFailed`` if it takes too much, ``ProgramLate`` after the time."""
        now = time.monotonic()
        if until is not None and now >= until:
            raise ProgramLate(f"{self._shown} took too long; expected {expected} by then")
        if now > self._weighed_s + _WEIGH_S:
            self._weighed_s = now
            taken, processes = usage(self._pid)
            if taken > self._memory_bytes:
                most = self._memory_bytes >> 20
                raise ProgramFailed(f"{self._shown} takes {taken >> 20} MiB of memory; expected at most {most}")
            if processes > MOST_PROCESSES:
                raise ProgramFailed(f"{self._shown} has {processes} processes; expected at most {MOST_PROCESSES}")
        left = _LOOK_S if until is None else min(_LOOK_S, until - now)
        for key, _ in self._selector.select(left):
            if key.fileobj == self._output:
                self._drain()

    def _drain(self) -> None:
        """Take what it has printed, or wait for it no longer than a pipe is long."""
        with suppress(BlockingIOError):
            for _ in range(16):
                if not (data := os.read(self._output, 65536)):
                    with suppress(KeyError):
                        self._selector.unregister(self._output)
                    return
                self._told = (self._told + data)[-_TAIL_BYTES:]

    # --- its end ---------------------------------------------------------------------------------------------

    @property
    def _shown(self) -> str:
        return printable(self._name)

    def _ended(self) -> ProgramFailed:
        until = time.monotonic() + END_S
        found, status = os.waitpid(self._pid, os.WNOHANG)
        while not found and time.monotonic() < until:
            time.sleep(0.001)
            found, status = os.waitpid(self._pid, os.WNOHANG)
        self._drain()
        pid, self._pid = self._pid, 0
        if not found:
            self._pid = pid
            how = "closed its connection"
        else:
            how = ending(os.waitstatus_to_exitcode(status))
            signal_group(pid)
            self._close()
        last = self.told.strip().rpartition("\n")[2]
        return ProgramFailed(f"{self._shown} {how}" + (f": {printable(last)}" if last else ""))

    def _kill(self) -> None:
        pid, self._pid = self._pid, 0
        self._drain()
        signal_group(pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)  # it may not have come as far as to have a group
        os.waitpid(pid, 0)
        self._close()

    def _close(self) -> None:
        self._selector.close()
        self._socket.close()
        os.close(self._output)


# --- what both processes have ----------------------------------------------------------------------------------

_table_here: Table | None = None
"""The table of the bot, in its process."""


def _pickled(asked: object, table: Table) -> bytes:
    """Return the bytes, in which the parts of the table that never change are named: they are most of a position."""
    out = BytesIO()
    pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = dict[type, Any](copyreg.dispatch_table) | {
        type(part): partial(_named, part, name) for name in _LASTING if (part := getattr(table, name)) is not None
    }
    pickler.dump(asked)
    return out.getvalue()


def _named(part: object, name: str, found: object) -> Any:
    return (_part_here, (name,)) if found is part else found.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def _part_here(name: str) -> Any:
    return getattr(_table_here, name)


# --- the other process -----------------------------------------------------------------------------------------


def _in_words(since: Sequence[Happening]) -> tuple[Happening, ...]:
    """Return the same events for another process: with their words, not with the functions that make them."""
    return tuple(replace(each, say=partial(str, each.text)) for each in since)


def _none() -> int | None:
    return None


def _be_the_bot(
    connection: socket.socket, output: int, name: str, table: Table, memory_bytes: int, *, parent: int
) -> NoReturn:
    """Play one game, and end."""
    global _table_here  # noqa: PLW0603 - the process has one game
    _table_here = table
    code = 1
    try:
        kept = _confine(connection, output, memory_bytes, parent)
        random.seed(table.seed)
        code = _serve(kept, name, table)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - it must not continue as the process that it was
        with suppress(Exception):
            traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _confine(connection: socket.socket, output: int, memory_bytes: int, parent: int) -> socket.socket:
    os.setsid()
    end_with(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    kept = os.dup(connection.detach())
    printed = os.dup(output)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    for descriptor in map(int, os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")):  # noqa: PTH112, PTH208
        if descriptor > 2 and descriptor != kept:
            with suppress(OSError):
                os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # what is written to; what a program only reserves does not count
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until the end, as the next two
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115
    return socket.socket(fileno=kept)


def _serve(connection: socket.socket, name: str, table: Table) -> int:
    def say(kind: bytes, payload: bytes = b"") -> None:
        connection.sendall(framed(kind + payload))

    left: list[tuple[int | None, float]] = [(None, 0.0)]
    happened: list[tuple[Happening, ...]] = [()]

    def left_ms() -> int | None:
        given, at = left[0]
        return None if given is None else max(0, given - int((time.monotonic() - at) * 1000))

    codec = wire.codec(table.rules_id, table.rules_version)
    try:
        bot: Bot = load(name, table.rules_id, table.seed)
        begin(bot, replace(table, left_ms=left_ms, since=lambda: happened[0]))
        say(_READY, b"h" if hasattr(bot, "begin") else b"")
        with connection.makefile("rb") as requests:
            while (frame := read_frame(requests)) is not None:
                asked = pickle.loads(frame)  # noqa: S301 - our own process wrote it
                if isinstance(asked[0], Ending):
                    happened[0] = asked[1]
                    end(bot, asked[0])
                    say(_READY)
                    return 0
                given, happened[0], observation, moves = asked
                left[0] = (given, time.monotonic())
                move = bot.choose(observation, moves)
                if move is RESIGN:
                    say(_RESIGN)
                elif move in moves:
                    say(_NUMBER, _INDEX.pack(moves.index(move)))
                else:
                    say(_MOVE, _encoded(codec, move, table.components))
    except Exception as error:  # noqa: BLE001 - its author's code may fail in any way
        if isinstance(error, UnknownBot) and not isinstance(error, BrokenBot):
            say(_UNKNOWN, str(error).encode()[: LINE_BYTES // 2])
            return 1
        traceback.print_exc()
        sys.stderr.flush()
        say(_ERROR, f"{type(error).__name__}: {error}".encode()[: LINE_BYTES // 2])
        return 1
    return 0


def _encoded(codec: wire.Codec, move: Any, components: Any) -> bytes:
    try:
        return codec.encode_move(move, components)
    except Exception as error:
        raise ValueError(f"choose returned {repr(move)[:80]}, which is no move of this game") from error
