"""The legal moves of the seat on turn: the canonical ones, in canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from referee.games.kingdomino.kingdom import halves_of
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.position import Position
from referee.games.made import made

# Moves are values: equal ones are made once, as much of listing is making objects.
_choose = made(ChooseDomino)


@made
def _place(number: int, code: int) -> PlaceDomino:
    return PlaceDomino(number, *halves_of(code))


def legal_moves(position: Position) -> Iterator[Move]:
    """Return an iterator over ``moves``."""
    return iter(moves(position))


def moves(position: Position) -> list[Move]:
    """Return castles by column, then row; dominoes by number; placements by cells, or the discard if there is none."""
    match position.phase:
        case Phase.CASTLE:
            size = position.options.size()
            return [PlaceCastle(column, row) for column in range(size) for row in range(size)]
        case Phase.CHOOSE:
            return [_choose(number) for number in position.offer if number not in position.claims]
        case Phase.PLACE:
            domino = position.due()
            number = domino.number
            places = map(_place, repeat(number), position.kingdoms[position.seat].codes(domino))
            return [*places] or [DiscardDomino(number)]
    return []


def stand_in(position: Position, seat: int) -> Move:
    """Return the first of ``moves`` (TBL-2). Raise ``ValueError`` if the seat has nothing to decide."""
    if seat == position.seat and (listed := moves(position)):
        return listed[0]
    raise ValueError(f"seat {seat} has nothing to decide")
