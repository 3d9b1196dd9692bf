"""The course of a match: the game that comes next, given those that are over, and the loop that plays to the end.

The course is the same for any number of processes. Games count in the order of the schedule. Those ahead are played
before it is known if they will count: a bot may be out by then, or the test decided.
"""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from referee.process.bulk.isolation import Limits as TaskLimits
from referee.process.bulk.results import BadOption, Shard
from referee.process.bulk.run import Done, Place, run
from referee.text.notation.outcomes import counted
from referee_clients.match.journal import Game, Journal, JournalError
from referee_clients.match.limits import Limits
from referee_clients.match.replay import Keys, Logs, keep, path_of
from referee_clients.match.schedule import Group, Kind, Rounds, groups, placing_share, rotations, sample, whole
from referee_clients.match.sprt import Sprt, Trial, Verdict
from referee_clients.match.worker import Match, Played, Pool, Task, WorkerDied, of_json, played_elsewhere

MOST_FAULTS: Final = 10
"""The most faults in a row; then a bot is out."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings that decide the course of a match. Two of the same are the same match."""

    match: Match
    seats: int
    games: int
    schedule: Kind = Kind.TABLES
    sprt: Sprt | None = None
    logs: str = "none"
    rules_version: int = 1
    shard: Shard = field(default_factory=Shard)
    """The part of the blocks that is played here."""

    @property
    def blocks(self) -> int:
        """The number of blocks that the games make, the last one whole."""
        wanted = -(-self.games // self.seats)
        if self.schedule is Kind.SWISS:
            tables = max(1, len(self.match.bots) // self.seats)
            return -(-wanted // tables) * tables
        return wanted

    @property
    def due(self) -> int:
        """The number of games that are played here."""
        return self.seats * sum(self.shard.has(str(block)) for block in range(self.blocks))

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
            **({"shard": str(self.shard)} if self.shard.count > 1 else {}),
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Config:
        """Return what ``to_json`` gave. Raise ``KeyError``, ``TypeError``, ``ValueError``."""
        match = Match(told["game"], tuple(told["bots"]), told["seed"], Limits(**told["limits"]), told["in_process"])
        sprt = None if told["sprt"] is None else Sprt.from_json(told["sprt"])
        kind = Kind(told["schedule"])
        shard = Shard.parse(told.get("shard", "0/1"), {})
        return cls(match, told["seats"], told["games"], kind, sprt, told["logs"], told["rules_version"], shard)


class Course:
    """The state of a match."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.out: dict[int, Task] = {}
        """Bots that are out, and after which game."""
        self.test = None if config.sprt is None else Trial(config.sprt)
        self.verdict = Verdict.UNDECIDED
        self.games: list[Game] = []
        """The games that are over, in their order."""
        self._ahead: deque[Task] = deque()
        self._coming = self._tasks()
        self._faults: Counter[int] = Counter()
        self._block: list[Game] = []
        self._shares: Counter[int] = Counter()
        self._is_waiting = False
        """True while all games of a round have to end before the next one can be paired."""

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
        """Yield the games; None: the next ones depend on how those before them end."""
        block = 0
        for group in self._groups():
            if group is None:
                yield None
                continue
            if block == self.config.blocks:
                return
            if self.config.shard.has(str(block)):
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


# --- the loop: gives out games, and enters those that are over in the order of the schedule -------------------------


FAULTS: Final = "faults"
"""Folder in which a text for each fault is kept."""
AHEAD: Final = "ahead"
"""Folder for logs of games that may yet count. It is there only while the match is played."""
MOST_FAULT_FILES: Final = 1_000
_AHEAD: Final = 4
"""The number of games, for each that a worker can have, that may be over before one that counts earlier."""
_LOOK_S: Final = 0.5
_AT_HOME: Final = TaskLimits(memory_mib=0, seconds=1e7, at_home=True)
"""A bot has limits of its own, and is at home in its process, as its author starts it."""


def resumed(course: Course, journal: Journal) -> None:
    """Count the games that are in the journal. Raise ``JournalError`` if they are not those of the schedule."""
    for number, game in enumerate(journal.games, 2):
        try:
            course.take(game)
        except ValueError as error:
            expected = course.next
            what = f"game {expected.block}/{expected.rotation}" if expected else "no more games"
            raise JournalError(f"{journal.path}: line {number} has {error}; expected {what}") from None


def merged(folders: Sequence[Path]) -> tuple[Config, list[Game]]:
    """Return the match whose shards are in these folders, and its games in their order. Raise ``JournalError``,
    ``OSError``.
    """
    whole: Config | None = None
    count = 1
    found: dict[Task, Game] = {}
    shards: set[Shard] = set()
    for folder in folders:
        with Journal.resume(folder) as journal:
            part = config_of(journal)
            course = Course(part)
            resumed(course, journal)
        if whole is not None and (whole, count) != (replace(part, shard=Shard()), part.shard.count):
            raise JournalError(f"{folder}: another match than {folders[0]}; expected the shards of one match")
        if course.next is not None:
            left = part.due - len(course.games)
            what = f"{counted(left, 'game')} of shard {part.shard}"
            raise JournalError(f"missing: {what}; expected them to be played, with --resume {folder}")
        whole, count = replace(part, shard=Shard()), part.shard.count
        found |= {game.task: game for game in course.games}
        shards.add(part.shard)
    assert whole is not None  # noqa: S101 - there is a folder
    if without := [shard for index in range(count) if (shard := Shard(index, count)) not in shards]:
        raise JournalError(f"missing: no folder of shard {', '.join(map(str, without[:10]))}")
    course = Course(whole)
    while (task := course.next) in found and task is not None:
        course.take(found[task])
    return whole, course.games


def config_of(journal: Journal) -> Config:
    """Return the configuration of a match. Raise ``JournalError``."""
    try:
        return Config.from_json(dict(journal.config))
    except (KeyError, TypeError, ValueError, BadOption) as error:
        raise JournalError(f"{journal.path}: a configuration of another version ({error})") from None


def play(
    course: Course,
    journal: Journal,
    processes: int,
    *,
    on_game: Callable[[Played], None] = lambda _: None,
    on_look: Callable[[], None] = lambda: None,
    stop_on_fault: bool = False,
    place: Place | None = None,
) -> Game | None:
    """Play the missing games. Raise ``OSError`` if the journal cannot be written, ``WorkerDied``, ``BulkError``.

    ``place``: where they are played, if not on this machine. ``on_game`` is called with each game that counts, when it
    is on disk; ``on_look`` is called at least twice a second. ``stop_on_fault``: no game counts after the first one
    with a fault, which is returned.
    """
    if not course.ahead(1):
        return None
    done: dict[Task, Played] = {}
    given: set[Task] = set()
    folder = journal.path.parent
    shutil.rmtree(folder / AHEAD, ignore_errors=True)  # of a match that was killed
    enter = partial(_enter, course, journal, done, on_game, stop_on_fault=stop_on_fault)
    try:
        if place is not None:
            keep_log = keeper(course, folder / AHEAD)

            def take(played: Played) -> Game | None:
                done[played.task] = played
                if keep_log is not None:
                    keep_log(played)
                on_look()
                return enter()

            return _play_elsewhere(course, place, take)
        with Pool.of(course.config.match, processes, keeper(course, folder / AHEAD)) as pool:
            while (coming := course.next) is not None:
                if coming in pool.failed:
                    raise pool.failed[coming]
                fresh = [task for task in course.ahead(pool.most * _AHEAD) if task not in given]
                given.update(fresh[: pool.give(fresh)])
                for played in pool.take(_LOOK_S):
                    done[played.task] = played
                if (faulty := enter()) is not None:
                    return faulty
                on_look()
    finally:
        shutil.rmtree(folder / AHEAD, ignore_errors=True)
    return None


def _play_elsewhere(course: Course, place: Place, enter: Callable[[Played], Game | None]) -> Game | None:
    """Play all games as tasks of a bulk run. Return the game at which the match ends early, as ``enter`` does."""
    match, tasks = course.config.match, course.ahead(course.config.due)

    def sink(finished: Done[tuple[Match, Task], Any]) -> None:
        _, task = finished.task
        if finished.lost is not None:
            raise WorkerDied(f"game {task.block}/{task.rotation}: {finished.lost.words}, twice")
        if (faulty := enter(of_json(finished.result))) is not None:
            raise _Faulty(faulty)

    try:
        run(place, played_elsewhere, ((match, task) for task in tasks), sink, total=len(tasks), limits=_AT_HOME)
    except _Faulty as error:
        return error.game
    return None


class _Faulty(Exception):
    """A game with a fault ends the match."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game


def _enter(
    course: Course,
    journal: Journal,
    done: dict[Task, Played],
    on_game: Callable[[Played], None],
    *,
    stop_on_fault: bool,
) -> Game | None:
    """Enter all games that are next, as one write. ``stop_on_fault``: none after a faulty one, which is returned."""
    counted: list[Played] = []
    games: list[Game] = []
    while (task := course.next) in done and task is not None:
        counted.append(done.pop(task))
        games.append(Game.of(task, counted[-1].outcome))
        course.take(games[-1])
        if stop_on_fault and games[-1].faulty:
            break
    if not counted:
        return None
    folder = journal.path.parent
    for played in counted:  # before its line, so that all of it is there if the line is
        _keep_faults(folder / FAULTS, played)
        _keep_log(folder, played.task)
    journal.append(games)
    for played in counted:
        on_game(played)
    return games[-1] if stop_on_fault and games[-1].faulty else None


def _keep_log(folder: Path, task: Task) -> None:
    path = path_of(folder, task)
    if (made := path_of(folder / AHEAD, task)).exists():
        path.parent.mkdir(exist_ok=True)
        made.replace(path)


def _keep_faults(folder: Path, played: Played) -> None:
    for trouble in played.troubles:
        folder.mkdir(exist_ok=True)
        path = folder / f"{played.task.block}-{played.task.rotation}-seat{trouble.fault.seat}.txt"
        if sum(1 for _ in folder.iterdir()) < MOST_FAULT_FILES:
            path.write_text(trouble.text, encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Writes logs of games, in the processes that play them, to where they wait until their game counts."""

    match: Match
    folder: Path
    chosen: frozenset[int] | None

    def __call__(self, played: Played) -> None:
        task = played.task
        if self.chosen is None or task.block * len(task.seats) + task.rotation in self.chosen:
            keep(self.folder, self.match, Game.of(task, played.outcome), Keys(self.folder.parent))


def keeper(course: Course, folder: Path) -> _Keeper | None:
    """Return what writes the logs that the match keeps; None: it keeps none."""
    config = course.config
    logs = Logs.parse(config.logs)
    if logs.sample == 0:
        return None
    return _Keeper(config.match, folder, logs.chosen(config.blocks * config.seats, config.match.seed))
