"""Z3 on SMT-LIB text and on clauses, within a budget, and the values in which it answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

import z3

from referee.games.game import Violation
from referee_solver.cnf import Clauses

DEFAULT_RLIMIT = 50_000_000
"""Z3's unit of work. The rules of one layout take some ten thousand."""

MAX_MEMORY_MB = 1024
LONGEST_S = 1e6
"""More than that is for ever."""
UNLIMITED = 2**62
"""More of Z3's unit than is ever used."""
LITERAL = 30
"""Budget spent on stating a literal: about as long as Z3 takes for this much of its own work."""


class OutOfBudget(Exception):
    """The budget ran out before Z3 had an answer."""


class SolverFailed(RuntimeError):
    """Z3 gave up for a reason that is not the budget, or contradicts itself: one line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Z3's answer to one question."""

    satisfiable: bool
    true: frozenset[str] = frozenset()
    """Names of the Boolean variables that are true, if it is satisfiable."""
    core: tuple[str, ...] = ()
    """Names of a minimal set of assertions that contradict each other, if it is not."""


_until = ContextVar("until", default=inf)


@contextmanager
def fused(seconds: float) -> Iterator[None]:
    """Let no budget last longer than ``seconds`` inside the block: a caller waits, and not for ever.

    A fuse, because the work done until then depends on the machine.
    """
    token = _until.set(monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def seconds_left() -> float:
    """Return the time until the fuse blows; 0 or less afterwards."""
    return _until.get() - monotonic()


class Budget:
    """Work that may be done, in Z3's unit, for several questions together; and the time for it.

    They have a context of Z3 for themselves: earlier questions in this process change nothing, so that the same
    questions take exactly the same work.
    """

    def __init__(self, rlimit: int | None, seconds: float | None = None) -> None:
        """``rlimit``: None is no limit. ``seconds``, from now on, is one more fuse."""
        self.left = UNLIMITED if rlimit is None else rlimit
        self._until = inf if seconds is None else monotonic() + seconds
        self._context: z3.Context | None = None

    @property
    def spent(self) -> bool:
        """True if no work or no time is left."""
        return self.left <= 0 or self.seconds_left() <= 0

    def seconds_left(self) -> float:
        """Return the time until the first fuse blows."""
        return min(self._until - monotonic(), seconds_left())

    def state(self, literals: int) -> None:
        """Pay for stating a question of this many literals, which is work, too. Raise ``OutOfBudget``."""
        self.left -= LITERAL * literals
        if self.left <= 0:
            raise OutOfBudget

    def check(self, solver: z3.Solver, text: str, at_most: int = UNLIMITED) -> z3.CheckSatResult:
        """Give the solver the text and ask it, for at most ``at_most`` of the work.

        ``z3.unknown`` only if that was not enough. Raise ``OutOfBudget`` before it asks, and ``SolverFailed``.
        """
        if self.spent:
            raise OutOfBudget
        limit = min(self.left, at_most)
        solver.set(rlimit=max(1, min(limit, _MOST_RLIMIT)))
        if (seconds := self.seconds_left()) < LONGEST_S:
            solver.set(timeout=max(1, int(1000 * seconds) + 1))
        try:
            solver.from_string(text)
            before = _count(solver)
            result = solver.check()
            done = _count(solver) - before
        except z3.Z3Exception as error:
            raise SolverFailed(f"Z3 failed: {_first_line(error)}") from None
        self.left -= done
        # The reason for a limit depends on where the limit was met.
        if (
            result == z3.unknown
            and (reason := solver.reason_unknown()) not in _LIMITS
            and done < limit
            and not self.spent
        ):
            raise SolverFailed(f"Z3 gave no answer: {reason}")
        return result

    def ask(self, text: str, *, model: bool = False, core: bool = False) -> Answer:
        """Return Z3's answer to SMT-LIB text. Raise ``OutOfBudget`` and ``SolverFailed``."""
        self._context = self._context or z3.Context()
        solver = z3.SimpleSolver(ctx=self._context)
        solver.set(max_memory=MAX_MEMORY_MB, random_seed=0)
        if core:
            solver.set("core.minimize", True)
        if model:
            solver.set("phase_selection", 1)  # true first: a broken rule is found at once, not bit by bit
        result = self.check(solver, text)
        if result == z3.unknown:
            self.left = 0
            raise OutOfBudget
        if result == z3.unsat:
            names = sorted(str(name) for name in solver.unsat_core()) if core else ()
            return Answer(False, core=tuple(names))
        return Answer(True, true=_true(solver.model()) if model else frozenset())


_LIMITS = ("canceled", "sat.canceled", "timeout", "max. resource limit exceeded")
_MOST_RLIMIT = 2**32 - 1


def _count(solver: z3.Solver) -> int:
    """0 before there was anything to count. By the C interface and from the end: asked twice for every question."""
    statistics = solver.statistics()
    context, found = statistics.ctx.ref(), statistics.stats
    for i in reversed(range(z3.Z3_stats_size(context, found))):
        if z3.Z3_stats_get_key(context, found, i) == "rlimit count":
            return int(z3.Z3_stats_get_uint_value(context, found, i))
    return 0


def _true(model: z3.ModelRef) -> frozenset[str]:
    """Name of the constants that are true. By the C interface: terms in Python take ten times as long."""
    context = model.ctx.ref()
    names = []
    for i in range(z3.Z3_model_get_num_consts(context, model.model)):
        constant = z3.Z3_model_get_const_decl(context, model.model, i)
        value = z3.Z3_model_get_const_interp(context, model.model, constant)
        if z3.Z3_get_bool_value(context, value) == z3.Z3_L_TRUE:
            names.append(z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, constant)))
    return frozenset(names)


def _first_line(error: z3.Z3Exception) -> str:
    text = error.value.decode() if isinstance(error.value, bytes) else str(error.value)
    return text.strip().splitlines()[0]


@dataclass(frozen=True, slots=True)
class SmtFile:
    """A question as SMT-LIB 2 text, and the answer of every correct solver: "sat" or "unsat"."""

    name: str
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The result for a claim."""

    claim: Any
    """One of the game's ``claims``."""
    holds: bool | None
    """None: the budget ran out first."""
    violations: tuple[Violation, ...] = ()
    """Every rule that is broken."""
    core: tuple[str, ...] = ()
    """A minimal set of instances of one broken rule that contradict the claim: rule id and cell each."""
    certificate: bytes = b""
    """Empty if undecided."""
    smt_lib: tuple[SmtFile, ...] = ()
    counterexample: Any = None
    """The first placement that is legal, if it was claimed that there is none."""


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
