"""KDO-26: the part of the next game of a series that depends on the one before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from referee.games.kingdomino.options import Draw, Options
from referee.games.kingdomino.position import Position

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
