"""Proofs of claims: the verdict, every rule that is broken, a minimal reason, and a certificate that is accepted."""

from __future__ import annotations

import random

import pytest

from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.tiles import NAMES, parse_tile, tile_set
from referee.games.game import Violation
from referee.wire.certificates.alhambra.certificate import candidates, check
from referee.wire.certificates.alhambra.claims import (
    Add,
    Claim,
    DistanceClaim,
    HandOutClaim,
    NoPlacementClaim,
    Place,
    Remove,
    Reserve,
    Step,
    StepClaim,
    Swap,
    TurnClaim,
    TurnMove,
)
from referee_solver.alhambra.building import Ground, obeys, walls_of
from referee_solver.alhambra.prover import prove
from referee_solver.z3run import Budget, SolverFailed
from tests.laboratory.differential.alhambra import grown

# Three tiles east of the fountain, the middle one with a wall to the north.
ROW = {(1, 0): "arcades-9", (2, 0): "garden-10-N", (3, 0): "tower-11"}


@pytest.mark.parametrize(
    ("step", "violations"),
    [
        (Place("pavilion-8", (4, 0)), ()),
        (
            Place("pavilion-8", (2, -1)),
            (Violation("ALH-A2", ((2, -1), (2, 0)), {"sides": "S"}), Violation("ALH-A4", ((2, -1),))),
        ),
        (Place("pavilion-8", (5, 0)), (Violation("ALH-A3", ((5, 0),)), Violation("ALH-A4", ((5, 0),)))),
        (Place("pavilion-8", (55, 0)), (Violation("ALH-A8", ((55, 0),)),)),
        (Place("pavilion-8", (0, 0)), (Violation("ALH-A9", ((0, 0),)),)),
        (Remove((3, 0)), ()),
        (Remove((1, 0)), (Violation("ALH-A3", ((2, 0), (3, 0))), Violation("ALH-A4", ((2, 0), (3, 0))))),
        (Remove((0, 0)), (Violation("ALH-D2", ((0, 0),)),)),
        (Swap("garden-10", (1, 0)), ()),
    ],
)
def test_a_step(step: Step, violations: tuple[Violation, ...]) -> None:
    claim = StepClaim(ROW, step)
    proof = prove(claim)
    assert (proof.holds, proof.violations) == (not violations, violations)
    checked = check(proof.certificate)
    assert (checked.claim, checked.holds, checked.violations) == (claim, proof.holds, proof.violations)


def test_a_turn_is_judged_move_by_move_up_to_the_first_bad_one() -> None:
    reserve, bought = ("tower-12",), ("pavilion-8", "garden-10")

    def found(*moves: TurnMove) -> list[tuple[str, int]]:
        proof = prove(claim := TurnClaim(ROW, reserve, bought, moves))
        checked = check(proof.certificate)
        assert (checked.claim, checked.holds, checked.violations) == (claim, proof.holds, proof.violations)
        assert proof.holds is not bool(proof.violations) is bool(proof.core)
        return [(violation.rule_id, int(violation.facts.get("move", 0))) for violation in proof.violations]

    place, put = Place("pavilion-8", (4, 0)), Reserve("garden-10")
    assert found(Add("tower-12", (0, 1)), place, put) == []
    assert found(place, Place("garden-10", (5, 0))) == []
    assert found(Add("garden-10", (0, 1)), place, put) == [("ALH-C8", 1)]
    assert found(Add("tower-9-ES", (0, 1)), place, put) == [("ALH-D1", 1)]
    assert found(place, Add("tower-12", (0, 1)), put) == [("ALH-C5", 2)]
    assert found(Remove((3, 0)), Remove((2, 0)), place, put) == [("ALH-C5", 2)]
    assert found(place, place) == [("ALH-C7", 2)]
    assert found(place) == [("ALH-C7", 0)]
    assert found(Remove((1, 0)), place, put) == [("ALH-A3", 1), ("ALH-A4", 1)]
    assert found(Place("garden-10", (5, 0)), place) == [("ALH-A3", 1), ("ALH-A4", 1)]


def test_that_a_tile_can_be_placed_nowhere() -> None:
    walled = {(0, -1): "pavilion-2-NEW", (1, 0): "arcades-4-NES", (0, 1): "seraglio-3-ESW", (-1, 0): "chambers-5-NSW"}
    for layout, first in ((walled, None), (ROW, Place("pavilion-8", (-1, 0)))):
        proof = prove(claim := NoPlacementClaim(layout, "pavilion-8"))
        assert (proof.holds, proof.counterexample) == (first is None, first)
        checked = check(proof.certificate)
        assert (checked.claim, checked.holds, checked.counterexample) == (claim, proof.holds, first)


