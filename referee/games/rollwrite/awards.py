"""Types that are completed during the game: who gets which places at the end of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.games.rollwrite.scoring import share
from referee.games.rollwrite.sheet import TYPES


@dataclass(frozen=True, slots=True)
class Award:
    """RNW-26 to RNW-31: who completed a type in a round, and what each of them gets for it."""

    type: int
    round: int
    seats: tuple[int, ...]
    virtual: tuple[int, ...]
    place: int
    """The first of the places that they take."""
    each: int
    """Lost for virtual players, unless they score (RNW-31, RNW-45)."""


def completed(awards: Sequence[Award], seats: int, against: bool) -> list[dict[int, int]]:
    """Of each type, who completed it and how many points each got: seats, then virtual players.

    RNW-30: a virtual player takes its place for nothing; RNW-45: in ``against`` it gets the points.
    """
    points: list[dict[int, int]] = [{} for _ in TYPES]
    for award in awards:
        points[award.type] |= dict.fromkeys(award.seats, award.each)
        points[award.type] |= {seats + player: award.each if against else 0 for player in award.virtual}
    return points


def awards_of_round(
    awards: Sequence[Award], round_: int, counts: Sequence[Sequence[int]], boxes: Sequence[int], seats: int
) -> list[Award]:
    """RNW-26 to RNW-31: who completed a type in this round takes the next places together, by the types.

    ``awards``: those of the rounds before. ``counts``: buildings by type of the seats, then of the virtual players.
    """
    found = []
    for type_, (before, full) in enumerate(zip(completed(awards, seats, against=False), boxes, strict=True)):
        finished = tuple([p for p, own in enumerate(counts) if own[type_] >= full and p not in before])
        if finished:
            places = share(type_, len(before), finished)
            own_seats = tuple(player for player in finished if player < seats)
            virtual = tuple(player - seats for player in finished if player >= seats)
            found.append(Award(type_, round_, own_seats, virtual, places.place, places.each))
    return found
