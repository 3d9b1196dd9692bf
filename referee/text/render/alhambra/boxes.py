"""A layout in a terminal: a box a tile, thick sides where the walls are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import TYPES, E, N, S, W
from referee.games.game import Cell
from referee.text.render.marks import widened, with_mark

_WIDTH: Final = 5
"""Characters inside a box."""
_LABEL: Final = 4
"""Characters of a row's number."""

# By weight (none, light, heavy) of the arms up, right, down, left, as digits of a number to the base 3.
_CORNERS: Final = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
_ACROSS: Final = " ─━"
_DOWN: Final = " │┃"

_ASCII: Final = str.maketrans(
    {
        **{
            corner: "#" if i and all(weight != 1 for weight in (i // 27, i // 9 % 3, i // 3 % 3, i % 3)) else "+"
            for i, corner in enumerate(_CORNERS)
            if i
        },
        **dict(zip(_ACROSS + _DOWN, " -= |#", strict=True)),
        "≈": "~",
    }
)

ABBREVIATIONS: Final = tuple(type_[:3] for type_ in TYPES)


def text(layout: Layout, *, marked: Collection[Cell] = (), ascii_only: bool = False) -> str:
    """Draw the layout as boxes with type and cost, thick sides where walls are, ``fount`` the fountain; ends in a
    newline.

    Up to 12 columns of cells fit into 80 characters. Columns are numbered above, rows on the left. ``marked``: cells to
    be marked with !, also some that are outside of the Alhambra.
    """
    cells = layout.cells()
    occupied = {(0, 0), *cells}
    xs, ys = [x for x, _ in occupied], [y for _, y in occupied]
    columns, rows = widened(range(min(xs), max(xs) + 1), range(min(ys), max(ys) + 1), marked)
    grid = _Grid(layout, occupied, marked)
    lines = [" " * (_LABEL + 1) + "".join(f"{x:^{_WIDTH}} " for x in columns)]
    edges = range(columns.start, columns.stop + 1)
    for y in rows:
        lines.append(" " * _LABEL + grid.border(edges, y))
        for inside in range(2):
            label = f"{y:>{_LABEL - 1}} " if inside == 0 else " " * _LABEL
            lines.append(label + grid.row(edges, y, inside))
    lines.append(" " * _LABEL + grid.border(edges, rows.stop))
    drawn = "\n".join(line.rstrip() for line in lines) + "\n"
    return drawn.translate(_ASCII) if ascii_only else drawn


class _Grid:
    """The lines between cells: 0 none, 1 an open side, 2 a wall."""

    def __init__(self, layout: Layout, occupied: set[Cell], marked: Collection[Cell]) -> None:
        self._layout = layout
        self._occupied = occupied
        cells = layout.cells()
        self._walls = {cell: layout.tile_set.walls[cells[cell]] if cell in cells else 0 for cell in occupied}
        self._contents = {
            cell: (
                f"{ABBREVIATIONS[layout.tile_set.types[tile]]:^{_WIDTH}}",
                f"{layout.tile_set.costs[tile]:^{_WIDTH}}",
            )
            for cell, tile in cells.items()
        }
        self._contents[0, 0] = ("fount", f"{'≈≈≈':^{_WIDTH}}")
        for cell in marked:
            above, below = self._contents.get(cell, (" " * _WIDTH,) * 2)
            self._contents[cell] = above, f"{with_mark(below):^{_WIDTH}}"

    def _weight(self, one: Cell, side: int, other: Cell, opposite: int) -> int:
        if one not in self._occupied and other not in self._occupied:
            return 0
        return 2 if self._walls.get(one, 0) & side or self._walls.get(other, 0) & opposite else 1

    def _north_of(self, x: int, y: int) -> int:
        return self._weight((x, y), N, (x, y - 1), S)

    def _west_of(self, x: int, y: int) -> int:
        return self._weight((x, y), W, (x - 1, y), E)

    def border(self, columns: range, y: int) -> str:
        """Return the line above row ``y``."""
        drawn = ""
        for x in columns:
            up, right = self._west_of(x, y - 1), self._north_of(x, y)
            down, left = self._west_of(x, y), self._north_of(x - 1, y)
            drawn += _CORNERS[up * 27 + right * 9 + down * 3 + left] + _ACROSS[right] * _WIDTH
        return drawn

    def row(self, columns: range, y: int, inside: int) -> str:
        """Return one of the two lines through the cells of row ``y``."""
        return "".join(
            _DOWN[self._west_of(x, y)] + self._contents.get((x, y), (" " * _WIDTH,) * 2)[inside] for x in columns
        )
