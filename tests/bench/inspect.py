"""Questions that ``referee inspect`` answers in a second: the command itself, from its start to its end."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.acts import REFEREE
from tests.bench.measure import Figure
from tests.games.layouts import engine_layout, random_boards
from tests.text.notation.questions import TILE_SET, names

QUESTIONS, TILES, RUNS = 20_000, 10, 5
TARGET = 25_000


def questions(count: int, tiles: int) -> bytes:
    """Return ``count`` lines about random layouts, each asked about with ``tiles`` tiles in turn."""
    rng = random.Random(7)
    layouts = [names(engine_layout(board)) for board in random_boards("bench", -(-count // tiles))]
    asked = [(layout, tile) for layout in layouts for tile in rng.sample(TILE_SET.names, tiles)]
    return b"".join(
        json.dumps({"game": "alhambra", "layout": layout, "tile": tile}).encode() + b"\n"
        for layout, tile in asked[:count]
    )


def answered_a_second(file: Path) -> float:
    """Return the lines of the file by the seconds of processor time that the command takes for them."""
    before = getrusage(RUSAGE_CHILDREN)
    done = subprocess.run([REFEREE, "inspect", "--strict", str(file)], stdout=subprocess.PIPE, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.stdout.count(b"\n") / spent


def figures(count: int = QUESTIONS, runs: int = RUNS) -> Iterator[Figure]:
    """About one layout after the other, with several tiles and with one."""
    with TemporaryDirectory() as folder:
        for tiles, what in ((TILES, f"{TILES} tiles for each layout"), (1, "another layout every time")):
            file = Path(folder) / f"{tiles}.jsonl"
            file.write_bytes(questions(count, tiles))
            rate = median(answered_a_second(file) for _ in range(runs))
            yield Figure(f"inspect, {what}: questions", rate, TARGET)
