"""Alhambra's tiles, cells and layouts as JSON has them. Reads strictly; judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from referee.games.alhambra.layout import REACH
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Cell
from referee.text.notation.strict_json import QueryError, an_array, an_integer, an_object, shown

TILE_SET: Final = tile_set()

_COORDINATES: Final = {str(number): number for number in range(-REACH, REACH + 1)}
"""Every way to write a coordinate: there is one for each."""


def tile_number(name: Any, where: str) -> int:
    """Raise ``QueryError``."""
    tile = TILE_SET.numbers.get(name) if type(name) is str else None
    if tile is None:
        raise QueryError(f"{where}: {shown(name)}; expected the name of a tile, such as tower-8-NES or garden-10")
    return tile


def tile_name(name: Any, where: str) -> str:
    """Raise ``QueryError``."""
    return TILE_SET.names[tile_number(name, where)]


def tile_names(value: Any, where: str) -> tuple[str, ...]:
    """Return different tiles, in the order of the array. Raise ``QueryError``."""
    names = [tile_name(name, where) for name in an_array(value, where)]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise QueryError(f"{where}: tile {name} twice; expected each tile once, as the set has it")
    return tuple(names)


def cell(value: Any, where: str) -> Cell:
    """Read ``[x,y]``. Raise ``QueryError``."""
    numbers = an_array(value, where)
    if len(numbers) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected [x,y]")
    x, y = (an_integer(number, -REACH, REACH, f"{where}[{i}]") for i, number in enumerate(numbers))
    return x, y


def layout_numbers(value: Any, where: str) -> dict[Cell, int]:
    """Return tile numbers by cell, of an object such as ``{"1,-2":"tower-12"}``. Raise ``QueryError``."""
    cells: dict[Cell, int] = {}
    lies_on: dict[int, str] = {}
    for written, name in an_object(value, where).items():
        at = _cell_of(written)
        if at is None:
            raise QueryError(
                f"{where}: cell {shown(written)}; expected x,y from -{REACH} to {REACH}, such as 1,-2, and nothing else"
            )
        if at == (0, 0):
            raise QueryError(f"{where}: cell 0,0 is the fountain's; expected no tile there")
        tile = TILE_SET.numbers.get(name) if type(name) is str else None
        if tile is None:
            tile = tile_number(name, f"{where}: cell {written}")  # which says what is wrong
        if tile in lies_on:
            raise QueryError(f"{where}: tile {name} on {lies_on[tile]} and on {written}; expected each tile once")
        lies_on[tile] = written
        cells[at] = tile
    return cells


@lru_cache(maxsize=4096)
def _cell_of(written: str) -> Cell | None:
    """Return the cell that is written ``x,y``; None if none is."""
    column, _, row = written.partition(",")
    x, y = _COORDINATES.get(column), _COORDINATES.get(row)
    return None if x is None or y is None else (x, y)


def layout_names(value: Any, where: str) -> dict[Cell, str]:
    """Return the same with the tiles' names. Raise ``QueryError``."""
    return {at: TILE_SET.names[tile] for at, tile in layout_numbers(value, where).items()}


def written_layout(layout: Mapping[Cell, str]) -> dict[str, str]:
    """Return tile names by cell as JSON has them, by column, then row."""
    return {f"{x},{y}": tile for (x, y), tile in sorted(layout.items())}
