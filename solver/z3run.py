"""Z3 on SMT-LIB text, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import monotonic

import z3

DEFAULT_RLIMIT = 50_000_000
"""Z3's unit of work. The rules of one layout take some ten thousand."""

MAX_MEMORY_MB = 1024
LONGEST_S = 1e6
"""More than that is for ever."""


class OutOfBudget(Exception):
    """The budget ran out before Z3 had an answer."""


class SolverFailed(RuntimeError):
    """Z3 gave up for a reason that is not the budget, or contradicts itself: one line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Z3 says to one question."""

    satisfiable: bool
    true: frozenset[str] = frozenset()
    """Names of the Boolean variables that are true, if it is satisfiable."""
    core: tuple[str, ...] = ()
    """Names of a minimal set of assertions that contradict each other, if it is not."""


_until = ContextVar("until", default=inf)


@contextmanager
def fused(seconds: float) -> Iterator[None]:
    """Meanwhile no budget lasts longer than so many seconds: somebody waits, and not for ever.

    A fuse, because what is done until then depends on the machine.
    """
    token = _until.set(monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def seconds_left() -> float:
    """Until the fuse blows; 0 or less afterwards."""
    return _until.get() - monotonic()


class Budget:
    """Work that may be done, for several questions together.

    They have a context of Z3 for themselves: what was asked before in this process changes nothing, so that the same
    questions take exactly the same work.
    """

    def __init__(self, rlimit: int) -> None:
        self.left = rlimit
        self._context: z3.Context | None = None

    def ask(self, text: str, *, model: bool = False, core: bool = False) -> Answer:
        """Z3's answer to SMT-LIB text. Raises ``OutOfBudget`` and ``SolverFailed``."""
        seconds = seconds_left()
        if self.left <= 0 or seconds <= 0:
            raise OutOfBudget
        self._context = self._context or z3.Context()
        solver = z3.SimpleSolver(ctx=self._context)
        solver.set(rlimit=min(self.left, 2**32 - 1), max_memory=MAX_MEMORY_MB, random_seed=0)
        if seconds < LONGEST_S:
            solver.set(timeout=int(1000 * seconds) + 1)
        if core:
            solver.set("core.minimize", True)
        if model:
            solver.set("phase_selection", 1)  # true first: what is broken is found at once, not bit by bit
        try:
            solver.from_string(text)
            before = _count(solver)
            result = solver.check()
            self.left -= _count(solver) - before
        except z3.Z3Exception as error:
            raise SolverFailed(f"Z3 failed: {_first_line(error)}") from None
        if result == z3.unknown:
            if (reason := solver.reason_unknown()) in _BUDGET:
                self.left = 0
                raise OutOfBudget
            raise SolverFailed(f"Z3 gave no answer: {reason}")
        if result == z3.unsat:
            names = sorted(str(name) for name in solver.unsat_core()) if core else ()
            return Answer(False, core=tuple(names))
        return Answer(True, true=_true(solver.model()) if model else frozenset())


_BUDGET = ("canceled", "timeout", "max. resource limit exceeded")


def _count(solver: z3.SimpleSolver) -> int:
    return int(solver.statistics().get_key_value("rlimit count"))


def _true(model: z3.ModelRef) -> frozenset[str]:
    """Names of the constants that are true. By the C interface: terms in Python take ten times as long."""
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
