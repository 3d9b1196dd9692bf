"""What every check of an act needs: how it says that a rule is broken, and whom and what an act may name."""

from __future__ import annotations

from collections.abc import Iterator

from referee.games.game import Fact, Violation
from referee.tournament.rules.position import Position
from referee.tournament.rules.round import Round


def broken(rule_id: str, what: str, **facts: Fact) -> Violation:
    """Return that a rule is broken. ``what``: how, in words; ``facts``: where."""
    return Violation(rule_id, facts={**facts, "what": what})


def named(position: Position, *numbers: int) -> Iterator[Violation]:
    """EVT-R1, EVT-R6: an act names entrants who are in the event."""
    for number in numbers:
        if number not in position.entrants:
            yield broken("EVT-R1", "no such entrant", entrant=number)
        elif position.entrants[number].is_expelled:
            yield broken("EVT-R6", "the entrant was expelled", entrant=number)


def round_of(position: Position, number: int) -> Round | None:
    """Return the round of this number, if it is paired."""
    return position.rounds[number - 1] if 1 <= number <= len(position.rounds) else None


def of_round(position: Position, number: int, *, published: bool) -> Iterator[Violation]:
    """EVT-U1: the act is about the round that is being played."""
    round_ = round_of(position, number)
    if round_ is None or round_.is_closed:
        yield broken("EVT-U1", "the round is not paired, or is closed", round=number)
    elif round_.is_published is not published:
        yield broken("EVT-U1", "the round is published already" if not published else "not published yet", round=number)
