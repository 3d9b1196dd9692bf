"""Where the tiles of a turn go: a beam search over their order and their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from referee.games.alhambra.layout import Layout, cells_of, index_of
from referee.games.alhambra.moves import Disposal, GiveTile, PlaceTile, ReserveTile
from referee.games.alhambra.tiles import bits_of, tiles_of
from referee_clients.bots.alhambra.valuation import Valuation

BEAM = 5
"""Positions kept after each tile."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A way to dispose of some tiles, or of the first of them."""

    layout: Layout
    laid: int
    """The layout's tiles as a bit set; the other three are bit sets, too."""
    reserve: int
    neutral: int
    left: int
    """Tiles still in hand."""
    first: Disposal | None = None

    def worth(self, valuation: Valuation) -> float:
        """Return the worth in points; tiles still in hand count nothing."""
        return valuation.layout(self.layout) + valuation.tiles(self.laid, self.reserve, self.neutral)


def best_placing(valuation: Valuation, layout: Layout, reserve: int, tiles: int, *, may_give: bool) -> Placing:
    """Return the best placing that is found for all the tiles (a bit set)."""
    laid = bits_of(list(layout.tiles.values()))
    beam = [Placing(layout, laid, reserve, valuation.state.neutral, tiles)]
    while beam[0].left:
        # Tiles placed in another order often make the same position: it is valued once.
        following: dict[tuple[Layout, int, int], Placing] = {}
        for placing in beam:
            for tile in tiles_of(placing.left):
                for step in _disposals(placing, tile, may_give=may_give):
                    following.setdefault((step.layout, step.reserve, step.neutral), step)
        beam = sorted(following.values(), key=lambda placing: -placing.worth(valuation))[:BEAM]
    return beam[0]


def _disposals(placing: Placing, tile: int, *, may_give: bool) -> Iterator[Placing]:
    """Yield every way to dispose of this tile next."""
    layout, laid, reserve, neutral = placing.layout, placing.laid, placing.reserve, placing.neutral
    bit = 1 << tile
    left = placing.left ^ bit
    for cell in cells_of(layout.placeable(layout.tile_set.walls[tile])):
        first = placing.first or PlaceTile(tile, cell)
        yield Placing(layout.placed(tile, index_of(cell)), laid | bit, reserve, neutral, left, first)
    yield Placing(layout, laid, reserve | bit, neutral, left, placing.first or ReserveTile(tile))
    if may_give:
        yield Placing(layout, laid, reserve, neutral | bit, left, placing.first or GiveTile(tile))
