"""The question whether a frame with the castle on one cell holds a kingdom of a given number of points, as clauses.

The points are the bound less what is lacking: a crown is worth a point for every square of its area, so it lacks one
for every square of its terrain that is not in its area or not laid at all. The lacking points are counted.

That areas hang together, and that every domino can be reached from the castle, is not stated in general: a model that
breaks it is answered with the clause that forbids it, until a model is a kingdom or there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import Domino
from referee.wire.certificates.kingdomino.claims import CASTLE, Placed, beside
from referee_solver.cnf import Clauses
from referee_solver.kingdomino.annealing import in_order

_Half = tuple[int, int]
"""A domino, and one of its halves."""


class Question:
    """``clauses`` have a model if there is such a kingdom; ``cuts`` adds what a model lacks to be one."""

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
        self._laid = []
        for i in range(len(dominoes)):
            mine = [literal for (k, _, _), literal in self._places.items() if k == i]
            self.clauses.at_most_one(mine)
            self._laid.append(self.clauses.any_of(mine))
        for cell in self._cells:
            self.clauses.at_most_one([self._at[half, cell] for half in self._terrain])
        self._touches = [
            self.clauses.any_of([self._at[(i, k), cell] for k in (0, 1) for cell in beside(CASTLE) if cell in inside])
            for i in range(len(dominoes))
        ]
        self._side = dict(self._sides())
        self._together = dict(self._pairs())
        for (one, other), literal in self._together.items():
            if one != other:
                self._grow(literal, {one})
                self._grow(literal, {other})
        for i in range(len(dominoes)):
            self._reach({i})
        lacking = [
            -literal for pair, literal in self._together.items() for half in {*pair} for _ in range(self._crowns(half))
        ]
        self.clauses.at_most(lacking, len(lacking) - target)

    def _crowns(self, half: _Half) -> int:
        domino = self._dominoes[half[0]]
        return (domino.right if half[1] else domino.left).crowns

    def _sides(self) -> Iterator[tuple[tuple[_Half, _Half], int]]:
        """Yield two halves of a terrain: a literal that implies that they have a side in common."""
        for one, other in combinations(self._terrain, 2):
            if self._terrain[one] == self._terrain[other]:
                if one[0] == other[0]:
                    yield (one, other), self._laid[one[0]]
                    continue
                literal = self.clauses.new()
                self.clauses.add(-literal, self._laid[one[0]])
                for cell in self._cells:
                    near = [self._at[other, there] for there in beside(cell) if (other, there) in self._at]
                    self.clauses.add(-literal, -self._at[one, cell], *near)
                yield (one, other), literal

    def _pairs(self) -> Iterator[tuple[tuple[_Half, _Half], int]]:
        """Two halves of a terrain, or one twice, with a crown: a literal that implies that they are in one area."""
        for one, other in combinations_with_replacement(self._terrain, 2):
            if self._terrain[one] == self._terrain[other] and (self._crowns(one) or self._crowns(other)):
                literal = self.clauses.new()
                self.clauses.add(-literal, self._laid[one[0]])
                self.clauses.add(-literal, self._laid[other[0]])
                yield (one, other), literal

    def _grow(self, together: int, area: Collection[_Half]) -> None:
        """State for two halves, one of them in the area: they are together only if it shares a side with more."""
        self.clauses.add(-together, *self._beyond(area))

    def _reach(self, lost: Collection[int]) -> None:
        """Dominoes that are laid touch the castle, or one of them has a side in common with others."""
        halves = [(i, k) for i in lost for k in (0, 1)]
        unlaid, touches = [-self._laid[i] for i in sorted(lost)], [self._touches[i] for i in sorted(lost)]
        self.clauses.add(*unlaid, *touches, *self._beyond(halves))

    def _beyond(self, halves: Collection[_Half]) -> list[int]:
        """Return literals: one of these halves shares a side with a half that is not among them."""
        return [literal for (one, other), literal in self._side.items() if (one in halves) != (other in halves)]

    def kingdom(self, model: Collection[int]) -> tuple[Placed, ...]:
        """Return the kingdom of a model that nothing cuts: its dominoes in an order in which they may be placed."""
        return in_order(self.placed(model))

    def placed(self, model: Collection[int]) -> list[Placed]:
        """Return the dominoes of a model."""
        return [
            Placed(self._dominoes[i], left, right)
            for (i, left, right), literal in self._places.items()
            if literal in model
        ]

    def cuts(self, model: Collection[int]) -> None:
        """Add the clauses that the model breaks because it is no kingdom of that many points."""
        halves = {cell: half for (half, cell), literal in self._at.items() if literal in model}
        areas = {half: self._area(cell, halves) for cell, half in halves.items()}
        for (one, other), literal in self._together.items():
            if literal in model and other not in areas[one]:
                self._grow(literal, areas[one])
                self._grow(literal, areas[other])
        placed = self.placed(model)
        laid = {each.domino.number for each in in_order(placed)}
        lost = {i for i, domino in enumerate(self._dominoes) if self._laid[i] in model and domino.number not in laid}
        if lost:
            self._reach(lost)

    def _area(self, cell: Cell, halves: dict[Cell, _Half]) -> set[_Half]:
        """Return the halves of the area."""
        terrain, seen, todo = self._terrain[halves[cell]], {cell}, [cell]
        while todo:
            for near in beside(todo.pop()):
                if near not in seen and near in halves and self._terrain[halves[near]] == terrain:
                    seen.add(near)
                    todo.append(near)
        return {halves[near] for near in seen}
