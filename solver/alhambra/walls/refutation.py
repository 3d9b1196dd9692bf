"""Evidence that there is no longer wall: clauses without a model, and proofs of that which ``solver.drat`` checks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from solver import drat
from solver.alhambra.walls.cnf import Box, Question
from solver.alhambra.walls.sat import Budget, answer
from solver.alhambra.walls.search import boxes, masks_of
from solver.z3run import SolverFailed

_PLAIN = ["sat.simplify.delay=1000000000"] + [
    f"sat.{simplification}=false" for simplification in ("scc", "elim_vars", "subsumption", "asymm_branch", "probing")
]


@dataclass(frozen=True, slots=True)
class Part:
    """One place that holds no such wall."""

    where: Box | int
    """A box, width and height, that the tiles fill from side to side; or the steps from the fountain."""
    dimacs: str
    """Clauses that a layout in this place satisfies if its wall is as long as the target: DIMACS CNF."""
    drat: str
    """Proof, in the DRAT format, that they have no model."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """No layout of the tiles has a wall of ``target`` sides."""

    tiles: tuple[str, ...]
    target: int
    region: int | None
    """The claim is about layouts with all tiles within so many steps of the fountain; None: about all layouts."""
    parts: tuple[Part, ...]
    """Without a region, every box with ``w + h <= n + 2``: no layout of n tiles fills another one."""

    def check(self) -> int:
        """Goes through every proof; how many steps they have. Raises ``ValueError`` if one fails or a place is missing.

        That the clauses are those of the tiles and the target is not checked: ``solver.alhambra.walls.cnf`` is trusted.
        """
        places = [self.region] if self.region is not None else sorted(boxes(len(self.tiles)))
        if sorted(str(part.where) for part in self.parts) != sorted(map(str, places)):
            raise ValueError("refutation: expected one part for every place that a layout can fill")
        return sum(drat.check(part.dimacs, part.drat) for part in self.parts)


def refutation(
    tiles: Sequence[str],
    target: int,
    region: int | None = None,
    *,
    rlimit: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Refutation:
    """The evidence that no layout of some of the tiles has a wall of ``target`` sides.

    Raises ``ValueError`` if the tiles are wrong or such a layout was found, ``OutOfBudget``, ``SolverFailed``.
    """
    masks = masks_of(tiles)
    budget = Budget.of(rlimit, seconds)
    parts = []
    for where in sorted(boxes(len(masks))) if region is None else [region]:
        question = Question(masks, target, where)
        if answer(question, budget, seed) is not None:
            raise ValueError(f"target: a wall of {target} sides was found")
        text = question.dimacs()
        parts.append(Part(where, text, _proof(text)))
    return Refutation(tuple(tiles), target, region, tuple(parts))


def _proof(dimacs: str) -> str:
    """Z3's proof that the clauses have no model.

    Without simplification on the way, some steps of which Z3 leaves out of its proofs; and without the deletions, which
    it writes down before the last use of a clause. They only ever make checking faster.
    """
    program = shutil.which("z3", path=str(Path(sys.executable).parent)) or shutil.which("z3")
    if program is None:
        raise SolverFailed("z3: the program that comes with z3-solver was not found")
    with tempfile.TemporaryDirectory() as directory:
        clauses, proof = Path(directory, "clauses.cnf"), Path(directory, "proof.drat")
        clauses.write_text(dimacs, encoding="ascii")
        options = [*_PLAIN, f"sat.drat.file={proof}"]
        run = subprocess.run([program, "-dimacs", clauses, *options], capture_output=True, text=True, check=False)  # noqa: S603
        if "s UNSATISFIABLE" not in run.stdout:
            raise SolverFailed(f"z3: expected a proof, got {run.stdout[:80].strip()!r}")
        lines = [line for line in proof.read_text(encoding="ascii").splitlines() if line[:1] != "d"]
    return "\n".join([*lines, "0"]) + "\n"
