"""The rebuild distance: the same as breadth first, and Z3 refutes that there is a shorter way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from referee.games.alhambra.tiles import NAMES, parse_tile
from referee.games.game import Cell
from referee.wire.certificates.alhambra import certificate
from referee.wire.certificates.alhambra.claims import Add, DistanceClaim, Remove, Swap
from referee_solver.alhambra.distance import Distance, distance, prove, way
from referee_solver.z3run import DEFAULT_RLIMIT, Budget
from tests.bench import solver_turns
from tests.games import oracle
from tests.games.layouts import HABITS, grow
from tests.games.oracle import HOME, START, Board
from tests.sizes import GATE, sample_of
from tests.solver import slow_turns

SPIRAL = {
    (1, 0): "tower-1-NS",
    (2, 0): "tower-2-NS",
    (3, 0): "tower-3-NE",
    (3, 1): "tower-4-EW",
    (3, 2): "tower-5-ES",
    (2, 2): "tower-6-NS",
    (1, 2): "tower-7-SW",
    (1, 1): "tower-8-NW",
    (2, 1): "tower-9-NES",
}
"""One can walk from the fountain around and into the middle, which is shut in: no tile can go, so none was the last."""


def plain(board: Board) -> dict[Cell, str]:
    return {cell: name for cell, name in board.items() if cell != HOME}


def ends(seed: str, tiles: int, reserve: int) -> tuple[Board, list[str], Board]:
    """Two layouts of the same tiles, and what is in the reserve at the first."""
    rng = random.Random(seed)
    names = rng.sample(NAMES, tiles + reserve)
    start = grow(rng, names[:tiles], rng.choice(list(HABITS.values())))[-1]
    most = rng.randrange(tiles + reserve + 1)
    goal = grow(rng, rng.sample(names, len(names)), rng.choice(list(HABITS.values())), most)[-1]
    return start, [name for name in names if name not in start.values()], goal


def walked(start: Board, reserve: list[str], moves: tuple[Add | Remove | Swap, ...]) -> Board:
    """Where the moves lead, each of them judged by the oracle."""
    board, stock = dict(start), set(reserve)
    for move in moves:
        match move:
            case Add(tile, at):
                assert tile in stock
                assert not oracle.placing(board, tile, at)
                stock.remove(tile)
                board[at] = tile
            case Swap(tile, at):
                assert tile in stock
                assert not oracle.swapping(board, tile, at)
                stock ^= {tile, board[at]}
                board[at] = tile
            case Remove(at):
                assert not oracle.removing(board, at)
                stock.add(board.pop(at))
    return board


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", sample_of(range(3), 1))
def test_as_breadth_first(part: int) -> None:
    found_any = 0
    for seed in range(part, 240, 3):
        start, reserve, goal = ends(f"small {seed}", 1 + seed % 3, seed // 3 % 2)
        expected = slow_turns.distance(start, reserve, goal, 5)
        found = distance(plain(start), reserve, plain(goal), limit=5)
        if expected is None:
            assert found == Distance(None, 6, False), seed
        else:
            assert found.moves is not None, seed
            assert (len(found.moves), found.bound, found.proven) == (expected, expected, True), seed
            assert walked(start, reserve, found.moves) == goal, seed
            found_any += 1
    assert found_any > 40


@pytest.mark.parametrize("seed", sample_of(range(20), 12))
def test_z3_alone_as_breadth_first(seed: int) -> None:
    """With no search: the question is satisfiable exactly from the distance on."""
    start, reserve, goal = ends(f"alone {seed}", 3, 1)
    expected = slow_turns.distance(start, reserve, goal, 4)
    first, stock, last = named(start), [(name, parse_tile(name).walls) for name in reserve], named(goal)
    for turns in range(5):
        layouts = way(first, stock, last, turns, Budget(DEFAULT_RLIMIT))
        assert (layouts is not None) == (expected is not None and expected <= turns), turns
        for before, after in pairwise(layouts or ()):
            board = {HOME: oracle.FOUNTAIN, **{cell: name for cell, (name, _) in after.items()}}
            assert slow_turns.legal(board)
            assert sum(before.get(cell) != after.get(cell) for cell in {*before, *after}) <= 1


def named(board: Board) -> dict[Cell, tuple[str, int]]:
    return {cell: (name, parse_tile(name).walls) for cell, name in plain(board).items()}


@pytest.mark.parametrize("seed", range(10))
def test_long_ways(seed: int) -> None:
    start, reserve, goal = ends(f"long {seed}", 8, 2)
    found = distance(plain(start), reserve, plain(goal))
    assert found.moves is not None
    assert found.proven
    assert found.bound == len(found.moves)
    assert walked(start, reserve, found.moves) == goal


@GATE
def test_a_way_with_two_turns_to_spare_is_proven() -> None:
    """Between layouts that have nothing in common; where turns may be lost is what makes the question long."""
    found = distance(*solver_turns.ends(4, 12, 2), limit=60, rlimit=20_000_000)
    assert found.moves is not None
    assert found.proven


def test_the_question_is_the_same_in_every_process() -> None:
    """So that it takes the same work."""
    said = """
