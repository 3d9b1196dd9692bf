"""The limits of a bot in a match, and a bot that is held to them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from referee.games import registry
from referee_clients.bots.bot import Bot, Ending, OwnClock, Table
from referee_clients.bots.fork import Forked
from referee_clients.bots.loading import load
from referee_clients.bots.program import MEMORY_MIB, PREFIX, START_S, Program, ProgramFailed, ProgramLate


@dataclass(frozen=True, slots=True)
class Limits:
    """The time and memory that a bot may take in a game."""

    move_s: float = 60.0
    """The seconds for one decision, by the clock on the wall."""
    game_s: float = 600.0
    """The seconds for all its decisions of a game."""
    start_s: float = START_S
    """The seconds until it names itself, or is imported."""
    memory_mib: int = MEMORY_MIB

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON has it."""
        return asdict(self)


class Process(Protocol):
    """A bot that is a process of its own."""

    patience_s: float | None
    asked_s: float

    @property
    def told(self) -> str: ...
    def begin(self, table: Table) -> None: ...
    def meet(self) -> Table: ...
    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any: ...
    def end(self, ending: Ending | None) -> None: ...


class Limited(OwnClock):
    """A bot in a process of its own, with limited time."""

    def __init__(self, name: str, rules_id: str, seed: int, limits: Limits) -> None:
        """``name``: as of ``bots.load``. Raise ``UnknownBot`` if it is a program that is not there."""
        self.process: Process
        if name.startswith(PREFIX):
            self.process = Program(
                name, memory_mib=limits.memory_mib, start_s=limits.start_s, is_shown=False, ends_with_thread=True
            )
        else:
            self.process = Forked(name, rules_id, seed, memory_mib=limits.memory_mib, start_s=limits.start_s)
        self._seed = seed
        self._limits = limits
        self._spent_s = 0.0
        self._until_s: float | None = None
        """The time by which the decision has to be made, while there is one."""

    def begin(self, table: Table) -> None:
        """Start it, and do not wait."""
        self.process.begin(replace(table, left_ms=self._left_ms, seed=self._seed))

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return its move. Raise ``ProgramFailed``, ``ProgramLate``."""
        self.process.meet()  # its start has a time of its own
        limits = self._limits
        left_s = limits.game_s - self._spent_s
        patience_s = min(limits.move_s, left_s)
        self.process.patience_s = patience_s
        self.process.asked_s = time.monotonic()  # until it is asked, should that fail
        self._until_s = self.process.asked_s + patience_s
        try:
            return self.process.choose(observation, legal_moves)
        except ProgramLate as error:
            if left_s < limits.move_s:
                raise ProgramLate(f"{error} (it has {limits.game_s:g} s for all its moves of a game)") from None
            raise
        finally:
            self._until_s = None
            self.took_s = time.monotonic() - self.process.asked_s
            self._spent_s += self.took_s

    def end(self, ending: Ending | None) -> None:
        """Tell it how the game ended, and end it."""
        self.process.end(ending)

    def _left_ms(self) -> int | None:
        return None if self._until_s is None else max(0, int((self._until_s - time.monotonic()) * 1000))


class Timed:
    """A bot of ours, which needs no process of its own. It has no more time than any other bot."""

    def __init__(self, bot: Bot, limits: Limits) -> None:
        self._bot = bot
        self._limits = limits
        self._spent_s = 0.0

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return its move. Raise ``ProgramLate`` if that took too long."""
        began_s = time.monotonic()
        move = self._bot.choose(observation, legal_moves)
        took_s = time.monotonic() - began_s
        self._spent_s += took_s
        if took_s > self._limits.move_s or self._spent_s > self._limits.game_s:
            most = f"{self._limits.move_s:g} s and {self._limits.game_s:g} s"
            raise ProgramLate(
                f"it took {took_s:.3g} s, and {self._spent_s:.3g} s for all moves; expected {most} at most"
            )
        return move


def probe(name: str, rules_id: str, limits: Limits) -> None:
    """Raise ``UnknownBot`` if there is no such bot. One that there is and that fails is none of that: it may play."""
    if ":" not in name or name.startswith(PREFIX):
        load(name, rules_id)
        return
    rules = registry.get(rules_id)
    bot = Forked(name, rules_id, 0, memory_mib=limits.memory_mib, start_s=limits.start_s)
    table = Table(rules_id, rules.version, 0, 2, None, rules.default_components())
    try:
        bot.begin(table)
        bot.meet()
    except ProgramFailed:
        pass
    finally:
        bot.end(None)
