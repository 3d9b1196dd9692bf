"""The processes that play the games of a match, from both sides of their pipes.

There are as many as the work needs. A match of our own bots begins in the process of the command, and any other one
with one worker, which plays one game after the other. Further workers start when the match has lasted longer than their
start does. Finished games are taken as data, and a worker that dies is replaced.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, BinaryIO, Final

from referee.games import registry
from referee.games.game import Ending as GameEnding
from referee.process.child import popen
from referee.process.frames import LENGTH, MAX_FRAME_BYTES, framed, read_frame
from referee.process.lifetime import adopt_orphans, end_children, end_with, ending, own_output
from referee_clients.bots import Table, load, names, protocol
from referee_clients.bots.bot import Bot, Ending, begin, end
from referee_clients.bots.program import PREFIX
from referee_clients.match.game import Fault, Outcome, play_game
from referee_clients.match.limits import Limited, Limits, Timed


@dataclass(frozen=True, slots=True)
class Match:
    """The common settings of all games of a match."""

    game: str
    bots: tuple[str, ...]
    seed: int
    limits: Limits
    in_process: bool = False
    """Users' bots in Python play in the process that plays the game: faster, and without limits."""

    @property
    def is_of_ours(self) -> bool:
        """True if no code of others plays: one process can do everything."""
        return not any(":" in name for name in self.bots)

    def starts(self, name: str) -> bool:
        """Return whether the bot of this name is a process of its own."""
        return ":" in name and (not self.in_process or name.startswith(PREFIX))


@dataclass(frozen=True, slots=True)
class Task:
    """One game: its deal, and the bot of each seat."""

    block: int
    rotation: int
    seats: tuple[int, ...]
    """The number of the bot, by seat."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault, and the remedy for its author."""

    bot: int
    fault: Fault
    text: str
    """The position and the bot's last output, for people."""


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
    """Play a game; a bot's fault costs it the game."""
    bots: list[Any] = []
    troubles: list[Trouble] = []
    for seat, number in enumerate(task.seats):
        name, seed = match.bots[number], bot_seed(match.seed, task, seat)
        if match.starts(name):
            bots.append(Limited(name, match.game, seed, match.limits))
        elif ":" in name:
            bots.append(Seeded(load(name, match.game, seed), seed))
        else:  # ours have their chance from the seed
            bots.append(Timed(load(name, match.game, seed), match.limits))

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


def as_json(played: Played) -> dict[str, Any]:
    """Return a played game in the form for the process that gave it out."""
    outcome = played.outcome
    return {
        "task": [played.task.block, played.task.rotation, played.task.seats],
        "scores": outcome.scores,
        "places": outcome.places,
        "turns": outcome.turns,
        "decisions": outcome.decisions,
        "ending": outcome.ending.name,
        "out": [[seat, ending.name] for seat, ending in outcome.out.items()],
        "acts": outcome.acts,
        "position": outcome.position,
        "times": [list(each.items()) for each in outcome.times],
        "troubles": [
            [each.bot, each.fault.seat, each.fault.ending.name, each.fault.why, each.text] for each in played.troubles
        ],
    }


def of_json(told: Any) -> Played:
    """Return the game of a worker's report, which may have bots of strangers in it.

    Raise ``KeyError``, ``TypeError`` or ``ValueError`` if it is none.
    """
    block, rotation, seats = told["task"]
    return Played(
        Task(_int(block), _int(rotation), _ints(seats)),
        Outcome(
            scores=_ints(told["scores"]),
            places=_ints(told["places"]),
            turns=_int(told["turns"]),
            decisions=_ints(told["decisions"]),
            ending=GameEnding[told["ending"]],
            out={_int(seat): GameEnding[name] for seat, name in told["out"]},
            acts=tuple(each if isinstance(each, str) else _int(each) for each in told["acts"]),
            position=_str(told["position"]),
            times=tuple({_int(number): _int(count) for number, count in each} for each in told["times"]),
        ),
        tuple(
            Trouble(_int(bot), Fault(_int(seat), GameEnding[ending], _str(why)), _str(text))
            for bot, seat, ending, why, text in told["troubles"]
        ),
    )


def _int(told: Any) -> int:
    if type(told) is not int:
        raise TypeError(f"{type(told).__name__}; expected a whole number")
    return told


def _ints(told: Any) -> tuple[int, ...]:
    return tuple(map(_int, told))


