"""Z3's SAT core on clauses that may still grow."""

from __future__ import annotations

import z3

from referee_solver.cnf import Clauses
from referee_solver.z3run import MAX_MEMORY_MB, UNLIMITED, Budget, OutOfBudget


class Sat:
    """Clauses, asked whether they have a model. Clauses may be added between one answer and the next."""

    def __init__(self, clauses: Clauses, *, seed: int = 0, memory_mb: int | None = MAX_MEMORY_MB) -> None:
        """``memory_mb``: for all that Z3 has in this process; None: as much as there is."""
        self.refuted = False
        """There is no model."""
        self._clauses = clauses
        self._sent = 0
        self._solver = z3.SolverFor("QF_FD", ctx=z3.Context())
        self._solver.set("random_seed", seed)
        if memory_mb is not None:
            self._solver.set("max_memory", memory_mb)
        self._solver.set("ctrl_c", False)  # Z3 would keep the signal to itself

    def step(self, budget: Budget, at_most: int = UNLIMITED) -> frozenset[int] | None:
        """Work for at most ``at_most``, in Z3's unit: return the true variables of a model, or None. Then see
        ``refuted``.

        Raise ``OutOfBudget`` before it asks, and ``SolverFailed``.
        """
        text = self._clauses.dimacs(self._sent)
        self._sent = len(self._clauses)
        result = budget.check(self._solver, text, at_most)
        self.refuted = result == z3.unsat
        if result != z3.sat:
            return None
        model = self._solver.model()
        # A number names the variable that the text calls so.
        return frozenset(int(each.name()[2:]) for each in model.decls() if z3.is_true(model[each]))

    def solve(self, budget: Budget) -> frozenset[int] | None:
        """Return the true variables of a model; None if there is none. Raise ``OutOfBudget`` and ``SolverFailed``."""
        model = self.step(budget)
        if model is None and not self.refuted:
            budget.left = 0
            raise OutOfBudget
        return model
