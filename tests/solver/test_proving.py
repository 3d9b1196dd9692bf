"""Proofs of claims: the verdict, every rule that is broken, a minimal reason, and a certificate that is accepted."""

from __future__ import annotations

import pytest

from referee.games.game import Violation
from solver.certificate import check
from solver.claims import Add, NoPlacementClaim, Place, Remove, Reserve, Step, StepClaim, Swap, TurnClaim, TurnMove
from solver.proving import prove

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
