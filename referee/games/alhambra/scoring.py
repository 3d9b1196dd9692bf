"""Points: places, ties and the three rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from referee.games.alhambra.position import Position
from referee.games.alhambra.tiles import TYPES

FIRST_PLACE: Final = (1, 8, 16)
"""ALH-E1: points of the first place for pavilions in each round; one more for each type after it."""

NEUTRAL: Final = -1
"""The neutral player's number in a line."""


class Line(NamedTuple):
    """One award: these players share the places from ``place`` on and get ``each`` points."""

    type: int
    place: int
    players: tuple[int, ...]
    each: int


def place_points(round_: int, type_: int) -> tuple[int, ...]:
    """Return points of the places of a type in round 1, 2 or 3, the first place first (ALH-E1)."""
    return tuple(FIRST_PLACE[round_ - 1 - rank] + type_ for rank in range(round_))


def award_type(round_: int, type_: int, counts: Sequence[int], neutral: int = 0) -> list[Line]:
    """Return the lines of one type (ALH-E2 to ALH-E4, ALH-E6). ``counts``: each seat's tiles of the type.

    Tied players take the next places together and share the sum of their points, rounded down (ALH-E2); places
    beyond the last give nothing (ALH-E3); none of the type, no place (ALH-E4); the neutral player takes places
    like a seat (ALH-E6).
    """
    points = place_points(round_, type_)
    players = [(count, seat) for seat, count in enumerate(counts)]
    if neutral:
        players.append((neutral, NEUTRAL))
    lines = []
    place = 0
    for count in sorted({count for count, _ in players if count > 0}, reverse=True):
        if place >= len(points):
            break
        tied = tuple(player for owned, player in players if owned == count)
        lines.append(Line(type_, place + 1, tied, sum(points[place : place + len(tied)]) // len(tied)))
        place += len(tied)
    return lines


def score_round(
    round_: int, counts: Sequence[Sequence[int]], walls: Sequence[int], neutral: Sequence[int] | None = None
) -> tuple[list[int], list[Line]]:
    """Return each seat's points of a round, wall included, and the lines behind them (ALH-B8, ALH-E1 to ALH-E6).

    ``counts``: for each seat, its tiles in the Alhambra by type (the reserve does not count, ALH-E5).
    """
    points = list(walls)
    lines: list[Line] = []
    for type_ in range(len(TYPES)):
        lines += award_type(round_, type_, [own[type_] for own in counts], neutral[type_] if neutral is not None else 0)
    for line in lines:
        for player in line.players:
            if player != NEUTRAL:
                points[player] += line.each
    return points, lines


def score_position(position: Position, round_: int) -> tuple[list[int], list[Line]]:
    """Return what ``score_round`` does, if this round was held now."""
    seats = range(position.seats)
    counts, walls = [position.counts(seat) for seat in seats], [position.wall(seat) for seat in seats]
    return score_round(round_, counts, walls, position.neutral_counts() if position.seats == 2 else None)


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Return 1 for the most points; equal points are equal places, and nothing breaks the tie (ALH-E10, ALH-F12)."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)
