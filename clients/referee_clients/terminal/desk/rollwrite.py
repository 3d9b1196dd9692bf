"""Words of Roll & Write for a scribe, as in ``referee_clients.terminal.desk.guide``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.rollwrite import State
from referee.games.rollwrite.chance import ROLLS
from referee.games.rollwrite.position import Phase

TITLE: Final = "Alhambra Roll & Write"
OPTIONS: Final = {
    "start_seat": "the player who starts, as a seat (0 is player 1), if not drawn; empty: it is drawn",
    "virtual_players": "number of virtual players in a game with one player: 2, 3 or 4; empty: 2",
    "solo": "the aim of a game with one seat: points, or against the virtual players, who score and get a bonus",
}
COMPONENTS: Final = "sheet"
DRAWS: Final = {
    "start_seat": "the player who starts, as a seat: 0 is player 1",
    "start_buildings": "the pairs of dice that {player} rolled for the first buildings, blue,yellow each",
    "virtual_buildings": "the pairs of dice that were rolled for virtual player {virtual}, blue,yellow each",
    "start_dice": "the pairs of dice that {player} starts with, blue,yellow each",
    "dice": "the pairs of dice that were rolled, blue,yellow each",
}
MOVES: Final = {
    "change_dice": "turns dice, one coin for each step; give what all four dice then show",
    "build": "builds where a blue and a yellow die meet: blue,yellow",
    "get_coins": "takes coins in place of a building",
    "build_second": "builds with the other two dice as well, for three coins",
    "end_building": "declines a second building",
    "keep_pair": "keeps one of the pairs that were rolled: blue,yellow",
}


def to_come(state: State, typed: Sequence[str]) -> Sequence[str]:  # noqa: ARG001 - dice show anything again
    if state.phase is Phase.START_SEAT:
        return [str(seat) for seat in range(state.seats)]
    return [f"{blue},{yellow}" for blue, yellow in ROLLS]
