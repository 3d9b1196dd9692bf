"""The tasks of a bulk run's processes in tests; a task is ``method`` or ``method:argument``."""

from __future__ import annotations

import json
import os
import pickle
import signal
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count as count_up
from itertools import repeat
from pathlib import Path
from types import FrameType
from typing import Any

from referee.process.frames import BadQuestion, Reply, framed, pack_reply


class Refused(Exception):
    """Raised by ``refuse``; it is not made of one text."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def do(task: str) -> str:
    """Do the task."""
    method, _, argument = task.partition(":")
    return METHODS[method](argument)


def die(argument: str) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def die_once(argument: str) -> str:
    """Only if the file is not there yet."""
    if not Path(argument).exists():
        Path(argument).touch()
        die("")
    return "alive"


class LastWords(dict[str, int]):
    """A result that ends the process that made it, once that has sent it."""

    def __init__(self) -> None:
        super().__init__(pid=os.getpid())

    def __del__(self) -> None:
        die("")


def last_words(argument: str) -> LastWords:
    return LastWords()


def halt(argument: str) -> str:
    os.kill(os.getpid(), signal.SIGSTOP)
    return "gone on"


def rest(argument: str) -> str:
    time.sleep(0.15)
    return argument


def spin(argument: str) -> str:
    return str(sum(repeat(0)))


def hog(argument: str) -> str:
    return str(len([bytearray(1 << 20) for _ in count_up()]))


def fail(argument: str) -> str:
    raise KeyError(argument)


def refuse(argument: str) -> str:
    raise Refused("not", "me")


def home(argument: str) -> str:
    return f"{Path.cwd()} {os.environ.get('BULK_TEST', '')}"


def forge(argument: str) -> str:
    """Write a forged answer to every pipe; a pickle in it makes a file when it is read as one."""
    kind, _, path = argument.partition(":")
    request, at = _asked()
    own = (Reply.MESSAGE, request, json.dumps([at, "forged"]).encode())
    answers: list[tuple[Reply, int, bytes]] = {
        "pickle": [(Reply.MESSAGE, request, pickle.dumps(_Makes(path)))],
        "refusal": [(Reply.REFUSED, request, BadQuestion("no").packed())],
        "no-refusal": [(Reply.REFUSED, request, pickle.dumps(_Makes(path)))],
        "early": [own],
        "done": [own, (Reply.DONE, request, b"")],
        "next": [own, (Reply.DONE, request, b""), (Reply.MESSAGE, request + 1, b'[0, "forged"]')],
    }[kind]
    data = b"".join(framed(pack_reply(*answer)) for answer in answers)
    for number in (int(each.name) for each in Path("/proc/self/fd").iterdir()):
        with suppress(OSError):
            if number > 2 and stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, data)
    if kind in {"early", "done", "next"}:
        time.sleep(0.05)  # the forged answer is taken by then, or it is not; the late one is refused in both cases
    return "late"


def _asked() -> tuple[int, int]:
    """Return the number of the request under way and the place of this task in it, as any code here can find them."""
    found: dict[str, Any] = {}
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        found.update({f"{frame.f_code.co_name}.{name}": value for name, value in frame.f_locals.items()})
        frame = frame.f_back
    return found["serve.number"], found["answers.at"]


class _Makes:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.open, (self.path, os.O_CREAT | os.O_WRONLY)


METHODS: dict[str, Callable[[str], str]] = {
    "echo": lambda argument: argument,
    "die": die,
    "die_once": die_once,
    "halt": halt,
    "rest": rest,
    "spin": spin,
    "hog": hog,
    "fail": fail,
    "refuse": refuse,
    "forge": forge,
    "home": home,
    "pid": lambda argument: str(os.getpid()),
}
