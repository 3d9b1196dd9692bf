"""Walls that close: every outer side carries one, and no wall of the tiles is anywhere else.

Such a wall has all the walls that there are, so it is the longest. Whether a side is walled is then the same as whether
the cell across it is empty: the question is about the shape alone. It is asked for shapes that are the same when they
are turned about their middle, which needs tiles that are; a shape is then known from a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from referee.games.game import Cell
from referee_solver.alhambra.cuts import around, pieces, pockets
from referee_solver.alhambra.judge import beside
from referee_solver.cnf import FALSE, Clauses, is_true
from referee_solver.sat import Sat
from referee_solver.z3run import UNLIMITED, Budget

Shape = tuple[int, Cell, int]
"""Turns about the middle that leave it as it is, 2 or 4; twice the middle's x and y; cells in a row of the
square around it, in which the layout lies."""


def turned(mask: int) -> int:
    """Return the walls after a quarter turn, clockwise."""
    return mask << 1 & 15 | mask >> 3


def shapes(masks: Sequence[int]) -> Iterator[Shape]:
    """Yield the shapes that a wall of all the tiles' walls can have, the small and most symmetric first."""
    stock = Counter(mask for mask in masks if mask)
    if not stock or any(stock[mask] != stock[turned(turned(mask))] for mask in stock):
        return
    quarter = all(stock[mask] == stock[turned(mask)] for mask in stock)
    least = next(row for row in range(len(masks) + 2) if row * row > stock.total())
    for row in range(least, 2 * least + 1):
        for middle in ((row + 1) % 2, (row + 1) % 2), *([] if quarter else [((row + 1) % 2, row % 2)]):
            yield (4 if quarter else 2), middle, row


class Loop:
    """A layout of one shape with a closed wall of all the tiles' walls: ``step`` until there is an answer."""

    def __init__(self, masks: Sequence[int], shape: Shape) -> None:
        self.turns, self.middle, row = shape
        self.refuted = False
        stock = Counter(masks)
        stock[0] += 1  # the fountain
        a, b = self.middle
        square = product(range(-row, row + 1), repeat=2)
        self._cells = [(x, y) for x, y in square if max(abs(2 * x - a), abs(2 * y - b)) < row]
        self._first: dict[Cell, Cell] = {}
        """Cells that rotation makes one, and the cell that stands for all of them."""
        for cell in self._cells:
            for other in self._orbit(cell):
                self._first.setdefault(other, cell)
        self._clauses = Clauses()
        self._tile = {
            (cell, mask): self._clauses.new()
            for cell in sorted({*self._first.values()})
            for mask in sorted(stock)
            if not mask or len(self._orbit(cell)) == self.turns
        }
        self._occupied: dict[Cell, int] = {}
        for cell in sorted({*self._first.values()}):
            kinds = [self._tile[cell, mask] for mask in sorted(stock) if (cell, mask) in self._tile]
            self._clauses.at_most_one(kinds)
            self._occupied[cell] = self._clauses.any_of(kinds)
        self._building()
        self._counting(stock)
        self._sat = Sat(self._clauses)

    def _orbit(self, cell: Cell) -> set[Cell]:
        found = {cell}
        a, b = self.middle
        for _ in range(3):
            x, y = cell
            cell = ((a + b) // 2 - y, (b - a) // 2 + x) if self.turns == 4 else (a - x, b - y)
            found.add(cell)
        return found

    def _at(self, cell: Cell) -> int:
        return self._occupied[self._first[cell]] if cell in self._first else FALSE

    def _building(self) -> None:
        for (cell, mask), tile in self._tile.items():
            for side in range(4):
                there = self._at(beside(cell, side))
                self._clauses.add(-tile, -there if mask >> side & 1 else there)
        for x, y in self._cells:
            one, two, three, four = (self._at(at) for at in ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)))
            self._clauses.add(-one, -three, two, four)
            self._clauses.add(-two, -four, one, three)

    def _counting(self, stock: Counter[int]) -> None:
        for mask in sorted(stock):
            alike = {mask}
            for _ in range(3):
                mask = turned(mask) if self.turns == 4 else turned(turned(mask))  # noqa: PLW2901 - round and round
                alike.add(mask)
            if mask != min(alike):
                continue
            tiles = [(cell, tile) for (cell, kind), tile in self._tile.items() if kind in alike]
            if mask:
                self._number([tile for _, tile in tiles], stock[mask] * len(alike) // self.turns, exactly=True)
                continue
            self._clauses.add(*(tile for _, tile in tiles))
            # The cell in the middle takes one tile, not as many as there are turns: one that is over, if any is.
            over = stock[0] % self.turns
            counted = [tile for cell, tile in tiles if not over or len(self._orbit(cell)) == self.turns]
            self._number(counted, stock[0] // self.turns, exactly=False)

    def _number(self, literals: Sequence[int], number: int, *, exactly: bool) -> None:
        """State that exactly, or at most, ``number`` of the literals are true."""
        row = self._clauses.count(literals, number + 1)
        self._clauses.add(-row[number + 1])
        if exactly:
            self._clauses.add(row[number])

    def step(self, budget: Budget, at_most: int = UNLIMITED) -> dict[Cell, int] | None:
        """Work for at most ``at_most``, in Z3's unit: return masks by cell, the fountain left out, if there is a
        layout.

        Afterwards ``refuted`` may be true: no layout has the shape. Raise ``OutOfBudget``, ``SolverFailed``.
        """
        least = budget.left - at_most
        while budget.left > least and (model := self._sat.step(budget, budget.left - least)) is not None:
            there = {cell for cell in self._cells if is_true(self._at(cell), model)}
            if not self._cut(there):
                return _around_a_fountain(there)
        self.refuted = self._sat.refuted
        return None

    def _cut(self, there: set[Cell]) -> bool:
        """Add what the model lacks: its holes are none, or its pieces hang together. Whether it lacks anything."""
        lacking = [pocket.clause(self._at) for pocket in pockets(there)]
        apart = [*pieces(there, _beside)]
        if len(apart) > 1:
            # A piece has not all the tiles with walls, as the others have outer sides, too. So it goes on somewhere.
            lacking += [[*(-self._at(cell) for cell in piece), *map(self._at, around(piece))] for piece in apart]
        for clause in lacking:
            self._clauses.add(*clause)
        return bool(lacking)


def _beside(cell: Cell) -> list[Cell]:
    return [beside(cell, side) for side in range(4)]


def _around_a_fountain(there: set[Cell]) -> dict[Cell, int]:
    """Return masks by cell: a wall at every outer side; the first cell that has none is the fountain, and left out."""
    masks = {cell: sum(1 << side for side in range(4) if beside(cell, side) not in there) for cell in there}
    x, y = min(cell for cell, mask in masks.items() if not mask)
    return {(cx - x, cy - y): mask for (cx, cy), mask in masks.items() if (cx, cy) != (x, y)}
