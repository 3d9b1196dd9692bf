"""KDO-26: what the next game of a series has of the one before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from referee.games.kingdomino.options import Draw, Options
from referee.games.kingdomino.state import State

GAMES: Final = 3
"""KDO-26: of a dynasty."""


def is_last(state: State, index: int) -> bool:
    """KDO-26: whether a series ends with this game, the one after ``index`` others."""
    return state.options.dynasty and index + 1 >= GAMES


def next_options(state: State) -> Options:
    """KDO-26: in a dynasty the order of the first choice is declared, as it was, with every seat's left neighbour."""
    if not state.options.dynasty:
        return state.options
    order = tuple((seat + 1) % state.seats for seat in state.order)
    return replace(state.options, first_order=Draw.SEAT, declared_order=order)
