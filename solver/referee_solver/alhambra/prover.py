"""Z3 proves or refutes claims about Alhambra's rules of building and its hand-out, and this writes the certificates.

The rules that a layout breaks are counted out for the certificate (``building``). Z3 refutes that it breaks anything
else, and is asked whether the rules can be obeyed (``building``); both answers and the solver-free checker's reading of
the certificate have to agree, or ``SolverFailed`` is raised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.money import CURRENCIES
from referee.games.game import Violation
from referee.wire.certificates.alhambra import certificate, claims
from referee.wire.certificates.alhambra.certificate import left_over, out_of_turn
from referee_solver.alhambra import building, distance
from referee_solver.alhambra.building import Steps, broken, check_legal, message_of_steps, serialized, steps_of
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, Proof, SmtFile, SolverFailed

# The hand-out at the end (ALH-F9) as questions for a solver, stated from the rule texts.
#
# A tile that is left in the market goes to the seat that holds the most money of its slot's currency; on a tie, or if
# no seat holds any, it goes to none. Money is not spent, so a seat may win several. The neutral player is no seat. Two
# questions, in SMT-LIB 2:
#
# - ``obeys`` is satisfiable exactly if the claimed allocation obeys the rule. One named assertion for each slot and
#   seat.
# - ``another`` is satisfiable exactly if an allocation that differs from the claimed one obeys the rule.
#
# A claim holds if the first is satisfiable and the second is not: then it is the only allocation that the rule allows.


def prove(claim: claims.Claim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Prove whether the claim holds, with every rule that it breaks, a minimal reason and a certificate.

    Raise ``InputError``, one line, for a claim about what cannot be or from a layout that is illegal itself, and
    ``SolverFailed`` if Z3 gives no answer for a reason that is not the budget.
    """
    claims.check_claim(claim)
    match claim:
        case claims.DistanceClaim():
            return distance.prove(claim, rlimit)
        case claims.HandOutClaim():
            return prove_hand_out(claim, rlimit=rlimit, smt_lib=smt_lib)
    questions = _Questions(Budget(rlimit))
    try:
        proof = _prove(claim, questions)
    except OutOfBudget:
        proof = Proof(claim, None)
    if proof.holds is not None:
        checked = certificate.check(proof.certificate)
        if (checked.claim, checked.holds, checked.violations, checked.counterexample) != (
            claim,
            proof.holds,
            proof.violations,
            proof.counterexample,
        ):
            raise SolverFailed(f"Z3 finds {proof.violations}, its certificate proves {checked.violations}")
    return replace(proof, smt_lib=tuple(questions.files)) if smt_lib else proof


def _prove(claim: claims.StepClaim | claims.TurnClaim | claims.NoPlacementClaim, questions: _Questions) -> Proof:
    check_legal("layout", claim.layout)
    message = pb.Certificate(claim=claims.message_of(claim))
    violations: tuple[Violation, ...] = ()
    core: tuple[str, ...] = ()
    counterexample = None
    match claim:
        case claims.StepClaim(layout, step):
            judged = _judge(questions, layout, step, "step")
            message.step.CopyFrom(judged.evidence)
            violations, core = judged.violations, judged.core
        case claims.TurnClaim():
            violations, core = _turn(questions, claim, message.turn)
            message.turn.SetInParent()
        case claims.NoPlacementClaim():
            counterexample = _no_placement(questions, claim, message.no_placement)
            message.no_placement.SetInParent()
    holds = not violations and counterexample is None
    return Proof(claim, holds, violations, core, serialized(message), counterexample=counterexample)


# One layout


@dataclass(frozen=True, slots=True)
class _Judged:
    layout: claims.Layout
    violations: tuple[Violation, ...] = ()
    core: tuple[str, ...] = ()
    evidence: pb.LayoutEvidence = field(default_factory=pb.LayoutEvidence)


