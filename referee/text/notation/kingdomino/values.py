"""Kingdomino's frames, dominoes and cells as JSON has them. Reads strictly; judges nothing."""

from __future__ import annotations

from typing import Any, Final

from referee.games.game import Cell, SetupError
from referee.games.kingdomino.dominoes import COUNT, DOMINOES, Domino, parse_half
from referee.games.kingdomino.kingdom import SIZES, Placed
from referee.text.notation.strict_json import QueryError, an_array, an_integer, an_object, only, required, shown

_FRAME: Final = frozenset(("size", "castle"))
_REACH: Final = 99
"""How far from the castle a cell may be named; no kingdom gets there."""
_NUMBERS: Final = {str(domino.number): domino for domino in DOMINOES}


def frame(value: Any, where: str) -> tuple[int, Cell | None]:
    """Return size, and the castle's column and row or None, of ``{"size":5,"castle":[2,2]}``. Raise ``QueryError``."""
    fields = an_object(value, where)
    only(fields, _FRAME, where)
    size = required(fields, "size", where)
    if type(size) is not int or size not in SIZES:
        raise QueryError(f"{where}.size: {shown(size)}; expected {' or '.join(map(str, SIZES))}")
    castle = required(fields, "castle", where)
    if castle is None:
        return size, None
    numbers = an_array(castle, f"{where}.castle")
    if len(numbers) != 2:
        raise QueryError(f"{where}.castle: {shown(castle)}; expected [column,row], or null for a relative frame")
    column, row = (an_integer(number, 0, size - 1, f"{where}.castle[{i}]") for i, number in enumerate(numbers))
    return size, (column, row)


def placed(value: Any, where: str) -> Placed:
    """Return a domino's number and the cells of its halves, of ``[48,1,0,2,0]``. Raise ``QueryError``."""
    numbers = an_array(value, where)
    if len(numbers) != 5:
        raise QueryError(f"{where}: {shown(value)}; expected [domino,ax,ay,bx,by]")
    ax, ay, bx, by = (an_integer(numbers[i], -_REACH, _REACH, f"{where}[{i}]") for i in range(1, 5))
    return domino_number(numbers[0], f"{where}[0]"), (ax, ay), (bx, by)


def domino_number(value: Any, where: str) -> int:
    """Raise ``QueryError``."""
    return an_integer(value, 1, COUNT, where)


def stated_dominoes(value: Any, where: str) -> dict[int, Domino]:
    """Return the default set by number, with other halves where ``{"48":["wheat","mine:2"]}`` states them.

    Raise ``QueryError``.
    """
    dominoes = {domino.number: domino for domino in DOMINOES}
    for number, halves in an_object(value, where).items():
        place = f"{where}.{number}"
        if number not in _NUMBERS:
            raise QueryError(f"{where}: {shown(number)}; expected the number of a domino, 1 to {COUNT}")
        names = an_array(halves, place)
        if len(names) != 2 or not all(type(name) is str for name in names):
            raise QueryError(f'{place}: {shown(halves)}; expected two halves, such as ["wheat","mine:2"]')
        try:
            left, right = map(parse_half, names)
        except SetupError as error:
            raise QueryError(f"{place}: {error}") from None
        dominoes[int(number)] = Domino(int(number), left, right)
    return dominoes
