"""Worker processes for slow questions: each answers one at a time, and is killed and replaced when anything is wrong.

The module knows processes and bytes; only the module that the workers import knows what the questions mean. It runs on
the caller's event loop, which never waits for a solver.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from secrets import randbits

from referee.process.child import DEVNULL, PIPE, Child
from referee.process.frames import (
    LENGTH,
    MAX_FRAME_BYTES,
    NO_REQUEST,
    BadQuestion,
    Reply,
    framed,
    pack_request,
    unpack_reply,
)
from referee.process.lifetime import ending

MEMORY_MIB = 1024
START_S = 60.0
"""The time to load Python and the solver; an idle machine takes a fraction of a second."""
_MOST_SLACK_S = 1.0
_GONE_S = 5.0
"""The time in which a killed process must be gone."""
_ENVIRONMENT = {"LC_ALL": "C.UTF-8"}


class WorkerFailed(Exception):
    """There is no answer; the message says what to do.

    ``why``: ``died``, ``hung``, ``memory``, ``garbled``, or ``late``, if no worker was to be had in time.
    """

    def __init__(self, why: str, what: str, advice: str = "") -> None:
        super().__init__(f"{what}; {advice}" if advice else what)
        self.why = why
        self.what = what
        """The message without the advice, which is for the caller of one question."""


class WorkerFault(Exception):
    """The program is wrong: the message is a worker's traceback, for its operator."""

    why = "fault"

    def __init__(self, trace: str) -> None:
        super().__init__(trace)
        self.last_line = (trace.strip().splitlines() or [""])[-1]
        """The last line of the trace: the error that was raised."""


class Workers:
    """A pool of one worker for each question asked at one time; idle workers wait for the next question."""

    def __init__(
        self, module: str, *, memory_mib: int = MEMORY_MIB, at_home: bool = False, refuses: bool = True
    ) -> None:
        """``memory_mib``: of address space, for each; 0 for no limit. ``module``: whose ``answers`` they give.

        ``at_home``: with the environment, the folder and the standard error of this process, for the work of the person
        who started it. Otherwise they have nothing of it.

        ``refuses``: True if its module raises ``BadQuestion``; from any other worker a refusal is garbled.
        """
        self._memory_mib = memory_mib
        self._at_home = at_home
        self._refuses = refuses
        self._module = module
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._is_stopped = False
        self.started = 0
        self.lost: Counter[str] = Counter()
        """Workers that ended before their time: ``why`` of ``WorkerFailed``, ``fault``, ``left`` (the caller no
        longer waited for the answer) or ``idle`` (without a question)."""

    @property
    def has_idle(self) -> bool:
        """True if a worker is ready for the next question."""
        return bool(self._idle)

    @property
    def pids(self) -> list[int]:
        """The ids of all processes."""
        return [worker.pid for worker in self._all]

    async def ask(
        self, method: str, message: bytes, *, until_s: float, beat_s: float | None = None
    ) -> AsyncGenerator[bytes | None]:
        """Yield the answers as they come; None after every ``beat_s`` without one. Close it if not read to the end.

        ``until_s``: the time of the last answer, by the loop's clock; the worker gets a little less, to send by then
        what it has. Raise ``BadQuestion``, ``WorkerFailed``, ``WorkerFault``.
        """
        worker = self._idle.pop() if self._idle else await self._start()
        why: str | None = None  # while it gets ready, it is none the worse for who does not wait for it
        try:
            await worker.ready(until_s)
            why = "left"
            worker.ask(method, message, until_s)
            while True:
                reply = await worker.reply(until_s, beat_s)
                if reply is None or reply[0] is Reply.MESSAGE:
                    yield reply and reply[1]
                    continue
                why = None
                if reply[0] is Reply.REFUSED:
                    raise _refusal(reply[1]) if self._refuses else _garbled()
                return
        except (WorkerFailed, WorkerFault) as error:
            why = error.why if error.why != "late" else None
            raise
        finally:
            if why is None:
                self._idle.append(worker)
            else:
                self.lost[why] += 1
                worker.kill()
                # Until it is gone it takes memory, and the turn of who asked has not ended.
                await asyncio.wait({worker.ended}, timeout=_GONE_S)

    async def start(self) -> None:
        """Start one more worker, which waits for its first question. Raise ``WorkerFailed``, ``WorkerFault``."""
        self._idle.append(await self._start())

    async def _start(self) -> _Worker:
        words = ["-m", "referee.process.worker", self._module, str(self._memory_mib), str(os.getpid())]
        try:
            if self._at_home:
                child = await Child.start([sys.executable, *words, "at-home"], stdin=PIPE, stdout=PIPE)
            else:
                child = await Child.start(
                    [sys.executable, "-I", *words],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    cwd="/",
                    env=_ENVIRONMENT,
                )
        except OSError as error:
            raise WorkerFailed("late", f"no worker can be started ({error.strerror})", "ask again later") from error
        worker = _Worker(child, self._memory_mib)
        self.started += 1
        self._all.add(worker)
        if self._is_stopped:
            worker.kill()
        worker.ended.add_done_callback(lambda _: self._forget(worker))
        return worker

    def _forget(self, worker: _Worker) -> None:
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
            self.lost["idle"] += 1

    async def stop(self) -> None:
        """End all workers; callers that wait for an answer get ``WorkerFailed``."""
        self._is_stopped = True
        self._idle.clear()
        workers = list(self._all)
        for worker in workers:
            worker.kill()
        if workers:
            await asyncio.wait([worker.ended for worker in workers])


