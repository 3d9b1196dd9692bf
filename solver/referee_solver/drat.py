"""Checks that clauses have no model, by a DRAT proof. Imports no solver: its claims need not be believed.

A proof is a list of clauses to add and to delete (Heule, Hunt and Wetzler 2013). Each that is added must be implied by
unit propagation (RUP), or else be blocked by resolution on its first literal (RAT); the last one is empty. The proof
is gone through forwards, with two watched literals for each clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class BadProof(ValueError):
    """The proof does not hold: one line that says where, and why."""


def check(dimacs: str, proof: str) -> int:
    """Check a proof and return how many clauses it adds. Raise ``BadProof``, or ``ValueError`` if the CNF is malformed.

    ``dimacs``: DIMACS CNF; ``proof``: DRAT as text, a clause a line, deletions with a leading ``d``.
    """
    clauses, variables = _cnf(dimacs)
    checker = _Checker(variables)
    for clause in clauses:
        checker.add(clause)
    steps = 0
    for number, (delete, clause) in enumerate(_steps(proof), 1):
        highest = max(map(abs, clause), default=0)
        if highest > variables:
            variables = highest
            checker.grow(variables)
        if delete:
            checker.delete(clause)
            continue
        if not checker.implied(clause) and not checker.blocked(clause):
            raise BadProof(
                f"line {number}: the clause {' '.join(map(str, clause)) or 'without literals'} does not follow"
            )
        steps += 1
        if not clause:
            return steps
        checker.add(clause)
    raise BadProof("the proof ends without the empty clause")


def following(dimacs: str, steps: Iterable[str]) -> tuple[list[str], bool]:
    """Return the clauses, a line each, that follow by unit propagation from those before, and whether the last of them
    is empty. Clauses that do not follow, and those after an empty one, are left out.
    """
    clauses, variables = _cnf(dimacs)
    checker = _Checker(variables)
    for clause in clauses:
        checker.add(clause)
    kept = []
    for number, line in enumerate(steps, 1):
        clause = _clause(line, f"line {number}")
        if checker.implied(clause):
            kept.append(line)
            checker.add(clause)
            if not clause:
                return kept, True
    return kept, False


def _cnf(text: str) -> tuple[list[list[int]], int]:
    lines = (line for line in text.splitlines() if line and line[0] != "c")
    words = next(lines, "").split()
    if words[:2] != ["p", "cnf"] or len(words) != 4:
        raise ValueError("CNF: expected a line 'p cnf VARIABLES CLAUSES'")
    variables, count = int(words[2]), int(words[3])
    clauses = [_clause(line, f"CNF, clause {i}") for i, line in enumerate(lines, 1)]
    if len(clauses) != count:
        raise ValueError(f"CNF: expected {count} clauses, got {len(clauses)}")
    if any(abs(literal) > variables for clause in clauses for literal in clause):
        raise ValueError(f"CNF: expected variables up to {variables}")
    return clauses, variables


def _clause(text: str, where: str) -> list[int]:
    try:
        *literals, end = map(int, text.split())
    except ValueError:
        raise BadProof(f"{where}: expected literals and 0, got {text!r}") from None
    if end != 0 or 0 in literals:
        raise BadProof(f"{where}: expected literals and 0, got {text!r}")
    return list(dict.fromkeys(literals))


def _steps(proof: str) -> Iterator[tuple[bool, list[int]]]:
    for number, line in enumerate(proof.splitlines(), 1):
        yield line.startswith("d"), _clause(line.removeprefix("d"), f"line {number}")


class _Checker:
    """Clauses and their consequences by unit propagation alone."""

    def __init__(self, variables: int) -> None:
        self.contradiction = False
        self._variables = 0
        self._value: list[int] = [0]
        """The values by variable, and by its negation from the end of the list: 1 true, -1 false, 0 unknown."""
        self._watching: dict[int, list[list[int]]] = {}
        self._trail: list[int] = []
        self._clauses: dict[tuple[int, ...], list[list[int]]] = {}
        self._units: set[int] = set()
        self.grow(variables)

    def grow(self, variables: int) -> None:
        """Add variables."""
        value = [0] * (2 * variables + 1)
        for literal in self._trail:
            value[literal], value[-literal] = 1, -1
        self._value = value
        for variable in range(self._variables + 1, variables + 1):
            self._watching[variable] = []
            self._watching[-variable] = []
        self._variables = variables

    def add(self, clause: list[int]) -> None:
        """Add a clause that may be used from now on."""
        value = self._value
        kept = list(clause)
        self._clauses.setdefault(tuple(sorted(kept)), []).append(kept)
        if any(-literal in kept for literal in kept):
            return
        # Watched are two literals that are not false, if there are two.
        kept.sort(key=lambda literal: value[literal] < 0)
        if len(kept) > 1:
            self._watching[kept[0]].append(kept)
            self._watching[kept[1]].append(kept)
        if not kept or value[kept[0]] < 0:
            self.contradiction = True
        elif (len(kept) == 1 or value[kept[1]] < 0) and value[kept[0]] == 0:
            self._assign(kept[0])
            self.contradiction |= not self._propagate(len(self._trail) - 1)

    def delete(self, clause: list[int]) -> None:
        """Delete a clause. A unit clause stays, as in every DRAT checker; deleting only ever weakens."""
        found = self._clauses.get(tuple(sorted(clause)))
        if not found or any(self._value[literal] > 0 for literal in clause):
            return
        gone = found.pop()
        for literal in gone[:2]:
            watching = self._watching[literal]
            watching[:] = [other for other in watching if other is not gone]

    def implied(self, clause: list[int]) -> bool:
        """Return whether unit propagation finds a contradiction when all its literals are false (RUP)."""
        if self.contradiction:
            return True
        mark = len(self._trail)
        try:
            return self._refutes(clause, mark)
        finally:
            self._undo(mark)

    def blocked(self, clause: list[int]) -> bool:
        """Return whether every resolvent on the first literal is implied (RAT)."""
        if not clause:
            return False
        pivot = clause[0]
        mark = len(self._trail)
        if self._refutes(clause, mark):
            self._undo(mark)
            return True
        try:
            middle = len(self._trail)
            for others in list(self._clauses.values()):
                for other in others:
                    if -pivot in other:
                        fine = self._refutes([literal for literal in other if literal != -pivot], middle)
                        self._undo(middle)
                        if not fine:
                            return False
            return True
        finally:
            self._undo(mark)

    def _refutes(self, clause: list[int], mark: int) -> bool:
        value = self._value
        for literal in clause:
            if value[literal] > 0:
                return True
            if value[literal] == 0:
                self._assign(-literal)
        return not self._propagate(mark)

    def _assign(self, literal: int) -> None:
        self._value[literal], self._value[-literal] = 1, -1
        self._trail.append(literal)

    def _undo(self, mark: int) -> None:
        value = self._value
        for literal in self._trail[mark:]:
            value[literal] = value[-literal] = 0
        del self._trail[mark:]

    def _propagate(self, head: int) -> bool:
        """Return whether there is no contradiction among the clauses, with the literals on the trail from ``head``
        on."""
        value, trail, watching = self._value, self._trail, self._watching
        while head < len(trail):
            false = -trail[head]
            head += 1
            clauses = watching[false]
            keep = 0
            for i, clause in enumerate(clauses):
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                first = clause[0]
                if value[first] <= 0:
                    for k in range(2, len(clause)):
                        literal = clause[k]
                        if value[literal] >= 0:
                            clause[1], clause[k] = literal, false
                            watching[literal].append(clause)
                            break
                    else:
                        if value[first] < 0:
                            clauses[keep:i] = []
                            return False
                        value[first], value[-first] = 1, -1
                        trail.append(first)
                        clauses[keep] = clause
                        keep += 1
                    continue
                clauses[keep] = clause
                keep += 1
            del clauses[keep:]
        return True
