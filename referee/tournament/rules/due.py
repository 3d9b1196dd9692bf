"""What the organiser has to do next: the one place that says how an event goes on."""

from __future__ import annotations

from enum import IntEnum

from referee.tournament.rules.knockout import is_decided
from referee.tournament.rules.phases import Phase
from referee.tournament.rules.position import Position


class Due(IntEnum):
    """The values are the API's."""

    NOTHING = 0
    ENTRIES = 1
    DRAW = 2
    PAIR = 3
    PUBLISH = 4
    RESULTS = 5
    CLOSE_ROUND = 6
    CUT = 7
    CLOSE = 8


def due(position: Position) -> Due:
    """Return the next step towards the end of the event; other acts may be allowed beside it."""
    match position.phase:
        case Phase.OVER:
            return Due.NOTHING
        case Phase.ENTERING:
            return Due.ENTRIES
        case Phase.OPENING:
            return Due.DRAW
        case Phase.PLAYING:
            return _of_rounds(position)


def _of_rounds(position: Position) -> Due:
    round_ = position.round
    if round_ is not None and not round_.is_closed:
        if not round_.is_published:
            return Due.PUBLISH
        return Due.RESULTS if round_.undecided else Due.CLOSE_ROUND
    if position.next_round <= position.terms.rounds:
        return Due.PAIR
    if position.terms.cut and not position.is_cut:
        return Due.CUT
    return Due.PAIR if position.is_cut and not is_decided(position) else Due.CLOSE
