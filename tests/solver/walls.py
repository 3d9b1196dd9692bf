"""Sets of tiles, and every layout of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from referee.games.alhambra.tiles import NAMES, parse_tile
from referee.games.game import Cell
from referee_solver.alhambra.judge import FOUNTAIN, IllegalLayout, beside, wall_length


def layouts(masks: tuple[int, ...]) -> Iterator[dict[Cell, int]]:
    """Yield every legal layout of some of the tiles: any that can be walked through is grown, then judged."""
    seen = set()
    todo: list[tuple[dict[Cell, int], tuple[int, ...]]] = [({}, tuple(sorted(masks)))]
    while todo:
        layout, left = todo.pop()
        key = frozenset(layout.items())
        if key in seen:
            continue
        seen.add(key)
        try:
            wall_length(layout)
            yield layout
        except IllegalLayout as error:
            if "ALH-A2" in str(error):
                continue  # no tile more mends it; a hole may be filled
        cells = {FOUNTAIN, *layout}
        for spot in {beside(cell, side) for cell in cells for side in range(4)} - cells:
            for mask in set(left):
                rest = list(left)
                rest.remove(mask)
                todo.append(({**layout, spot: mask}, tuple(rest)))


def walls_of(rng: random.Random, count: int) -> tuple[int, ...]:
    return tuple(parse_tile(name).walls for name in rng.sample(NAMES, count))
