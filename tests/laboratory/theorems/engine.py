"""The engine's own code, run on formulas: its verdicts on every layout at once.

The engine keeps sets of cells as integers and asks its rules with ``&``, ``|``, ``^``, ``~`` and shifts. ``Bits`` is
such an integer with a formula for every bit, so the methods of ``Layout`` run on it unchanged, and their result is the
rule that is really in force: a changed engine changes the theorems. The search for cells that cut others off cannot be
run on formulas, as it walks from tile to tile: all layouts of a small box are gone through for it. How a layout is made
of another (``placed``, ``removed``, ``swapped``) is in no theorem: the tests' oracles hold that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import z3

from referee.games.alhambra.layout import Layout, cell_of, index_of, on_board
from referee.games.alhambra.tiles import E, N, S, TileSet, W, tile_set
from referee.games.game import Cell

Formula = Any
"""A Boolean term of Z3."""

YES: Final = z3.BoolVal(True)
NO: Final = z3.BoolVal(False)

SIDES: Final[Mapping[int, Cell]] = {N: (0, -1), E: (1, 0), S: (0, 1), W: (-1, 0)}
OPPOSITE: Final = {N: S, E: W, S: N, W: E}
RING: Final = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
"""The eight cells around one, clockwise from the north; those beside it are at even places."""


def near(cell: Cell, step: Cell) -> Cell:
    """Return the cell at this step from another."""
    return cell[0] + step[0], cell[1] + step[1]


class Bits:
    """A set of cells as the engine has it, an integer from 0 up or its complement, with a formula for every bit.

    Anything with ``&``, ``|``, ``^`` and ``~`` may stand for a formula, if ``no`` and ``yes`` are given.
    """

    __slots__ = ("_at", "_no", "_yes")

    def __init__(self, at: Callable[[int], Formula], no: Formula = NO, yes: Formula = YES) -> None:
        self._at = cache(at)
        self._no, self._yes = no, yes

    def _like(self, at: Callable[[int], Formula]) -> Bits:
        return Bits(at, self._no, self._yes)

    def _of(self, value: Bits | int) -> Bits:
        return value if isinstance(value, Bits) else self._like(lambda i: self._yes if value >> i & 1 else self._no)

    def __getitem__(self, index: int) -> Formula:
        return self._at(index)

    def __bool__(self) -> bool:
        raise TypeError("the engine asks whether a set of formulas is empty: such a method cannot be run on formulas")

    def __and__(self, other: Bits | int) -> Bits:
        right = self._of(other)
        return self._like(lambda i: self[i] & right[i])

    def __or__(self, other: Bits | int) -> Bits:
        right = self._of(other)
        return self._like(lambda i: self[i] | right[i])

    def __xor__(self, other: Bits | int) -> Bits:
        right = self._of(other)
        return self._like(lambda i: self[i] ^ right[i])

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Bits:
        return self._like(lambda i: ~self[i])

    def __lshift__(self, by: int) -> Bits:
        return self._like(lambda i: self[i - by] if i >= by else self._no)

    def __rshift__(self, by: int) -> Bits:
        return self._like(lambda i: self[i + by])


class _Run(Layout):
    """The engine's layout over ``Bits``; a list of cells is the set that it would be made of."""

    __slots__ = ()

    def _list(self, bits: Any) -> Any:
        return bits << self.base


def run_engine(occupied: Bits, walls: Callable[[int], Bits], cut: Bits | None = None, base: int = 0) -> Any:
    """Run the engine's ``Layout`` on these cells, its methods as they stand; they answer with ``Bits``.

    ``walls``: by side; ``cut``: the cells without which others cannot be reached. They start at bit ``base``.
    """
    run: Any = _Run.__new__(_Run)
    run.tile_set = tile_set()
    run.tiles = {}
    run.base = base
    run._occupied = occupied
    run._north, run._east, run._south, run._west = map(walls, (N, E, S, W))
    run._forget()
    run._walked = None if cut is None else (occupied, cut)
    return run


Walls = Mapping[int, Formula]
"""For N, E, S, W: whether there is a wall."""


