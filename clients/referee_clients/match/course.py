"""The course of a match: which game comes next, given those that are over. The same for any number of processes.

Games count in the order of the schedule. Those ahead are played before it is known whether they will count: a bot may
be out by then, or the test decided. What follows from games over is found here and nowhere else.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from referee_clients.match.journal import Game
from referee_clients.match.limits import Limits
from referee_clients.match.schedule import Group, Kind, Rounds, groups, rotations
from referee_clients.match.sprt import Sprt, Trial, Verdict
from referee_clients.match.units import placing_share, sample, whole
from referee_clients.match.worker import Match, Task

MOST_FAULTS: Final = 10
"""In a row; then a bot is out."""


@dataclass(frozen=True, slots=True)
class Config:
    """All that decides how a match goes. Two of the same are the same match."""

    match: Match
    seats: int
    games: int
    schedule: Kind = Kind.TABLES
    sprt: Sprt | None = None
    logs: str = "none"
    rules_version: int = 1

    @property
    def blocks(self) -> int:
        """How many blocks the games make, the last one whole."""
        wanted = -(-self.games // self.seats)
        if self.schedule is Kind.SWISS:
            tables = max(1, len(self.match.bots) // self.seats)
            return -(-wanted // tables) * tables
        return wanted

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON has it."""
        return {
            "game": self.match.game,
            "rules_version": self.rules_version,
            "seats": self.seats,
            "bots": list(self.match.bots),
            "games": self.games,
            "schedule": self.schedule.value,
            "seed": self.match.seed,
            "in_process": self.match.in_process,
            "limits": self.match.limits.to_json(),
            "sprt": None if self.sprt is None else self.sprt.to_json(),
            "logs": self.logs,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Config:
        """Return what ``to_json`` gave. Raise ``KeyError``, ``TypeError``, ``ValueError``."""
        match = Match(told["game"], tuple(told["bots"]), told["seed"], Limits(**told["limits"]), told["in_process"])
        sprt = None if told["sprt"] is None else Sprt.from_json(told["sprt"])
        kind = Kind(told["schedule"])
        return cls(match, told["seats"], told["games"], kind, sprt, told["logs"], told["rules_version"])


class Course:
    """Where a match is."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.out: dict[int, Task] = {}
        """Bots that are out, and after which game."""
        self.test = None if config.sprt is None else Trial(config.sprt)
        self.verdict = Verdict.UNDECIDED
        self.games: list[Game] = []
        """Those that are over, in their order."""
        self._ahead: deque[Task] = deque()
        self._coming = self._tasks()
        self._faults: Counter[int] = Counter()
        self._block: list[Game] = []
        self._shares: Counter[int] = Counter()
        self._is_waiting = False
        """For all games of a round, before the next one can be paired."""

    def ahead(self, most: int) -> list[Task]:
        """Return the next games as far as they are known now; none: the match is over, if none is being played."""
        if self.verdict is not Verdict.UNDECIDED:
            return []
        while len(self._ahead) < most and not (self._is_waiting and self._ahead):
            self._is_waiting = False
            try:
                task = next(self._coming)
            except StopIteration:
                break
            if task is None:
                self._is_waiting = True
            elif not self._is_skipped(task):
                self._ahead.append(task)
        return list(islice(self._ahead, most))

    @property
    def next(self) -> Task | None:
        """The game that counts next; None: the match is over."""
        ahead = self.ahead(1)
        return ahead[0] if ahead else None

    def take(self, game: Game) -> None:
        """Count the next game. Raise ``ValueError`` if it is another one."""
        if game.task != self.next:
            raise ValueError(f"game {game.task.block}/{game.task.rotation}")
        self._ahead.popleft()
        self.games.append(game)
        faulty = game.faulty
        for bot in set(game.task.seats):
            self._faults[bot] = self._faults[bot] + 1 if bot in faulty else 0
            if self._faults[bot] >= MOST_FAULTS and bot not in self.out:
                self.out[bot] = game.task
        if self.out:
            self._ahead = deque(task for task in self._ahead if not self._is_skipped(task))
        self._count(game)

    def _is_skipped(self, task: Task) -> bool:
        return any(bot in self.out for bot in task.seats)

    def _count(self, game: Game) -> None:
        if self._block and self._block[0].task.block != game.task.block:
            self._block = []
        self._block.append(game)
        if len(self._block) < len(game.task.seats):
            return
        for bot in set(game.task.seats):
            self._shares[bot] += placing_share(self._block, bot)  # type: ignore[assignment]
        if self.test is not None and 0 in game.task.seats:
            measure = self.test.sprt.measure
            self.test.add(sample(measure, self._block, 0), whole(measure, self._block))
            self.verdict = self.test.verdict()

    # --- the schedule -------------------------------------------------------------------------------------------

    def _tasks(self) -> Iterator[Task | None]:
        """Yield the games; None: what comes next depends on how those before it end."""
        block = 0
        for group in self._groups():
            if group is None:
                yield None
                continue
            if block == self.config.blocks:
                return
            for rotation, seats in enumerate(rotations(group)):
                yield Task(block, rotation, seats)
            block += 1

    def _groups(self) -> Iterator[Group | None]:
        config = self.config
        if config.schedule is not Kind.SWISS:
            yield from groups(config.schedule, len(config.match.bots), config.seats, config.match.seed)
            return
        rounds = Rounds(len(config.match.bots), config.seats, config.match.seed)
        yield None
        while found := rounds.next(self._shares, tuple(self.out)):
            yield from found
            yield None
