"""Whether an act about entrants may be entered: entries, check-in, the draw, who leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.games.game import Violation
from referee.tournament.rules import acts
from referee.tournament.rules.checks import broken, named
from referee.tournament.rules.phases import Phase
from referee.tournament.rules.position import Position, commitment, share_commitment
from referee.tournament.rules.terms import MAX_ENTRANTS


def register(position: Position, act: acts.RegisterAct) -> Iterator[Violation]:
    """EVT-R1 to EVT-R7, EVT-S13."""
    match act:
        case acts.Enter():
            yield from _enter(position, act)
        case acts.CheckIn():
            yield from _check_in(position, act)
        case acts.Forbid(first, second):
            yield from named(position, first, second)
            if first == second:
                yield broken("EVT-R1", "an entrant meets nobody alone", entrant=first)
            if position.rounds:
                yield broken("EVT-P5", "a pair is forbidden after round 1 was paired", first=first, second=second)
        case acts.CloseEntries():
            yield from _in_phase(position, Phase.ENTERING, "entries are closed already")
        case acts.Share():
            yield from _share(position, act)
        case acts.Draw(seed):
            yield from _in_phase(position, Phase.OPENING, "the draw comes once, after entries are closed")
            if commitment(seed) != position.terms.commitment:
                yield broken("EVT-S13", "the seed is not the one that the terms commit to")
        case acts.Withdraw(number):
            yield from named(position, number)
            if (known := position.entrants.get(number)) is not None and known.has_withdrawn:
                yield broken("EVT-R5", "the entrant has withdrawn already", entrant=number)
        case acts.Readmit(number):
            yield from named(position, number)
            if (known := position.entrants.get(number)) is not None and not known.has_withdrawn:
                yield broken("EVT-R5", "the entrant has not withdrawn", entrant=number)
        case acts.Absent(number, round_):
            yield from named(position, number)
            if not position.next_round <= round_ <= position.terms.rounds:
                yield broken("EVT-R7", "absence is told before the round is paired", entrant=number, round=round_)
        case acts.Expel(number):
            yield from named(position, number)


def _in_phase(position: Position, phase: Phase, what: str) -> Iterator[Violation]:
    if position.phase is not phase:
        yield broken("EVT-E1", what)


def _enter(position: Position, act: acts.Enter) -> Iterator[Violation]:
    """EVT-R1, EVT-R2, EVT-R3."""
    number, entrants = act.number, position.entrants.values()
    if not 1 <= number <= 0xFFFF or number in position.entrants:
        yield broken("EVT-R1", "the number is taken, or none from 1 to 65535", entrant=number)
    same = [known.number for known in entrants for name in ("player", "key") if _same(known, act, name)]
    if same:
        yield broken("EVT-R1", "an entrant enters once", entrant=number, other=same[0])
    if len(position.entrants) >= MAX_ENTRANTS:
        yield broken("EVT-R2", f"an event has at most {MAX_ENTRANTS} entrants", entrant=number)
    if position.phase is Phase.ENTERING:
        if (act.first_round, act.late_points) != (0, 0):
            yield broken("EVT-R3", "the entry is not late, and begins with round 1", entrant=number)
        return
    terms, first = position.terms, act.first_round
    if position.phase is Phase.OPENING or not position.next_round <= first <= terms.late_until:
        last = terms.late_until
        what = (
            f"a late entrant begins in a round that is not paired yet, up to round {last}"
            if last
            else "no late entries"
        )
        yield broken("EVT-R2", what, entrant=number, round=first)
    if act.late_points != terms.late_points * (first - 1):
        expected = terms.late_points * (first - 1)
        yield broken("EVT-R3", f"expected {expected}/60 for the rounds before", entrant=number, points=act.late_points)


def _same(known: Any, act: acts.Enter, name: str) -> bool:
    value = getattr(act, name)
    return bool(value) and getattr(known, name) == value


def _check_in(position: Position, act: acts.CheckIn) -> Iterator[Violation]:
    yield from named(position, act.number)
    if position.phase is not Phase.ENTERING and (act.commitment or position.phase is Phase.OPENING):
        yield broken("EVT-S13", "who commits to a share checks in before entries are closed", entrant=act.number)
    if (known := position.entrants.get(act.number)) is not None and known.is_there:
        yield broken("EVT-R1", "the entrant has checked in already", entrant=act.number)


def _share(position: Position, act: acts.Share) -> Iterator[Violation]:
    """EVT-S13: a share opens the commitment of its entrant, once."""
    yield from named(position, act.number)
    yield from _in_phase(position, Phase.OPENING, "shares are opened between the end of entries and the draw")
    known = position.entrants.get(act.number)
    if known is not None and (known.share or share_commitment(act.number, act.seed) != known.commitment):
        yield broken("EVT-S13", "the share is opened already, or is not the one committed to", entrant=act.number)
