"""Z3 on growing clauses: an answer, a budget that ran out, or a failure that says so."""

from __future__ import annotations

from itertools import product

import pytest

from referee_solver.cnf import Clauses
from referee_solver.z3run import Budget, OutOfBudget, Sat, SolverFailed
from tests.sizes import Part, in_parts


def pigeons(count: int) -> Clauses:
    """One hole too few."""
    clauses = Clauses()
    sits = {(each, hole): clauses.new() for each in range(count) for hole in range(count - 1)}
    for each in range(count):
        clauses.add(*(sits[each, hole] for hole in range(count - 1)))
    for hole in range(count - 1):
        clauses.at_most_one([sits[each, hole] for each in range(count)])
    return clauses


def test_a_slice_is_not_the_budget() -> None:
    sat, budget = Sat(pigeons(9)), Budget(10**8)
    assert sat.step(budget, 1000) is None
    assert not sat.refuted
    assert 0 < 10**8 - budget.left < 10**7
    assert sat.solve(budget) is None
    assert sat.refuted


def test_an_exhausted_budget_is_one() -> None:
    sat, budget = Sat(pigeons(12)), Budget(10_000)
    with pytest.raises(OutOfBudget):
        sat.solve(budget)
    assert budget.spent
    with pytest.raises(OutOfBudget):
        sat.step(budget)


def test_no_time_is_no_budget() -> None:
    with pytest.raises(OutOfBudget):
        Sat(pigeons(4)).step(Budget(None, seconds=0))


def test_a_solver_that_fails_is_no_exhausted_budget() -> None:
    budget = Budget(10**8)
    with pytest.raises(SolverFailed, match="memory"):
        Sat(pigeons(12), memory_mb=1).step(budget, 10**7)
    assert not budget.spent


def test_clauses_may_be_added_between_answers() -> None:
    clauses = Clauses()
    one, other = clauses.new(), clauses.new()
    clauses.add(one, other)
    sat = Sat(clauses)
    seen = set()
    while (model := sat.solve(Budget(10**6))) is not None:
        seen.add((one in model, other in model))
        clauses.add(-one if one in model else one, -other if other in model else other)
    assert seen == {(True, True), (True, False), (False, True)}


@in_parts(3)
@pytest.mark.parametrize(("up", "down"), [(True, True), (True, False), (False, True)])
def test_counting(up: bool, down: bool, part: Part) -> None:
    """For each number of true literals: what the counter's literals may be."""
    for values in part.of(product((False, True), repeat=4)):
        clauses = Clauses()
        literals = [clauses.new() for _ in values]
        row = clauses.count(literals, 5, up=up, down=down)
        for literal, value in zip(literals, values, strict=True):
            clauses.add(literal if value else -literal)
        for number in range(1, 6):
            true, false = (possible(clauses, literal) for literal in (row[number], -row[number]))
            assert true or false
            if sum(values) >= number:
                assert not (up and false)
            else:
                assert not (down and true)


def possible(clauses: Clauses, literal: int) -> bool:
    more = Clauses()
    more.variables = clauses.variables
    more._lines = [*clauses._lines]
    more.add(literal)
    return Sat(more).solve(Budget(10**6)) is not None
