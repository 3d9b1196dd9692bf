"""A seat's sheet in a terminal: the types where the dice meet, what is built, where the dice lie."""

from __future__ import annotations

from typing import Final

from referee.games.rollwrite import TYPES, Sheet
from referee.games.rollwrite.sheet import DICE, FACES, index_of

ABBREVIATIONS: Final = tuple(type_[:3] for type_ in TYPES)

_WIDTH: Final = 7
"""Characters of a cell."""
_LABEL: Final = 13
"""Characters of a row's number and its dice."""
_DIE: Final = "●"


def cell_at(sheet: Sheet, row: int, column: int) -> tuple[int, int]:
    """Return what the blue and the yellow die show for a cell of the printed sheet; rows and columns count from 0."""
    return (row + 1, column + 1) if sheet.rows_are == DICE[0] else (column + 1, row + 1)


def text(sheet: Sheet, built: int, blue: tuple[int, ...], yellow: tuple[int, ...], *, ascii_only: bool = False) -> str:
    """Write the types as the sheet has them, ``[tow]`` a built tower; ``●`` a die. Ends in a newline.

    Six rows of six cells, with their dice above and on the left.
    """
    along, across = (blue, yellow) if sheet.rows_are == DICE[0] else (yellow, blue)
    die = "*" if ascii_only else _DIE
    columns = DICE[1 - DICE.index(sheet.rows_are)]
    lines = [
        " " * _LABEL + "".join(f"{die * across.count(value):^{_WIDTH}}" for value in range(1, FACES + 1)),
        f"{columns:>{_LABEL}}" + "".join(f"{value:^{_WIDTH}}" for value in range(1, FACES + 1)),
    ]
    for row in range(FACES):
        label = f"{sheet.rows_are:>{_LABEL - 5}} {row + 1} {die * along.count(row + 1):<2}"
        lines.append(label + "".join(_cell(sheet, built, cell_at(sheet, row, column)) for column in range(FACES)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _cell(sheet: Sheet, built: int, cell: tuple[int, int]) -> str:
    name = ABBREVIATIONS[sheet.type_at(*cell)]
    return f"{f'[{name}]' if built >> index_of(*cell) & 1 else name:^{_WIDTH}}"
