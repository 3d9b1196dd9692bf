"""Clauses, and Z3's answer to them."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from solver.z3run import LONGEST_S, MAX_MEMORY_MB, Budget, OutOfBudget, SolverFailed, seconds_left

TRUE = 1
"""The literal of what is a fact; a clause with it is left out, and so is ``FALSE`` in a clause."""
FALSE = -TRUE

_BUDGET = ("canceled", "sat.canceled", "max. resource limit exceeded")


LITERAL = 30
"""What stating a literal costs of the budget: about as long as Z3 takes for so much of its own work."""


def spend(budget: Budget, literals: int) -> None:
    """For stating a question, which is work, too. Raises ``OutOfBudget``."""
    budget.left -= LITERAL * literals
    if budget.left <= 0:
        raise OutOfBudget


class Clauses:
    """A growing set of clauses. A literal is the number of a variable, negative if it is denied."""

    def __init__(self) -> None:
        self.variables = TRUE
        self._lines = [f"{TRUE} 0"]
        self._sent = 0
        self._solver: z3.Solver | None = None

    def new(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        """At least one of the literals."""
        if TRUE not in literals:
            self._lines.append(" ".join([str(literal) for literal in literals if literal != FALSE]) + " 0")

    def any_of(self, literals: Sequence[int]) -> int:
        """A literal that says: at least one of these."""
        if TRUE in literals:
            return TRUE
        found = [literal for literal in literals if literal != FALSE]
        if len(found) <= 1:
            return found[0] if found else FALSE
        some = self.new()
        self.add(-some, *found)
        for literal in found:
            self.add(-literal, some)
        return some

    def at_most_one(self, literals: Sequence[int]) -> None:
        """Of these, in pairs or, if there are many, along a chain."""
        left = [literal for literal in literals if literal != FALSE]
        if len(left) <= 5:
            for i, one in enumerate(left):
                for other in left[i + 1 :]:
                    self.add(-one, -other)
            return
        before = left[0]
        for literal in left[1:]:
            self.add(-before, -literal)
            if literal != left[-1]:
                after = self.new()
                self.add(-before, after)
                self.add(-literal, after)
                before = after

    def at_least(self, literals: Sequence[int], most: int) -> list[int]:
        """Literals that imply: at least 0, 1, … ``most`` of these."""
        row = [TRUE] + [FALSE] * most
        for literal in literals:
            before = row
            row = [TRUE]
            for count in range(1, most + 1):
                if before[count - 1] == FALSE:
                    row.append(FALSE)
                    continue
                enough = self.new()
                self.add(-enough, before[count], literal)
                self.add(-enough, before[count - 1])
                row.append(enough)
        return row

    def dimacs(self, first: int = 0) -> str:
        """The clauses as DIMACS CNF, from the one with this number on."""
        lines = self._lines[first:]
        return "\n".join([f"p cnf {self.variables} {len(lines)}", *lines, ""])

    def solve(self, budget: Budget) -> frozenset[int] | None:
        """The true variables of a model; None if Z3 refutes that there is one. Raises what ``Budget.ask`` does."""
        seconds = seconds_left()
        if budget.left <= 0 or seconds <= 0:
            raise OutOfBudget
        if self._solver is None:
            self._solver = z3.SolverFor("QF_FD", ctx=z3.Context())
            self._solver.set(max_memory=MAX_MEMORY_MB, random_seed=0)
        solver = self._solver
        solver.set(rlimit=min(budget.left, 2**32 - 1))
        if seconds < LONGEST_S:
            solver.set(timeout=int(1000 * seconds) + 1)
        try:
            solver.from_string(self.dimacs(self._sent))
            self._sent = len(self._lines)
            before = _count(solver)
            result = solver.check()
            budget.left -= _count(solver) - before
        except z3.Z3Exception as error:
            raise SolverFailed(f"Z3 failed: {str(error).splitlines()[0]}") from None
        if result == z3.unknown:
            # What it says of a limit depends on where the limit was met.
            if (reason := solver.reason_unknown()) in _BUDGET or budget.left <= 0 or seconds_left() <= 0:
                budget.left = 0
                raise OutOfBudget
            raise SolverFailed(f"Z3 gave no answer: {reason}")
        if result == z3.unsat:
            return None
        model = solver.model()
        return frozenset(int(each.name()[2:]) for each in model.decls() if z3.is_true(model[each]))


def is_true(literal: int, model: frozenset[int]) -> bool:
    """Whether the literal is true in a model, given as its true variables."""
    return literal == TRUE or (literal in model if literal > 0 else literal != FALSE and -literal not in model)


def _count(solver: z3.Solver) -> int:
    """0 before there was anything to count."""
    return next((int(value) for key, value in solver.statistics() if key == "rlimit count"), 0)
