"""Rules that a layout breaks, each as a clause that every legal layout satisfies.

Ways are the one thing about a layout that clauses say badly. So a question leaves them out, and the rule that its model
breaks is added: the instance for these cells. All that follows from instances of a rule follows from the rule.

A cut is data, its clause is built from it. So evidence keeps the cut, and a checker builds the clause again: each kind
says why its clause holds whatever the cells are, wherever they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from referee.games.game import Cell
from referee_solver.alhambra.judge import FOUNTAIN, Side, beside
from referee_solver.cnf import FALSE

Literal = Callable[[Cell], int]
SideLiteral = Callable[[Cell, int], int]
Clause = list[int]


@dataclass(frozen=True, slots=True)
class Pocket:
    """ALH-A5, ALH-A6: the cells are not all empty, or not all of the cells around them have tiles.

    Holds for any cells: if they are empty and all around them are tiles, they are shut in.
    """

    cells: tuple[Cell, ...]

    def clause(self, occupied: Literal) -> Clause:
        """Return a clause. ``occupied``: the literal of "a tile lies here"."""
        return [*map(occupied, self.cells), *(-occupied(cell) for cell in sorted(around(self.cells)))]

    def span(self) -> set[Cell]:
        """Return the cells that the clause is about."""
        return {*self.cells} | around(self.cells)

    def moved(self, by: Cell) -> Pocket:
        """Return the same pocket elsewhere."""
        return Pocket(tuple(moved(cell, by) for cell in self.cells))


@dataclass(frozen=True, slots=True)
class CutOff:
    """ALH-A3, ALH-A4: not all the cells have tiles, or the fountain is one of them, or a way leads out of them.

    Holds for any cells, and any choice of ``walled`` among the sides towards other cells: if there is a wall at each of
    these, and no tile across each of the others, no way leads from these cells to any other.
    """

    cells: tuple[Cell, ...]
    walled: tuple[Side, ...]

    def clause(self, occupied: Literal, wall: SideLiteral, fountain: Literal) -> Clause:
        """Return a clause. ``wall``: the literal of "this side has a wall"; ``fountain``: of "it is the fountain"."""
        inside, walled = {*self.cells}, {*self.walled}
        clause = [-occupied(cell) for cell in self.cells]
        clause += [fountain(cell) for cell in self.cells]
        for cell, side in product(self.cells, range(4)):
            if (there := beside(cell, side)) not in inside and occupied(there) != FALSE:
                clause.append(-wall(cell, side) if (cell, side) in walled else occupied(there))
        return clause

    def span(self) -> set[Cell]:
        """Return the cells that the clause is about; of those around them, which are not all part of it, none."""
        return {*self.cells}

    def moved(self, by: Cell) -> CutOff:
        """Return the same cut elsewhere."""
        walled = tuple((moved(cell, by), side) for cell, side in self.walled)
        return CutOff(tuple(moved(cell, by) for cell in self.cells), walled)


def pockets(there: set[Cell]) -> Iterator[Pocket]:
    """Yield empty cells that are shut in by those with tiles."""
    xs, ys = [x for x, _ in there], [y for _, y in there]
    left, right, top, bottom = min(xs) - 1, max(xs) + 1, min(ys) - 1, max(ys) + 1
    empty = set(product(range(left, right + 1), range(top, bottom + 1))) - there
    for piece in pieces(empty, lambda cell: [beside(cell, side) for side in range(4)]):
        if (left, top) not in piece:
            yield Pocket(tuple(sorted(piece)))


def cut_off(masks: Mapping[Cell, int], fountain: Cell = FOUNTAIN) -> Iterator[CutOff]:
    """Return tiles cut off from the fountain. ``masks`` has the fountain's; its walls agree (ALH-A2)."""
    for piece in walks(masks):
        if fountain not in piece:
            cells = tuple(sorted(piece))
            rim = (side for side in product(cells, range(4)) if beside(*side) not in piece)
            yield CutOff(cells, tuple((cell, side) for cell, side in rim if masks[cell] >> side & 1))


def walks(masks: Mapping[Cell, int]) -> Iterator[set[Cell]]:
    """Yield the parts of a layout, each of which can be walked through."""

    def ways(cell: Cell) -> list[Cell]:
        return [beside(cell, side) for side in range(4) if not masks[cell] >> side & 1]

    return pieces(set(masks), ways)


def pieces(cells: set[Cell], ways: Callable[[Cell], Iterable[Cell]]) -> Iterator[set[Cell]]:
    """Yield the parts of the cells that are connected by ways."""
    left = set(cells)
    while left:
        todo = [left.pop()]
        piece = set(todo)
        while todo:
            for there in ways(todo.pop()):
                if there in left:
                    left.discard(there)
                    piece.add(there)
                    todo.append(there)
        yield piece


def around(cells: Iterable[Cell]) -> set[Cell]:
    """Return the cells beside these that are none of them."""
    inside = set(cells)
    return {beside(cell, side) for cell in inside for side in range(4)} - inside


def moved(cell: Cell, by: Cell) -> Cell:
    """Return the cell at this offset."""
    return cell[0] + by[0], cell[1] + by[1]
