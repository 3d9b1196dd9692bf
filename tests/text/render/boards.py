"""The layouts whose drawings are kept as golden files."""

from __future__ import annotations

from typing import Final

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Cell

TILE_SET = tile_set()

BOARDS: Final[dict[str, dict[Cell, str]]] = {
    "fountain": {},
    "plus": {(0, -1): "pavilion-2-NEW", (1, 0): "arcades-4-NES", (0, 1): "seraglio-3-ESW", (-1, 0): "chambers-5-NSW"},
    "seven": {
        (0, -1): "garden-9-E",
        (0, -2): "tower-7-NEW",
        (-1, -1): "chambers-8-NW",
        (-1, 0): "seraglio-5-SW",
        (0, 1): "pavilion-8",
        (1, 1): "arcades-8-N",
        (0, 2): "garden-12-S",
    },
}


def layout(name: str) -> Layout:
    return Layout.of(TILE_SET, {cell: TILE_SET.numbers[tile] for cell, tile in BOARDS[name].items()})
