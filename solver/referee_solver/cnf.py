"""Clauses, and their text. Imports no solver: the checker of a proof states its claim again with this."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

TRUE = 1
"""The literal of a fact; a clause with it is left out, and so is ``FALSE`` in a clause."""
FALSE = -TRUE


class Clauses:
    """A growing set of clauses. A literal is the number of a variable, negative if it is denied."""

    def __init__(self) -> None:
        self.variables = TRUE
        self._lines = [f"{TRUE} 0"]

    def __len__(self) -> int:
        return len(self._lines)

    def new(self) -> int:
        """Return a new variable."""
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        """State that at least one of the literals is true."""
        if TRUE not in literals:
            self._lines.append(" ".join([str(literal) for literal in literals if literal != FALSE]) + " 0")

    def any_of(self, literals: Sequence[int]) -> int:
        """Return a literal that says: at least one of these is true."""
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
        """State that at most one of these is true: in pairs or, if there are many, along a chain."""
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

    def at_most(self, literals: Sequence[int], most: int) -> None:
        """State that at most ``most`` of these are true."""
        self.add(-self.count(literals, most + 1, down=False)[-1])

    def count(self, literals: Sequence[int], most: int, *, up: bool = True, down: bool = True) -> list[int]:
        """Return literals that say: at least 0, 1, … ``most`` of these are true (Sinz 2005).

        If that many are true, the literal is true: only with ``up``. The reverse holds only with ``down``.
        """
        row = [TRUE] + [FALSE] * most
        for literal in literals:
            before, row = row, [TRUE]
            for less, was in pairwise(before):
                if less == FALSE:
                    row.append(FALSE)
                    continue
                row.append(now := self.new())
                if up:
                    self.add(-was, now)
                    self.add(-literal, -less, now)
                if down:
                    self.add(-now, was, literal)
                    self.add(-now, less)
        return row

    def dimacs(self, first: int = 0) -> str:
        """Return the clauses as DIMACS CNF, from the one with this number on."""
        lines = self._lines[first:]
        return "\n".join([f"p cnf {self.variables} {len(lines)}", *lines, ""])


def is_true(literal: int, model: frozenset[int]) -> bool:
    """Return whether the literal is true in a model, given as its true variables."""
    return literal == TRUE or (literal in model if literal > 0 else literal != FALSE and -literal not in model)
