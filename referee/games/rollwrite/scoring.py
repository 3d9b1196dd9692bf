"""Points: completed types, places, lines, coins.

Players are numbered: the seats, then the virtual players.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from referee.games.rollwrite.position import Award, Position, completed
from referee.games.rollwrite.sheet import FACES, TYPES, index_of

FIRST_PLACE: Final = (16, 8, 1)
"""RNW-33: points of the three places for pavilions; one more for each type after it."""

LINE_POINTS: Final = {4: 2, 5: 5, 6: 10}
"""RNW-39: points of a row or column by its buildings."""

COINS_PER_POINT: Final = 2
"""RNW-40."""

BONUS: Final = {2: 21, 3: 18, 4: 15}
"""RNW-44: of each virtual player that a solo player plays against, by how many there are."""

_VALUES: Final = range(1, FACES + 1)
_LINES: Final = (
    *[("blue", value, sum(1 << index_of(value, other) for other in _VALUES)) for value in _VALUES],
    *[("yellow", value, sum(1 << index_of(other, value) for other in _VALUES)) for value in _VALUES],
)
"""The cells of each value of each die."""


class Share(NamedTuple):
    """These players take the places from ``place`` on together; each gets ``each`` points, rounded down."""

    type: int
    place: int
    players: tuple[int, ...]
    points: tuple[int, ...]
    """The points of the places that the players take, as far as there are any; ``each`` is their sum's share."""
    each: int


class Line(NamedTuple):
    """A row or column with at least four buildings: those with this value of this die."""

    die: str
    """``blue`` or ``yellow``."""
    value: int
    buildings: int
    points: int


class Score(NamedTuple):
    """A player's points at the end."""

    types: tuple[int, ...]
    """Points of each type, those for its completion among them."""
    lines: tuple[Line, ...]
    coins: int
    """Points for coins."""
    bonus: int
    """RNW-44."""
    total: int


def place_points(type_: int) -> tuple[int, ...]:
    """Return points of the three places of a type (RNW-33)."""
    return tuple(points + type_ for points in FIRST_PLACE)


def share(type_: int, taken: int, players: tuple[int, ...]) -> Share:
    """Return the awards of players who take the next places together, after ``taken`` ones (RNW-27 to RNW-29, RNW-34).

    They share the sum of the places' points, rounded down; places beyond the third are worth nothing.
    """
    points = place_points(type_)[taken : taken + len(players)]
    return Share(type_, taken + 1, players, points, sum(points) // len(players))


def awards_of_round(
    awards: Sequence[Award], round_: int, counts: Sequence[Sequence[int]], boxes: Sequence[int], seats: int
) -> list[Award]:
    """Return the awards of a round, by type: the players who completed it share the next places (RNW-26 to RNW-31).

    ``awards``: those of the rounds before. ``counts``: buildings by type of the seats, then of the virtual players.
    """
    found = []
    for type_, full in enumerate(boxes):
        with_all = [player for player, own in enumerate(counts) if own[type_] >= full]
        if not with_all:  # as in most rounds
            continue
        before = completed(awards, seats, against=False)[type_]
        finished = tuple([player for player in with_all if player not in before])
        if finished:
            places = share(type_, len(before), finished)
            own_seats = tuple(player for player in finished if player < seats)
            virtual = tuple(player - seats for player in finished if player >= seats)
            found.append(Award(type_, round_, own_seats, virtual, places.place, places.each))
    return found


def share_places(type_: int, counts: Sequence[int], awarded: Collection[int] = ()) -> list[Share]:
    """Return who shares the places of a type that are left at the end (RNW-33 to RNW-36, RNW-38).

    ``counts``: each player's buildings of the type. ``awarded``: players who completed it before; their places are
    gone, and they take no other.
    """
    shares = []
    taken = len(awarded)
    for count in sorted({count for player, count in enumerate(counts) if player not in awarded}, reverse=True):
        if count == 0 or taken >= len(FIRST_PLACE):
            break
        tied = tuple(player for player, own in enumerate(counts) if own == count and player not in awarded)
        shares.append(share(type_, taken, tied))
        taken += len(tied)
    return shares


def lines_of(built: int) -> tuple[Line, ...]:
    """Return the rows and columns of a set of cells that give points: by blue, then by yellow (RNW-39)."""
    found = []
    for die, value, cells in _LINES:
        buildings = (built & cells).bit_count()
        if points := LINE_POINTS.get(buildings, 0):
            found.append(Line(die, value, buildings, points))
    return tuple(found)


def score_sheet(
    counts: Sequence[Sequence[int]],
    *,
    built: Sequence[int] = (),
    coins: Sequence[int] = (),
    awarded: Sequence[Mapping[int, int]] = ({},) * len(TYPES),
    virtual: Collection[int] = (),
    against: bool = False,
) -> tuple[list[Score], list[Share]]:
    """Return every player's points, and the shared places at the end (RNW-33 to RNW-41, RNW-44).

    ``counts``: per player, its buildings by type. ``built``, ``coins``: of the first players, their sets of cells and
    unspent coins. ``awarded``: per type, the points of each player who completed it in the game; a virtual player has
    0, unless it scores. ``virtual``: players that take places and score only in ``against``, there with the bonus of
    their number.
    """
    shares = [
        line
        for type_ in range(len(TYPES))
        for line in share_places(type_, [own[type_] for own in counts], awarded[type_])
    ]
    bonus = BONUS[len(virtual)] if against else 0
    scores = []
    for player in range(len(counts)):
        if player in virtual and not against:
            scores.append(Score((0,) * len(TYPES), (), 0, 0, 0))
            continue
        types = [awarded[type_].get(player, 0) for type_ in range(len(TYPES))]
        for line in shares:
            if player in line.players:
                types[line.type] += line.each
        lines = lines_of(built[player]) if player < len(built) else ()
        for_coins = coins[player] // COINS_PER_POINT if player < len(coins) else 0
        own_bonus = bonus if player in virtual else 0
        total = sum(types) + sum(line.points for line in lines) + for_coins + own_bonus
        scores.append(Score(tuple(types), lines, for_coins, own_bonus, total))
    return scores, shares


def score(position: Position) -> tuple[list[Score], list[Share]]:
    """Return every player's points, were the game over now, and the shared places (RNW-33 to RNW-41)."""
    against = position.is_against
    return score_sheet(
        position.all_counts(),
        built=position.built,
        coins=position.coins,
        awarded=completed(position.awards, position.seats, against),
        virtual=range(position.seats, position.seats + len(position.virtual)),
        against=against,
    )


def place_of(score: int, scores: Collection[int]) -> int:
    """Return 1 for the most points; equal points are equal places, and nothing breaks the tie (RNW-41)."""
    return 1 + sum(other > score for other in scores)
