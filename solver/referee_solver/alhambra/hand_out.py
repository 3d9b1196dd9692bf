"""The hand-out at the end (ALH-F9) as questions for a solver, stated from the rule texts.

A tile that is left in the market goes to the seat that holds the most money of its slot's currency; on a tie, or if
nobody holds any, it goes to nobody. Money is not spent, so a seat may win several. The neutral player is no seat. Two
questions, in SMT-LIB 2:

- ``obeys`` is satisfiable exactly if the claimed allocation obeys the rule. One named assertion for each slot and seat.
- ``another`` is satisfiable exactly if an allocation that differs from the claimed one obeys the rule.

A claim holds if the first is satisfiable and the second is not: then it is the only allocation that the rule allows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.money import CURRENCIES
from referee.games.game import Violation
from referee.wire.certificates.alhambra import certificate
from referee.wire.certificates.alhambra.claims import HandOutClaim, Slot, check_claim
from referee.wire.certificates.alhambra.wire import message_of
from referee_solver.proof import Proof, SmtFile
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, SolverFailed


def prove(claim: HandOutClaim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Prove whether the claimed allocation is the only one that ALH-F9 allows, and where it is wrong.

    Raise ``InputError``, one line, for seats, cards and slots that no game has.
    """
    check_claim(claim)
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
    message = pb.Certificate(claim=message_of(claim), hand_out=pb.HandOutEvidence())
    data = message.SerializeToString(deterministic=True)
    if (checked := certificate.check(data)).violations != found:
        raise SolverFailed(f"Z3 finds {found}, its certificate proves {checked.violations}")
    files = (
        SmtFile("hand-out-obeys.smt2", first, "sat" if allowed.satisfiable else "unsat"),
        SmtFile("hand-out-another.smt2", second, "sat" if other.satisfiable else "unsat"),
    )
    return Proof(claim, not found, found, core, data, files if smt_lib else ())


def sums(claim: HandOutClaim, slot: Slot) -> list[int]:
    """Return, by seat, the money of the slot's currency in hand."""
    return [sum(value for currency, value in hand if currency == slot.currency) for hand in claim.hands]


def obeys(claim: HandOutClaim) -> str:
    """State the question whether the claimed allocation obeys the rule."""
    out = ["(set-option :produce-unsat-cores true)", *_rules(claim)]
    out += [f"(assert {_gets(slot, seat, slot.seat == seat)})" for slot, seat in _each(claim)]
    return "\n".join([*out, "(check-sat)", ""])


def another(claim: HandOutClaim) -> str:
    """Ask whether an allocation obeys the rule and differs from the claimed one for some seat and slot."""
    differs = [_gets(slot, seat, slot.seat != seat) for slot, seat in _each(claim)]
    out = [*_rules(claim), "(declare-const differs Bool)", f"(assert (= differs (or false {' '.join(differs)})))"]
    return "\n".join([*out, "(assert differs)", "(check-sat)", ""])


def violations(claim: HandOutClaim, gets: Collection[str]) -> tuple[Violation, ...]:
    """Return where the claim differs from an allocation that obeys the rule; ``gets``: its variables that are true."""
    found = []
    for slot in claim.slots:
        seat = next((seat for seat in range(len(claim.hands)) if _name(slot, seat) in gets), None)
        if seat != slot.seat:
            claimed, expected = (("nobody" if each is None else each) for each in (slot.seat, seat))
            money = " ".join(map(str, sums(claim, slot)))
            facts = {"tile": slot.tile, "seat": claimed, "expected": expected, "money": money}
            found.append(Violation("ALH-F9", facts=facts))
    return tuple(found)


def _rules(claim: HandOutClaim) -> Iterable[str]:
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


def _money(slot: Slot, seat: int) -> str:
    return f"|money {CURRENCIES[slot.currency]} {seat}|"


def _each(claim: HandOutClaim) -> Iterable[tuple[Slot, int]]:
    return ((slot, seat) for slot in claim.slots for seat in range(len(claim.hands)))


def _gets(slot: Slot, seat: int, is_so: bool = True) -> str:
    """State that the seat gets the slot's tile, or that it does not."""
    return f"|{_name(slot, seat)}|" if is_so else f"(not |{_name(slot, seat)}|)"


def _name(slot: Slot, seat: int) -> str:
    return f"gets {CURRENCIES[slot.currency]} {seat}"
