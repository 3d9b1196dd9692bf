"""The engine's local rules of building against the oracle's judgement of whole layouts (ALH-A, B, D)."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from referee.games.alhambra.layout import Layout, cells_of, index_of, on_board
from referee.games.alhambra.tiles import TileSet
from referee.games.alhambra.violations import (
    layout_violations,
    placement_violations,
    removal_violations,
    swap_violations,
)
from referee.games.game import Violation
from tests.games import oracle
from tests.games.layouts import (
    ONE_OF_EACH_WALL,
    OPEN,
    REAL,
    SHAPES,
    engine_layout,
    frontier,
    open_board,
    random_boards,
)
from tests.games.oracle import Board, Cell, Faults
from tests.sizes import sample_of

CHUNKS = 20
BOARDS_A_CHUNK = 12
CASES_A_CHUNK = 5_000
"""Together at least 100,000 cases, tile by cell."""

FAR = [(54, 0), (55, 0), (0, -54), (0, -55), (-54, 54), (-55, -55), (1 << 40, 3), (3, -(1 << 70))]


def chunks(count: int) -> list[object]:
    """Return the parts of one test; the first is the sample."""
    return sample_of(range(count), 1)


def cells_by_id(violations: Iterable[Violation]) -> Faults:
    found: dict[str, frozenset[Cell]] = {}
    for violation in violations:
        found[violation.rule_id] = found.get(violation.rule_id, frozenset()) | frozenset(violation.cells)
    return found


def interesting_cells(rng: random.Random, board: Board) -> list[Cell]:
    """Beside the layout and on it, every one; of the cells further away a few."""
    near = {*frontier(board), *board}
    away = sorted(set(oracle.margin(board, 2)) - near)
    return [*sorted(near), *rng.sample(away, min(12, len(away))), *rng.sample(FAR, 2)]


def compare_placing(board: Board, layout: Layout, names: Iterable[str], cells: Iterable[Cell]) -> int:
    """Every tile on every cell; returns how many cases that was."""
    tile_set = layout.tile_set
    cases = 0
    for name in names:
        tile = tile_set.numbers[name]
        may = layout.placeable(tile_set.walls[tile])
        assert cells_of(may) == layout.placeable_cells(tile_set.walls[tile])
        for cell in cells:
            wanted = oracle.placing(board, name, cell)
            found = placement_violations(layout, tile, cell)
            assert cells_by_id(found) == wanted, (board, name, cell)
            if on_board(cell):
                assert bool(may >> index_of(cell) & 1) is not bool(wanted), (board, name, cell)
            cases += 1
    return cases


def compare_rebuilding(board: Board, layout: Layout, names: Iterable[str]) -> int:
    """Every removal, and every swap of every tile on the layout."""
    tile_set = layout.tile_set
    removable = layout.removable_cells()
    cells = [*sorted(board), *frontier(board), (55, 0), (0, -(1 << 65))]
    for cell in cells:
        wanted = oracle.removing(board, cell)
        assert cells_by_id(removal_violations(layout, cell)) == wanted, (board, cell)
        assert (cell in removable) is not bool(wanted), (board, cell)
    cases = len(cells)
    for name in names:
        tile = tile_set.numbers[name]
        swappable = layout.swappable_cells(tile_set.walls[tile])
        for cell in cells:
            wanted = oracle.swapping(board, name, cell)
            assert cells_by_id(swap_violations(layout, tile, cell)) == wanted, (board, name, cell)
            assert (cell in swappable) is not bool(wanted), (board, name, cell)
            cases += 1
    return cases


@pytest.mark.parametrize("chunk", chunks(CHUNKS))
def test_legal_placements_are_those_of_the_rule_texts(chunk: int) -> None:
    rng = random.Random(chunk)
    cases = sum(
        compare_placing(board, engine_layout(board), ONE_OF_EACH_WALL, interesting_cells(rng, board))
        for board in random_boards(f"place {chunk}", BOARDS_A_CHUNK)
    )
    assert cases >= CASES_A_CHUNK


@pytest.mark.parametrize("chunk", chunks(4))
def test_legal_rebuilds_are_those_of_the_rule_texts(chunk: int) -> None:
    for board in random_boards(f"rebuild {chunk}", 24):
        compare_rebuilding(board, engine_layout(board), ONE_OF_EACH_WALL[chunk % 2 :: 2])


@pytest.mark.parametrize("chunk", chunks(8))
def test_shapes_without_walls_are_judged_like_the_rule_texts(chunk: int) -> None:
    """Loops, bays and pockets in numbers: without walls nothing but the shape forbids a cell."""
    rng = random.Random(chunk)
    for board in random_boards(f"open {chunk}", 20, OPEN):
        layout = engine_layout(board, OPEN)
        assert not layout_violations(layout)
        compare_placing(board, layout, OPEN.names[-1:], interesting_cells(rng, board))
        compare_rebuilding(board, layout, OPEN.names[-1:])


@pytest.mark.parametrize("name", SHAPES)
def test_adversarial_shapes_are_judged_like_the_rule_texts(name: str) -> None:
    board = open_board(SHAPES[name])
    layout = engine_layout(board, OPEN)
    assert cells_by_id(layout_violations(layout)) == oracle.faults(board) == {}
    cells = [*board, *frontier(board), *FAR]
    compare_placing(board, layout, OPEN.names[-1:], cells)
    compare_rebuilding(board, layout, OPEN.names[-1:])
    if len(board) < 55:
        mixed = TileSet((*OPEN.names[:53], "garden-60-NSW"))
        compare_placing(board, engine_layout(board, mixed), mixed.names[53:], cells)


@pytest.mark.parametrize("chunk", chunks(4))
def test_faults_of_arbitrary_layouts_are_those_of_the_rule_texts(chunk: int) -> None:
    """Tiles thrown on the table: most of these layouts break several rules, and every one is named with its cells."""
    rng = random.Random(chunk)
    seen: set[str] = set()
    for case in range(400):
        tile_set = REAL if case % 2 else OPEN
        width, height = rng.randint(0, 4), rng.randint(0, 4)
        places = [c for x in range(-width, width + 1) for y in range(-height, height + 1) if (c := (x, y)) != (0, 0)]
        count = rng.randint(0, min(len(places), 54))
        board = dict(oracle.START) | dict(
            zip(rng.sample(places, count), rng.sample(tile_set.names, count), strict=True)
        )
        found = cells_by_id(layout_violations(engine_layout(board, tile_set)))
        wanted = oracle.faults(board)
        assert found == wanted, board
        seen |= set(wanted)
    assert seen == {"ALH-A2", "ALH-A3", "ALH-A4", "ALH-A5", "ALH-A6"}


@pytest.mark.parametrize("chunk", chunks(4))
def test_faults_of_spoiled_layouts_are_those_of_the_rule_texts(chunk: int) -> None:
    """One tile of a legal layout moved, swapped or taken away."""
    rng = random.Random(chunk)
    for board in random_boards(f"spoil {chunk}", 40):
        for _ in range(10):
            spoiled = dict(board)
            if len(board) > 1:
                del spoiled[rng.choice(sorted(set(board) - {oracle.HOME}))]
            name = rng.choice([n for n in REAL.names if n not in spoiled.values()])
            spoiled[rng.choice(oracle.margin(board))] = name
            if spoiled.get(oracle.HOME) != oracle.FOUNTAIN:
                continue
            found = cells_by_id(layout_violations(engine_layout(spoiled)))
            assert found == oracle.faults(spoiled), spoiled


@pytest.mark.parametrize("chunk", chunks(2))
def test_the_longest_wall_is_that_of_the_rule_texts(chunk: int) -> None:
    for board in random_boards(f"wall {chunk}", 160):
        length, outline = engine_layout(board).wall()
        assert length == oracle.longest_wall(board), board
        assert outline == len(oracle.outer_sides(board)), board


def test_a_layout_changed_step_by_step_is_the_layout_built_at_once() -> None:
    rng = random.Random(9)
    for final in random_boards("steps", 40):
        layout = Layout(REAL)
        held: dict[Cell, str] = {}
        todo = [(cell, name) for cell, name in final.items() if cell != oracle.HOME]
        rng.shuffle(todo)
        for cell, name in todo:
            layout = layout.placed(REAL.numbers[name], index_of(cell))
            held[cell] = name
            if rng.random() < 0.4:
                gone = rng.choice(sorted(held))
                layout = layout.removed(index_of(gone))
                del held[gone]
            elif rng.random() < 0.4:
                where = rng.choice(sorted(held))
                held[where] = rng.choice([n for n in REAL.names if n not in held.values()])
                layout = layout.swapped(REAL.numbers[held[where]], index_of(where))
            fresh = engine_layout({**oracle.START, **held})
            assert layout == fresh
            assert layout.encode() == fresh.encode()
            assert layout.occupied == fresh.occupied
            for walls in (0, 3, 9, 14):
                assert layout.placeable(walls) == fresh.placeable(walls)
                assert layout.swappable_cells(walls) == fresh.swappable_cells(walls)


@pytest.mark.parametrize("seed", range(4))
def test_an_encoding_made_from_another_is_the_one_of_the_same_tiles(seed: int) -> None:
    """Any number of changes lie in between, without an encoding."""
    rng = random.Random(seed)
    layout, left = Layout(REAL), list(range(54))
    rng.shuffle(left)
    for _ in range(400):
        lying = list(layout.tiles)
        if left and rng.random() < 0.5:
            cell = (rng.randint(-9, 9), rng.randint(-9, 9))
            if cell != (0, 0) and index_of(cell) not in layout.tiles:
                layout = layout.placed(left.pop(), index_of(cell))
        elif left and lying and rng.random() < 0.5:
            index = rng.choice(lying)
            tile = left.pop()
            left.insert(0, layout.tiles[index])
            layout = layout.swapped(tile, index)
        elif lying:
            index = rng.choice(lying)
            left.insert(0, layout.tiles[index])
            layout = layout.removed(index)
        if rng.random() < 0.6:
            assert layout.encode() == Layout(REAL, layout.tiles).encode()
