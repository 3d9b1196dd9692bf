"""The legal moves of the seat on turn: the canonical ones, in canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from referee.games.kingdomino.dominoes import COUNT
from referee.games.kingdomino.kingdom import HALVES
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.position import Position

# Found once: to find a member of an enumeration takes as long as ten other names.
_CASTLE: Final = Phase.CASTLE
_PLACE: Final = Phase.PLACE
_CHOOSE: Final = Phase.CHOOSE

# Moves are values: each is made once, as much of listing is making objects.
_CHOICES: Final = tuple(ChooseDomino(number) for number in range(COUNT + 1))


@cache
def _castles(size: int) -> tuple[PlaceCastle, ...]:
    """Return every cell of a frame of this size, by column, then row (KDO-17)."""
    return tuple([PlaceCastle(column, row) for column in range(size) for row in range(size)])


@cache
def _placings(number: int) -> tuple[PlaceDomino, ...]:
    """Return every place for the domino, by code: 64 KiB for each of the 48."""
    return tuple([PlaceDomino(number, left, right) for left, right in HALVES])


def legal_moves(position: Position) -> Iterator[Move]:
    """Return an iterator over ``moves``."""
    return iter(moves(position))


def moves(position: Position) -> list[Move]:
    """Return castles by column, then row; dominoes by number; placements by cells, or the discard if there is none."""
    phase = position.phase
    if phase is _PLACE:
        domino = position.due()
        places = _placings(domino.number)
        codes = position.kingdoms[position.seat].codes(domino)
        return [places[code] for code in codes] or [DiscardDomino(domino.number)]
    if phase is _CHOOSE:
        return [_CHOICES[number] for number in position.offer if number not in position.claims]
    return list(_castles(position.options.size())) if phase is _CASTLE else []


def stand_in(position: Position, seat: int) -> Move:
    """Return the first of ``moves`` (TBL-2). Raise ``ValueError`` if the seat has nothing to decide."""
    if seat == position.seat and (listed := moves(position)):
        return listed[0]
    raise ValueError(f"seat {seat} has nothing to decide")
