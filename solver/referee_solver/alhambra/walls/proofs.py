"""Z3 on questions about walls: asked in slices, and its proofs made into evidence that there is no longer wall."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from referee.games.game import InputError
from referee_solver import drat
from referee_solver.alhambra.judge import IllegalLayout, wall_length
from referee_solver.alhambra.wall_clauses import Masks, Part, Question, Refutation, boxes, masks_of
from referee_solver.z3run import Budget, Sat, SolverFailed

_PLAIN = ["sat.simplify.delay=1000000000"] + [
    f"sat.{simplification}=false" for simplification in ("scc", "elim_vars", "subsumption", "asymm_branch", "probing")
]
_ATTEMPTS = 10


def refutation(
    tiles: Sequence[str],
    target: int,
    region: int | None = None,
    *,
    rlimit: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Refutation:
    """Return the evidence that no layout of some of the tiles has a wall of ``target`` sides.

    Raise ``InputError`` if the tiles are wrong or such a layout was found, ``OutOfBudget``, ``SolverFailed``.
    """
    masks = masks_of(tiles)
    budget = Budget(rlimit, seconds)
    places = boxes(len(masks)) if region is None else [region]
    parts = [part(Question(masks, target, where), budget, seed) for where in places]
    return Refutation(tuple(tiles), target, region, tuple(parts))


def part(question: Question, budget: Budget, seed: int = 0) -> Part:
    """Return the evidence for one place. Raises as ``refutation``."""
    if answer(question, budget, seed) is not None:
        raise InputError("target", f"a wall of {question.target} sides was found")
    return Part(question.where, tuple(question.cuts), _proof(question.clauses.dimacs()))


def _proof(dimacs: str) -> str:
    """Return a proof that the clauses have no model, each step of which follows.

    Z3 leaves out steps now and then. Steps that do not follow without them are dropped, and the rest is kept: with it
    among the clauses Z3 is asked again, until its proof holds to the end.
    """
    steps: list[str] = []
    for attempt in range(_ATTEMPTS):
        kept, is_whole = drat.following(dimacs, steps + _z3(dimacs, steps, attempt))
        if is_whole:
            return "\n".join(kept) + "\n"
        steps = kept
    raise SolverFailed(f"z3: {_ATTEMPTS} proofs left out steps")


def _z3(dimacs: str, steps: list[str], seed: int) -> list[str]:
    """Return Z3's proof, a clause a line, from the clauses and their consequences.

    Without simplification on the way, many steps of which it leaves out; and without the deletions, which it writes
    down before the last use of a clause. They only ever make checking faster.
    """
    program = shutil.which("z3", path=str(Path(sys.executable).parent)) or shutil.which("z3")
    if program is None:
        raise SolverFailed("z3: the program that comes with z3-solver was not found")
    header, *lines = dimacs.splitlines()
    lines += steps
    with tempfile.TemporaryDirectory() as directory:
        clauses, proof = Path(directory, "clauses.cnf"), Path(directory, "proof.drat")
        clauses.write_text("\n".join([f"{header.rsplit(' ', 1)[0]} {len(lines)}", *lines, ""]), encoding="ascii")
        options = [*_PLAIN, f"sat.random_seed={seed}", f"sat.drat.file={proof}"]
        run = subprocess.run([program, "-dimacs", clauses, *options], capture_output=True, text=True, check=False)  # noqa: S603
        if "s UNSATISFIABLE" not in run.stdout:
            raise SolverFailed(f"z3: expected a proof, got {run.stdout[:80].strip()!r}")
        return [line for line in proof.read_text(encoding="ascii").splitlines() if line[:1] != "d"] + ["0"]


SLICE = 2_000_000
"""Z3's unit of work; about half a second. While a slice runs nothing else does: Ctrl-C is heard after it."""


class Asking:
    """A question that is being answered: ``step`` until there is an answer or no patience."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question = question
        # Many are asked at a time; its parent limits this process's memory.
        self._sat = Sat(question.clauses, seed=seed, memory_mb=None)

    @property
    def refuted(self) -> bool:
        """There is no such layout."""
        return self._sat.refuted

    def step(self, budget: Budget, at_most: int = SLICE) -> list[Masks]:
        """Do a slice of work: return layouts, if there was a model; not all need be legal or have such a wall.

        The cuts that the model lacks are added to the question. Raise ``OutOfBudget`` before it asks, and
        ``SolverFailed``.
        """
        model = self._sat.step(budget, at_most)
        if model is None:
            return []
        found = list(self.question.layouts(model))
        cuts = self.question.lacks(model)
        if not cuts and not any(map(self.answers, found)):
            raise SolverFailed("a model that is no layout breaks no rule")
        for cut in cuts:
            self.question.add(cut)
        return found

    def answers(self, layout: Masks) -> bool:
        """Return whether the layout is one that is asked for."""
        try:
            return wall_length(layout) >= self.question.target and self.question.contains(layout)
        except IllegalLayout:
            return False


def answer(question: Question, budget: Budget, seed: int = 0) -> Masks | None:
    """Return a layout that the question asks for; None if there is none. Raise ``OutOfBudget``, ``SolverFailed``.

    Afterwards the question has all the cuts that the answer took.
    """
    asking = Asking(question, seed)
    while not asking.refuted:
        for layout in asking.step(budget):
            if asking.answers(layout):
                return layout
    return None
