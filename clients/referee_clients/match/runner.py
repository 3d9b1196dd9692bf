"""Plays a match to its end: gives out games, enters those that are over in the order of the schedule, stops in time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee_clients.match.course import Course
from referee_clients.match.journal import Game, Journal, JournalError
from referee_clients.match.pool import Pool
from referee_clients.match.replaying import Keys, Logs, keep, path_of
from referee_clients.match.worker import Match, Played, Task

FAULTS: Final = "faults"
"""Folder in which a text for each fault is kept."""
AHEAD: Final = "ahead"
"""Folder for logs of games that may yet count. It is there only while the match is played."""
MOST_FAULT_FILES: Final = 1_000
_AHEAD: Final = 4
"""Games for each that a worker can have: so many may be over before one that counts earlier."""
_LOOK_S: Final = 0.5


def resumed(course: Course, journal: Journal) -> None:
    """Count the games that are in the journal. Raise ``JournalError`` if they are not those of the schedule."""
    for number, game in enumerate(journal.games, 2):
        try:
            course.take(game)
        except ValueError as error:
            expected = course.next
            what = f"game {expected.block}/{expected.rotation}" if expected else "no more games"
            raise JournalError(f"{journal.path}: line {number} has {error}; expected {what}") from None


def play(
    course: Course,
    journal: Journal,
    processes: int,
    *,
    on_game: Callable[[Played], None] = lambda _: None,
    on_look: Callable[[], None] = lambda: None,
    stop_on_fault: bool = False,
) -> Game | None:
    """Play what is missing. Raise ``OSError`` if the journal cannot be written, ``WorkerDied``.

    ``on_game`` is told of each game that counts, when it is on disk; ``on_look`` is called at least twice a second.
    ``stop_on_fault``: no game counts after the first in which a bot fails; return that game.
    """
    if not course.ahead(1):
        return None
    done: dict[Task, Played] = {}
    given: set[Task] = set()
    folder = journal.path.parent
    shutil.rmtree(folder / AHEAD, ignore_errors=True)  # of a match that was killed
    try:
        with Pool.of(course.config.match, processes, keeper(course, folder / AHEAD)) as pool:
            while (coming := course.next) is not None:
                if coming in pool.failed:
                    raise pool.failed[coming]
                fresh = [task for task in course.ahead(pool.most * _AHEAD) if task not in given]
                given.update(fresh[: pool.give(fresh)])
                for played in pool.take(_LOOK_S):
                    done[played.task] = played
                games = _enter(course, journal, done, on_game, stop_on_fault=stop_on_fault)
                if stop_on_fault and games and games[-1].faulty:
                    return games[-1]
                on_look()
    finally:
        shutil.rmtree(folder / AHEAD, ignore_errors=True)
    return None


def _enter(
    course: Course,
    journal: Journal,
    done: dict[Task, Played],
    on_game: Callable[[Played], None],
    *,
    stop_on_fault: bool,
) -> list[Game]:
    """Enter all games that are next, as one write, and return them; ``stop_on_fault``: none after a faulty one."""
    counted: list[Played] = []
    games: list[Game] = []
    while (task := course.next) in done and task is not None:
        counted.append(done.pop(task))
        games.append(Game.of(task, counted[-1].outcome))
        course.take(games[-1])
        if stop_on_fault and games[-1].faulty:
            break
    if not counted:
        return []
    folder = journal.path.parent
    for played in counted:  # before its line, so that all of it is there if the line is
        _keep_faults(folder / FAULTS, played)
        _keep_log(folder, played.task)
    journal.append(games)
    for played in counted:
        on_game(played)
    return games


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


def pace(games: int, since_s: float) -> float:
    """Return games a second."""
    return games / max(1e-9, time.monotonic() - since_s)
