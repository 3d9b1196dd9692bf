"""The phases of a game of Alhambra, and the kinds of move and of chance that answer each."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    NEUTRAL_START = 0
    MARKET = 1
    HAND = 2
    FIRST_ROW = 3
    ACTION = 4
    PLACE = 5
    ROW = 6
    REFILL = 7
    NEUTRAL = 8
    HAND_OUT = 9
    OVER = 10


CHANCE_KINDS: Final = {
    Phase.NEUTRAL_START: "neutral_tiles",
    Phase.MARKET: "market_tiles",
    Phase.HAND: "hand",
    Phase.FIRST_ROW: "money_row",
    Phase.ROW: "money_row",
    Phase.REFILL: "market_tiles",
    Phase.NEUTRAL: "neutral_tiles",
}

ACTIONS: Final = ("take_money", "buy", "rebuild_add", "rebuild_remove", "rebuild_swap")
DISPOSALS: Final = ("place_tile", "reserve_tile", "give_tile")

SLOTS: Final = 4
"""Market slots; cards in a full money row."""

FREE: Final = 255
"""A market slot without a tile."""
