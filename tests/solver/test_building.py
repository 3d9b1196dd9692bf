"""The engine and Z3 name the same broken rules, on layouts that grow by the rules and on layouts that do not."""

from __future__ import annotations

import random

import pytest

from referee.games.alhambra.layout import Layout, cell_of, index_of
from referee.games.alhambra.tiles import SIDE_LETTERS, tile_set
from referee.games.alhambra.violations import layout_violations, placement_violations
from referee.games.game import Cell
from referee_solver.alhambra import building
from referee_solver.alhambra.building import Ground, breaks, obeys
from referee_solver.z3run import DEFAULT_RLIMIT, Budget
from tests.sizes import sample_of

TILE_SET = tile_set()


def walls(tile: int) -> str:
    return "".join(letter for i, letter in enumerate(SIDE_LETTERS) if TILE_SET.walls[tile] >> i & 1)


def broken_rules(layout: dict[Cell, str]) -> set[str]:
    """Return the rules that Z3 says are broken: just these, and nothing less or more; and not all can be obeyed."""
    ground = Ground(dict(sorted([((0, 0), ""), *layout.items()])))
    broken = set(building.broken(ground, building.steps_of(ground)))
    assert not satisfiable(breaks(ground, broken))
    assert satisfiable(obeys(ground)) is not bool(broken)
    cells = {
        rule: {name[7:] for name in broken if name.startswith(rule)} for rule in (f"ALH-A{i}" for i in range(2, 7))
    }
    cells["ALH-A6"] -= cells["ALH-A5"]
    return {rule for rule, names in cells.items() if names}


def satisfiable(text: str) -> bool:
    return Budget(DEFAULT_RLIMIT).ask(text).satisfiable


def second_opinion(tiles: dict[Cell, int]) -> set[str]:
    return broken_rules({cell: walls(tile) for cell, tile in tiles.items()})


def grown(rng: random.Random, count: int) -> Layout:
    """Return a random legal layout."""
    layout = Layout(TILE_SET)
    for tile in rng.sample(range(54), count):
        if cells := layout.placeable_cells(TILE_SET.walls[tile]):
            layout = layout.placed(tile, index_of(rng.choice(cells)))
    return layout


@pytest.mark.parametrize("seed", sample_of(range(40), 10))
def test_any_placement_on_a_legal_layout(seed: int) -> None:
    rng = random.Random(seed)
    layout = grown(rng, rng.randrange(0, 30))
    before = dict(layout.cells())
    free = sorted(
        {
            (x + dx, y + dy)
            for x, y in [*before, (0, 0)]
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if (x + dx, y + dy) not in {**before, (0, 0): 0}
        }
    )
    for cell in rng.sample(free, min(8, len(free))):
        tile = rng.choice([tile for tile in range(54) if tile not in before.values()])
        engine = {violation.rule_id for violation in placement_violations(layout, tile, cell)}
        assert second_opinion({**before, cell: tile}) == engine, (before, tile, cell)


@pytest.mark.parametrize("seed", sample_of(range(60), 15))
def test_any_heap_of_tiles(seed: int) -> None:
    rng = random.Random(seed)
    box = [(x, y) for x in range(-3, 4) for y in range(-3, 4) if (x, y) != (0, 0)]
    cells = rng.sample(box, rng.randrange(1, 30))
    tiles = dict(zip(cells, rng.sample(range(54), len(cells)), strict=True))
    engine = {violation.rule_id for violation in layout_violations(Layout.of(TILE_SET, tiles))}
    assert second_opinion(tiles) == engine, tiles


def test_plain_hole_and_corner_hole_are_told_apart() -> None:
    ring = [(1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    assert broken_rules(dict.fromkeys(ring, "")) == {"ALH-A5"}
    assert broken_rules({cell: "" for cell in ring if cell != (2, 2)}) == {"ALH-A6"}


def test_cells_survive_the_bit_board() -> None:
    assert all(cell_of(index_of((x, y))) == (x, y) for x in (-54, 0, 54) for y in (-54, 0, 54))
