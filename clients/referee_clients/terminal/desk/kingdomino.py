"""Words of Kingdomino for a scribe, as in ``referee_clients.terminal.desk.guide``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.kingdomino import State
from referee.games.kingdomino.options import kings_of
from referee.games.kingdomino.position import Phase
from referee_clients.terminal.desk.guide import left

TITLE: Final = "Kingdomino"
OPTIONS: Final = {
    "frame": "fixed: each castle's cell in its frame is chosen before the game; relative: any square of that size",
    "first_order": "the draw before the first choice: seat: the player who begins, the others follow "
    "clockwise; kings: every king",
    "declared_order": "the order of the first choice if it is not drawn, such as 1 0 1 0; empty: it is drawn",
    "central": "10 points for a castle in the middle: no, of the kingdom, or of the frame",
    "harmony": "5 points for a kingdom without a discarded domino",
    "mighty_duel": "two players, all 48 dominoes, 7 by 7 cells",
    "wider_offer": "two or three players, each line has one domino more than there are kings",
    "dynasty": "one of three games whose points are added",
}
COMPONENTS: Final = "dominoes"
DRAWS: Final = {
    "first_order": "the order in which the kings choose first, as seats (0 is player 1)",
    "line": "the numbers of the dominoes that were drawn, in any order",
}
MOVES: Final = {
    "place_castle": "puts the castle on a column and a row of its frame, counted from 0",
    "choose_domino": "puts a king on a domino of the line, by its number",
    "place_domino": "places the domino: cells x,y of its left and right half; x grows east, y south, the castle is 0,0",
    "discard_domino": "discards the domino, which fits nowhere",
}


def to_come(state: State, typed: Sequence[str]) -> Sequence[str]:
    if state.phase is Phase.FIRST_ORDER:
        return left((str(seat) for seat in range(state.seats) for _ in range(kings_of(state.seats))), typed)
    numbers = (domino.number for domino in state.domino_set.dominoes)
    return left((str(number) for number in numbers if state.unseen >> number & 1), typed)
