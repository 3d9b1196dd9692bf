"""CP-SAT or clingo on a file of clauses: prints what it says and the seconds of processor time that it took.

A program of its own, run with the Python of .venv/compare; it knows nothing of ours.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

Clauses = list[list[int]]


def read(path: str) -> Clauses:
    """Return the clauses of a DIMACS file that has one a line."""
    lines = Path(path).read_text(encoding="ascii").splitlines()
    return [[int(word) for word in line.split()[:-1]] for line in lines if line[0] not in "pc"]


def cp_sat(clauses: Clauses, seconds: float) -> str:
    """OR-Tools, one worker."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = [model.new_bool_var("") for _ in range(max(abs(literal) for clause in clauses for literal in clause))]
    for clause in clauses:
        model.add_bool_or([variables[lit - 1] if lit > 0 else variables[-lit - 1].negated() for lit in clause])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    found = {cp_model.OPTIMAL: "sat", cp_model.FEASIBLE: "sat", cp_model.INFEASIBLE: "unsat"}
    return found.get(solver.solve(model), "unknown")


def clingo(clauses: Clauses, seconds: float) -> str:
    """clasp, one thread: a choice for each variable, a constraint for each clause."""
    from clingo import Control

    control = Control(["--warn=none"])
    with control.backend() as backend:
        atoms = {
            variable: backend.add_atom()
            for variable in sorted({abs(literal) for clause in clauses for literal in clause})
        }
        backend.add_rule(list(atoms.values()), [], choice=True)
        for clause in clauses:
            backend.add_rule([], [-atoms[lit] if lit > 0 else atoms[-lit] for lit in clause])
    with control.solve(async_=True) as answer:
        if not answer.wait(seconds):
            answer.cancel()
            return "unknown"
        return "sat" if answer.get().satisfiable else "unsat"


def main(name: str, path: str, seconds: str) -> None:
    """Reading is not counted."""
    clauses = read(path)
    start = process_time()
    print({"cp-sat": cp_sat, "clingo": clingo}[name](clauses, float(seconds)), process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
