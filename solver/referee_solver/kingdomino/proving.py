"""Proves or refutes claims about Kingdomino's rules of placement with Z3, and writes the certificates.

Each placement is asked about twice (``placing``), and so is whether there is any; the two answers, the rules that are
broken according to the models, and what the solver-free checker finds have to agree, or ``SolverFailed`` is raised.
"""

from __future__ import annotations

from dataclasses import replace

from referee.games.game import Violation
from referee.games.kingdomino.dominoes import Domino
from referee.wire.certificates.kingdomino import certificate
from referee.wire.certificates.kingdomino.claims import (
    Claim,
    DiscardClaim,
    Kingdom,
    Placed,
    PlacementClaim,
    check_claim,
)
from referee_solver.kingdomino import placing
from referee_solver.proof import Proof, SmtFile
from referee_solver.z3run import DEFAULT_RLIMIT, Answer, Budget, OutOfBudget, SolverFailed


def prove(claim: Claim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Prove whether the claim holds, with every rule that it breaks, a minimal reason and a certificate.

    Raise ``InputError``, one line, for a claim about what cannot be or from a kingdom that is illegal itself, and
    ``SolverFailed`` if Z3 gives no answer for a reason that is not the budget.
    """
    check_claim(claim)
    certificate.check_legal(claim.kingdom)
    questions = _Questions(Budget(rlimit))
    try:
        proof = _placement(questions, claim) if isinstance(claim, PlacementClaim) else _discard(questions, claim)
    except OutOfBudget:
        proof = Proof(claim, None)
    else:
        data = certificate.evidence_of(claim).SerializeToString(deterministic=True)
        checked = certificate.check(data)
        if (checked.claim, checked.holds, checked.violations, checked.counterexample) != (
            claim,
            proof.holds,
            proof.violations,
            proof.counterexample,
        ):
            raise SolverFailed(
                f"Z3 finds {proof.violations or proof.counterexample}, "
                f"the certificate proves {checked.violations or checked.counterexample}"
            )
        proof = replace(proof, certificate=data)
    return replace(proof, smt_lib=tuple(questions.files)) if smt_lib else proof


def broken_rules(kingdom: Kingdom, placed: Placed, budget: Budget | None = None) -> tuple[Violation, ...]:
    """Return every rule that a placement in a legal kingdom breaks: half of a proof, without reason or certificate."""
    return _broken(_Questions(budget or Budget(DEFAULT_RLIMIT)), kingdom, placed)


class _Questions:
    """Asks, and keeps what was asked."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.files: list[SmtFile] = []

    def ask(self, name: str, text: str, *, model: bool = False, core: bool = False) -> Answer:
        answer = self._budget.ask(text, model=model, core=core)
        self.files.append(SmtFile(f"{name}.smt2", text, "sat" if answer.satisfiable else "unsat"))
        return answer


def _placement(questions: _Questions, claim: PlacementClaim) -> Proof:
    """Ask the rules of placement both ways."""
    kingdom, placed = claim.kingdom, claim.placed
    legal = questions.ask("obeys", placing.obeys(kingdom, placed)).satisfiable
    violations = _broken(questions, kingdom, placed)
    if legal == bool(violations):
        raise SolverFailed(f"Z3 contradicts itself: legal {legal}, broken {violations}")
    core: tuple[str, ...] = ()
    if violations:
        reason = questions.ask("reason", placing.obeys(kingdom, placed, {violations[0].rule_id}), core=True)
        if reason.satisfiable:
            raise SolverFailed(f"Z3 contradicts itself: {violations[0].rule_id} is broken and is not")
        core = reason.core
    return Proof(claim, not violations, violations, core)


def _discard(questions: _Questions, claim: DiscardClaim) -> Proof:
    """Ask both ways whether there is any placement; find the first one by looking for one before it."""
    kingdom, domino = claim.kingdom, claim.domino
    first = found = _somewhere(questions, kingdom, domino, None)
    if questions.ask("unbroken", placing.unbroken(kingdom, domino)).satisfiable is (found is None):
        raise SolverFailed(f"Z3 contradicts itself: a placement {found}, by the other statement the opposite")
    while found is not None:
        first, found = found, _somewhere(questions, kingdom, domino, found)
    return Proof(claim, first is None, certificate.could_be_placed(first), counterexample=first)


def _somewhere(questions: _Questions, kingdom: Kingdom, domino: Domino, before: Placed | None) -> Placed | None:
    name = f"somewhere-{len(questions.files)}"
    answer = questions.ask(name, placing.somewhere(kingdom, domino, before), model=True)
    return Placed(domino, *placing.cells_of(answer.true)) if answer.satisfiable else None


def _broken(questions: _Questions, kingdom: Kingdom, placed: Placed) -> tuple[Violation, ...]:
    """Return every rule that is broken, from the model of the question whether one is."""
    answer = questions.ask("breaks", placing.breaks(kingdom, placed), model=True)
    return placing.violations([name for name in answer.true if name.startswith("KDO-")], placed)