@pytest.mark.parametrize("seed", range(12))
def test_where_the_engine_finds_no_cell_there_is_none(seed: int) -> None:
    """And where it finds some, the first of them is the counterexample."""
    rng = random.Random(seed)
    layout = grown(rng)
    board = Board.of(tile_set(), {cell: tile_set().numbers[tile] for cell, tile in layout.items()})
    free = [tile for tile in NAMES if tile not in layout.values()]
    for tile in rng.sample(free, min(3, len(free))):
        cells = board.placeable_cells(parse_tile(tile).walls)
        proof = prove(NoPlacementClaim(layout, tile))
        assert (proof.holds, proof.counterexample) == (not cells, Place(tile, cells[0]) if cells else None)


def test_a_pocket_alone_forbids() -> None:
    """Neither walls nor the way on foot rule the last cell out; only that a cell would be shut in does."""
    layout = {
        (-1, -1): "pavilion-5-NW",
        (-1, 0): "chambers-7-SW",
        (0, 1): "pavilion-4-ES",
        (1, -2): "garden-8-NE",
        (1, -1): "arcades-8-E",
        (1, 0): "seraglio-6-ES",
    }
    claim = NoPlacementClaim(layout, "seraglio-8-S")
    assert candidates(claim) == [(0, -2)]
    assert prove(claim).holds
    assert prove(StepClaim(layout, Place("seraglio-8-S", (0, -2)))).violations[0].rule_id == "ALH-A6"


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (StepClaim({(1, 0): "shed-1"}, Remove((1, 0))), "tile 'shed-1': expected type-cost"),
        (StepClaim(ROW, Place("tower-11", (4, 0))), "layout: tile tower-11 twice, expected each tile once"),
        (StepClaim({(0, 0): "tower-11"}, Remove((0, 0))), r"layout: a tile on \(0, 0\): the fountain is there"),
        (StepClaim({(0, 55): "tower-11"}, Remove((0, 0))), r"layout: a tile on \(0, 55\): farther than 54"),
        (StepClaim({(2, 0): "tower-11"}, Remove((2, 0))), r"layout: breaks ALH-A3 at \(2, 0\)"),
        (StepClaim({(1, 0): "tower-10-W"}, Remove((1, 0))), r"layout: breaks ALH-A2 at \(0, 0\), E"),
        (TurnClaim(ROW, ("tower-12",), ("tower-12",), ()), "layout: tile tower-12 twice"),
        (NoPlacementClaim(ROW, "garden-10-N"), "layout: tile garden-10-N twice"),
        (StepClaim(ROW, Remove((2**31, 0))), r"step: the cell \(2147483648, 0\), expected numbers of 32 bits"),
        (TurnClaim(ROW, (), (), (Remove((0, -(2**40))),)), r"moves\[0\]: the cell .* 32 bits"),
        (DistanceClaim(ROW, (), ROW, -1), "turns: -1, expected 0 to 1000"),
        (HandOutClaim((), ()), "hands: 0 seats, expected 2 to 6"),
    ],
)
def test_what_cannot_be_is_one_line(claim: Claim, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        prove(claim)
    assert "\n" not in str(caught.value)


def test_a_budget_that_runs_out_decides_nothing() -> None:
    claim = StepClaim(ROW, Place("pavilion-8", (4, 0)))
    for rlimit in (1, 10, 100):
        proof = prove(claim, rlimit=rlimit)
        assert (proof.holds, proof.violations, proof.core, proof.certificate) == (None, (), (), b"")
    assert prove(claim, rlimit=100_000).holds


def test_the_budget_is_for_all_questions_together() -> None:
    moves = tuple(Place(tile, (4 + i, 0)) for i, tile in enumerate(("tower-12", "pavilion-8", "garden-10")))
    turn = TurnClaim(ROW, (), tuple(move.tile for move in moves), moves)
    enough = next(limit for limit in range(200, 100_000, 200) if prove(StepClaim(ROW, moves[0]), rlimit=limit).holds)
    assert prove(turn, rlimit=enough).holds is None
    assert prove(turn, rlimit=20 * enough).holds


def test_the_same_question_takes_the_same_work_whatever_was_asked_before() -> None:
    layouts = [grown(random.Random(seed)) for seed in range(8)]
    texts = [obeys(Ground(walls_of(layout))) for layout in layouts]

    def work(text: str) -> int:
        budget = Budget(10**6)
        budget.ask(text)
        return 10**6 - budget.left

    once = [work(text) for text in texts]
    assert min(once) > 0
    assert [work(text) for text in reversed(texts)] == once[::-1]


def test_what_is_no_question_of_budget_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SolverFailed, match=r"Z3 failed: .*unexpected"):
        Budget(1000).ask("(assert")
    monkeypatch.setattr("referee_solver.z3run.MAX_MEMORY_MB", 1)
    with pytest.raises(SolverFailed, match="memory"):
        prove(StepClaim(ROW, Place("pavilion-8", (4, 0))))
