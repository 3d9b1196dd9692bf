"""Proves or refutes claims about Alhambra's rules of building with Z3, and writes the certificates.

Each layout is asked about twice (``solver.building``); the two answers, the rules that are broken according to the
models, and what the solver-free checker reads out of the certificate have to be the same, or ``SolverFailed`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.game import Cell, Violation
from solver import building, certificate
from solver.claims import (
    Claim,
    Layout,
    Step,
    StepClaim,
    check_claim,
)
from solver.wire import message_of
from solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, SolverFailed


@dataclass(frozen=True, slots=True)
class SmtFile:
    """A question as SMT-LIB 2 text, and what every correct solver answers: "sat" or "unsat"."""

    name: str
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found out about a claim."""

    claim: Claim
    holds: bool | None
    """None: the budget ran out first."""
    violations: tuple[Violation, ...] = ()
    """Every rule that is broken."""
    core: tuple[str, ...] = ()
    """A minimal set of instances of one broken rule that contradict the claim: rule id and cell each."""
    certificate: bytes = b""
    """Empty if undecided."""
    smt_lib: tuple[SmtFile, ...] = ()


def prove(claim: Claim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Whether the claim holds, with every rule that it breaks, a minimal reason and a certificate.

    Raises ``ValueError``, one line, for a claim about what cannot be or from a layout that is illegal itself, and
    ``SolverFailed`` if Z3 gives no answer for a reason that is not the budget.
    """
    check_claim(claim)
    questions = _Questions(Budget(rlimit))
    try:
        proof = _prove(claim, questions)
    except OutOfBudget:
        proof = Proof(claim, None)
    if proof.holds is not None:
        checked = certificate.check(proof.certificate)
        if (checked.claim, checked.holds, checked.violations) != (claim, proof.holds, proof.violations):
            raise SolverFailed(f"Z3 finds {proof.violations}, its certificate proves {checked.violations}")
    return Proof(
        claim, proof.holds, proof.violations, proof.core, proof.certificate, tuple(questions.files) if smt_lib else ()
    )


def _prove(claim: Claim, questions: _Questions) -> Proof:
    match claim:
        case StepClaim(layout, step):
            check_legal("layout", layout)
            judged = _judge(questions, layout, step, "step")
            evidence = pb.Certificate(claim=message_of(claim), step=judged.evidence)
            return _proof(claim, judged.violations, judged.core, evidence)
        case _:
            raise NotImplementedError


def _proof(claim: Claim, violations: tuple[Violation, ...], core: tuple[str, ...], message: pb.Certificate) -> Proof:
    return Proof(claim, not violations, violations, core, message.SerializeToString(deterministic=True))


# One layout


@dataclass(frozen=True, slots=True)
class _Judged:
    layout: Layout
    violations: tuple[Violation, ...] = ()
    core: tuple[str, ...] = ()
    evidence: pb.LayoutEvidence = field(default_factory=pb.LayoutEvidence)


class _Questions:
    """Asks, and keeps what was asked."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.files: list[SmtFile] = []

    def core(self, name: str, text: str) -> tuple[str, ...]:
        """A minimal core of a question that has to be unsatisfiable."""
        answer = self.budget.ask(text, core=True)
        self.files.append(SmtFile(f"{name}.smt2", text, "unsat"))
        if answer.satisfiable:
            raise SolverFailed(f"Z3 contradicts itself: {name} is satisfiable")
        return answer.core

    def holds(self, name: str, text: str) -> bool:
        answer = self.budget.ask(text)
        self.files.append(SmtFile(f"{name}.smt2", text, "sat" if answer.satisfiable else "unsat"))
        return answer.satisfiable

    def marked(self, name: str, text: str) -> frozenset[str]:
        """The variables that are true in a model; empty if there is none."""
        answer = self.budget.ask(text, model=True)
        self.files.append(SmtFile(f"{name}.smt2", text, "sat" if answer.satisfiable else "unsat"))
        return answer.true


def _judge(questions: _Questions, layout: Layout, step: Step, name: str) -> _Judged:
    """One step: the rules of building, asked both ways."""
    if early := building.impossible(layout, step):
        return _Judged(layout, (early,), questions.core(f"{name}-obeys", building.forbidden(early)))
    after = building.after(layout, step)
    ground = building.Ground(building.walls_of(after))
    legal = questions.holds(f"{name}-obeys", building.obeys(ground))
    broken: frozenset[str] = frozenset()
    number = 1
    while more := questions.marked(f"{name}-breaks-{number}", building.breaks(ground, broken)):
        broken |= more
        number += 1
    if legal == bool(broken):
        raise SolverFailed(f"Z3 contradicts itself: legal {legal}, broken {sorted(broken)}")
    violations = building.violations(broken, step.at)
    core = ()
    if violations:
        core = questions.core(f"{name}-reason", building.obeys(ground, {violations[0].rule_id}))
    return _Judged(after, violations, core, _evidence(ground, broken))


def _evidence(ground: building.Ground, broken: frozenset[str]) -> pb.LayoutEvidence:
    """Numbers of steps for whatever Z3 says has a way.

    They are the least, not those of Z3's model: equal claims have equal certificates, whatever the model was.
    """
    cut, touch, shut, tight = (
        {each[7:] for each in broken if each.startswith(rule)} for rule in ("ALH-A4", "ALH-A3", "ALH-A6", "ALH-A5")
    )
    tiles = [cell for cell in ground.tiles if cell != building.FOUNTAIN]
    message = pb.LayoutEvidence(foot=_steps(tiles, ground.walkable), out=_steps(ground.inner, ground.empty_beside))
    if cut:
        message.touch.extend(_steps(tiles, ground.beside))
    if shut:
        message.corner.extend(_steps(ground.inner, ground.empty_around))
    return message


def _steps(cells: list[Cell], ways: Callable[[Cell], list[Cell]]) -> list[int]:
    """For each cell the least number of steps to one that is not among them; 0 if there is no way."""
    steps = dict.fromkeys(cells, 0)
    reached = [cell for cell in cells if any(on not in steps for on in ways(cell))]
    number = 1
    while reached:
        for cell in reached:
            steps[cell] = number
        number += 1
        reached = list(dict.fromkeys(on for cell in reached for on in ways(cell) if steps.get(on) == 0))
    return list(steps.values())


def check_legal(where: str, layout: Layout) -> None:
    """Raises ``ValueError``, one line, if the layout breaks a rule of building.

    No solver is asked: a claim takes the layout it starts from as legal, so this proves nothing.
    """
    ground = building.Ground(building.walls_of(layout))
    for (x, y), side, mine, theirs in ground.seams():
        if mine != theirs:
            raise ValueError(f"{where}: breaks ALH-A2 at ({x}, {y}), {side}; expected a legal layout")
    tiles = [cell for cell in ground.tiles if cell != building.FOUNTAIN]
    for rule, cells, ways in (
        ("ALH-A3", tiles, ground.beside),
        ("ALH-A4", tiles, ground.walkable),
        ("ALH-A5", ground.inner, ground.empty_around),
        ("ALH-A6", ground.inner, ground.empty_beside),
    ):
        for cell, number in zip(cells, _steps(cells, ways), strict=True):
            if not number:
                raise ValueError(f"{where}: breaks {rule} at {cell}; expected a legal layout")
