"""The longest wall: what is found is legal, what is refuted does not exist."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator

import pytest

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import NAMES, parse_tile, tile_set
from referee.games.alhambra.violations import layout_violations
from referee.games.game import Cell
from referee_solver.alhambra.judge import FOUNTAIN, IllegalLayout, wall_length
from referee_solver.alhambra.wall_clauses import Question
from referee_solver.alhambra.walls import longest_wall
from referee_solver.alhambra.walls.proofs import answer
from referee_solver.alhambra.walls.winding import Losing, losses, wind
from referee_solver.z3run import Budget
from tests.sizes import campaign, sample_of
from tests.solver.walls import layouts, walls_of

TILE_SET = tile_set()
KINDS = sorted({parse_tile(name).walls for name in NAMES})


def box_of(layout: dict[Cell, int]) -> tuple[int, int]:
    xs, ys = zip(*layout, FOUNTAIN, strict=True)
    return max(xs) - min(xs) + 1, max(ys) - min(ys) + 1


def distance(layout: dict[Cell, int]) -> int:
    return max((abs(x) + abs(y) for x, y in layout), default=0)


def agree(masks: tuple[int, ...]) -> None:
    """The clauses have a model exactly if the enumeration has a layout: in every box, and in every region."""
    everything = [(box_of(layout), distance(layout), wall_length(layout)) for layout in layouts(masks)]
    best = max(length for _, _, length in everything)
    total = sum(mask.bit_count() for mask in masks)
    shapes = [(w, h) for w in range(1, len(masks) + 2) for h in range(1, len(masks) + 3 - w)]
    assert {box for box, _, _ in everything} <= set(shapes)
    for shape in shapes:
        here = max((length for box, _, length in everything if box == shape), default=0)
        for target in range(max(1, here), min(best + 1, total) + 1):
            found = answer(Question(masks, target, shape), Budget(None))
            if found is None:
                assert here < target, (masks, shape, target)
            else:
                assert wall_length(found) >= target
                assert best >= target, (masks, shape, target)
    for region in range(1, len(masks) + 1):
        here = max(length for _, far, length in everything if far <= region)
        for target in range(max(1, here), min(here + 1, total) + 1):
            found = answer(Question(masks, target, region), Budget(None))
            assert (found is not None) == (target <= here), (masks, region, target)
    walls = list(longest_wall(names(masks), rlimit=10**9))
    assert walls[-1].done
    assert walls[-1].proven
    assert walls[-1].best == walls[-1].bound == best


def names(masks: tuple[int, ...]) -> list[str]:
    left = list(NAMES)
    chosen = []
    for mask in masks:
        chosen.append(next(name for name in left if parse_tile(name).walls == mask))
        left.remove(chosen[-1])
    return chosen


@pytest.mark.parametrize("seed", sample_of(range(6), 1))
def test_clauses_say_what_enumeration_finds(seed: int) -> None:
    rng = random.Random(seed)
    for count in (1, 2, 3, 4):
        agree(walls_of(rng, count))


@pytest.mark.parametrize("seed", sample_of(range(3), 1))
def test_the_engine_agrees_with_every_layout_on_the_way(seed: int) -> None:
    tiles = random.Random(seed).sample(NAMES, 8)
    last = None
    for wall in longest_wall(tiles, rlimit=10_000_000, seed=seed):
        layout = Layout.of(TILE_SET, {cell: TILE_SET.numbers[name] for cell, name in wall.layout.items()})
        assert not layout_violations(layout)
        assert layout.wall()[0] == wall.best
        assert set(wall.layout.values()) <= set(tiles)
        assert len(set(wall.layout.values())) == len(wall.layout)
        assert wall.best <= wall.bound
        assert wall.proven == (wall.best == wall.bound)
        assert last is None or (wall.best >= last.best and wall.bound <= last.bound and not last.done)
        last = wall
    assert last is not None
    assert last.done


def test_the_same_work_gives_the_same_answers() -> None:
    tiles = random.Random(3).sample(NAMES, 12)
    first, second = (list(longest_wall(tiles, rlimit=6_000_000, seed=7)) for _ in range(2))
    assert first == second


def test_five_tiles_close_a_wall() -> None:
    """ALH-B6: a cross, one zero tile or the fountain in its middle, is walled all around."""
    tiles = ["pavilion-2-NEW", "arcades-4-NES", "seraglio-3-ESW", "chambers-5-NSW"]
    *_, wall = longest_wall(tiles, rlimit=10**8)
    assert (wall.best, wall.bound, wall.proven) == (12, 12, True)
    assert set(wall.layout) == {(0, -1), (1, 0), (0, 1), (-1, 0)}


def test_a_region_limits_the_layouts() -> None:
    row = ["pavilion-6-N", "pavilion-8", "seraglio-9", "arcades-8-N", "garden-10-N"]
    *_, near = longest_wall(row, rlimit=10**9, region=1)
    *_, anywhere = longest_wall(row, rlimit=10**9)
    assert near.region == 1
    assert near.proven
    assert all(abs(x) + abs(y) <= 1 for x, y in near.layout)
    assert anywhere.region is None
    assert (near.best, anywhere.best) == (1, 3)


def test_without_tiles_there_is_no_wall() -> None:
    *_, wall = longest_wall([], rlimit=10**6)
    assert (wall.best, wall.bound, wall.proven, wall.layout, wall.done) == (0, 0, True, {}, True)


def test_closing_ends_the_search() -> None:
    search = longest_wall(NAMES)
    assert not next(search).done
    assert isinstance(search, Generator)
    search.close()
    with pytest.raises(StopIteration):
        next(search)


def test_an_exhausted_budget_answers_with_what_is_known() -> None:
    *_, wall = longest_wall(NAMES, rlimit=1)
    assert wall.done
    assert not wall.proven
    assert wall.bound == 80


@pytest.mark.parametrize(
    ("tiles", "region", "words"),
    [
        (["garden"], None, "garden"),
        (["tower-12-Q"], None, "tower-12-Q"),
        (["tower-12", "tower-12"], None, "twice"),
        (["tower-12"], -1, "region"),
    ],
)
def test_bad_input_is_one_clear_line(tiles: list[str], region: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        next(iter(longest_wall(tiles, region=region)))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("seed", range(8))
def test_winding_misses_no_row_if_all_are_kept(seed: int) -> None:
    """The longest wall among the layouts whose tiles waste no wall, by enumeration."""
    rng = random.Random(seed)
    masks = walls_of(rng, 4)
    found = [layout for _, layout in wind(masks, rng, 10**6, whole=False) if layout]
    thrifty = [
        length
        for layout in layouts(masks)
        if (length := wall_length(layout)) == sum(map(int.bit_count, layout.values()))
    ]
    assert max(map(wall_length, found), default=0) == max(thrifty)
    assert all(not Counter(layout.values()) - Counter(masks) for layout in found)


def test_the_ways_to_lack_walls() -> None:
    """One of two tiles, both; a wall at an end only if another tile lacks the one across; never the middle one."""
    north, south, three = 0b0001, 0b0100, 0b0111
    assert {(loss.left, loss.gone) for loss in losses([north, north, south], 1)} == {
        ((north, south), (north,)),
        ((north, north), (south,)),
    }
    assert {(loss.left, loss.gone, loss.cut) for loss in losses([south, three], 2)} == {
        ((0b0110,), (south,), ((three, 0b0110),)),
        ((0b0010, south), (), ((three, 0b0010),)),
    }
    assert not [loss for loss in losses([three, 0b1000], 2) if 0b0101 in loss.left]


@pytest.mark.parametrize("seed", sample_of(range(60), 12))
def test_a_wall_that_is_refuted_by_laying_every_row_is_in_no_layout(seed: int) -> None:
    rng = random.Random(seed)
    masks = tuple(rng.choice(KINDS) for _ in range(rng.choice((3, 4, 4))))
    lengths = {wall_length(layout) for layout in layouts(masks)}
    total = sum(mask.bit_count() for mask in masks)
    for lacking in range(total):
        losing = Losing(masks, lacking, 10_000)
        for _ in losing.run():
            pass
        assert not losing.refuted or total - lacking not in lengths, lacking


def test_rows_that_are_too_many_refute_nothing() -> None:
    masks = [parse_tile(name).walls for name in random.Random(15).sample(NAMES, 15)]
    for width, refuted in ((10, False), (10_000, True)):
        losing = Losing(masks, 0, width)
        assert not any(layout for _, layout in losing.run())
        assert losing.refuted is refuted


@pytest.mark.parametrize(
    ("seed", "lacking", "width"), [(15, 3, 5_000), campaign(15, 2, 5_000), campaign(17, 1, 12_000)]
)
def test_walls_of_fifteen_tiles_that_lack_some_are_refuted(seed: int, lacking: int, width: int) -> None:
    """Cells that are owed in vain keep the rows few; what lacks walls has to meet its like, and be reached."""
    masks = [parse_tile(name).walls for name in random.Random(seed).sample(NAMES, 15)]
    losing = Losing(masks, lacking, width)
    assert not any(layout for _, layout in losing.run())
    assert losing.refuted


def test_a_row_is_completed_with_the_tiles_that_lack_walls() -> None:
    """Where winding finds no wall: a tile of the corner, or two that meet, lack the walls that are too many."""
    shown = 0
    for seed in range(40):
        rng = random.Random(seed)
        masks = tuple(rng.choice(KINDS) for _ in range(3))
        total = sum(mask.bit_count() for mask in masks)
        best = max(wall_length(layout) for layout in layouts(masks))
        for _, layout in Losing(masks, total - best, 1000).run():
            if layout and not Counter(layout.values()) - Counter(masks):
                shown += best < total and sum(map(int.bit_count, layout.values())) > best == judged(layout)
    assert shown


def judged(layout: dict[Cell, int]) -> int:
    try:
        return wall_length(layout)
    except IllegalLayout:
        return 0


@pytest.mark.parametrize("seed", range(4))
def test_winding_finds_layouts_without_waste(seed: int) -> None:
    masks = walls_of(random.Random(seed), 25)
    lengths = []
    for _, layout in wind(masks, random.Random(seed), 50, whole=True):
        if layout:
            assert not Counter(layout.values()) - Counter(masks)
            lengths.append(wall_length(layout))
            assert lengths[-1] == sum(mask.bit_count() for mask in layout.values())
    assert max(lengths) > 25


@pytest.mark.parametrize("seed", range(3))
def test_every_wall_of_twenty_tiles(seed: int) -> None:
    """Proven without a question: the layout has all the walls that there are."""
    *_, wall = longest_wall(random.Random(seed).sample(NAMES, 20), rlimit=20_000_000)
    assert wall.proven
    assert wall.region is None
