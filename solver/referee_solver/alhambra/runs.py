"""How long the longest wall can be after a few changes of a layout, wherever they are made.

The outline is one closed curve (ALH-B4). A tile that is placed, or taken away, replaces one stretch of it: of three
sides at the most, as one side of the tile at least leads on to the rest. A tile that is exchanged changes the sides of
its cell that lie outside, again three at the most, in two stretches at the most.

Where something illegal stands, none of this holds; then walls are counted, wherever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.outline import outline
from referee.games.alhambra.violations import layout_violations

_SIDES = 3
"""Sides of the outline that one change replaces, and that it makes."""
_PLACING, _REBUILD = 1, 2
"""Stretches that one change replaces."""


def runs(layout: Layout) -> list[int]:
    """Return lengths of all walls along the outline, the longest first."""
    cells = layout.cells()
    walled = [bool(cell in cells and layout.tile_set.walls[cells[cell]] & side) for cell, side in outline(layout)]
    if not all(walled):  # from a gap on, no wall runs across the end
        gap = walled.index(False)
        walled = walled[gap:] + walled[:gap]
    return sorted((len(list(sides)) for is_wall, sides in groupby(walled) if is_wall), reverse=True)


def longest_after(layout: Layout, placed: Sequence[int], rebuilds: int) -> int:
    """Return a length that no wall exceeds after tiles with these many walls, or some of them, are placed and
    ``rebuilds`` made.

    A new stretch joins what lies at its two ends.
    """
    if layout_violations(layout):
        joined = [layout.tile_set.walls[tile].bit_count() for tile in layout.tiles.values()]
    else:
        joined = runs(layout)[: 1 + _PLACING * len(placed) + _REBUILD * rebuilds]
    return sum(joined) + sum(placed) + _SIDES * rebuilds


def longest_at_least(layout: Layout, placings: int, rebuilds: int, rule: LoopRule) -> int:
    """Return a length below which the longest wall never falls after at most this many tiles placed and rebuilds made:
    the longest wall loses only a limited number of sides, and falls into a limited number of pieces.
    """
    if layout_violations(layout):
        return 0
    changes, cuts = placings + rebuilds, _PLACING * placings + _REBUILD * rebuilds
    left = max(0, layout.wall()[0] - _SIDES * changes)
    longest = -(-left // (cuts + 1))
    return max(0, longest - (rule is LoopRule.ONE_LESS))