class Board:
    """All layouts at once: for every cell whether a tile lies there, and where the tile has walls.

    ``tile`` and ``wall`` are formulas; a wall is only where a tile is. The engine is asked with ``placeable``,
    ``swappable`` and ``removable``, which answer with a formula for one cell.
    """

    def __init__(
        self,
        tile: Callable[[Cell], Formula],
        wall: Callable[[Cell, int], Formula],
        fountain: Mapping[Cell, Formula] = MappingProxyType({(0, 0): YES}),
    ) -> None:
        """``fountain``: where it may lie, and a formula for each that it lies there."""
        self.tile = cache(tile)
        self.wall = cache(wall)
        self.fountain = fountain

    @classmethod
    def any_layout(cls) -> Board:
        """Return any tiles on any cells around the fountain."""

        def tile(cell: Cell) -> Formula:
            if cell == (0, 0):
                return YES
            return z3.Bool(f"tile {cell}") if on_board(cell) else NO

        def wall(cell: Cell, side: int) -> Formula:
            return NO if cell == (0, 0) else z3.And(tile(cell), z3.Bool(f"wall {cell} {side}"))

        return cls(tile, wall)

    @classmethod
    def any_layout_of(cls, cells: Collection[Cell]) -> Board:
        """Return any tiles on these cells, without the board's fountain; any of them may be called the fountain."""

        def tile(cell: Cell) -> Formula:
            return z3.Bool(f"tile {cell}") if cell in cells else NO

        def wall(cell: Cell, side: int) -> Formula:
            return z3.And(tile(cell), z3.Bool(f"wall {cell} {side}"))

        return cls(tile, wall, {cell: z3.Bool(f"fountain {cell}") for cell in cells})

    def put(self, cell: Cell, walls: Walls) -> Board:
        """Return the board with a tile on this cell, in place of what was there."""
        return Board(
            lambda other: YES if other == cell else self.tile(other),
            lambda other, side: walls[side] if other == cell else self.wall(other, side),
            self.fountain,
        )

    def taken(self, cell: Cell) -> Board:
        """Return the board without the tile of this cell."""
        return Board(
            lambda other: NO if other == cell else self.tile(other),
            lambda other, side: NO if other == cell else self.wall(other, side),
            self.fountain,
        )

    # The terms of the rule texts.

    def matches(self, cell: Cell) -> Formula:
        """Return ALH-A2 for the tile of this cell: where another lies beside it, both have a wall, or neither."""
        return z3.And(
            [
                z3.Implies(self.tile(near(cell, step)), self.wall(cell, side) == self.wall(near(cell, step), opposite))
                for (side, step), opposite in zip(SIDES.items(), OPPOSITE.values(), strict=True)
            ]
        )

    def passage(self, cell: Cell, side: int) -> Formula:
        """State that one can walk from this cell to the one beside it: two tiles, no wall between them."""
        there = near(cell, SIDES[side])
        return z3.And(
            self.tile(cell), self.tile(there), z3.Not(self.wall(cell, side)), z3.Not(self.wall(there, OPPOSITE[side]))
        )

    def passages(self, cell: Cell) -> Formula:
        """State that one can walk out of this cell on some side."""
        return z3.Or([self.passage(cell, side) for side in SIDES])

    def ring(self, cell: Cell) -> list[Formula]:
        """State whether tiles lie on the eight cells around this one, in the order of ``RING``."""
        return [self.tile(near(cell, step)) for step in RING]

    # The engine's verdicts.

    def _engine(self, cut: Bits | None = None) -> Any:
        return run_engine(
            Bits(lambda i: self.tile(cell_of(i))), lambda side: Bits(lambda i: self.wall(cell_of(i), side)), cut
        )

    def placeable(self, cell: Cell, walls: Walls) -> Formula:
        """Return ``Layout.placeable``: a tile with these walls may be placed on this cell."""
        engine = self._engine()
        return _by_mask(walls, lambda mask: engine.placeable(mask)[index_of(cell)])

    def swappable(self, cell: Cell, walls: Walls) -> Formula:
        """Return ``Layout.swappable_cells``: a tile with these walls may replace the one on this cell."""
        engine = self._engine()
        return _by_mask(walls, lambda mask: engine.swappable_cells(mask)[index_of(cell)])

    def removable(self, cell: Cell, cut: Formula) -> Formula:
        """Return ``Layout.removable``: the tile of this cell may go, if ``cut`` says whether others hang on it."""
        engine = self._engine(Bits(lambda i: cut if i == index_of(cell) else NO))
        return engine.removable()[index_of(cell)]

    def one_block(self, cell: Cell) -> Formula:
        """Return ``Layout._one_block``: the engine's ring test of an empty cell."""
        return self._engine()._one_block()[index_of(cell)]


def _by_mask(walls: Walls, answer: Callable[[int], Formula]) -> Formula:
    """Return the engine's answer for walls given as formulas: its answer to each number, where the walls are that
    number's.
    """
    return z3.Or(
        [
            z3.And(*(walls[side] if mask & side else z3.Not(walls[side]) for side in SIDES), answer(mask))
            for mask in range(16)
        ]
    )


def new_tile() -> Walls:
    """Return any walls of a tile in hand."""
    return {side: z3.Bool(f"new {side}") for side in SIDES}


def every_mask() -> TileSet:
    """Return a set whose tile ``n`` has the walls ``n``, for every ``n`` up to 14; no tile has four walls."""
    letters = ["".join(letter for i, letter in enumerate("NESW") if mask >> i & 1) for mask in range(15)]
    names = [f"tower-{cost}" + (f"-{walls}" if walls else "") for cost in range(1, 5) for walls in letters]
    return tile_set(tuple(names[:54]))


def names(formula: Formula) -> set[str]:
    """Return the variables in a formula."""
    found, todo, seen = set(), [formula], set()
    while todo:
        term = todo.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(str(term))
        todo += term.children()
    return found
