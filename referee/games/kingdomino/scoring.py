"""Points and places, of a game and of a series. ``Kingdom.score`` counts the points of one kingdom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.options import Central, Draw, Options
from referee.games.kingdomino.position import Position

CENTRAL_POINTS: Final = 10
HARMONY_POINTS: Final = 5


class Standing(NamedTuple):
    """The values by which a seat is ranked; the first difference counts."""

    points: int
    """KDO-20, KDO-24: bonuses included."""
    largest_area: int
    """KDO-21."""
    crowns: int
    """KDO-22."""


def central_bonus(kingdom: Kingdom, options: Options) -> int:
    """KDO-27."""
    middle = options.size() // 2
    match options.central:
        case Central.KINGDOM:
            earned = kingdom.is_central()
        case Central.FRAME:
            earned = kingdom.castle == (middle, middle)
        case _:
            earned = False
    return CENTRAL_POINTS if earned else 0


def harmony_bonus(discarded: Sequence[int], options: Options) -> int:
    """Return whether nothing was discarded so far (KDO-28)."""
    return HARMONY_POINTS if options.harmony and not discarded else 0


def score(position: Position, seat: int) -> int:
    """Return the seat's points if the game ended now, bonuses included (KDO-20, KDO-24)."""
    kingdom, options = position.kingdoms[seat], position.options
    bonus = central_bonus(kingdom, options) + harmony_bonus(position.discarded[seat], options)
    return kingdom.score() + bonus


def standing(position: Position, seat: int) -> Standing:
    """Return what the seat is ranked by (KDO-21, KDO-22)."""
    kingdom = position.kingdoms[seat]
    return Standing(score(position, seat), kingdom.largest_area(), kingdom.crowns())


def places(standings: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return 1 for the best standing; standings equal in everything have equal places (KDO-21 to KDO-23)."""
    return tuple(1 + sum(other > own for other in standings) for own in standings)


def dynasty(games: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return each seat's sum and its place; ``games``: the points of all seats, game by game (KDO-26)."""
    sums = tuple(map(sum, zip(*games, strict=True)))
    return sums, places([(points,) for points in sums])


def in_one_area(dominoes: Sequence[Domino]) -> int:
    """Return what the dominoes are worth if the squares of each terrain are one area: no kingdom has more."""
    squares, crowns = [0] * len(TERRAINS), [0] * len(TERRAINS)
    for domino in dominoes:
        for half in (domino.left, domino.right):
            squares[half.terrain] += 1
            crowns[half.terrain] += half.crowns
    return sum(a * b for a, b in zip(squares, crowns, strict=True))


GAMES: Final = 3
"""KDO-26: of a dynasty."""


def is_last(position: Position, index: int) -> bool:
    """Return whether a series ends with this game, the one after ``index`` others (KDO-26)."""
    return position.options.dynasty and index + 1 >= GAMES


def next_options(position: Position) -> Options:
    """Return the next game's options (KDO-26): a declared order of the first choice, as it was, turned by one seat."""
    if not position.options.dynasty:
        return position.options
    order = tuple((seat + 1) % position.seats for seat in position.order)
    return replace(position.options, first_order=Draw.SEAT, declared_order=order)
