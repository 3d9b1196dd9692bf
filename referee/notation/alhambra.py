"""Alhambra's events in words, one line each. Prints only; it judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from referee.games.alhambra.money import card_name
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
from referee.games.alhambra.tiles import TileTable
from referee.games.game import Cell, ForcedPass


def describe(event: Event, table: TileTable) -> str:  # noqa: PLR0912 - one case an event
    """``take denar-3 dirham-2``, ``buy 2 ducat-4 ducat-5`` (market slots from 1), ``place garden-10-N 1,-2``, …"""
    match event:
        case TakeMoney(cards):
            return _words("take", map(card_name, cards))
        case Buy(slot, payment):
            return _words(f"buy {slot + 1}", map(card_name, payment))
        case RebuildAdd(tile, cell):
            return f"add {table.names[tile]} {_cell(cell)}"
        case RebuildRemove(cell):
            return f"remove {_cell(cell)}"
        case RebuildSwap(tile, cell):
            return f"swap {table.names[tile]} {_cell(cell)}"
        case PlaceTile(tile, cell):
            return f"place {table.names[tile]} {_cell(cell)}"
        case ReserveTile(tile):
            return f"reserve {table.names[tile]}"
        case GiveTile(tile):
            return f"give {table.names[tile]}"
        case NeutralTiles(tiles):
            return _words("neutral:", (table.names[tile] for tile in tiles))
        case MarketTiles(tiles):
            return _words("market:", (table.names[tile] for tile in tiles))
        case Hand(seat, cards):
            return _words(f"hand {seat}:", map(card_name, cards))
        case MoneyRow(cards):
            return _words("row:", map(card_name, cards))
        case ForcedPass():
            return "pass"
        case _:
            assert_never(event)


def _cell(cell: Cell) -> str:
    return f"{cell[0]},{cell[1]}"


def _words(first: str, rest: Iterable[str]) -> str:
    return " ".join((first, *rest))
