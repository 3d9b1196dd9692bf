"""Alhambra's events read from its grammar (text.lark). Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from referee.games.alhambra import State
from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.money import SCORING_B, card_name
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
from referee.games.game import Violation
from referee.text.notation.alhambra.words import describe
from referee.text.notation.errors import either, illegal
from referee.text.notation.grammar import cell, place_of, syntax_error
from referee.text.notation.short import the_only

TERMINALS: Final = {
    "TILE": "a tile, such as tower-8-NES",
    "CARD": "a card, such as denar-3",
    "SCORING": "scoring-A or scoring-B",
    "PHASE": "a phase, such as action",
}

RULES: Final = {rule.id: rule for rule in CATALOGUE}
CARDS: Final = {card_name(kind): kind for kind in range(SCORING_B + 1)}


def event(tree: Any, state: State) -> Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "take":
            return TakeMoney(_any_order(children))
        case "buy":
            return _buy(tree, state)
        case "add":
            return RebuildAdd(tile_of(children[0], state), cell(children[1]))
        case "remove":
            return RebuildRemove(cell(children[0]))
        case "swap":
            return RebuildSwap(tile_of(children[0], state), cell(children[1]))
        case "place":
            return _place(tree, state)
        case "reserve":
            return ReserveTile(tile_of(children[0], state))
        case "give":
            return GiveTile(tile_of(children[0], state))
        case "neutral":
            return NeutralTiles(tiles_of(children, state))
        case "market":
            return MarketTiles(tiles_of(children, state))
        case "hand":
            return Hand(int(children[0]), cards_of(children[1:]))
        case "row":
            return MoneyRow(cards_of(children))
    raise AssertionError(tree.data)


def _buy(tree: Any, state: State) -> Buy:
    """Return the tile tells the slot."""
    name, slot, *cards = tree.children
    tile = tile_of(name, state)
    if tile not in state.market:
        away = Violation("ALH-C6", facts={"tile": name, "found": "not in the market"})
        raise illegal(place_of(tree), f"buy {name}", (away,), RULES)
    lies = state.market.index(tile)
    if slot is not None and int(slot) != lies + 1:
        raise syntax_error(slot, f"{name} in slot {slot}", f"slot {lies + 1}")
    return Buy(lies, _any_order(cards))


def _place(tree: Any, state: State) -> PlaceTile:
    """Without a cell where there is one way to place it."""
    name, where = tree.children
    tile = tile_of(name, state)
    if where is not None:
        return PlaceTile(tile, cell(where))
    moves = [move for move in state.legal_moves() if isinstance(move, PlaceTile) and move.tile == tile]
    return the_only(tree, f"place {name}", moves, [describe(move, state) for move in moves])


def _any_order(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Return the cards in the order of the game: what is taken or paid at once has none."""
    return tuple(sorted(cards_of(tokens)))


def cards_of(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Return kinds of money, and of scoring cards."""
    return tuple(CARDS[token] for token in tokens)


def tiles_of(tokens: Iterable[Any], state: State) -> tuple[int, ...]:
    """Raise ``NotationError``."""
    return tuple(tile_of(token, state) for token in tokens)


def tile_of(token: Any, state: State) -> int:
    """Return the tile of a whole name: garden-10, garden-10-N and garden-10-W are three. Raise ``NotationError``."""
    tile = state.tile_set.numbers.get(token)
    if tile is None:
        kind = "-".join(token.split("-")[:2])
        like = [name for name in state.tile_set.names if name == kind or name.startswith(f"{kind}-")]
        raise syntax_error(token, f"there is no tile {token}", either(like))
    return tile
