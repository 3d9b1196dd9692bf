"""Between the engine's events and states and the words of the slow game and the counting files."""

from __future__ import annotations

from typing import Any

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout
from referee.games.alhambra.money import CURRENCIES, KINDS, SCORING_A, SCORING_B, VALUE, card, card_name
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.options import EndRule, LoopRule, Options
from referee.games.alhambra.position import FREE
from referee.games.alhambra.tiles import TileSet, tiles_of
from referee.games.game import ForcedPass
from tests.games.oracle import HOME, Board
from tests.games.slow_alhambra import SlowGame, cell_of, cell_text

Words = tuple[str, ...]


def words(event: Event, tile_set: TileSet) -> Words:
    """Return the event as words."""
    names = tile_set.names
    match event:
        case TakeMoney(cards):
            return ("take", *map(card_name, cards))
        case Buy(slot, payment):
            return ("buy", str(slot + 1), *(str(VALUE[kind]) for kind in payment))
        case RebuildAdd(tile, cell):
            return ("add", names[tile], cell_text(cell))
        case RebuildRemove(cell):
            return ("remove", cell_text(cell))
        case RebuildSwap(tile, cell):
            return ("swap", names[tile], cell_text(cell))
        case PlaceTile(tile, cell):
            return ("place", names[tile], cell_text(cell))
        case ReserveTile(tile):
            return ("reserve", names[tile])
        case GiveTile(tile):
            return ("give", names[tile])
        case NeutralTiles(tiles):
            return ("neutral", *(names[tile] for tile in tiles))
        case MarketTiles(tiles):
            return ("market", *(names[tile] for tile in tiles))
        case Hand(seat, cards):
            return ("hand", str(seat), *map(card_name, cards))
        case MoneyRow(cards):
            return ("row", *map(card_name, cards))
        case ForcedPass():
            return ("pass",)


def kind_of(name: str) -> int:
    """Return the number of ``denar-5`` or ``scoring-A``."""
    first, second = name.split("-")
    if first == "scoring":
        return {"A": SCORING_A, "B": SCORING_B}[second]
    return card(CURRENCIES.index(first), int(second))


def kinds(*names: str) -> tuple[int, ...]:
    return tuple(map(kind_of, names))


def event_of(said: Words, tile_set: TileSet, currencies: tuple[int, ...] = (0, 1, 2, 3)) -> Event:
    """Return the engine's event."""
    tile = tile_set.numbers
    match said:
        case ("take", *cards):
            return TakeMoney(kinds(*cards))
        case ("buy", slot, *values):
            return Buy(int(slot) - 1, tuple(card(currencies[int(slot) - 1], int(value)) for value in values))
        case ("add", name, cell):
            return RebuildAdd(tile[name], cell_of(cell))
        case ("remove", cell):
            return RebuildRemove(cell_of(cell))
        case ("swap", name, cell):
            return RebuildSwap(tile[name], cell_of(cell))
        case ("place", name, cell):
            return PlaceTile(tile[name], cell_of(cell))
        case ("reserve", name):
            return ReserveTile(tile[name])
        case ("give", name):
            return GiveTile(tile[name])
        case ("neutral", *names):
            return NeutralTiles(tuple(tile[name] for name in names))
        case ("market", *names):
            return MarketTiles(tuple(tile[name] for name in names))
        case ("hand", seat, *cards):
            return Hand(int(seat), kinds(*cards))
        case ("row", *cards):
            return MoneyRow(kinds(*cards))
        case ("pass", seat):
            return ForcedPass(int(seat))
    raise AssertionError(said)


def board_of(layout: Layout) -> Board:
    return {HOME: "fountain"} | {cell: layout.tile_set.names[tile] for cell, tile in layout.cells().items()}


def _cards(counts: bytearray) -> list[str]:
    return [card_name(kind) for kind in range(KINDS) for _ in range(counts[kind])]


def _ordered(cards: list[str]) -> list[str]:
    return sorted(cards, key=kind_of)


def table_of(state: State) -> dict[str, Any]:
    """Everything that lies on the engine's table, in words."""
    names = state.tile_set.names
    return {
        "bag": {names[tile] for tile in tiles_of(state.bag)},
        "deck": _cards(state.deck),
        "discard": _cards(state.discard),
        "row": [card_name(kind) for kind in state.row],
        "market": [None if tile == FREE else names[tile] for tile in state.market],
        "hands": [_cards(hand) for hand in state.hands],
        "boards": [board_of(layout) for layout in state.layouts],
        "reserves": [{names[tile] for tile in tiles_of(reserve)} for reserve in state.reserves],
        "neutral": {names[tile] for tile in tiles_of(state.neutral)},
        "scores": state.scores,
        "turns": state.turns,
        "walls": [state.wall(seat) for seat in range(state.seats)],
    }


def slow_table_of(game: SlowGame) -> dict[str, Any]:
    """Return the slow game's table in the same form."""
    return {
        "bag": game.bag,
        "deck": _ordered(game.deck),
        "discard": _ordered(game.discard),
        "row": _ordered(game.row),
        "market": game.market,
        "hands": [_ordered(hand) for hand in game.hands],
        "boards": game.boards,
        "reserves": game.reserves,
        "neutral": game.neutral,
        "scores": game.scores,
        "turns": game.turns,
        "walls": [game.wall(seat) for seat in range(game.seats)],
    }


def slow_game(seats: int, options: Options, tile_set: TileSet) -> SlowGame:
    """Return the slow game with the engine's options."""
    return SlowGame(
        seats,
        tile_set.names,
        youngest_first=options.age_order,
        currencies=[CURRENCIES[currency] for currency in options.slot_currencies],
        max_turns=options.max_turns,
        loop_one_less=options.loop_rule is LoopRule.ONE_LESS,
        end_when_bag_empty=options.end_rule is EndRule.BAG_EMPTY,
    )
