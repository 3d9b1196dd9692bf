"""Places when seats have forfeited, or an arbiter has taken points off. Knows no game.

Where ``places`` are given they are those of the rules, per seat: 1 is the best, equal ones are a draw. ``out`` are the
seats that forfeited, in the order in which they did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.game import Ending

ENDINGS: Final = (
    Ending.STALLED,
    Ending.RESIGNED,
    Ending.FLAG,
    Ending.DISCONNECTED,
    Ending.ILLEGAL_MOVES,
    Ending.ADJUDICATED,
    Ending.CRASHED,
)
"""How a seat can forfeit."""


def is_decided(seats: int, out: Sequence[int]) -> bool:
    """Return whether forfeits end the game: there are some, and at most one seat is left (TBL-3)."""
    return bool(out) and len(out) >= seats - 1


def places_after(places: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """Return the places: seats that stayed move up past the others, the first to forfeit is last (TBL-4, TBL-5).

    Where nobody stayed nobody is first: the places begin with 2. Raise ``ValueError`` for a seat that is not there or
    comes twice in ``out``.
    """
    seats = len(places)
    if len(set(out)) < len(out) or not set(out) <= set(range(seats)):
        raise ValueError(f"forfeited: expected seats 0 to {seats - 1}, each once, got {list(out)}")
    last = max(seats, 1 + len(out))
    return tuple(
        last - out.index(seat) if seat in out else place - sum(places[other] < place for other in out)
        for seat, place in enumerate(places)
    )


def places_of_last(seats: int, out: Sequence[int]) -> tuple[int, ...]:
    """Return places of a game that forfeits end, whatever its points (TBL-3 to TBL-5).

    Raise ``ValueError`` if they do not end it, and as ``places_after``.
    """
    if not is_decided(seats, out):
        raise ValueError(f"forfeited: {len(out)} of {seats} seats do not end a game")
    return places_after((1,) * seats, out)


def places_by(scores: Sequence[int], penalties: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    """Return the places by the points that are left, equal ones by the places of the rules (TBL-6). All per seat.

    A seat's place moves by the seats that it passes and that pass it: places that players other than the seats have
    (virtual ones of a solo game) stay with them.
    """
    left = [(penalty - score, place) for score, penalty, place in zip(scores, penalties, places, strict=True)]
    return tuple(
        place + sum(other < own for other in left) - sum(other < place for other in places)
        for own, place in zip(left, places, strict=True)
    )
