"""Prints how fast a match is beside a bare loop over the same games: bots in the worker, forked, and programs."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from referee_clients.bots import load
from referee_clients.match import play_game
from referee_clients.match.course import Config, Course, play
from referee_clients.match.journal import Journal
from referee_clients.match.limits import Limits
from referee_clients.match.worker import Match, bot_seed, deal_seed
from tests.bench.__main__ import table_of
from tests.bench.measure import Figure
from tests.docs.shell import ROOT

GAME = "kingdomino"
PROGRAM = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'docs' / 'examples' / 'bots' / 'mybot.py'))}"
OWN = ("referee_clients.bots.kingdomino:Builder", "referee_clients.bots.kingdomino:Greedy")
"""Two of ours by the names of their classes, as users name theirs."""
KINDS: tuple[tuple[str, tuple[str, str], bool, int, float], ...] = (
    ("our bots, in one process", ("builder", "greedy"), False, 40, 0.95),
    ("bots in Python, each a process", OWN, False, 40, 0.6),
    ("programs", (PROGRAM, OWN[1]), False, 20, 0.6),
)


def measured(bots: tuple[str, str], games: int, *, in_process: bool) -> tuple[float, float]:
    """Return games a second of a bare loop in this process and of a match with one worker, from its first game on."""
    config = Config(Match(GAME, bots, 1, Limits(), in_process), 2, games)

    def bare(task: Any) -> None:
        seated = [load(bots[bot], GAME, bot_seed(1, task, seat)) for seat, bot in enumerate(task.seats)]
        play_game(seated, deal_seed(1, task.block), GAME)

    tasks = Course(config).ahead(games)
    bare(tasks[0])
    began_s = time.perf_counter()
    for task in tasks[1:]:
        bare(task)
    of_loop = (games - 1) / (time.perf_counter() - began_s)
    with TemporaryDirectory() as folder, Journal.create(Path(folder) / "match", config.to_json()) as journal:
        began: list[float] = []
        play(Course(config), journal, 1, on_game=lambda _: began.append(time.perf_counter()))
    return of_loop, (games - 1) / (began[-1] - began[0])


def main() -> None:
    """Measure and print."""
    figures: list[Figure] = []
    for name, bots, in_process, games, least in KINDS:
        loop, match = measured(bots, games, in_process=in_process)
        figures.append(Figure(f"{name}, games/s", match, target=least, floor=loop))
    Console().print(table_of("A match beside a bare loop", figures))


if __name__ == "__main__":
    main()
