"""The exported questions are answered by another solver, and as they say."""

from __future__ import annotations

import random

import pytest

from referee.wire.certificates.alhambra.claims import Claim, NoPlacementClaim, Place, Remove, StepClaim, TurnClaim
from referee_solver.alhambra.prover import prove
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, SmtFile
from tests.laboratory.differential.alhambra import grown, steps

cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed: nobody else to ask")

ROW = {(1, 0): "arcades-9", (2, 0): "garden-10-N", (3, 0): "tower-11"}


def answer(text: str) -> str:
    """Return cvc5's answer to SMT-LIB text with one question."""
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, parser.getSymbolManager())
    return said.strip()


def files(claim: Claim) -> tuple[SmtFile, ...]:
    found = prove(claim, smt_lib=True).smt_lib
    assert found
    assert len({file.name for file in found}) == len(found)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_another_solver_says_the_same(seed: int) -> None:
    rng = random.Random(seed)
    layout = grown(rng)
    told = set()
    for _, step in zip(range(8), steps(rng, layout), strict=False):
        for file in files(StepClaim(layout, step)):
            assert answer(file.text) == file.expected, (layout, step, file.name)
            told.add(file.expected)
    assert told == {"sat", "unsat"}


def test_turns_and_no_placement() -> None:
    turn = TurnClaim(ROW, (), ("pavilion-8",), (Remove((3, 0)), Place("pavilion-8", (3, 0))))
    for claim in (turn, NoPlacementClaim(ROW, "pavilion-8"), NoPlacementClaim(ROW, "pavilion-2-NEW")):
        for file in files(claim):
            assert answer(file.text) == file.expected, (claim, file.name)


def test_nothing_is_exported_unasked() -> None:
    assert prove(StepClaim(ROW, Remove((3, 0)))).smt_lib == ()


@pytest.mark.parametrize("seed", range(30))
def test_a_core_is_minimal_and_names_one_broken_rule(seed: int) -> None:
    """Its assertions contradict each other, and any one of them less does not."""
    rng = random.Random(seed)
    layout = grown(rng)
    for step in steps(rng, layout):
        proof = prove(StepClaim(layout, step), smt_lib=True)
        assert bool(proof.core) is not proof.holds
        if not proof.core or len(proof.smt_lib) == 1:
            continue
        assert {name.split()[0] for name in proof.core} <= {violation.rule_id for violation in proof.violations}
        reason = next(file.text for file in proof.smt_lib if file.name == "step-reason.smt2")
        assert not Budget(DEFAULT_RLIMIT).ask(only(reason, proof.core)).satisfiable
        for name in proof.core:
            assert (
                Budget(DEFAULT_RLIMIT).ask(only(reason, [other for other in proof.core if other != name])).satisfiable
            )
        return


def only(text: str, names: object) -> str:
    """Return the question with these named assertions and no others."""
    lines = text.splitlines()
    return "\n".join(
        line
        for line in lines
        if ":named" not in line or any(f":named |{name}|" in line for name in names)  # type: ignore[attr-defined]
    )
