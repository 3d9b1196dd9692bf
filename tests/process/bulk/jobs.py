"""What the processes of a bulk run do in tests; a task is ``method`` or ``method:argument``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from itertools import count as count_up
from itertools import repeat
from pathlib import Path


class Refused(Exception):
    """Raised by ``refuse``; it cannot be read back from its pickle."""

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


class LastWords:
    """A result that ends the process that made it, once that has sent it."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self.pid:
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
    "home": home,
    "pid": lambda argument: str(os.getpid()),
}
