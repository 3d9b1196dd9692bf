"""Z3's SAT core on a ``Question``, in slices, so that others get a turn and a signal is heard."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import z3

from referee.games.game import Cell
from solver.alhambra.judge import IllegalLayout, wall_length
from solver.alhambra.walls.cnf import Clause, Question
from solver.z3run import OutOfBudget, SolverFailed

SLICE = 2_000_000
"""Z3's unit of work; about half a second. While a slice runs nothing else does: Ctrl-C is heard after it."""


@dataclass(slots=True)
class Budget:
    """What may still be spent: work, in Z3's unit, or time, or both. None is no limit."""

    rlimit: int | None
    deadline: float | None
    """On the clock of ``time.monotonic``: a fuse, because what is done until then depends on the machine."""

    @classmethod
    def of(cls, rlimit: int | None, seconds: float | None) -> Budget:
        """From now on."""
        return cls(rlimit, None if seconds is None else time.monotonic() + seconds)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return (self.rlimit is not None and self.rlimit <= 0) or (
            self.deadline is not None and time.monotonic() >= self.deadline
        )

    def slice(self, at_most: int) -> int:
        """So much of the work as is left."""
        return at_most if self.rlimit is None else max(1, min(at_most, self.rlimit))

    def charge(self, work: int) -> None:
        """The work was done."""
        if self.rlimit is not None:
            self.rlimit -= work


class Asking:
    """A question that is being answered: ``step`` until there is an answer or no patience."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question = question
        self.unsatisfiable = False
        self.work = 0
        self._context = z3.Context()
        self._solver: Any = z3.SolverFor("QF_FD", ctx=self._context)
        self._solver.set("random_seed", seed)
        self._solver.set("ctrl_c", False)  # Z3 would keep the signal to itself
        self._solver.from_string(question.dimacs())

    def step(self, budget: Budget, at_most: int = SLICE) -> set[int] | None:
        """A slice of work: the true variables of a model, or None. Afterwards ``unsatisfiable`` may be true."""
        self._solver.set("rlimit", budget.slice(at_most))
        answer = self._solver.check()
        work = next((value for key, value in self._solver.statistics() if key == "rlimit count"), self.work)
        budget.charge(max(1, work - self.work))
        self.work = work
        self.unsatisfiable = answer == z3.unsat
        if answer != z3.sat:
            return None
        model = self._solver.model()
        return {int(variable.name()[2:]) for variable in model.decls() if z3.is_true(model[variable])}

    def add(self, clauses: list[Clause]) -> None:
        """The question lacked these. Raises ``SolverFailed`` if there are none: the same model would come for ever."""
        if not clauses:
            raise SolverFailed("a model that is no layout breaks no rule")
        self.question.clauses += clauses
        for clause in clauses:
            # A number names the variable that the DIMACS text calls so.
            literals = [z3.Bool(abs(literal), self._context) for literal in clause]
            signed = [
                literal if number > 0 else z3.Not(literal) for number, literal in zip(clause, literals, strict=True)
            ]
            self._solver.add(z3.Or(signed))


def answer(question: Question, budget: Budget, seed: int = 0) -> dict[Cell, int] | None:
    """A layout that the question asks for, masks by cell, or None if there is none. Raises ``OutOfBudget``.

    Afterwards the question has all the clauses that the answer took.
    """
    asking = Asking(question, seed)
    while not budget.spent:
        model = asking.step(budget)
        if asking.unsatisfiable:
            return None
        if model is not None:
            for layout in question.layouts(model):
                with suppress(IllegalLayout):
                    if wall_length(layout) >= question.target and question.contains(layout):
                        return layout
            asking.add(question.cuts(model))
    raise OutOfBudget("the budget ran out before there was an answer")
