"""Proofs of claims: verdict, every rule that is broken, a minimal reason, and a certificate that the checker accepts."""

from __future__ import annotations

import pytest

from referee.games.game import Violation
from solver.certificate import check
from solver.claims import Place, Remove, Step, StepClaim, Swap
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
