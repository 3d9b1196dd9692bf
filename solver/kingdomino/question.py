"""Whether a frame with the castle on one cell holds a kingdom of so many points, as clauses.

Points are what is left of the bound: a crown is worth a point for every square of its area, so it lacks one for every
square of its terrain that is not in its area or not laid at all. What is lacking is counted.

That areas hang together, and that every domino can be reached from the castle, is not stated in general: a model that
breaks it is answered with the clause that forbids it, until a model is a kingdom or there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import Domino
from solver.cnf import Clauses
from solver.kingdomino.annealing import in_order
from solver.kingdomino.claims import CASTLE, Placed, beside

_Half = tuple[int, int]
"""Which domino, and which of its halves."""


class Question:
    """``clauses`` have a model if there is such a kingdom; ``cuts`` tells what a model lacks to be one."""

    def __init__(self, dominoes: Sequence[Domino], size: int, castle: Cell, target: int) -> None:
        """``castle``: its column and row in the frame. ``target``: points."""
        self.clauses = Clauses()
        self._dominoes = dominoes
        self._cells = [
            cell
            for cell in product(range(-castle[0], size - castle[0]), range(-castle[1], size - castle[1]))
            if cell != CASTLE
        ]
        inside = set(self._cells)
        self._terrain = {
            (i, k): half.terrain
            for i, domino in enumerate(dominoes)
            for k, half in enumerate((domino.left, domino.right))
        }
        self._places: dict[tuple[int, Cell, Cell], int] = {}
        for i, domino in enumerate(dominoes):
            for left in self._cells:
                for right in beside(left):
                    if right in inside and (domino.left != domino.right or left < right):
                        self._places[i, left, right] = self.clauses.new()
        ways: dict[tuple[_Half, Cell], list[int]] = {(half, cell): [] for half in self._terrain for cell in self._cells}
        for (i, left, right), literal in self._places.items():
            ways[(i, 0), left].append(literal)
            ways[(i, 1), right].append(literal)
        self._at = {key: self.clauses.any_of(literals) for key, literals in ways.items()}
        self._of = {
            (terrain, cell): self.clauses.any_of(
                [self._at[half, cell] for half, mine in self._terrain.items() if mine == terrain]
            )
            for terrain in sorted({*self._terrain.values()})
            for cell in self._cells
        }
        self._laid = []
        for i in range(len(dominoes)):
            mine = [literal for (k, _, _), literal in self._places.items() if k == i]
            self.clauses.at_most_one(mine)
            self._laid.append(self.clauses.any_of(mine))
        for cell in self._cells:
            self.clauses.at_most_one([self._at[half, cell] for half in self._terrain])
        self._together = dict(self._pairs())
        for half, terrain in self._terrain.items():
            linked = [literal for pair, literal in self._together.items() if half in pair and pair[0] != pair[1]]
            if linked:
                some = self.clauses.any_of(linked)
                for cell in self._cells:
                    near = [self._of[terrain, there] for there in beside(cell) if there in inside]
                    self.clauses.add(-some, -self._at[half, cell], *near)
        lacking = [-literal for (half, _), literal in self._together.items() for _ in range(self._crowns(half))]
        self.clauses.at_most(lacking, len(lacking) - target)

    def _crowns(self, half: _Half) -> int:
        domino = self._dominoes[half[0]]
        return (domino.right if half[1] else domino.left).crowns

    def _pairs(self) -> Iterator[tuple[tuple[_Half, _Half], int]]:
        """Each half with crowns and each of its terrain, itself among them: a literal that both are in one area."""
        for one, terrain in self._terrain.items():
            for other in [half for half, mine in self._terrain.items() if mine == terrain and self._crowns(one)]:
                literal = self.clauses.new()
                self.clauses.add(-literal, self._laid[one[0]])
                self.clauses.add(-literal, self._laid[other[0]])
                yield (one, other), literal

    def kingdom(self, model: Collection[int]) -> tuple[Placed, ...]:
        """That the model is, if nothing cuts it: its dominoes in an order in which they may be placed."""
        return in_order(self.placed(model))

    def placed(self, model: Collection[int]) -> list[Placed]:
        """The dominoes of a model."""
        return [
            Placed(self._dominoes[i], left, right)
            for (i, left, right), literal in self._places.items()
            if literal in model
        ]

    def cuts(self, model: Collection[int]) -> None:
        """Adds the clauses that the model breaks, as it is no kingdom of so many points."""
        where = {half: cell for (half, cell), literal in self._at.items() if literal in model}
        halves = {cell: half for half, cell in where.items()}
        areas = {half: self._area(half, where, halves) for half in where}
        for (one, other), literal in self._together.items():
            if literal in model and where[other] not in areas[one]:
                self._cut(one, other, literal, areas[one])
        self._reach(self.placed(model))

    def _area(self, half: _Half, where: dict[_Half, Cell], halves: dict[Cell, _Half]) -> frozenset[Cell]:
        area, todo = {where[half]}, [where[half]]
        while todo:
            for cell in beside(todo.pop()):
                if cell not in area and cell in halves and self._terrain[halves[cell]] == self._terrain[half]:
                    area.add(cell)
                    todo.append(cell)
        return frozenset(area)

    def _cut(self, one: _Half, other: _Half, together: int, area: frozenset[Cell]) -> None:
        """With one in the area and the other not, they are together only if the area grows over its rim."""
        terrain = self._terrain[one]
        rim = {cell for inner in area for cell in beside(inner)} - area
        grown = [self._of[terrain, cell] for cell in sorted(rim) if (terrain, cell) in self._of]
        there = [self._at[other, cell] for cell in sorted(area)]
        for cell in sorted(area):
            self.clauses.add(-together, -self._at[one, cell], *there, *grown)

    def _reach(self, placed: list[Placed]) -> None:
        """Dominoes that cannot be laid lie elsewhere, or there is more beside one of them."""
        lost = [each for each in placed if each not in in_order(placed)]
        if not lost:
            return
        taken = {cell for each in lost for cell, _ in each.squares()}
        numbers = {domino.number: i for i, domino in enumerate(self._dominoes)}
        elsewhere = [-self._places[numbers[each.domino.number], each.left, each.right] for each in lost]
        beyond = {
            self._of[half.terrain, near]
            for each in lost
            for cell, half in each.squares()
            for near in beside(cell)
            if near not in taken and (half.terrain, near) in self._of
        }
        self.clauses.add(*elsewhere, *sorted(beyond))