class _Questions:
    """Asks, and keeps what was asked."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.files: list[SmtFile] = []

    def core(self, name: str, text: str) -> tuple[str, ...]:
        """Return a minimal core of a question that has to be unsatisfiable."""
        answer = self.budget.ask(text, core=True)
        self.files.append(SmtFile(f"{name}.smt2", text, "unsat"))
        if answer.satisfiable:
            raise SolverFailed(f"Z3 contradicts itself: {name} is satisfiable")
        return answer.core

    def holds(self, name: str, text: str) -> bool:
        answer = self.budget.ask(text)
        self.files.append(SmtFile(f"{name}.smt2", text, "sat" if answer.satisfiable else "unsat"))
        return answer.satisfiable


def _judge(questions: _Questions, layout: claims.Layout, step: claims.Step, name: str) -> _Judged:
    """Judge one step: ask the rules of building both ways."""
    if early := building.impossible(layout, step):
        return _Judged(layout, (early,), questions.core(f"{name}-obeys", building.forbidden(early)))
    after = building.after(layout, step)
    ground = building.Ground(building.walls_of(after))
    steps = steps_of(ground)
    violations = _broken(questions, ground, steps, step, name)
    core: tuple[str, ...] = ()
    if violations:
        # If one rule cannot be obeyed, all cannot.
        core = questions.core(f"{name}-reason", building.obeys(ground, {violations[0].rule_id}))
    elif not questions.holds(f"{name}-obeys", building.obeys(ground)):
        raise SolverFailed("Z3 contradicts itself: the layout neither obeys every rule nor breaks one")
    return _Judged(after, violations, core, message_of_steps(steps))


# Several


def _turn(
    questions: _Questions, claim: claims.TurnClaim, evidence: pb.TurnEvidence
) -> tuple[tuple[Violation, ...], tuple[str, ...]]:
    """Judge a turn, move by move, up to the first that breaks a rule; return the violations and one core."""
    layout, hand = claim.layout, set(claim.bought)
    for number, move in enumerate(claim.moves, 1):
        found = out_of_turn(number == 1, move, claim, hand)
        core: tuple[str, ...] = ()
        if found:
            core = questions.core(f"move-{number}-obeys", building.forbidden(found[0]))
        elif isinstance(move, claims.Add | claims.Remove | claims.Swap | claims.Place):
            step = claims.Place(move.tile, move.at) if isinstance(move, claims.Add) else move
            judged = _judge(questions, layout, step, f"move-{number}")
            evidence.steps.append(judged.evidence)
            layout, found, core = judged.layout, judged.violations, judged.core
        if found:
            return tuple(Violation(v.rule_id, v.cells, {**v.facts, "move": number}) for v in found), core
        if not isinstance(move, claims.Add | claims.Remove | claims.Swap):
            hand.discard(move.tile)
    if left := left_over(claim, hand):
        return left, questions.core("end-obeys", building.forbidden(left[0]))
    return (), ()


def _no_placement(
    questions: _Questions, claim: claims.NoPlacementClaim, evidence: pb.NoPlacementEvidence
) -> claims.Place | None:
    """Return the first placement that is legal; None if there is none."""
    somewhere = questions.holds("somewhere", building.somewhere(claim.layout, claim.tile))
    first = None
    for cell in certificate.candidates(claim):
        step = claims.Place(claim.tile, cell)
        judged = _judge(questions, claim.layout, step, f"at-{cell[0]}-{cell[1]}")
        evidence.cells.append(judged.evidence)
        if not judged.violations:
            first = step
            break
    if somewhere is not (first is not None):
        raise SolverFailed(f"Z3 contradicts itself: a cell for the tile {somewhere}, found {first}")
    return first


def _broken(
    questions: _Questions, ground: building.Ground, steps: Steps, step: claims.Step, name: str
) -> tuple[Violation, ...]:
    """Return every rule that the layout breaks: Z3 refutes that it breaks more, or less."""
    found = broken(ground, steps)
    if questions.holds(f"{name}-breaks", building.breaks(ground, found)):
        raise SolverFailed(f"Z3 contradicts the numbers of steps: not just {', '.join(found) or 'nothing'} is broken")
    return building.violations(found, step.at)


def prove_hand_out(claim: claims.HandOutClaim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Prove whether the claimed allocation is the only one that ALH-F9 allows, and where it is wrong.

    Raise ``InputError``, one line, for seats, cards and slots that no game has.
    """
    claims.check_claim(claim)
    budget, first, second = Budget(rlimit), obeys(claim), another(claim)
    try:
        allowed = budget.ask(first)
        other = budget.ask(second, model=True)
        if allowed.satisfiable == other.satisfiable:
            raise SolverFailed(f"Z3 contradicts itself: the allocation {allowed}, another {other}")
        core = () if allowed.satisfiable else budget.ask(first, core=True).core
    except OutOfBudget:
        return Proof(claim, None)
    found = violations(claim, other.true) if other.satisfiable else ()
    message = pb.Certificate(claim=claims.message_of(claim), hand_out=pb.HandOutEvidence())
    data = message.SerializeToString(deterministic=True)
    if (checked := certificate.check(data)).violations != found:
        raise SolverFailed(f"Z3 finds {found}, its certificate proves {checked.violations}")
    files = (
        SmtFile("hand-out-obeys.smt2", first, "sat" if allowed.satisfiable else "unsat"),
        SmtFile("hand-out-another.smt2", second, "sat" if other.satisfiable else "unsat"),
    )
    return Proof(claim, not found, found, core, data, files if smt_lib else ())


