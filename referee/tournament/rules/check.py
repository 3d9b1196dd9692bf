"""Whether an act may be entered: every rule that it breaks. Changes nothing, and knows no program that pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.games.game import Violation
from referee.tournament.rules import acts
from referee.tournament.rules.check_pairing import pair, plan
from referee.tournament.rules.check_register import register
from referee.tournament.rules.check_table import table
from referee.tournament.rules.checks import broken, of_round, round_of
from referee.tournament.rules.knockout import is_decided
from referee.tournament.rules.phases import Phase
from referee.tournament.rules.position import Position
from referee.tournament.rules.scoring import standings_hash

_REASON = 200
"""Most characters of a reason."""


def violations(position: Position, event: Any) -> tuple[Violation, ...]:
    """Return every rule that the act would break."""
    return tuple(_violations(position, event))


def _violations(position: Position, act: Any) -> Iterator[Violation]:
    """EVT-E1."""
    if position.phase is Phase.OVER:
        yield broken("EVT-E1", "the event is over")
    elif isinstance(act, acts.RegisterAct):
        yield from register(position, act)
    elif isinstance(act, acts.TableAct):
        yield from table(position, act)
    elif isinstance(act, acts.RoundAct):
        yield from _round(position, act)
    else:
        yield broken("EVT-E1", "no act of an event")
        return
    yield from _reason(act)


def _round(position: Position, act: acts.RoundAct) -> Iterator[Violation]:
    match act:
        case acts.Plan():
            yield from plan(position, act)
        case acts.Pair():
            yield from pair(position, act)
        case acts.Publish(number):
            yield from of_round(position, number, published=False)
            yield from _still_there(position, number)
        case acts.Reopen(number):
            yield from of_round(position, number, published=True)
        case acts.CloseRound(number, standings):
            yield from of_round(position, number, published=True)
            yield from _close_round(position, number, standings)
        case acts.Cut():
            yield from _cut(position)
        case acts.Close(standings):
            yield from _close(position, standings)


def _reason(act: acts.Act) -> Iterator[Violation]:
    """EVT-E2: who departs from the rule says why."""
    match act:
        case acts.Pair(origin=acts.Origin.SWISS | acts.Origin.PLANNED | acts.Origin.KNOCK_OUT):
            return
        case acts.Expel() | acts.Pair() | acts.Amend() | acts.Award() | acts.Void() | acts.Reopen() | acts.Abandon():
            reason = act.reason
            if not reason.strip() or len(reason) > _REASON or not reason.isprintable():
                yield broken("EVT-E2", f"expected a reason of 1 to {_REASON} characters on one line")


def _still_there(position: Position, number: int) -> Iterator[Violation]:
    """EVT-P1: nobody has left, or come back, since the round was paired."""
    round_ = round_of(position, number)
    if round_ is not None and not round_.is_knock_out:
        changed = set(position.there(number)) ^ {*round_.seats, *round_.byes}
        for who in sorted(changed):
            yield broken("EVT-P1", "left or came back since the round was paired", round=number, entrant=who)


def _close_round(position: Position, number: int, standings: bytes) -> Iterator[Violation]:
    """EVT-G4, EVT-S14."""
    if (round_ := round_of(position, number)) is None:
        return
    for undecided in round_.undecided:
        yield broken("EVT-G4", "the table has no result", round=number, table=undecided)
    if not round_.undecided and standings != standings_hash(position):
        yield broken("EVT-S14", "the standings are not those of the log", round=number)


def _cut(position: Position) -> Iterator[Violation]:
    if not position.terms.cut or position.is_cut:
        yield broken("EVT-K1", "the terms have no cut, or it was made")
    if not position.is_between or len(position.played) < position.terms.rounds:
        yield broken("EVT-K1", "the cut comes after the last round before the knock-out")


def _close(position: Position, standings: bytes) -> Iterator[Violation]:
    """EVT-E3, EVT-S14."""
    terms = position.terms
    done = is_decided(position) if terms.cut else len(position.rounds) == terms.rounds
    if not (done and position.is_between):
        yield broken("EVT-E3", "rounds are left to play; to stop early is to abandon")
    elif standings != standings_hash(position):
        yield broken("EVT-S14", "the standings are not those of the log")
