"""Words of Alhambra for a scribe, as in ``referee_clients.terminal.desk.guide``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.alhambra import State
from referee.games.alhambra.money import KINDS, SCORING_A, SCORING_B, card_name
from referee.games.alhambra.position import CHANCE_KINDS, Phase
from referee.games.alhambra.tiles import tiles_of
from referee_clients.terminal.desk.guide import left

TITLE: Final = "Alhambra"
OPTIONS: Final = {
    "age_order": "seats (0 is player 1) from the youngest to the oldest, such as 2 0 1; empty: 0 1 2 …",
    "max_turns": "the game ends after this many turns of all players together, 1 to 10000",
    "loop_rule": "the length of a wall that closes on itself: full: its length; one_less: one less than its length",
    "end_rule": "when the game ends: market_unfilled: when the market cannot be filled; bag_empty: "
    "when the bag is empty",
    "slot_currencies": "currencies of market slots 1 to 4: denar dirham ducat guilder, in any order, each once",
}
COMPONENTS: Final = ""
DRAWS: Final = {
    "neutral_tiles": "the tiles drawn for the neutral player, by name: type, cost, sides with a wall in the order NESW",
    "market_tiles": "the tiles drawn for the market, from the first free slot on: type, cost, sides with a wall",
    "hand": "the money cards that {player} is dealt, until they are worth 20 or more",
    "money_row": "the cards drawn for the money row, and scoring cards where they came: scoring-A, scoring-B",
}
MOVES: Final = {
    "take_money": "takes money: one card, or several that are worth 5 or less together",
    "buy": "buys a tile of the market with cards of the currency of its slot",
    "rebuild_add": "puts a tile of the reserve into the Alhambra, on x,y; x grows east, y south",
    "rebuild_remove": "moves the tile on x,y to the reserve",
    "rebuild_swap": "swaps a tile of the reserve with the one on x,y",
    "place_tile": "places a tile that was bought or won, on x,y; x grows east, y south, the fountain is 0,0",
    "reserve_tile": "puts a tile that was bought or won into the reserve",
    "give_tile": "gives a tile that was bought or won to the neutral player",
}


def to_come(state: State, typed: Sequence[str]) -> Sequence[str]:
    if CHANCE_KINDS[state.phase] in ("neutral_tiles", "market_tiles"):
        return left((state.tile_set.names[tile] for tile in tiles_of(state.bag)), typed)
    drawn_from = state.deck if any(state.deck) else state.discard
    cards = [card_name(kind) for kind in range(KINDS) for _ in range(drawn_from[kind])]
    scoring = [(SCORING_A, state.a_at), (SCORING_B, state.b_at)] if state.phase is Phase.ROW else []
    return left([*cards, *(card_name(kind) for kind, came_at in scoring if came_at < 0)], typed)
