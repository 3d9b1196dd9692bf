"""The longest walls of sets of tiles one by one: what was found, what is proven, at what cost.

``python -m tests.bench.solver_walls --sizes 20 30 --seeds 0 5``: seeds 0 to 4; size 54 is all tiles. The work is
limited, not the time, so every figure but the seconds is the same on every run.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from statistics import median
from time import process_time

from referee.games.alhambra.tiles import NAMES, parse_tile
from referee_solver.alhambra.walls import Wall, longest_wall

RLIMIT = 450_000_000
"""About a minute of one core."""


def main(arguments: Sequence[str] | None = None) -> None:
    """A line for every set, and one for every size."""
    parser = argparse.ArgumentParser(prog="tests.bench.solver_walls", description="The longest wall, set by set.")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 15, 20, 30, 40, len(NAMES)])
    parser.add_argument("--seeds", nargs=2, type=int, default=[0, 20], metavar=("FIRST", "END"))
    parser.add_argument(
        "--rlimit", type=int, default=RLIMIT, help="work for a set, in Z3's unit; all 54 get ten times it"
    )
    chosen = parser.parse_args(arguments)
    for size in chosen.sizes:
        if size < len(NAMES):
            of_size(size, range(*chosen.seeds), chosen.rlimit)
        else:
            for wall, spent in walls(NAMES, 10 * chosen.rlimit, 0):
                print(f"all {size} tiles: {wall.best}, bound {wall.bound}, {spent:.0f} s", flush=True)


def of_size(size: int, seeds: range, rlimit: int) -> None:
    """Measure sets of ``size`` tiles."""
    times, lacking = [], Counter[int]()
    proven = 0
    for seed in seeds:
        tiles = random.Random(seed).sample(NAMES, size)
        every = sum(parse_tile(tile).walls.bit_count() for tile in tiles)
        wall, spent = walls(tiles, rlimit, seed)[-1]
        times.append(spent)
        lacking[every - wall.best] += 1
        proven += wall.proven
        state = "proven" if wall.proven else "open"
        print(
            f"{size} tiles, seed {seed}: {wall.best} of {every}, bound {wall.bound}, {state}, {spent:.1f} s", flush=True
        )
    short = ", ".join(f"{count} lack {sides}" for sides, count in sorted(lacking.items()))
    print(
        f"{size} tiles: {proven} of {len(seeds)} proven, median {median(times):.1f} s; of all walls {short}", flush=True
    )


def walls(tiles: Sequence[str], rlimit: int, seed: int) -> list[tuple[Wall, float]]:
    """Every improvement and the end, with the processor time until then."""
    start = process_time()
    return [(wall, process_time() - start) for wall in longest_wall(tiles, rlimit=rlimit, seed=seed)]


if __name__ == "__main__":
    main()