def _str(told: Any) -> str:
    if not isinstance(told, str):
        raise TypeError(f"{type(told).__name__}; expected a text")
    return told


def played_elsewhere(asked: tuple[Match, Task]) -> dict[str, Any]:
    """Return a played game as JSON has it, and leave no process of a bot: for processes of a bulk run."""
    match, task = asked
    adopt_orphans()
    try:
        return as_json(play(match, task))
    finally:
        if any(map(match.starts, match.bots)):
            end_children()


def serve(
    requests: BinaryIO, replies: BinaryIO, match: Match, keep: Callable[[Played], None] | None, parent: int
) -> None:
    """Play the tasks that come, until there are no more. Ends with its parent, and takes every bot with it.

    ``keep``: is called with each game before it is reported.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, _leave)
    adopt_orphans()
    end_with(parent, signal.SIGTERM)
    names(match.game)  # our own bots are imported once for all games
    gc.freeze()  # and are not copied for each
    try:
        while (frame := read_frame(requests)) is not None:
            block, rotation, seats = json.loads(frame)
            played = play(match, Task(block, rotation, tuple(seats)))
            if keep is not None:
                keep(played)
            if any(map(match.starts, match.bots)):
                end_children()
            with suppress(OSError):  # the parent may have gone, which the next read says
                replies.write(framed(json.dumps(as_json(played)).encode()))
                replies.flush()
    finally:
        end_children()


def main() -> None:
    """Read a pickle of the match from the parent, then serve."""
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(own_output(), "wb") as replies:
        sys.stdin.close()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        path, parent, pickled = pickle.loads(read_frame(requests) or b"")  # noqa: S301 - from the process that started this one
        sys.path[:] = path  # before the rest is unpickled, which imports
        match, keep = pickle.loads(pickled)  # noqa: S301 - likewise
        serve(requests, replies, match, keep, parent)


def _leave(*_: object) -> None:
    """End at once, with all bots: an exception could be raised anywhere, and be lost there."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_children()
    os._exit(0)


# --- the side of the command ----------------------------------------------------------------------------------


_MOST_DEATHS: Final = 2
"""The most workers that may die in the same game: then the game is the cause."""
_WITH_EACH: Final = 2
"""Games that a worker has: one that it plays, and one that waits, so that it never does."""
_ALONE_S: Final = 1.0
"""The seconds that a match plays in one process. A short one is over before a second process is ready."""
_LEAVE_S: Final = 5.0
_READ_BYTES: Final = 1 << 20
_MAIN: Final = "from referee_clients.match.worker import main; main()"


Keep = Callable[[Played], None] | None


class WorkerDied(Exception):
    """Workers end while they play one game."""


