"""Z3 on a question about walls, in slices, so that others get a turn and a signal is heard."""

from __future__ import annotations

from referee_solver.alhambra.judge import IllegalLayout, wall_length
from referee_solver.alhambra.wall_clauses import Masks, Question
from referee_solver.sat import Sat
from referee_solver.z3run import Budget, SolverFailed

SLICE = 2_000_000
"""Z3's unit of work; about half a second. While a slice runs nothing else does: Ctrl-C is heard after it."""


class Asking:
    """A question that is being answered: ``step`` until there is an answer or no patience."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question = question
        # Many are asked at a time; who runs this process limits its memory.
        self._sat = Sat(question.clauses, seed=seed, memory_mb=None)

    @property
    def refuted(self) -> bool:
        """There is no such layout."""
        return self._sat.refuted

    def step(self, budget: Budget, at_most: int = SLICE) -> list[Masks]:
        """Do a slice of work: return layouts, if there was a model; not all need be legal or have such a wall.

        What the model lacks is added to the question. Raise ``OutOfBudget`` before it asks, and ``SolverFailed``.
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
