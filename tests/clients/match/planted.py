"""Bots that fail, each in its own way."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from referee.games.kingdomino.moves import ChooseDomino
from referee.process.frames import framed
from referee_clients.bots import RESIGN, Table

START_S = 3
"""How long a slow one takes to begin."""


class Good:
    """Takes the first move."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[0]


class AtMove(Good):
    """Good, up to its third move."""

    def __init__(self) -> None:
        self.moves = 0

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        self.moves += 1
        return self.fail(legal_moves) if self.moves == 3 else super().choose(observation, legal_moves)

    def fail(self, legal_moves: Sequence[Any]) -> Any:
        raise ValueError("planted")


class Hang(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        while True:
            time.sleep(1)


class Leak(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        self.kept = [b"x" * (1 << 20) for _ in range(4096)]
        return legal_moves[0]


class Fork(AtMove):
    """Leaves a process behind that has left its group, and writes its number to ``$FORKED``."""

    def fail(self, legal_moves: Sequence[Any]) -> Any:
        if os.fork() == 0:
            os.setsid()
            forked = Path(os.environ["FORKED"])
            forked.with_suffix(".new").write_text(f"{os.getpid()}\n")
            forked.with_suffix(".new").rename(forked)  # whole, or not there
            time.sleep(1000)
            os._exit(0)
        while not Path(os.environ["FORKED"]).exists():
            time.sleep(0.01)
        return legal_moves[0]


class Illegal(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        return ChooseDomino(48)


class Impossible(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        return ChooseDomino(99)


class Garbage(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        return "the best one"


class Noise(Good):
    """Prints more than a pipe holds before every move."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        print("noise " * 20_000)
        print("more noise", file=sys.stderr)
        return super().choose(observation, legal_moves)


class ExitsWith0(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        os._exit(0)


class Leaves(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        sys.exit(0)


class Aborts(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        os.abort()


class Resigns(AtMove):
    def fail(self, legal_moves: Sequence[Any]) -> Any:
        return RESIGN


class Meddles(AtMove):
    """Closes what it talks through."""

    def fail(self, legal_moves: Sequence[Any]) -> Any:
        os.closerange(0, 100)
        return legal_moves[0]


class First(Good):
    """Fails in the game whose seed is ``$FIRST``, when others that come later have been played."""

    def begin(self, table: Table) -> None:
        self.is_first = table.seed == int(os.environ["FIRST"])

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if not self.is_first:
            self.other()
            return super().choose(observation, legal_moves)
        while not self.is_enough():
            time.sleep(0.01)
        raise ValueError("planted")

    def other(self) -> None:
        """Do something in another game."""

    def is_enough(self) -> bool:
        """Return True if three later games are over."""
        return len(list(Path(os.environ["WAITS"]).rglob("*.gamelog"))) >= 3


class KillsOthers(First):
    """A bot that kills its opponents of later games."""

    def other(self) -> None:
        with Path(os.environ["WAITS"]).open("a") as stream:
            stream.write("killed\n")
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)

    def is_enough(self) -> bool:
        path = Path(os.environ["WAITS"])
        return path.exists() and len(path.read_text().splitlines()) >= 4


class Dice:
    """A bot that takes a random move, by an author who never heard of seeds."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return random.choice(legal_moves)


class SeededDice:
    """Takes a move at random, by the seed that the match gives."""

    def begin(self, table: Table) -> None:
        self._chance = random.Random(table.seed)

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return self._chance.choice(legal_moves)


class _Runs:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.open, (self.path, os.O_CREAT | os.O_WRONLY)


class Forges:
    """Writes to every descriptor that it finds what is no game."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        kind, _, path = os.environ["FORGED"].partition(":")
        forged = {
            "pickle": framed(pickle.dumps(_Runs(path))),
            "game": framed(json.dumps({"task": [0, 0, [0, 1]], "scores": ["high"]}).encode()),
            "length": b"\xff" * 8,
            "text": b"hello\n" * 100,
        }[kind]
        for number in (int(each.name) for each in Path("/proc/self/fd").iterdir()):
            with suppress(OSError):
                if number > 2 and stat.S_ISFIFO(os.fstat(number).st_mode):
                    os.write(number, forged)
        return legal_moves[0]
