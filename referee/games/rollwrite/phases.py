"""The phases of a game of Alhambra Roll & Write, and the kinds of move and of chance that answer each."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    START_SEAT = 0
    START_BUILDINGS = 1
    VIRTUAL_START = 2
    START_DICE = 3
    ACTION = 4
    SECOND = 5
    DICE = 6
    KEEP = 7
    VIRTUAL = 8
    OVER = 9


CHANCE_KINDS: Final = {
    Phase.START_SEAT: "start_seat",
    Phase.START_BUILDINGS: "start_buildings",
    Phase.VIRTUAL_START: "virtual_buildings",
    Phase.START_DICE: "start_dice",
    Phase.DICE: "dice",
    Phase.VIRTUAL: "virtual_buildings",
}

ACTIONS: Final = ("change_dice", "build", "get_coins")
SECOND_BUILDING: Final = ("build_second", "end_building")
KEEPING: Final = ("keep_pair",)
