"""What claims about Alhambra's rules of building are about, as text."""

from __future__ import annotations

from collections.abc import Mapping

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Cell
from referee.text.render.alhambra.boxes import text
from referee.wire.certificates.alhambra.claims import (
    Claim,
    DistanceClaim,
    HandOutClaim,
    NoPlacementClaim,
    Place,
    Remove,
    StepClaim,
    Swap,
    TurnClaim,
)


def pictures(about: Claim, *, ascii_only: bool = False) -> list[str]:
    """Return the layouts that show what the claim is about: after a step, where it can be taken. Each ends in a
    newline.
    """
    tiles = tile_set()
    boards = (
        Layout.of(tiles, {cell: tiles.numbers[tile] for cell, tile in layout.items()}) for layout in _layouts(about)
    )
    return [text(board, ascii_only=ascii_only) for board in boards]


def _layouts(about: Claim) -> list[Mapping[Cell, str]]:
    match about:
        case StepClaim(layout, Place(tile, at)) if at not in layout and at != (0, 0):
            return [{**layout, at: tile}]
        case StepClaim(layout, Swap(tile, at)) if at in layout:
            return [{**layout, at: tile}]
        case StepClaim(layout, Remove(at)):
            return [{cell: tile for cell, tile in layout.items() if cell != at}]
        case DistanceClaim(start, _, goal, _):
            return [start, goal]
        case HandOutClaim():
            return []
        case StepClaim(layout) | TurnClaim(layout) | NoPlacementClaim(layout):
            return [layout]
