"""Where the tiles of a turn go: a beam search over their order and their places."""

from __future__ import annotations

from dataclasses import dataclass

from clients.bots.valuation import Valuation
from referee.games.alhambra.layout import Layout, cells_of, index_of
from referee.games.alhambra.moves import Disposal, GiveTile, PlaceTile, ReserveTile
from referee.games.alhambra.tiles import tiles_of

BEAM = 5
"""Positions kept after each tile."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A way to dispose of some tiles, or of the first of them."""

    worth: float
    layout: Layout
    reserve: int
    neutral: int
    left: int
    """Tiles still in hand, as a bit set."""
    first: Disposal | None = None


def best_placing(valuation: Valuation, layout: Layout, reserve: int, tiles: int, *, may_give: bool) -> Placing:
    """The best that is found for all the tiles (a bit set)."""
    neutral = valuation.state.neutral
    start = _valued(valuation, Placing(0.0, layout, reserve, neutral, tiles))
    beam = [start]
    while beam[0].left:
        following: dict[tuple[Layout, int, int], Placing] = {}
        for placing in beam:
            for tile in tiles_of(placing.left):
                for step in _disposals(valuation, placing, tile, may_give=may_give):
                    following.setdefault((step.layout, step.reserve, step.neutral), step)
        beam = sorted(following.values(), key=lambda placing: -placing.worth)[:BEAM]
    return beam[0]


def _disposals(valuation: Valuation, placing: Placing, tile: int, *, may_give: bool) -> list[Placing]:
    """Every way to dispose of this tile next."""
    layout, bit = placing.layout, 1 << tile
    left = placing.left ^ bit
    ways = []
    for cell in cells_of(layout.placeable(valuation.state.table.walls[tile])):
        laid = layout.placed(tile, index_of(cell))
        move = PlaceTile(tile, cell)
        ways.append(Placing(0.0, laid, placing.reserve, placing.neutral, left, placing.first or move))
    ways.append(Placing(0.0, layout, placing.reserve | bit, placing.neutral, left, placing.first or ReserveTile(tile)))
    if may_give:
        ways.append(Placing(0.0, layout, placing.reserve, placing.neutral | bit, left, placing.first or GiveTile(tile)))
    return [_valued(valuation, way) for way in ways]


def _valued(valuation: Valuation, placing: Placing) -> Placing:
    worth = valuation.layout(placing.layout) + valuation.tiles(placing.layout, placing.reserve, placing.neutral)
    return Placing(worth, placing.layout, placing.reserve, placing.neutral, placing.left, placing.first)
