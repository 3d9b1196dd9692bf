"""Types that are completed during the game: who completed them, and what each got for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.games.rollwrite.sheet import TYPES


class Award(NamedTuple):
    """RNW-26 to RNW-31: who completed a type in a round, and what each of them gets for it."""

    type: int
    round: int
    """0 where it is not known, as of boards alone."""
    seats: tuple[int, ...]
    virtual: tuple[int, ...]
    place: int
    """The first of the places that they take."""
    each: int
    """Lost for virtual players, unless they score (RNW-31, RNW-45)."""


def completed(awards: Sequence[Award], seats: int, against: bool) -> list[dict[int, int]]:
    """Return, by type, the players who completed it and the points of each: seats, then virtual players.

    RNW-30: a virtual player takes its place for nothing; RNW-45: in ``against`` it gets the points.
    """
    points: list[dict[int, int]] = [{} for _ in TYPES]
    for award in awards:
        points[award.type] |= dict.fromkeys(award.seats, award.each)
        points[award.type] |= {seats + player: award.each if against else 0 for player in award.virtual}
    return points