def sums(claim: claims.HandOutClaim, slot: claims.Slot) -> list[int]:
    """Return, by seat, the money of the slot's currency in hand."""
    return [sum(value for currency, value in hand if currency == slot.currency) for hand in claim.hands]


def obeys(claim: claims.HandOutClaim) -> str:
    """State the question whether the claimed allocation obeys the rule."""
    out = ["(set-option :produce-unsat-cores true)", *_rules(claim)]
    out += [f"(assert {_gets(slot, seat, slot.seat == seat)})" for slot, seat in _each(claim)]
    return "\n".join([*out, "(check-sat)", ""])


def another(claim: claims.HandOutClaim) -> str:
    """Ask whether an allocation obeys the rule and differs from the claimed one for some seat and slot."""
    differs = [_gets(slot, seat, slot.seat != seat) for slot, seat in _each(claim)]
    out = [*_rules(claim), "(declare-const differs Bool)", f"(assert (= differs (or false {' '.join(differs)})))"]
    return "\n".join([*out, "(assert differs)", "(check-sat)", ""])


def violations(claim: claims.HandOutClaim, gets: Collection[str]) -> tuple[Violation, ...]:
    """Return where the claim differs from an allocation that obeys the rule; ``gets``: its variables that are true."""
    found = []
    for slot in claim.slots:
        seat = next((seat for seat in range(len(claim.hands)) if _name(slot, seat) in gets), None)
        if seat != slot.seat:
            claimed, expected = (("no seat" if each is None else each) for each in (slot.seat, seat))
            money = " ".join(map(str, sums(claim, slot)))
            facts = {"tile": slot.tile, "seat": claimed, "expected": expected, "money": money}
            found.append(Violation("ALH-F9", facts=facts))
    return tuple(found)


def _rules(claim: claims.HandOutClaim) -> Iterable[str]:
    """Yield what an allocation has to obey: a seat gets the tile exactly if it alone holds the most, and holds any."""
    yield "(set-logic QF_LIA)"
    for slot in claim.slots:
        for seat, hand in enumerate(claim.hands):
            cards = " ".join(str(value) for currency, value in hand if currency == slot.currency)
            yield f"(declare-const {_money(slot, seat)} Int)"
            yield f"(assert (= {_money(slot, seat)} (+ 0 0 {cards})))"
    for slot, seat in _each(claim):
        others = [
            f"(> {_money(slot, seat)} {_money(slot, other)})" for other in range(len(claim.hands)) if other != seat
        ]
        most = f"(and (> {_money(slot, seat)} 0) {' '.join(others)})"
        yield f"(declare-const {_gets(slot, seat)} Bool)"
        yield f"(assert (! (= {_gets(slot, seat)} {most}) :named |ALH-F9 {CURRENCIES[slot.currency]} seat {seat}|))"


def _money(slot: claims.Slot, seat: int) -> str:
    return f"|money {CURRENCIES[slot.currency]} {seat}|"


def _each(claim: claims.HandOutClaim) -> Iterable[tuple[claims.Slot, int]]:
    return ((slot, seat) for slot in claim.slots for seat in range(len(claim.hands)))


def _gets(slot: claims.Slot, seat: int, is_so: bool = True) -> str:
    """State that the seat gets the slot's tile, or that it does not."""
    return f"|{_name(slot, seat)}|" if is_so else f"(not |{_name(slot, seat)}|)"


def _name(slot: claims.Slot, seat: int) -> str:
    return f"gets {CURRENCIES[slot.currency]} {seat}"
