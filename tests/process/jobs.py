"""Jobs that test workers: loaded into real ones in place of ``referee_solver.requests``."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count as count_up
from itertools import repeat
from pathlib import Path

from referee.process.frames import BadQuestion


def answers(method: str, request: bytes, seconds: float) -> Iterator[bytes]:
    yield from globals()[method](request, seconds)


def echo(request: bytes, seconds: float) -> Iterator[bytes]:
    yield request


def count(request: bytes, seconds: float) -> Iterator[bytes]:
    """So many answers."""
    for number in range(int(request)):
        yield str(number).encode()


def told(request: bytes, seconds: float) -> Iterator[bytes]:
    yield str(seconds).encode()


def open_files() -> list[int]:
    """Without that by which it is found out."""
    return [int(fd.name) for fd in Path("/proc/self/fd").iterdir() if fd.exists() and fd.readlink().name != "fd"]


def circumstances(request: bytes, seconds: float) -> Iterator[bytes]:
    """Answer with the worker's share of its parent's environment, files and terminal."""
    found = {
        "environment": dict(os.environ),
        "cwd": str(Path.cwd()),
        "files": [str(Path(f"/proc/self/fd/{fd}").readlink()) for fd in open_files()],
        "nice": os.nice(0),
        "group": group.read_text() if (group := Path("/proc/self/autogroup")).exists() else "",
        "session": os.getsid(0) == os.getpid(),
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
    }
    yield json.dumps(found).encode()


def factors(request: bytes, seconds: float) -> Iterator[bytes]:
    """Z3 itself, on something that takes far longer than any test."""
    import z3

    yield b"begun"
    x, y = z3.BitVecs("x y", 256)
    solver = z3.Solver()
    solver.add(x * y == 2**251 - 9, z3.UGT(x, 1), z3.UGT(y, 1), z3.ULT(x, 2**128), z3.ULT(y, 2**128))
    yield str(solver.check()).encode()


def even(request: bytes, seconds: float) -> Iterator[bytes]:
    """Z3, on something easy."""
    import z3

    x, solver = z3.Int("x"), z3.Solver()
    solver.add(2 * x == int(request))
    yield str(solver.check()).encode()


def spin(request: bytes, seconds: float) -> Iterator[bytes]:
    yield b"begun"
    yield bytes(sum(repeat(0)))


def forever(request: bytes, seconds: float) -> Iterator[bytes]:
    """Answers and answers."""
    yield from repeat(bytes(1000))


def halt(request: bytes, seconds: float) -> Iterator[bytes]:
    """Hangs as nothing else can."""
    yield b"begun"
    os.kill(os.getpid(), signal.SIGSTOP)
    yield b"gone on"


def die(request: bytes, seconds: float) -> Iterator[bytes]:
    os.kill(os.getpid(), int(request))
    yield b"alive"


def leave(request: bytes, seconds: float) -> Iterator[bytes]:
    yield from ()
    os._exit(int(request))


def hog(request: bytes, seconds: float) -> Iterator[bytes]:
    yield bytes(len([bytearray(1 << 20) for _ in count_up()]))


def hog_z3(request: bytes, seconds: float) -> Iterator[bytes]:
    """In the solver's own allocator."""
    import z3

    yield from ()
    terms = [z3.BitVec("x", 64)]
    for number in count_up():
        terms.append(terms[-1] * terms[number // 2] + number)


def noise(request: bytes, seconds: float) -> Iterator[bytes]:
    """On both streams, from Python and from C."""
    for _ in range(100):
        print("x" * 10_000)
        print("x" * 10_000, file=sys.stderr)
        os.write(1, b"x" * 10_000)
        os.write(2, b"x" * 10_000)
    yield b"said"


def garbage(request: bytes, seconds: float) -> Iterator[bytes]:
    """On every descriptor that there is."""
    for descriptor in range(3, 20):
        with suppress(OSError):
            os.write(descriptor, request)
    time.sleep(3600)
    yield b""


def fault(request: bytes, seconds: float) -> Iterator[bytes]:
    yield b"begun"
    raise KeyError("the programmer's")


def refuse(request: bytes, seconds: float) -> Iterator[bytes]:
    yield from ()
    expected = "a name of the tile set"
    raise BadQuestion(f"claim.tile: unknown tile 'x'; expected {expected}", field="claim.tile", expected=expected)
