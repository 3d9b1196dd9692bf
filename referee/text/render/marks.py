"""Marks on a board of text, where a refused move breaks a rule. Knows no game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from referee.games.game import Cell

_REACH: Final = 2
"""Cells that a drawing grows on each side to show what is marked there: a domino's length."""


def widened(columns: range, rows: range, marked: Iterable[Cell]) -> tuple[range, range]:
    """Return the columns and rows that are drawn if these cells are marked: those far outside are left out."""
    near = [(x, y) for x, y in marked if _is_near(columns, x) and _is_near(rows, y)]
    return _around(columns, [x for x, _ in near]), _around(rows, [y for _, y in near])


def with_mark(content: str) -> str:
    """Return what is in a cell, marked: without colour, so that every terminal shows it."""
    return f"!{content.strip()}!"


def _is_near(drawn: range, at: int) -> bool:
    return drawn.start - _REACH <= at < drawn.stop + _REACH


def _around(drawn: range, marked: list[int]) -> range:
    return range(min([drawn.start, *marked]), max([drawn.stop, *(at + 1 for at in marked)]))
