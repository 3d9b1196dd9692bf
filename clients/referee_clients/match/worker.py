"""Plays one game of a match, in a process of its own that plays many one after the other."""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, BinaryIO

from referee.games import registry
from referee.games.game import Ending as GameEnding
from referee.process.frames import framed, read_frame
from referee.process.lifetime import adopt_orphans, end_children, end_with, own_output
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
