"""Whether a whole layout is legal, and nothing more: ``violations.py`` tells why not, in ten times the time."""

from __future__ import annotations

from referee.games.alhambra.layout import FOUNTAIN, STRIDE, Layout
from referee.games.alhambra.tiles import E, N, S, W

_ORIGIN = FOUNTAIN.bit_length() - 1


def is_legal(layout: Layout) -> bool:
    """ALH-A2 to ALH-A6 for every tile: ``layout_violations`` finds nothing."""
    walls = layout.table.walls
    masks = {index: walls[tile] for index, tile in layout.tiles.items()}
    masks[_ORIGIN] = 0
    return _walls_match(masks) and _is_walkable(masks) and _euler_number(layout.occupied) == 1


def _walls_match(masks: dict[int, int]) -> bool:
    """ALH-A2: no wall meets an open side."""
    get = masks.get
    for index, walls in masks.items():
        east, south = get(index + 1), get(index + STRIDE)
        if east is not None and (not walls & E) != (not east & W):
            return False
        if south is not None and (not walls & S) != (not south & N):
            return False
    return True


def _is_walkable(masks: dict[int, int]) -> bool:
    """ALH-A3, ALH-A4: every cell is reached from the fountain; the walls match, so one side tells of both."""
    todo = [_ORIGIN]
    left = masks.copy()
    del left[_ORIGIN]
    while todo:
        here = todo.pop()
        walls = masks[here]
        for side, there in ((N, here - STRIDE), (E, here + 1), (S, here + STRIDE), (W, here - 1)):
            if not walls & side and there in left:
                del left[there]
                todo.append(there)
    return not left


def _euler_number(cells: int) -> int:
    """ALH-A5, ALH-A6: corners - sides + cells, 1 for one block without empty cells that are shut in or cornered."""
    in_row = cells | cells << 1
    corners = in_row | in_row << STRIDE
    return corners.bit_count() - in_row.bit_count() - (cells | cells << STRIDE).bit_count() + cells.bit_count()
