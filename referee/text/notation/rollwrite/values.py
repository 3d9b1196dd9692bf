"""Roll & Write's sheets, cells and dice as JSON has them. Reads strictly; judges nothing but the sheet."""

from __future__ import annotations

from typing import Any, Final

from referee.games.game import SetupError
from referee.games.rollwrite.sheet import CELLS, DEFAULT, DICE, FACES, TYPES, Sheet, dice_of, index_of, sheet
from referee.text.notation.strict_json import QueryError, an_array, an_integer, an_object, only, required, shown

_SHEET_FIELDS: Final = ("grid", "boxes", "coin_track", "rows_are")
_DECLARED: Final = "declared"
"""What a sheet goes by that comes with a question."""
_MOST_COINS: Final = 1000
"""Of a track that is read; the sheet has its own limit."""


def sheet_of(value: Any, where: str) -> Sheet:
    """Return the default, by its name, or the sheet that the object declares.

    Raise ``QueryError``, of a sheet that breaks a constraint with the constraint's name.
    """
    if value == DEFAULT:
        return sheet()
    if type(value) is not dict:
        expected = f'"{DEFAULT}" or an object with {", ".join(_SHEET_FIELDS)}'
        raise QueryError(f"{where}: {shown(value)}; expected {expected}")
    only(value, frozenset(_SHEET_FIELDS), where)
    grid, boxes, coin_track, rows_are = (required(value, name, where) for name in _SHEET_FIELDS)
    if rows_are not in DICE:
        raise QueryError(f'{where}.rows_are: {shown(rows_are)}; expected "blue" or "yellow"')
    rows = _rows(grid, f"{where}.grid")
    if rows_are == "yellow":
        rows = [[row[blue] for row in rows] for blue in range(FACES)]
    track = an_integer(coin_track, 0, _MOST_COINS, f"{where}.coin_track")
    types = tuple(type_ for row in rows for type_ in row)
    counts = tuple(type_counts(boxes, f"{where}.boxes"))
    try:
        return Sheet(_DECLARED, types, counts, track, rows_are)
    except SetupError as error:
        raise QueryError(f"{where}: {error}") from None


def _rows(value: Any, where: str) -> list[list[int]]:
    """Return types, as six rows of six."""
    rows = [an_array(row, f"{where}[{i}]") for i, row in enumerate(an_array(value, where))]
    if [len(row) for row in rows] != [FACES] * FACES:
        raise QueryError(
            f"{where}: cells: rows of {[len(row) for row in rows]}; expected {FACES} rows of {FACES} types"
        )
    return [[type_of(name, f"{where}[{i}][{j}]") for j, name in enumerate(row)] for i, row in enumerate(rows)]


def type_of(name: Any, where: str) -> int:
    """Raise ``QueryError``."""
    if name not in TYPES:
        raise QueryError(f"{where}: {shown(name)}; expected a type: {', '.join(TYPES)}")
    return TYPES.index(name)


def type_counts(value: Any, where: str) -> list[int]:
    """Return how many of each type, in the order of the types, from ``{"tower":2}``. Raise ``QueryError``."""
    counts = [0] * len(TYPES)
    for name, count in an_object(value, where).items():
        type_ = type_of(name, where)
        counts[type_] = an_integer(count, 0, CELLS, f"{where}.{name}")
    return counts


def cells(value: Any, where: str) -> int:
    """Return the set of cells, from ``[[blue,yellow],…]``. Raise ``QueryError``."""
    built = 0
    for i, pair in enumerate(an_array(value, where)):
        index = index_of(*_pair(pair, f"{where}[{i}]"))
        if built >> index & 1:
            raise QueryError(f"{where}: cell {list(dice_of(index))} twice; expected each cell once")
        built |= 1 << index
    return built


def _pair(value: Any, where: str) -> tuple[int, int]:
    if len(an_array(value, where)) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected [blue,yellow]")
    blue, yellow = (an_integer(number, 1, FACES, f"{where}[{i}]") for i, number in enumerate(value))
    return blue, yellow


def four_dice(value: Any, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two blue and two yellow ones, ascending, from ``{"blue":[3,5],"yellow":[1,1]}``. Raise ``QueryError``."""
    fields = an_object(value, where)
    only(fields, frozenset(DICE), where)
    blue, yellow = (_two(required(fields, die, where), f"{where}.{die}") for die in DICE)
    return blue, yellow


def _two(value: Any, where: str) -> tuple[int, ...]:
    if len(an_array(value, where)) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected what two dice show")
    return tuple(sorted(an_integer(number, 1, FACES, f"{where}[{i}]") for i, number in enumerate(value)))
