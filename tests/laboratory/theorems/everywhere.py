"""The theorem that carries what is proved at one cell to all of the board: the engine's rules are the same everywhere.

The engine is run on truth tables: an integer with a bit for each of the cases that can lie around a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Final

from referee.games.alhambra.layout import REACH, STRIDE, cell_of, index_of
from referee.games.game import Cell
from tests.laboratory.theorems.engine import OPPOSITE, RING, SIDES, Bits, run_engine
from tests.laboratory.theorems.theorem import Theorem

_AROUND: Final = ((0, 0), *RING)
_FACING: Final = {(step, OPPOSITE[side]) for side, step in SIDES.items()}
"""The walls that a cell sees: by the step to its neighbour, and the neighbour's side."""
_INPUTS: Final = (*_AROUND, *sorted(_FACING), "cut")
_CASES: Final = 1 << len(_INPUTS)
_YES: Final = (1 << _CASES) - 1


@cache
def _table(name: object) -> int:
    """Return the cases in which an input is true."""
    period = 1 << _INPUTS.index(name)  # the number of cases in which it is false, then of those in which it is true
    table, width = (1 << period) - 1 << period, 2 * period
    while width < _CASES:
        table |= table << width
        width *= 2
    return table


class _Elsewhere(Exception):
    """An answer about a cell depends on what is not near it."""


def _rules(cell: Cell, base: int = 0) -> list[int]:
    """Return what the engine says of a cell in every case: placeable and swappable for each wall mask, and removable.

    ``base``: the engine's integers start at this bit of the board.
    """

    def step(index: int) -> Cell:
        x, y = cell_of(index)
        return x - cell[0], y - cell[1]

    def tile(index: int) -> int:
        if step(index) not in _AROUND:
            raise _Elsewhere(f"{cell} depends on whether a tile lies on {cell_of(index)}")
        return _table(step(index))

    def wall(index: int, side: int) -> int:
        if (step(index), side) not in _FACING:
            raise _Elsewhere(f"{cell} depends on side {side} of {cell_of(index)}")
        return _table((step(index), side)) & _table(step(index))

    def bits(at: Callable[[int], int]) -> Bits:
        return Bits(lambda i: at(i + base), 0, _YES)

    engine = run_engine(bits(tile), lambda side: bits(lambda i: wall(i, side)), bits(lambda _: _table("cut")), base)
    here = index_of(cell)
    answers = [engine.placeable(walls)[here] for walls in range(16)]
    answers += [engine.swappable_cells(walls)[here] for walls in range(16)]
    return [answer & _YES for answer in (*answers, engine.removable()[here])]


def _refute(cells: Iterable[Cell], kept_above: int | None = None) -> str | None:
    """``kept_above``: how many rows above the cell the engine's integers have, 0 or 1; None: all.

    With none, only of cases with no tile in the row above.
    """
    cases = _YES
    for step in _AROUND if kept_above == 0 else ():
        cases &= ~_table(step) if step[1] < 0 else _YES
    try:
        expected = _rules((1, 0))
        for cell in cells:
            rules = _rules(cell, 0 if kept_above is None else (index_of(cell) // STRIDE - kept_above) * STRIDE)
            if cell == (0, 0):  # the fountain is never swapped nor removed; the rule about that is another theorem's
                rules = rules[:16]
            if any((rule ^ other) & cases for rule, other in zip(rules, expected, strict=False)):
                return f"the engine's rules for {cell} are not those for (1, 0)"
    except _Elsewhere as elsewhere:
        return str(elsewhere)
    return None


def _refute_without_rows(cells: list[Cell]) -> str | None:
    return _refute(cells, 1) or _refute(cells, 0)


def _square(reach: int) -> set[Cell]:
    return {(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)}


_STATEMENT: Final = (
    "What the engine says about placing a tile on a cell, swapping or removing its tile depends in the same way on the "
    "eight cells around, the walls that they show it and the tiles that hang on it, whichever cell it is; only the "
    "fountain is never swapped nor removed. So what is proved at one cell holds at all."
)
_FORMULA: Final = (
    "the truth tables of engine.placeable(w, c), engine.swappable(w, c), engine.removable(c) are the same for all c"
)

THEOREMS: Final = (
    Theorem(
        "rules-are-the-same-at-the-rim",
        "every cell on the rim of the board and near the fountain, any layout around it",
        _STATEMENT,
        _FORMULA,
        partial(_refute, sorted(_square(2) | (_square(REACH) - _square(REACH - 1)))),
    ),
    Theorem(
        "rules-are-the-same-everywhere",
        "every cell of the board, any layout around it",
        _STATEMENT,
        _FORMULA,
        partial(_refute, sorted(_square(REACH))),
        slow=True,
    ),
    Theorem(
        "rows-may-be-left-out",
        "every column, in the topmost row, far from the fountain and in its row; any layout around",
        "The engine's integers have the row above the tiles, and leave out rows above that. If they have the row above "
        "a cell, or if no tile lies in that row, what the engine says about the cell is the same as if they had all; "
        "and farther up nothing can be placed.",
        "the truth tables are the same with all rows and with those from one above c on; and, if no tile lies in the "
        "row above c, with those from c on",
        partial(_refute_without_rows, [(x, y) for y in (-REACH, -9, 0) for x in range(-REACH, REACH + 1)]),
    ),
)
