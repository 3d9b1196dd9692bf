"""``python -m tests.attacks``: every bit, every cut, every length and every splice of whole games; takes its time.

Then the files that cost their auditor most, each as large as a file may be.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

from referee.games import registry
from referee.log.file import MAX_FILE_BYTES
from tests.attacks import removal
from tests.attacks.corpus import TABLES, game, small_game, whole_game
from tests.attacks.damage import Target, Wrong
from tests.attacks.protections import PROTECTIONS
from tests.log import hostile
from tests.log.games import Played

PIECES = 64
"""Pieces of the work on a game, for processes to share."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make attack",
        description="Damage copies of games in every way there is; then audit the files that cost most.",
    )
    parser.add_argument("--table", action="store_true", help="print the table of docs/security.md instead")
    parser.add_argument("--only", metavar="GAME", default="", help="games whose name begins so; hostile: none")
    parser.add_argument("--random", type=int, default=1000, metavar="N", help="flips and cuts of each whole game")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.table:
        for protection in PROTECTIONS:
            print(removal.without(protection).row())
        return 0
    wrong = 0
    with Pool(given.processes) as pool:
        for name in _names():
            if not name.startswith(given.only):
                continue
            start = time.monotonic()
            pieces = [(name, piece, given.random, given.seed) for piece in range(PIECES)]
            done = 0
            for tried, failures in pool.imap_unordered(piece, pieces):
                done += tried
                wrong += len(failures)
                for failure in failures:
                    print(f"{name}: {failure}", file=sys.stderr)
            print(f"{name}: {done} times damaged, {wrong} wrong so far, {time.monotonic() - start:.0f} s", flush=True)
    for name in hostile.FILES:
        if f"hostile, {name}".startswith(given.only):
            wrong += not _held(name)
    return 1 if wrong else 0


def _held(name: str) -> bool:
    """Return whether the audit of the largest such file keeps to its time and memory; print both."""
    data = hostile.FILES[name](MAX_FILE_BYTES)
    mib = len(data) / (1 << 20)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = hostile.held(Path(folder) / "hostile.gamelog", data)
        except AssertionError as error:
            print(f"hostile, {name}: {mib:.2f} MiB: {error}", file=sys.stderr)
            return False
    a_mib, peak = found["seconds"] / mib, found["peak"] / (1 << 20)
    print(f"hostile, {name}: {mib:.2f} MiB, {a_mib:.2f} s a MiB, {peak:.0f} MiB of memory", flush=True)
    return True


def _names() -> list[str]:
    rules = registry.names()
    return [*(f"{name}, small" for name in rules), *(f"{name}, at random" for name in rules), *TABLES]


def _game(name: str) -> Played:
    rules_id, _, kind = name.partition(", ")
    if kind == "small":
        return small_game(rules_id)
    return whole_game(rules_id) if kind == "at random" else game(name)


def piece(given: tuple[str, int, int, int]) -> tuple[int, list[str]]:
    """Do one piece of the work on a game; return the number of damages, and the faults found."""
    name, piece, number, seed = given
    target = Target(_game(name))
    if name.endswith("at random"):
        trials = _drawn(target, number // PIECES + (piece < number % PIECES), seed * PIECES + piece)
    else:
        trials = islice(target.everything(), piece, None, PIECES)
    done, failures = 0, []
    for damage in trials:
        done += 1
        try:
            damage()
        except Wrong as wrong:
            failures.append(str(wrong))
    return done, failures


def _drawn(target: Target, number: int, seed: int) -> Iterator[Callable[[], None]]:
    rng = random.Random(seed)
    for _ in range(number):
        yield lambda: target.at_random(rng)


if __name__ == "__main__":
    sys.exit(main())
