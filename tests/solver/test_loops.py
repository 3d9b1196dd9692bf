"""Walls that close: found where they are, refuted where they are not, and of the tiles that there are."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.games.alhambra.tiles import NAMES
from referee_solver.alhambra.judge import wall_length
from referee_solver.alhambra.wall_clauses import masks_of
from referee_solver.alhambra.walls import longest_wall
from referee_solver.alhambra.walls.search import Loop, Shape, shapes
from referee_solver.z3run import Budget
from tests.sizes import campaign

WORK = 100_000_000
AROUND = ("pavilion-2-NEW", "tower-8-NES", "seraglio-3-ESW", "chambers-5-NSW")
"""One on every side of the fountain, all other sides walled."""


def found(tiles: tuple[str, ...]) -> dict[tuple[int, int], int] | None:
    masks = masks_of(tiles)
    for shape in shapes(masks):
        layout = Loop(masks, shape).step(Budget(WORK))
        if layout is not None:
            assert not Counter(layout.values()) - Counter(masks), "more tiles than there are"
            return layout
    return None


def test_around_the_fountain() -> None:
    layout = found(AROUND)
    assert layout is not None
    assert wall_length(layout) == len(layout) * 3 == 12


@pytest.mark.parametrize(
    "tiles",
    [
        ("pavilion-6-N", "garden-12-S", "tower-12"),  # a wall that closes has sides to the east and to the west
        ("pavilion-6-N", "pavilion-7-E", "garden-12-S", "seraglio-7-W", "tower-12", "tower-11"),
        ("pavilion-3-SW", "seraglio-4-NE"),  # no cell without a wall is left for the fountain
    ],
)
def test_there_is_none(tiles: tuple[str, ...]) -> None:
    assert found(tiles) is None


def test_two_corners_make_no_shape_but_four_do() -> None:
    """Without symmetry nothing is asked; the four corners of a square leave no room for the fountain inside."""
    assert [*shapes(masks_of(("pavilion-3-SW", "pavilion-6-N")))] == []
    corners = ("pavilion-3-SW", "pavilion-4-ES", "pavilion-5-NW", "seraglio-4-NE")
    assert found(corners) is None
    sides = ("pavilion-6-N", "pavilion-7-E", "garden-12-S", "seraglio-7-W")
    layout = found(corners + sides)
    assert layout is not None
    assert wall_length(layout) == 12


def test_a_square_that_is_too_small_is_refuted() -> None:
    masks = masks_of(AROUND)
    small: Shape = (4, (1, 1), 2)
    loop = Loop(masks, small)
    assert loop.step(Budget(WORK)) is None
    assert loop.refuted


@pytest.mark.parametrize(("tiles", "walls"), [(AROUND, 12), campaign(NAMES, 80)], ids=["four", "all"])
def test_every_wall_that_there_is(tiles: tuple[str, ...], walls: int) -> None:
    """80: every wall that there is, so no layout has a longer one."""
    *_, last = longest_wall(tiles, rlimit=4_000_000_000)
    assert (last.best, last.bound, last.proven, last.region) == (walls, walls, True, None)
    assert len({*last.layout.values()}) == len(last.layout) < len(NAMES)
    assert {*last.layout.values()} <= {*tiles}
