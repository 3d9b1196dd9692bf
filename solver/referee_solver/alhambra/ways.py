"""The question "is there a way of this many rebuild turns?" as clauses, stated from the rule texts.

A layout for every turn, each obeying the rules of building; from one to the next at most one cell changes, and no tile
lies on two cells. So whatever is laid comes from the reserve: on the board before, it would have lain elsewhere, and
only one cell changes.

What a number of turns leaves no room for is left out. ``differing`` cells, those where start and goal differ, take a
turn each; what is over is slack. A cell that has the same in start and goal takes two turns or none; a cell that has
neither two or none as well, and hangs, from the nearest that has one, on a chain of such cells. As every turn changes
one cell, the cells that differ from the goal are never more than the turns that are left; that is stated, too, as
clauses cannot count by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from referee.games.game import Cell
from referee_solver.alhambra import cuts
from referee_solver.alhambra.judge import FOUNTAIN, beside
from referee_solver.cnf import FALSE, TRUE, Clauses, is_true
from referee_solver.sat import Sat
from referee_solver.z3run import Budget

Tile = tuple[str, int]
"""A name and its walls, bit ``1 << side``, sides clockwise from the north."""

Tiles = Mapping[Cell, Tile]


def way(start: Tiles, reserve: Sequence[Tile], goal: Tiles, turns: int, budget: Budget) -> Sequence[Tiles] | None:
    """Return layouts from the start to the goal, each a legal rebuild of the one before, in at most ``turns`` turns.

    None if Z3 refutes that there are any. Raise ``OutOfBudget``, ``SolverFailed``.
    """
    question = _Question(start, reserve, goal, turns, budget)
    sat = Sat(question.clauses)
    while (model := sat.solve(budget)) is not None:
        layouts = [question.layout(turn, model) for turn in range(turns + 1)]
        if not question.mend(layouts):
            return layouts
    return None


Where = TypeVar("Where")
What = TypeVar("What")


def differing(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> list[Where]:
    """Return cells that a layout and the goal have different things on."""
    wrong = [cell for cell, tile in tiles.items() if goal.get(cell) != tile]
    wrong += [cell for cell in goal if cell not in tiles]
    return wrong


def circles(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> list[list[Where]]:
    """Return sets of cells each of which has the tile that the one before wants: whichever changes first cannot have
    its own yet, so one of them changes twice.
    """
    where = {tile: cell for cell, tile in tiles.items() if goal.get(cell) != tile}
    ways = {cell: where[goal[cell]] for cell in where.values() if cell in goal and goal[cell] in where}
    found, seen = [], set()
    for first in ways:
        path, here = [], first
        while here in ways and here not in seen:
            seen.add(here)
            path.append(here)
            here = ways[here]
        if here in path:
            found.append(path[path.index(here) :])
    return found


def least(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> int:
    """Return a bound of the turns to the goal that no turn lowers by more than one: a turn for each cell that differs,
    and one more for each circle.
    """
    return len(differing(tiles, goal)) + len(circles(tiles, goal))


class _Question:
    def __init__(self, start: Tiles, reserve: Sequence[Tile], goal: Tiles, turns: int, budget: Budget) -> None:
        self.clauses = Clauses()
        self.turns = turns
        self.start, self.goal = start, goal
        self.tiles = sorted({*start.values(), *reserve})
        self.circles = circles(start, goal)
        self.slack = turns - least(start, goal)
        self.choices = self._choices()
        budget.state((turns + 1) * sum(map(len, self.choices.values())))
        self._on: dict[tuple[int, Cell], dict[Tile | None, int]] = {}
        for turn in range(turns + 1):
            for cell in self.choices:
                self._on[turn, cell] = self._contents(turn, cell)
        self._occupied = {(turn, cell): -on[None] if None in on else TRUE for (turn, cell), on in self._on.items()}
        self._wall = {
            (turn, cell, side): self.clauses.any_of([lit for tile, lit in on.items() if tile and tile[1] >> side & 1])
            for (turn, cell), on in self._on.items()
            for side in range(4)
        }
        for turn in range(1, turns):
            self._building(turn)
        self._changes()
        self._counting()
        self._detours()
        if (not turns and start != goal) or not {*goal.values()} <= {*self.tiles}:
            self.clauses.add(FALSE)

    def _choices(self) -> dict[Cell, list[Tile | None]]:
        """Return what may ever lie on each cell that a tile may ever lie on."""
        anything = [*self.tiles, None]
        found: dict[Cell, list[Tile | None]] = {}
        ends = {*self.start, *self.goal}
        twice = {cell for circle in self.circles for cell in circle}
        for cell in sorted(ends):
            first, last = self.start.get(cell), self.goal.get(cell)
            if first == last:
                found[cell] = list(anything) if self.slack >= 2 else [first]
            else:
                found[cell] = list(anything) if self.slack + (cell in twice) >= 1 else [first, last]
        edge = ends | {FOUNTAIN}
        for _ in range(self.slack // 2):
            edge = {beside(cell, side) for cell in edge for side in range(4)} - set(found) - {FOUNTAIN}
            found |= {cell: list(anything) for cell in sorted(edge)}
        return found

    def _contents(self, turn: int, cell: Cell) -> dict[Tile | None, int]:
        """Return a literal for each thing that may be on the cell after this many turns, exactly one of them true."""
        choices = self.choices[cell]
        if turn in (0, self.turns):
            choices = [(self.goal if turn else self.start).get(cell)]
        if len(choices) == 1:
            return {choices[0]: TRUE}
        on: dict[Tile | None, int] = {what: self.clauses.new() for what in choices}
        if len(choices) == 2:
            on[choices[1]] = -on[choices[0]]
        else:
            self.clauses.at_most_one(list(on.values()))
            self.clauses.add(*on.values())
        return on

    def _there(self, turn: int, cell: Cell) -> int:
        return TRUE if cell == FOUNTAIN else self._occupied.get((turn, cell), FALSE)

    def _walled(self, turn: int, cell: Cell, side: int) -> int:
        return self._wall.get((turn, cell, side), FALSE)

    def _building(self, turn: int) -> None:
        """Walls agree, each tile lies once; and of ways the first steps."""
        clauses = self.clauses
        for cell in (FOUNTAIN, *self.choices):
            for side in (1, 2):
                other = beside(cell, side)
                one, two = self._walled(turn, cell, side), self._walled(turn, other, side + 2 & 3)
                clauses.add(-one, -self._there(turn, other), two)
                clauses.add(-two, -self._there(turn, cell), one)
        for tile in self.tiles:
            clauses.at_most_one([self._on[turn, cell][tile] for cell in self.choices if tile in self._on[turn, cell]])
        for cell in self.choices:
            around = [self._there(turn, beside(cell, side)) for side in range(4)]
            for what, literal in self._on[turn, cell].items():
                if what is None:
                    clauses.add(-literal, *(-near for near in around))
                else:
                    clauses.add(-literal, *(near for side, near in enumerate(around) if not what[1] >> side & 1))

    def _changes(self) -> None:
        """State that from one layout to the next at most one cell changes."""
        for turn in range(self.turns):
            changes = []
            for cell in self.choices:
                before, after = self._on[turn, cell], self._on[turn + 1, cell]
                if before == after:
                    continue
                changes.append(change := self.clauses.new())
                for what in dict.fromkeys([*before, *after]):
                    one, two = before.get(what, FALSE), after.get(what, FALSE)
                    self.clauses.add(-one, two, change)
                    self.clauses.add(one, -two, change)
            self.clauses.at_most_one(changes)

    def _counting(self) -> None:
        """State that no more cells differ from the goal than there are turns left."""
        cells = [cell for cell, choices in self.choices.items() if len(choices) > 1]
        for turn in range(1, self.turns):
            same = [self._on[turn, cell].get(self.goal.get(cell), FALSE) for cell in cells]
            whole = []
            for circle in self.circles:
                whole.append(still := self.clauses.new())
                self.clauses.add(still, *(-self._on[turn, cell][self.start[cell]] for cell in circle))
            self.clauses.at_most([*(-literal for literal in same), *whole], self.turns - turn)

    def _detours(self) -> None:
        """State that a cell which does not change once, from what it has to what it wants, takes turns that are over.

        One at least if it differs, two if not. What follows anyway is said here in one place for all turns, so that
        whoever searches can begin with the few cells that go a way of their own.
        """
        over = []
        for cell, choices in self.choices.items():
            if len(choices) == 1:
                continue
            first, last = self.start.get(cell), self.goal.get(cell)
            over += [detour := self.clauses.new()] * (1 if first != last else 2)
            for turn in range(self.turns):
                here, then = (self._on[at, cell] for at in (turn, turn + 1))
                self.clauses.add(detour, here.get(first, FALSE), here.get(last, FALSE))
                self.clauses.add(detour, -here.get(last, FALSE), then.get(last, FALSE))
        self.clauses.at_most(over, self.turns - len(differing(self.start, self.goal)))

    # Reading models

    def layout(self, turn: int, model: frozenset[int]) -> dict[Cell, Tile]:
        """Return the layout after this many turns."""
        return {
            cell: tile
            for cell in self.choices
            for tile, literal in self._on[turn, cell].items()
            if tile is not None and is_true(literal, model)
        }

    def mend(self, layouts: Sequence[Tiles]) -> bool:
        """Add, for all turns, the instances of the rules about ways that the layouts break; whether there are any."""
        mended = False
        for layout in layouts:
            masks = {FOUNTAIN: 0} | {cell: tile[1] for cell, tile in layout.items()}
            if any(self._lacking(masks, 0)):
                mended = True
                for turn in range(1, self.turns):
                    for clause in self._lacking(masks, turn):
                        self.clauses.add(*clause)
        return mended

    def _lacking(self, masks: Mapping[Cell, int], turn: int) -> Iterator[list[int]]:
        """Yield the instances that a layout breaks, stated for the layout after this many turns."""
        occupied = partial(self._there, turn)
        for pocket in cuts.pockets(set(masks)):
            yield pocket.clause(occupied)
        for cut_off in cuts.cut_off(masks):
            yield cut_off.clause(occupied, partial(self._walled, turn), lambda _: FALSE)