class _Worker:
    """One process, from this side."""

    def __init__(self, child: Child, memory_mib: int) -> None:
        assert child.stdin is not None  # noqa: S101 - both are pipes
        assert child.stdout is not None  # noqa: S101
        self._memory_mib = memory_mib
        self._requests, self._replies = child.stdin, child.stdout
        self._is_ready = False
        self._number = NO_REQUEST
        """The number of the request under way."""
        self._start_s = asyncio.get_running_loop().time() + START_S
        self._reading: asyncio.Task[tuple[Reply, int, bytes]] | None = None
        self.pid = child.pid
        self.ended = child.ended
        """The end of its process, with the exit code."""
        self.kill = child.kill

    async def ready(self, until_s: float) -> None:
        """Return when it takes questions. Raise ``WorkerFailed`` (``late``) if that is not by then."""
        if self._is_ready:
            return
        try:
            kind, _ = await self._reply(min(until_s, self._start_s), None) or (None, b"")
        except WorkerFailed as error:
            if error.why == "hung" and until_s < self._start_s:
                raise WorkerFailed("late", "no worker was ready in time", "ask again") from None
            raise
        if kind is not Reply.READY:
            raise _garbled()
        self._is_ready = True

    def ask(self, method: str, message: bytes, until_s: float) -> None:
        """Send the question."""
        left_s = max(0.0, until_s - asyncio.get_running_loop().time())
        self._number = randbits(64)
        seconds = left_s - min(_MOST_SLACK_S, left_s / 4)
        self._requests.write(framed(pack_request(self._number, method, message, seconds)))

    async def reply(self, until_s: float, beat_s: float | None) -> tuple[Reply, bytes] | None:
        """Return the next one to a question; None if it takes longer than ``beat_s``."""
        found = await self._reply(until_s, beat_s)
        if found is not None and found[0] not in (Reply.MESSAGE, Reply.DONE, Reply.REFUSED):
            raise _garbled()
        return found

    async def _reply(self, until_s: float, beat_s: float | None) -> tuple[Reply, bytes] | None:
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
            # The caller that would ask for the result may have left.
            self._reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        left_s = max(0.0, until_s - asyncio.get_running_loop().time())
        is_beat = beat_s is not None and beat_s < left_s
        await asyncio.wait({self._reading}, timeout=beat_s if is_beat else left_s)
        if not self._reading.done():
            if is_beat:
                return None
            raise WorkerFailed("hung", "no answer in time", "ask for less, or allow more time")
        reading, self._reading = self._reading, None
        kind, number, payload = await reading
        if number != self._number:
            raise _garbled()
        if kind is Reply.FAILED:
            raise WorkerFault(payload.decode(errors="replace"))
        if kind is Reply.OUT_OF_MEMORY:
            most = f"{self._memory_mib} MiB"
            raise WorkerFailed(
                "memory", f"it takes more memory than there is for one question ({most})", "ask for less"
            )
        return kind, payload

    async def _read(self) -> tuple[Reply, int, bytes]:
        try:
            (length,) = LENGTH.unpack(await self._replies.readexactly(LENGTH.size))
            if not 0 < length <= MAX_FRAME_BYTES:
                raise _garbled()
            frame = await self._replies.readexactly(length)
        except asyncio.IncompleteReadError:
            self.kill()  # it may have closed its pipe and live on
            code = await asyncio.shield(self.ended)
            raise WorkerFailed("died", f"the worker {ending(code)}", "ask again") from None
        try:
            return unpack_reply(frame)
        except ValueError:
            raise _garbled() from None


def _refusal(data: bytes) -> BadQuestion | WorkerFailed:
    """Return the refusal in a reply; a worker that runs foreign code may have written anything there."""
    try:
        return BadQuestion.unpacked(data)
    except (ValueError, TypeError, RecursionError):
        return _garbled()


def _garbled() -> WorkerFailed:
    return WorkerFailed("garbled", "the worker's answer cannot be read", "ask again")
