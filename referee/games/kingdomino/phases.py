"""The phases of a game of Kingdomino, and the kinds of move and of chance that answer each."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    CASTLE = 0
    FIRST_ORDER = 1
    LINE = 2
    PLACE = 3
    CHOOSE = 4
    OVER = 5


CHANCE_KINDS: Final = {Phase.FIRST_ORDER: "first_order", Phase.LINE: "line"}

CASTLES: Final = ("place_castle",)
CHOICES: Final = ("choose_domino",)
PLACEMENTS: Final = ("place_domino",)
DISCARDS: Final = ("discard_domino",)
"""KDO-13: instead of a placement, and only where there is none."""
