"""Best turns and rebuild distances, proof included: median processor time of one, on one core.

``python -m tests.bench.solver_turns`` prints them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import process_time

from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.tiles import TileSet, tile_set
from referee.games.game import Cell
from referee_solver.alhambra.best_turn import best_turn
from referee_solver.alhambra.distance import distance
from tests.bench.measure import Figure

SEEDS = range(20)
RLIMIT = 400_000_000
"""Work for a distance, in Z3's unit: about a minute of one core."""
Names = dict[Cell, str]


def grown(rng: random.Random, tile_set: TileSet, tiles: list[int], most: int) -> Layout:
    """Return a random legal layout of the first tiles that fit."""
    layout = Layout(tile_set)
    for tile in tiles:
        cells = layout.placeable_cells(tile_set.walls[tile])
        if cells and len(layout.tiles) < most:
            layout = layout.placed(tile, index_of(rng.choice(cells)))
    return layout


def named(layout: Layout) -> Names:
    """Return names of tiles by cell."""
    return {cell: layout.tile_set.names[tile] for cell, tile in layout.cells().items()}


def position(seed: int, tiles: int, others: int) -> tuple[Names, list[str]]:
    """Return a random layout of ``tiles`` tiles, and other tiles."""
    known, rng = tile_set(), random.Random(seed)
    order = rng.sample(range(54), 54)
    layout = named(grown(rng, known, order, tiles))
    return layout, [name for tile in order if (name := known.names[tile]) not in layout.values()][:others]


def ends(seed: int, tiles: int, reserve: int) -> tuple[Names, list[str], Names]:
    """Two random layouts of the same tiles that have nothing else in common."""
    known, rng = tile_set(), random.Random(seed)
    layout, stock = position(seed, tiles, reserve)
    order = [known.numbers[name] for name in (*layout.values(), *stock)]
    rng.shuffle(order)
    return layout, stock, named(grown(rng, known, order, tiles + reserve))


def seconds(work: Callable[[int], bool], seeds: Sequence[int]) -> tuple[float, float, int]:
    """The median time of a seed, the longest, and how many were proven."""
    times, proven = [], 0
    for seed in seeds:
        start = process_time()
        proven += work(seed)
        times.append(process_time() - start)
    return median(times), max(times), proven


def figures(seeds: Sequence[int] = SEEDS) -> Iterator[Figure]:
    """Yield seconds of processor time, and how many of the seeds were proven."""
    for bought, target in ((1, None), (2, None), (3, 0.5), (4, None)):
        positions = [position(seed, 20, 2 + bought) for seed in seeds]

        def turn(seed: int, positions: list[tuple[Names, list[str]]] = positions) -> bool:
            layout, others = positions[seed]
            return best_turn(layout, others[:2], others[2:]).proven

        time, _, proven = seconds(turn, seeds)
        yield Figure(f"best turn, {bought} bought, 2 in reserve, 20 tiles: s", time, at_most=target)
        yield Figure(f"the same: proven, of {len(seeds)}", proven, len(seeds))
    for tiles in (8, 12):
        pairs = [ends(seed, tiles, 2) for seed in seeds]
        turns: list[int] = []

        def between(seed: int, pairs: list[tuple[Names, list[str], Names]] = pairs, turns: list[int] = turns) -> bool:
            found = distance(*pairs[seed], limit=60, rlimit=RLIMIT)
            turns.append(found.bound)
            return found.proven

        time, longest, proven = seconds(between, seeds)
        yield Figure(f"rebuild distance, {tiles} tiles and 2 in reserve, {min(turns)} to {max(turns)} turns: s", time)
        yield Figure("the same: the longest, s", longest, at_most=60)
        yield Figure(f"the same: proven, of {len(seeds)}", proven, len(seeds))


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure.name:75} {figure.value:.3g}" + ("" if figure.reached is None else f"  {figure.reached}"))
