"""A worker process: it reads one request after another and writes the answers to each.

It is confined before it imports a solver: limited memory, a low priority, no keyboard, no core dumps, and the first to
end when the machine runs out of memory. It ends with its parent. A solver's output is discarded: the frames have a
descriptor of their own.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from referee.process.frames import NO_REQUEST, BadQuestion, Reply, framed, pack_reply, read_frame, unpack_request
from referee.process.lifetime import end_with

_SPARE_BYTES = 64 << 20
"""Above the limit, so that a worker out of memory can still say so."""
_MEMORY = ("out of memory", "max. memory exceeded")
"""Words of Z3 for it."""
_NICE = 10
_AUTOGROUP_S = 0.1
"""The interval at which one of all processes without privileges may ask for another priority of its session."""
_OOM_SCORE = "1000"


Answers = Callable[[str, bytes, float], Iterator[bytes]]
"""Maps a method, its request and the seconds left to the answers. Raises ``BadQuestion`` for the caller."""


def serve(load: Callable[[], Answers], requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve until there are no more requests, or until something has gone wrong that may leave its traces."""

    number = NO_REQUEST

    def send(kind: Reply, contents: bytes = b"") -> None:
        replies.write(framed(pack_reply(kind, number, contents)))
        replies.flush()

    try:
        answers = load()
    except Exception:  # noqa: BLE001 - any error must be reported: the caller waits
        return send(Reply.FAILED, traceback.format_exc().encode())
    send(Reply.READY)
    while (frame := read_frame(requests)) is not None:
        number, method, question, seconds = unpack_request(frame)
        try:
            for message in answers(method, question, seconds):
                send(Reply.MESSAGE, message)
        except BadQuestion as error:
            send(Reply.REFUSED, error.packed())
        except Exception as error:  # noqa: BLE001 - any error must be reported: the caller waits
            _give_spare_memory()
            if isinstance(error, MemoryError) or any(words in str(error) for words in _MEMORY):
                return send(Reply.OUT_OF_MEMORY)
            return send(Reply.FAILED, traceback.format_exc().encode())
        else:
            send(Reply.DONE)
    return None


def main(module: str, memory_mib: int, parent: int, *, at_home: bool = False) -> None:
    """Run a worker.

    ``module`` has ``answers``; ``memory_mib`` limits the address space, 0 for no limit; it ends with ``parent``.
    ``at_home``: its output goes to standard error instead of nowhere.
    """
    end_with(parent)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # meant for the referee, which ends its workers
        signal.signal(number, signal.SIG_IGN)
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as replies:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(2 if at_home else nowhere, 1)
        if not at_home:
            os.dup2(nowhere, 2)
        os.close(nowhere)
        _confine(memory_mib)
        with suppress(BrokenPipeError):
            serve(lambda: import_module(module).answers, requests, replies)
    os._exit(0)  # a solver's own cleanup is skipped


def _confine(memory_mib: int) -> None:
    os.nice(_NICE)
    if os.getsid(0) == os.getpid():
        _stand_back()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # not on Linux, or not allowed
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    if memory_mib:
        memory, (_, most) = memory_mib << 20, resource.getrlimit(resource.RLIMIT_AS)
        hard = memory + _SPARE_BYTES if most == resource.RLIM_INFINITY else min(memory + _SPARE_BYTES, most)
        resource.setrlimit(resource.RLIMIT_AS, (min(memory, hard), hard))


def _stand_back() -> None:
    """Give the session a low priority, too: where sessions share the processor as groups (Linux, sched(7), "The
    autogroup feature"), nice counts only within one.
    """
    for _ in range(20):
        try:
            Path("/proc/self/autogroup").write_text(str(_NICE), encoding="ascii")
        except BlockingIOError:
            time.sleep((0.5 + os.getpid() % 16 / 16) * _AUTOGROUP_S)  # others want it, too, each in its own rhythm
        except OSError:  # there are no such groups
            return
        else:
            return


def _give_spare_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), at_home=sys.argv[4:] == ["at-home"])
