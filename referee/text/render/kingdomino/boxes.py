"""A kingdom in a terminal: a box a domino, with terrains and crowns in it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, DominoSet
from referee.games.kingdomino.kingdom import CASTLE, Kingdom
from referee.text.render.kingdomino.board import Board, board
from referee.text.render.marks import widened, with_mark

_WIDTH: Final = 8
"""Characters of a cell."""
_LABEL: Final = 4
"""Characters of a row's number."""

# By the arms up, right, down, left, as digits of a number to the base 2.
_CORNERS: Final = " ╴╷┐╶─┌┬╵┘│┤└┴├┼"
_CROWN: Final = "♛"
_EMPTY: Final = "·"

_ASCII: Final = str.maketrans({**dict.fromkeys(_CORNERS[1:], "+"), "─": "-", "│": "|", _CROWN: "*", _EMPTY: "."})


def text(kingdom: Kingdom, domino_set: DominoSet, *, marked: Collection[Cell] = (), ascii_only: bool = False) -> str:
    """Draw the kingdom in boxes, terrain above crowns; a fixed frame with its empty cells. Ends in a newline.

    Seven columns of cells fit into 79 characters. Columns are numbered above, rows on the left. ``marked``: cells to be
    marked with !, also some that are outside of the kingdom, but not of a fixed frame.
    """
    drawn = board(kingdom, domino_set)
    if not drawn.fixed:
        columns, rows = widened(drawn.columns, drawn.rows, marked)
        drawn = replace(drawn, columns=columns, rows=rows)
    lines = [" " * (_LABEL + 1) + "".join(f"{x:^{_WIDTH}} " for x in drawn.columns)]
    for y in range(drawn.rows.start, drawn.rows.stop + 1):
        lines.append(" " * _LABEL + _border(drawn, y))
        if y in drawn.rows:
            lines += [f"{y:>{_LABEL - 1}} " + _row(drawn, y, 0, ()), " " * _LABEL + _row(drawn, y, 1, marked)]
    whole = "\n".join(line.rstrip() for line in lines) + "\n"
    return whole.translate(_ASCII) if ascii_only else whole


def _line(drawn: Board, one: Cell, other: Cell) -> bool:
    """Return whether there is a line between the neighbours: none inside a domino, none between empty cells."""
    inside = [drawn.fixed and x in drawn.columns and y in drawn.rows for x, y in (one, other)]
    if one in drawn.numbers or other in drawn.numbers:
        return drawn.numbers.get(one) != drawn.numbers.get(other)
    return CASTLE in (one, other) or inside[0] != inside[1]


def _border(drawn: Board, y: int) -> str:
    """Return the line above row ``y``."""
    shown = ""
    for x in range(drawn.columns.start, drawn.columns.stop + 1):
        up, down = _line(drawn, (x - 1, y - 1), (x, y - 1)), _line(drawn, (x - 1, y), (x, y))
        left, right = _line(drawn, (x - 1, y - 1), (x - 1, y)), _line(drawn, (x, y - 1), (x, y))
        shown += _CORNERS[up * 8 + right * 4 + down * 2 + left] + ("─" if right else " ") * _WIDTH
    return shown


def _row(drawn: Board, y: int, inside: int, marked: Collection[Cell]) -> str:
    """Return one of the two lines through the cells of row ``y``, with marks in it."""
    shown = ""
    for x in range(drawn.columns.start, drawn.columns.stop + 1):
        content = _content(drawn, (x, y))[inside]
        shown += "│" if _line(drawn, (x - 1, y), (x, y)) else " "
        shown += f"{with_mark(content) if (x, y) in marked and x in drawn.columns else content:^{_WIDTH}}"
    return shown


def _content(drawn: Board, cell: Cell) -> tuple[str, str]:
    if cell == CASTLE:
        return "castle", ""
    if (half := drawn.halves.get(cell)) is not None:
        return TERRAINS[half.terrain], _CROWN * half.crowns
    inside = drawn.fixed and cell[0] in drawn.columns and cell[1] in drawn.rows
    return (_EMPTY, "") if inside else ("", "")
