"""Alhambra's events in words, one line each. Prints only; it judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from referee.games.alhambra import State, moves
from referee.games.alhambra.money import card_name
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import score_position
from referee.games.game import Cell, ForcedPass
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import player


def describe(event: moves.Event, state: State) -> str:
    """Return ``take denar-3 dirham-2``, ``buy tower-12 (slot 2) with ducat-4 ducat-5``, ``place garden-10-N 1,-2``, …

    ``state``: the position before the event.
    """
    tile_set = state.tile_set
    match event:
        case moves.TakeMoney(cards):
            return _words("take", map(card_name, cards))
        case moves.Buy(slot, payment):
            return _words(f"buy {_wares(slot, state)} with", map(card_name, payment))
        case moves.RebuildAdd(tile, cell):
            return f"add {tile_set.names[tile]} {_cell(cell)}"
        case moves.RebuildRemove(cell):
            return f"remove {_cell(cell)}"
        case moves.RebuildSwap(tile, cell):
            return f"swap {tile_set.names[tile]} {_cell(cell)}"
        case moves.PlaceTile(tile, cell):
            return f"place {tile_set.names[tile]} {_cell(cell)}"
        case moves.ReserveTile(tile):
            return f"reserve {tile_set.names[tile]}"
        case moves.GiveTile(tile):
            return f"give {tile_set.names[tile]}"
        case moves.NeutralTiles(tiles):
            return _words("neutral:", (tile_set.names[tile] for tile in tiles))
        case moves.MarketTiles(tiles):
            return _words("market:", (tile_set.names[tile] for tile in tiles))
        case moves.Hand(seat, cards):
            return _words(f"hand {seat}:", map(card_name, cards))
        case moves.MoneyRow(cards):
            return _words("row:", map(card_name, cards))
        case ForcedPass():
            return "pass"
        case _:
            assert_never(event)


def rounds(state: State, held: int) -> list[str]:
    """Return a line for each scoring round after the first ``held``: ``round 1: player 1: 2 points, player 2: 17``."""
    lines = []
    for number in range(held + 1, state.scorings + 1):
        # The last one is the third round, even if the card of the second never came.
        last = state.phase is Phase.OVER and number == state.scorings
        # Nothing but the scores changes with a scoring, so the boards are still those that were scored.
        points, _ = score_position(state, 3 if last else number)
        first, *others = (f"{player(IN_ENGLISH, seat)}: {count}" for seat, count in enumerate(points))
        lines.append(f"round {3 if last else number}: {', '.join([f'{first} points', *others])}")
    return lines


def _wares(slot: int, state: State) -> str:
    """Return the tile and where it lies; of a slot that is empty, only where."""
    tile = state.market[slot]
    return f"slot {slot + 1}" if tile == FREE else f"{state.tile_set.names[tile]} (slot {slot + 1})"


def _cell(cell: Cell) -> str:
    return f"{cell[0]},{cell[1]}"


def _words(first: str, rest: Iterable[str]) -> str:
    return " ".join((first, *rest))
