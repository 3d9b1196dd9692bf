"""The benches of the solver run, and find what they should: their speeds are for the people who run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games.alhambra.tiles import parse_tile
from referee_solver.alhambra.prover import prove
from referee_solver.alhambra.walls import longest_wall
from tests.bench import certificates, solver, solver_compare

SMALL = ["garden-10-N", "tower-9-ES", "arcades-6-NE", "seraglio-7-W"]


def test_claims_are_of_every_kind_and_both_verdicts() -> None:
    claims = list(certificates.claims(range(1)))
    assert {type(claim.step).__name__ for claim in claims} == {"Place", "Remove", "Swap"}
    assert {prove(claim).holds for claim in claims} == {True, False}
    assert {len(claim.layout) for claim in claims} == {certificates.TILES}


def test_proofs_are_measured_beside_bare_z3() -> None:
    """Which does part of the same work."""
    *proofs, _, last = certificates.figures(range(1))
    assert "check" in last.name
    assert last.floor is None  # it makes no request
    assert len(proofs) == 2
    assert all(figure.floor and figure.floor > 0 and figure.value > 0 for figure in proofs)


def test_the_table_of_a_section(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On the processors that the tests have; of one seed."""
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    monkeypatch.setattr(solver, "QUICK", solver.Scale(range(1)))
    solver.main(["--quick", "--sections", "proofs"])
    told = capsys.readouterr()
    assert told.err == ""
    assert "99th percentile, ms" in told.out
    assert "at most 0.3" in told.out


def test_questions_for_other_solvers_are_whole(tmp_path: Path) -> None:
    """To the clauses Z3's own command says what the search found: a wall as long as the best, and none longer."""
    masks = [parse_tile(tile).walls for tile in SMALL]
    file = tmp_path / "question.cnf"
    z3 = solver_compare.solvers()["Z3"]
    assert z3 is not None
    found = {}
    for target in range(1, sum(mask.bit_count() for mask in masks) + 1):
        dimacs = solver_compare.learnt(masks, target, 2, 60)
        assert dimacs is not None
        file.write_text(dimacs)
        found[target], _ = z3(file, 60)
    *_, wall = longest_wall(SMALL, region=2)
    assert found == {target: "sat" if target <= wall.best else "unsat" for target in found}
    assert {*found.values()} == {"sat", "unsat"}
