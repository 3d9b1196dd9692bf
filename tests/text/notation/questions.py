"""Questions for ``referee inspect``, and what the engine says to them one call at a time."""

from __future__ import annotations

import json
from typing import Any

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import tile_set
from referee.games.alhambra.violations import placement_violations, removal_violations, swap_violations
from referee.games.game import Cell
from referee.text.notation.questions import answer

TILE_SET = tile_set()


def ask(**question: Any) -> dict[str, Any]:
    """The answer as a reader of the line would have it."""
    found = json.loads(json.dumps(answer(json.dumps({"game": "alhambra", **question}).encode())))
    assert isinstance(found, dict)
    return found


def names(layout: Layout) -> dict[str, str]:
    """The layout as a question has it."""
    return {f"{x},{y}": TILE_SET.names[tile] for (x, y), tile in layout.cells().items()}


def around(layout: Layout) -> list[Cell]:
    """Return every cell of the layout and two beyond, sorted."""
    cells = [(0, 0), *layout.cells()]
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return [(x, y) for x in range(min(xs) - 2, max(xs) + 3) for y in range(min(ys) - 2, max(ys) + 3)]


def lists(layout: Layout, tile: int) -> dict[str, list[list[int]]]:
    """Placements, removable and swappable, each cell asked of the rules that give reasons."""
    cells = around(layout)
    tiles = layout.cells()
    return {
        "placements": [[*cell] for cell in cells if not placement_violations(layout, tile, cell)],
        "removable": [[*cell] for cell in cells if cell in tiles and not removal_violations(layout, cell)],
        "swappable": [
            [*cell] for cell in cells if tiles.get(cell, tile) != tile and not swap_violations(layout, tile, cell)
        ],
    }
