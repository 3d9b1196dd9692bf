"""Plays one game of a match, in a process of its own that plays many one after the other."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from referee.games import registry
from referee_clients.bots import Table, load, names, protocol
from referee_clients.bots.bot import Bot, Ending, begin, end
from referee_clients.bots.program import PREFIX
from referee_clients.match.game import Fault, Outcome, play_game
from referee_clients.match.limits import Limited, Limits

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_GONE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Match:
    """What every game of a match has in common."""

    game: str
    bots: tuple[str, ...]
    seed: int
    limits: Limits
    in_process: bool = False
    """Bots in Python play in the process that plays the game: faster, and without limits."""


@dataclass(frozen=True, slots=True)
class Task:
    """One game: which deal, and who sits where."""

    block: int
    rotation: int
    seats: tuple[int, ...]
    """By seat, the number of the bot."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault, and what helps its author."""

    bot: int
    fault: Fault
    text: str
    """The position and what the bot printed last, for people."""


@dataclass(frozen=True, slots=True)
class Played:
    """A task that is done."""

    task: Task
    outcome: Outcome
    troubles: tuple[Trouble, ...] = ()


def deal_seed(match_seed: int, block: int) -> int:
    """Return the seed of a block's deal."""
    return _number(f"deal/{match_seed}/{block}")


def bot_seed(match_seed: int, task: Task, seat: int) -> int:
    """Return the seed of a bot that chooses at random, which says nothing of the deal."""
    return _number(f"bot/{match_seed}/{task.block}/{task.rotation}/{seat}")


def _number(label: str) -> int:
    return int.from_bytes(sha256(label.encode()).digest()[:6], "big")


class Seeded:
    """A bot in this process, with chance of its own, as one in its own process has: the ``random`` module's too."""

    def __init__(self, bot: Bot, seed: int) -> None:
        self._bot, self._seed = bot, seed
        self._chance = random.Random(seed).getstate()

    def begin(self, table: Table) -> None:
        """Tell it where it sits."""
        with self._own_chance():
            begin(self._bot, replace(table, seed=self._seed))

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return what it chose."""
        with self._own_chance():
            return self._bot.choose(observation, legal_moves)

    def end(self, ending: Ending | None) -> None:
        """Tell it how the game ended."""
        with self._own_chance():
            end(self._bot, ending)

    @contextmanager
    def _own_chance(self) -> Iterator[None]:
        random.setstate(self._chance)
        try:
            yield
        finally:
            self._chance = random.getstate()


def play(match: Match, task: Task) -> Played:
    """Play a game; what a bot does wrong costs it the game."""
    bots: list[Any] = []
    troubles: list[Trouble] = []
    for seat, number in enumerate(task.seats):
        name, seed = match.bots[number], bot_seed(match.seed, task, seat)
        if match.in_process and not name.startswith(PREFIX):
            bot = load(name, match.game, seed)
            bots.append(Seeded(bot, seed) if ":" in name else bot)  # ours have their chance from the seed
        else:
            bots.append(Limited(name, match.game, seed, match.limits))

    def note(fault: Fault) -> None:
        bot = bots[fault.seat]
        told = bot.process.told if isinstance(bot, Limited) else ""
        troubles.append(
            Trouble(task.seats[fault.seat], Fault(fault.seat, fault.ending, fault.why), _text(match, fault, told))
        )

    outcome = play_game(bots, deal_seed(match.seed, task.block), match.game, on_fault=note)
    return Played(task, outcome, tuple(troubles))


def _text(match: Match, fault: Fault, told: str) -> str:
    rules = registry.get(match.game)
    state = fault.state
    table = Table(match.game, rules.version, fault.seat, state.seats, state.options, rules.default_components())
    question = protocol.turn(table, 1, state, tuple(state.legal_moves())).decode()
    return (
        f"seat {fault.seat}: {fault.why}\n\nWhat it printed last:\n{told.strip() or 'nothing'}\n\n"
        f"What it had to decide, as a program is asked (docs/exec-bots.md):\n{question}"
    )


def serve(
    connection: Connection, match: Match, keep: Callable[[Played], None] | None, parent: int, path: Sequence[str]
) -> None:
    """Play the tasks that come, until there are no more. Ends with its parent, and takes every bot with it.

    ``keep``: is given each game before it is told of.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, _leave)
    sys.path[:] = path
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    adopt()
    if os.getppid() != parent:
        return
    names(match.game)  # our own bots are imported once for all games
    gc.freeze()  # and are not copied for each
    try:
        while True:
            try:
                task = connection.recv()
            except EOFError:
                return
            if task is None:
                return
            played = play(match, task)
            if keep is not None:
                keep(played)
            if not match.in_process or any(name.startswith(PREFIX) for name in match.bots):
                end_children()
            with suppress(OSError):  # nobody listens any more, which the next ``recv`` says
                connection.send(played)
    finally:
        end_children()


def _leave(*_: object) -> None:
    """End at once, with all bots: an exception could be raised anywhere, and be lost there."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_children()
    os._exit(0)


def adopt() -> None:
    """Have what a bot has started and left behind become a child of this process, for ``end_children``."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children() -> None:
    """End all processes that bots have left behind, and theirs."""
    until = time.monotonic() + _GONE_S
    while time.monotonic() < until:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # the rule: there are none
        for child in _children(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)


def _children(parent: int) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            if int(stat.rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found