from hashlib import sha256
from referee_solver.alhambra.distance import _with_walls
from referee_solver.alhambra.distance import _Question
from referee_solver.z3run import Budget
from tests.bench.solver_turns import ends
start, reserve, goal = ends(1, 6, 0)
question = _Question(_with_walls(start), [], _with_walls(goal), 12, Budget(None))
print(sha256(question.clauses.dimacs().encode()).hexdigest())
"""
    command = [sys.executable, "-c", said]
    root = Path(__file__).parents[2]
    told = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": str(seed)}, cwd=root, check=True, capture_output=True
        ).stdout
        for seed in range(3)
    }
    assert len(told) == 1


def test_two_tiles_that_change_places_need_a_third_turn() -> None:
    start = {(0, -1): "tower-12", (1, 0): "garden-10"}
    goal = {(0, -1): "garden-10", (1, 0): "tower-12"}
    found = distance(start, [], goal)
    assert found.moves is not None
    assert (len(found.moves), found.bound, found.proven) == (3, 3, True)


def test_a_tile_is_parked_first() -> None:
    """Between the two tiles is a wall, and in the goal there is none: one has to go before the other changes."""
    start = {(1, 0): "tower-1-S", (1, 1): "tower-4-N", (0, 1): "tower-5"}
    goal = {(1, 0): "tower-6", (1, 1): "tower-7", (0, 1): "tower-5"}
    reserve = ["tower-6", "tower-7"]
    found = distance(start, reserve, goal)
    assert found.moves is not None
    assert (len(found.moves), found.bound, found.proven) == (3, 3, True)
    assert plain(walked({**START, **start}, reserve, found.moves)) == goal
    assert slow_turns.distance({**START, **start}, reserve, {**START, **goal}, 4) == 3


BEND = {(0, 1): "tower-1-EW", (0, 2): "tower-2-SW", (1, 2): "tower-3-NS", (2, 2): "tower-4-ES", (2, 1): "tower-5-EW"}
"""Around a corridor of two cells, the inner one with walls on three sides."""


def ways_agree(start: Board, reserve: list[str], goal: Board, turns: int) -> None:
    """Check that the search finds a way of ``turns`` turns, and that Z3 alone finds one of these and none of fewer."""
    found = distance(plain(start), reserve, plain(goal))
    assert found.moves is not None
    assert (len(found.moves), found.bound, found.proven) == (turns, turns, True)
    assert walked(start, reserve, found.moves) == goal
    stock = [(name, parse_tile(name).walls) for name in reserve]
    assert way(named(start), stock, named(goal), turns - 1, Budget(DEFAULT_RLIMIT)) is None
    assert way(named(start), stock, named(goal), turns, Budget(DEFAULT_RLIMIT)) is not None


def test_a_tile_goes_and_comes_back() -> None:
    """The inner tile can be walked to over the outer one alone, which would shut its cell in: the end has to open."""
    reserve = ["tower-6-ESW", "tower-7"]
    goal = BEND | {(1, 1): "tower-6-ESW", (1, 0): "tower-7"}
    ways_agree(START | BEND, reserve, START | goal, 4)


def test_a_tile_helps_on_a_cell_that_is_empty_before_and_after() -> None:
    """The bridge between two columns moves from one end to the other; until then one in the middle has to do."""
    cells = [(0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]
    columns = {cell: f"tower-{number}" for number, cell in enumerate(cells, 1)}
    ways_agree(START | columns | {(1, 0): "garden-1"}, ["garden-2"], START | columns | {(1, 2): "garden-1"}, 4)


def test_no_turns_at_all() -> None:
    assert distance({(0, 1): "tower-12"}, ["garden-10"], {(0, 1): "tower-12"}) == Distance((), 0, True)


def test_one_turn() -> None:
    assert distance({}, ["garden-10"], {(0, 1): "garden-10"}) == Distance((Add("garden-10", (0, 1)),), 1, True)


def test_nobody_has_the_tile() -> None:
    found = distance({(0, 1): "tower-12"}, [], {(0, 1): "garden-10"})
    assert found.moves is None
    assert found.proven


def test_the_middle_of_a_spiral_cannot_be_reached() -> None:
    assert not oracle.faults({**START, **SPIRAL})
    reserve = sorted(SPIRAL.values())
    there = distance({}, reserve, SPIRAL)
    assert there.moves is None
    assert there.proven
    back = distance(SPIRAL, [], {})
    assert back.moves is None
    assert back.proven
    # With other tiles a second way in is opened, and then the first may go.
    opened = {cell: name for cell, name in SPIRAL.items() if cell != (1, 0)} | {(1, 1): "tower-1-N", (0, 1): "tower-12"}
    found = distance(SPIRAL, ["tower-1-N", "tower-12"], opened)
    assert found.moves is not None
    assert (len(found.moves), found.proven) == (3, True)
    assert plain(walked({**START, **SPIRAL}, ["tower-1-N", "tower-12"], found.moves)) == opened


def test_the_limit_is_kept() -> None:
    goal = {(0, 1): "tower-12", (0, -1): "garden-10", (1, 0): "tower-11"}
    assert distance({}, sorted(goal.values()), goal, limit=2) == Distance(None, 3, False)
    assert distance({}, sorted(goal.values()), goal, limit=3).proven


@pytest.mark.parametrize("rlimit", [0, 1, 5_000])
def test_an_exhausted_budget_answers_with_a_bound(rlimit: int) -> None:
    start, reserve, goal = ends("budget", 10, 1)
    best = distance(plain(start), reserve, plain(goal))
    assert best.proven
    found = distance(plain(start), reserve, plain(goal), rlimit=rlimit)
    assert not found.proven
    assert 0 < found.bound <= best.bound
    if found.moves is not None:
        assert walked(start, reserve, found.moves) == goal


def test_z3_finds_the_way_if_the_search_cannot() -> None:
    start, reserve, goal = ends("fallback 3", 10, 1)
    best = distance(plain(start), reserve, plain(goal))
    assert best.moves is not None
    assert best.proven
    stock = [(name, parse_tile(name).walls) for name in reserve]
    layouts = way(named(start), stock, named(goal), best.bound, Budget(DEFAULT_RLIMIT))
    assert layouts is not None
    assert layouts[-1] == named(goal)


@pytest.mark.parametrize("seed", range(6))
def test_claims_are_proved_and_refuted(seed: int) -> None:
    start, reserve, goal = ends(f"claim {seed}", 4, 1)
    found = distance(plain(start), reserve, plain(goal))
    assert found.moves is not None
    turns = len(found.moves)
    for claimed in range(max(0, turns - 1), turns + 2):
        claim = DistanceClaim(plain(start), tuple(reserve), plain(goal), claimed)
        proof = prove(claim)
        checked = certificate.check(proof.certificate)
        assert proof.holds is checked.holds is (claimed == turns)
        differ = len({cell for cell, _ in plain(start).items() ^ plain(goal).items()})
        below = 0 if claimed > turns else claimed + (claimed < turns)
        assert bool(checked.assumed) is (below > differ)
    assert prove(DistanceClaim(plain(start), tuple(reserve), plain(goal), turns), 1).holds is None


def test_a_claim_about_a_tile_that_nobody_has_is_refuted() -> None:
    proof = prove(DistanceClaim({}, (), {(0, 1): "garden-10"}, 1))
    assert proof.holds is False
    assert not certificate.check(proof.certificate).holds


@pytest.mark.parametrize(
    ("start", "reserve", "goal", "message"),
    [
        ({(0, -1): "tower-12"}, ["tower-12"], {}, "tower-12"),
        ({}, [], {(0, 0): "tower-12"}, "goal.*fountain"),
        ({(0, -1): "tower-10-S"}, [], {}, "start.*ALH-A2"),
        ({}, ["tower-12"], {(1, 1): "tower-12"}, "goal.*ALH-A"),
    ],
)
def test_nonsense_is_refused(start: dict[Cell, str], reserve: list[str], goal: dict[Cell, str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        distance(start, reserve, goal)
    assert "\n" not in str(caught.value)
