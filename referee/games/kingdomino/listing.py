"""The legal moves of the seat on turn: the canonical ones, in canonical order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from referee.games.kingdomino.kingdom import halves_of
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.phases import Phase

if TYPE_CHECKING:
    from referee.games.kingdomino.state import State

# Moves are values: equal ones are made once, as much of listing is making objects.
_made = lru_cache(maxsize=1 << 16)
_choose = _made(ChooseDomino)


@_made
def _place(number: int, code: int) -> PlaceDomino:
    return PlaceDomino(number, *halves_of(code))


def moves(state: State) -> list[Move]:
    """Castles by column, then row; dominoes by number; placements by cells, or the discard if there is none."""
    match state.phase:
        case Phase.CASTLE:
            size = state.options.size()
            return [PlaceCastle(column, row) for column in range(size) for row in range(size)]
        case Phase.CHOOSE:
            return [_choose(number) for number in state.offer if number not in state.claims]
        case Phase.PLACE:
            domino = state.due()
            number = domino.number
            return [_place(number, code) for code in state.kingdoms[state.seat].codes(domino)] or [
                DiscardDomino(number)
            ]
    return []


def stand_in(state: State, seat: int) -> Move:
    """TBL-2: the first of ``moves``. Raises ``ValueError`` if the seat has nothing to decide."""
    if seat == state.seat and (listed := moves(state)):
        return listed[0]
    raise ValueError(f"seat {seat} has nothing to decide")
