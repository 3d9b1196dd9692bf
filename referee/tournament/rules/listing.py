"""What can be done next without anything from outside: few of the acts that are allowed, and always one."""

from __future__ import annotations

from collections.abc import Iterator

from referee.tournament.rules.acts import Abandon, Act, CloseEntries, Enter
from referee.tournament.rules.phases import Phase
from referee.tournament.rules.position import Position
from referee.tournament.rules.terms import MAX_ENTRANTS


def legal_moves(position: Position) -> Iterator[Act]:
    """Return acts that pass ``check``, in canonical order. Results, pairings and seeds come from outside."""
    if position.phase is Phase.OVER:
        return
    if position.phase is Phase.ENTERING:
        yield CloseEntries()
        number = max(position.entrants, default=0) + 1
        if len(position.entrants) < MAX_ENTRANTS:
            yield Enter(number)
    yield stand_in(position, 0)


def stand_in(position: Position, seat: int) -> Act:
    """Return what is entered for an organiser who is gone: the event ends. Raise ``ValueError``."""
    if seat or position.phase is Phase.OVER:
        raise ValueError(f"seat {seat} is not awaited")
    return Abandon("the organiser has left")