class _Worker:
    def __init__(self, match: Match, keep: Keep) -> None:
        self._process = popen([sys.executable, "-c", _MAIN], stderr=None)
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._requests, self.replies = self._process.stdin, self._process.stdout
        os.set_blocking(self.replies.fileno(), False)
        self._read = bytearray()
        self.is_garbled = False
        """True if it wrote anything but games: it runs foreign code."""
        self.tasks: deque[Task] = deque()
        # Modules are found as here before the match is unpickled, which imports some.
        self._send(pickle.dumps((list(sys.path), os.getpid(), pickle.dumps((match, keep)))))

    def give(self, task: Task) -> None:
        """Have it play a game after those that it has."""
        self.tasks.append(task)
        self._send(json.dumps([task.block, task.rotation, task.seats]).encode())

    def _send(self, payload: bytes) -> None:
        with suppress(OSError):  # it is dead, which is found when it is listened to
            self._requests.write(framed(payload))
            self._requests.flush()

    def take(self) -> list[Played]:
        """Return the games that it has reported. Raise ``EOFError`` when nothing more can come."""
        found: list[Played] = []
        is_over = False
        while not is_over:
            try:
                data = os.read(self.replies.fileno(), _READ_BYTES)
            except BlockingIOError:
                break
            self._read += data
            is_over = not data
            try:
                while (payload := self._frame()) is not None:
                    found.append(self._played(payload))
            except (KeyError, TypeError, ValueError, RecursionError):
                self.is_garbled = is_over = True
        if is_over and not found:
            raise EOFError
        return found

    def _played(self, payload: bytes) -> Played:
        played = of_json(json.loads(payload))
        if not self.tasks or played.task != self.tasks[0]:
            raise ValueError("another game than it was given")
        self.tasks.popleft()
        return played

    def _frame(self) -> bytes | None:
        if len(self._read) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._read)
        if length > MAX_FRAME_BYTES:
            raise ValueError("a frame that is too long")
        end = LENGTH.size + length
        if len(self._read) < end:
            return None
        payload = bytes(self._read[LENGTH.size : end])
        del self._read[:end]
        return payload

    def death(self) -> str:
        """Return how it ended, or had to be ended, twice, and the remedy."""
        if self.is_garbled:
            return "a bot wrote to a pipe of the match, twice; play without --in-process, in a process of its own"
        try:
            how = ending(self._process.wait(_LEAVE_S))
        except subprocess.TimeoutExpired:
            how = "closed its pipe"
        return f"the process that plays it {how}, twice; expected it to live: is there enough memory?"

    def end(self) -> None:
        """End it with all that its bots have started."""
        with suppress(OSError):
            self._requests.close()
        self.replies.close()
        self._process.terminate()
        try:
            self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Pool:
    """This process, or a number of workers."""

    def __init__(self, match: Match, processes: int, keep: Keep = None) -> None:
        self._match, self._processes, self._keep = match, processes, keep
        self._until_s = time.monotonic() + _ALONE_S
        self._here: deque[Task] = deque()
        """Games that this process plays."""
        self._workers: list[_Worker] = []
        self._deaths: Counter[Task] = Counter()
        self._back: deque[Task] = deque()
        """Games whose worker died."""
        self.failed: dict[Task, WorkerDied] = {}
        """Games that cannot be played, which matters if they count."""

    @classmethod
    @contextmanager
    def of(cls, match: Match, processes: int, keep: Keep = None) -> Iterator[Pool]:
        """Start workers as they are needed, ``processes`` at most, and end them with all that bots have started.

        ``keep``: a worker's function for a game before it reports it; it is sent to the workers.
        """
        pool = cls(match, processes, keep)
        try:
            yield pool
        finally:
            for worker in pool._workers:
                worker.end()

    @property
    def most(self) -> int:
        """The most games that can be given out at one time."""
        return self._processes * _WITH_EACH

    def give(self, tasks: Sequence[Task]) -> int:
        """Give out games, as many as are taken, and return how many."""
        if self._is_alone():
            taken = tasks[: _WITH_EACH - len(self._here)]
            self._here.extend(taken)
            return len(taken)
        self._back.extend(self._here)
        self._here.clear()
        given = 0
        waiting = deque(tasks)
        while (self._back or waiting) and (worker := self._free()) is not None:
            is_back = bool(self._back)
            task = self._back.popleft() if is_back else waiting.popleft()
            worker.give(task)
            given += not is_back
        return given

    def _is_alone(self) -> bool:
        """Return whether this process plays: it has no code of others, and too little work for several."""
        if self._workers or not self._match.is_of_ours:
            return False
        return self._processes == 1 or time.monotonic() < self._until_s

    def _free(self) -> _Worker | None:
        """Return the worker that takes the next game, which may be a new one; None: all have enough."""
        least = min(self._workers, key=lambda each: len(each.tasks), default=None)
        if least is not None and len(least.tasks) < _WITH_EACH:
            return least
        if least is None or (len(self._workers) < self._processes and time.monotonic() > self._until_s):
            self._workers.append(_Worker(self._match, self._keep))
            return self._workers[-1]
        return None

    def take(self, seconds: float) -> list[Played]:
        """Return the games that are done, after at most ``seconds``; games without any more results are in
        ``failed``. A game that this process plays takes its time."""
        if self._here:
            played = play(self._match, self._here.popleft())
            if self._keep is not None:
                self._keep(played)
            return [played]
        found: list[Played] = []
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.replies, selectors.EVENT_READ, worker)
            ready = [key.data for key, _ in selector.select(seconds)]
        for worker in ready:
            try:
                found += worker.take()
            except EOFError:
                self._replace(worker)
        return found

    def _replace(self, worker: _Worker) -> None:
        how = worker.death()
        worker.end()
        tasks = list(worker.tasks)
        if tasks:
            self._deaths[tasks[0]] += 1
            if self._deaths[tasks[0]] >= _MOST_DEATHS:
                task = tasks.pop(0)
                self.failed[task] = WorkerDied(f"game {task.block}/{task.rotation}: {how}")
        self._back.extend(tasks)
        self._workers[self._workers.index(worker)] = _Worker(self._match, self._keep)
