"""The question "is there a better end of a turn?" as clauses, stated from the rule texts.

A turn is described by its last layout and by the time when each tile was placed. Which rebuilds are legal is a fact of
the layout, each judged as a whole layout. After it every bought tile has a time, and placements in the order of their
times are legal exactly if

- walls agree in the last layout (ALH-A2);
- at its time a tile has an open side to one that lay there before (ALH-A3, ALH-A4);
- just after its time a neighbour of its cell is empty, and the empty cells of the last layout hang together (ALH-A5,
  ALH-A6): taken back one by one, each cell then joins the empty ones, so that these hang together at any time.

Two tiles may have the same time: then either may be first. The outline of a legal layout is one closed curve (ALH-B4),
so outer walled sides among which at most one is not followed by another of them are one wall (ALH-B1 to ALH-B7).

That the empty cells hang together is not stated in general. A model in which some are shut in is answered with the
clause that forbids this pocket with this rim, until there is a legal turn or none at all: all that follows from
instances of a rule follows from the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.games.game import Cell
from referee_solver.alhambra import cuts
from referee_solver.alhambra.judge import FOUNTAIN, IllegalLayout, beside, wall_length
from referee_solver.cnf import FALSE, TRUE, Clauses, is_true
from referee_solver.z3run import Budget, Sat

Masks = Mapping[Cell, int]
"""Walls by cell, bit ``1 << side``, sides clockwise from the north; the fountain, without walls, is implied."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A cell and the walls that it has then: none at all if the tile was removed."""

    at: Cell
    mask: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A legal turn: the rebuild, and the bought tiles that are placed, by their number, in order."""

    rebuild: Rebuild | None
    placed: tuple[tuple[int, Cell], ...]


def wall_or_none(masks: Masks) -> int | None:
    """Return length of the longest wall; None if the layout breaks a rule of building."""
    try:
        return wall_length(masks)
    except IllegalLayout:
        return None


def rebuilds(layout: Masks, reserve: Iterable[int]) -> Iterator[Rebuild]:
    """Yield every legal rebuild (ALH-D1 to ALH-D6) with a tile of each kind in the reserve."""
    kinds = sorted(set(reserve))
    for cell in layout:
        rest = {other: mask for other, mask in layout.items() if other != cell}
        if wall_or_none(rest) is not None:
            yield Rebuild(cell, None)
    for cell in [*layout, *sorted(_beside(layout, 1))]:
        for mask in kinds:
            if _fits(layout, cell, mask) and wall_or_none({**layout, cell: mask}) is not None:
                yield Rebuild(cell, mask)


def improvement(
    layout: Masks, reserve: Sequence[int], bought: Sequence[int], best: tuple[int, int, bool], budget: Budget
) -> Outcome | None:
    """Return a turn with a longer wall than ``best`` = (wall, tiles, whether it has a rebuild), or with as long a wall
    and more tiles, or with both equal and no rebuild; None if Z3 refutes that there is one.

    Raise ``referee_solver.z3run.OutOfBudget``, ``referee_solver.z3run.SolverFailed``.
    """
    question = _Question(layout, reserve, bought, budget)
    question.better(*best)
    sat = Sat(question.clauses)
    while (model := sat.solve(budget)) is not None:
        if not (lacking := question.lacking(model)):
            return question.outcome(model)
        for clause in lacking:
            question.clauses.add(*clause)
    return None


class _Question:
    """The literals: ``rebuild`` and ``place`` choose, ``there`` and ``wall`` are the last layout, ``run`` its wall."""

    def __init__(self, layout: Masks, reserve: Sequence[int], bought: Sequence[int], budget: Budget) -> None:
        self.clauses = Clauses()
        self.layout = layout
        self.bought = bought
        self.rebuild = {each: self.clauses.new() for each in rebuilds(layout, reserve)}
        self.clauses.at_most_one(list(self.rebuild.values()))
        self.removed = {each.at: literal for each, literal in self.rebuild.items() if each.mask is None}
        distance = _beside(layout, len(bought) + bool(reserve))
        budget.state(len(distance) * (1 + len(bought)) ** 2)
        self.free = sorted(distance)
        self.place = {
            (number, cell): self.clauses.new() for cell in (*self.free, *self.removed) for number in range(len(bought))
        }
        self.placed = [
            self.clauses.any_of([literal for (number, _), literal in self.place.items() if number == each])
            for each in range(len(bought))
        ]
        for each in range(len(bought)):
            self.clauses.at_most_one([literal for (number, _), literal in self.place.items() if number == each])
        self.there: dict[Cell, int] = {FOUNTAIN: TRUE}
        self.wall: dict[tuple[Cell, int], int] = {(FOUNTAIN, side): FALSE for side in range(4)}
        self.by: dict[Cell, list[int]] = {FOUNTAIN: [TRUE] * (len(bought) + 1)}
        """Literals by cell: a tile lies on it after the rebuild, and after each placement."""
        for cell in layout:
            self._old(cell)
        for cell in self.free:
            self._free(cell, distance[cell])
        self._walls_agree()
        for (number, cell), literal in self.place.items():
            self._in_time(bought[number], cell, literal)
        self.run = self._outline()
        self.counted = self._counted()

    def _choices(self, cell: Cell) -> list[tuple[int, int]]:
        """Return what may be laid on the cell during the turn: literal and walls."""
        found = [(literal, each.mask) for each, literal in self.rebuild.items() if each.at == cell]
        found += [(self.place[n, cell], mask) for n, mask in enumerate(self.bought) if (n, cell) in self.place]
        return [(literal, mask) for literal, mask in found if mask is not None]

    def _old(self, cell: Cell) -> None:
        """State a cell with a tile that may be swapped, or removed and filled again with a bought tile."""
        add, removed = self.clauses.add, self.removed.get(cell, FALSE)
        placed = [literal for (_, at), literal in self.place.items() if at == cell] if removed != FALSE else []
        choices = self._choices(cell)
        self.clauses.at_most_one(placed)
        for literal in placed:
            add(-literal, removed)
        there = self.there[cell] = TRUE if removed == FALSE else self.clauses.any_of([-removed, *placed])
        self._times(cell, -removed, there, 0)
        for side in range(4):
            before = TRUE if self.layout[cell] >> side & 1 else FALSE
            if removed == FALSE and not choices:
                self.wall[cell, side] = before
                continue
            wall = self.wall[cell, side] = self.clauses.new()
            for literal, mask in choices:
                add(-literal, wall if mask >> side & 1 else -wall)
            add(-removed, *placed, -wall)
            add(removed, *(literal for literal, _ in choices), wall if before == TRUE else -wall)

    def _free(self, cell: Cell, distance: int) -> None:
        """State an empty cell: laying a tile there takes as many tiles as its distance."""
        choices = self._choices(cell)
        self.clauses.at_most_one([literal for literal, _ in choices])
        there = self.there[cell] = self.clauses.any_of([literal for literal, _ in choices])
        added = self.clauses.any_of([literal for each, literal in self.rebuild.items() if each.at == cell])
        self._times(cell, added, there, distance - 1)
        for side in range(4):
            self.wall[cell, side] = self.clauses.any_of([literal for literal, mask in choices if mask >> side & 1])

    def _times(self, cell: Cell, first: int, last: int, earliest: int) -> None:
        times = len(self.bought)
        if first == TRUE:
            self.by[cell] = [TRUE] * (times + 1)
            return
        between = [self.clauses.new() if time >= earliest else FALSE for time in range(1, times)]
        row = self.by[cell] = [first, *between, last] if times else [first]
        for one, other in pairwise(row):
            self.clauses.add(-one, other)

    def _in_time(self, mask: int, cell: Cell, placed: int) -> None:
        """State the open side to a tile that lay there before, and a neighbour that is empty just after."""
        here = self.by[cell]
        around = [beside(cell, side) for side in range(4)]
        for time in range(1, len(here)):
            if here[time] == FALSE:
                continue
            now = (-placed, -here[time], here[time - 1])
            ways = [self._is_there(near, time - 1) for side, near in enumerate(around) if not mask >> side & 1]
            self.clauses.add(*now, *ways)
            self.clauses.add(*now, *(-self._is_there(near, time) for near in around))

    def _is_there(self, cell: Cell, time: int) -> int:
        return self.by[cell][time] if cell in self.by else FALSE

    def _walls_agree(self) -> None:
        for cell in self.there:
            for side in (1, 2):
                other = beside(cell, side)
                if other in self.there:
                    one, two = self.wall[cell, side], self.wall[other, (side + 2) % 4]
                    self.clauses.add(-one, -self.there[other], two)
                    self.clauses.add(-two, -self.there[cell], one)

    # The wall

    def _outline(self) -> dict[tuple[Cell, int], int]:
        """Return the outer walled sides; at most one of them is followed, clockwise, by a side that is none of them."""
        clauses, there = self.clauses, self.there
        run = {
            (cell, side): clauses.new()
            for (cell, side), wall in self.wall.items()
            if wall != FALSE and there.get(beside(cell, side)) != TRUE
        }
        ends = []
        for (cell, side), literal in run.items():
            clauses.add(-literal, self.wall[cell, side])
            clauses.add(-literal, -there.get(beside(cell, side), FALSE))
            ends.append(end := clauses.new())
            right = (side + 1) % 4
            ahead = beside(cell, right)
            across = beside(ahead, side)
            near, far = there.get(ahead, FALSE), there.get(across, FALSE)
            clauses.add(-literal, end, near, run.get((cell, right), FALSE))
            clauses.add(-literal, end, -near, far, run.get((ahead, side), FALSE))
            clauses.add(-literal, end, -near, -far, run.get((across, (side - 1) % 4), FALSE))
        clauses.at_most_one(ends)
        return run

    def _counted(self) -> list[int]:
        """Return a literal for each side that may be in the wall: of cells that had a tile, of the added and each
        bought tile.

        So few of them suffice, as a tile has four sides wherever it lies.
        """
        clauses, counted = self.clauses, []
        for cell in self.layout:
            for side in range(4):
                if (literal := self.run.get((cell, side))) is None:
                    continue
                if cell in self.removed:
                    kept = clauses.new()
                    clauses.add(-kept, literal)
                    clauses.add(-kept, -self.removed[cell])
                    literal = kept
                counted.append(literal)
        added = [(each.at, literal) for each, literal in self.rebuild.items() if each.at not in self.layout]
        tiles = [(0b1111, clauses.any_of([literal for _, literal in added]), added)] if added else []
        for number, mask in enumerate(self.bought):
            places = [(cell, literal) for (n, cell), literal in self.place.items() if n == number]
            tiles.append((mask, self.placed[number], places))
        for mask, laid, places in tiles:
            for side in range(4):
                if mask >> side & 1:
                    counted.append(one := clauses.new())
                    clauses.add(-one, laid)
                    for cell, literal in places:
                        clauses.add(-one, -literal, self.run.get((cell, side), FALSE))
        return counted

    def better(self, wall: int, tiles: int, rebuilt: bool) -> None:
        """Ask for a longer wall, or as long a one and more tiles, or both the same and no rebuild."""
        clauses = self.clauses
        sides = clauses.count(self.counted, wall + 1, up=False)
        added = clauses.any_of([literal for each, literal in self.rebuild.items() if each.at not in self.layout])
        removed = clauses.any_of(list(self.removed.values()))
        more = max(0, tiles + 1 - (len(self.layout) - 1))
        count = clauses.count([*self.placed, added, -removed], more, up=False)
        longer, fuller, plainer = clauses.new(), clauses.new(), clauses.new() if rebuilt else FALSE
        clauses.add(sides[wall])
        clauses.add(longer, fuller, plainer)
        clauses.add(-longer, sides[wall + 1])
        clauses.add(-fuller, count[more])
        if rebuilt:
            clauses.add(-plainer, count[max(0, more - 1)])
            clauses.add(-plainer, -clauses.any_of(list(self.rebuild.values())))

    # Reading models

    def lacking(self, model: frozenset[int]) -> list[list[int]]:
        """Return the instances of ALH-A5 and ALH-A6 that the model breaks."""
        there = {cell for cell, literal in self.there.items() if is_true(literal, model)}
        return [pocket.clause(lambda cell: self.there.get(cell, FALSE)) for pocket in cuts.pockets(there)]

    def outcome(self, model: frozenset[int]) -> Outcome:
        """Return the turn of a model that lacks nothing."""
        rebuild = next((each for each, literal in self.rebuild.items() if literal in model), None)
        placed = []
        for (number, cell), literal in self.place.items():
            if literal in model:
                row = self.by[cell]
                placed.append((next(time for time, by in enumerate(row) if is_true(by, model)), number, cell))
        return Outcome(rebuild, tuple((number, cell) for _, number, cell in sorted(placed)))


def _beside(layout: Masks, most: int) -> dict[Cell, int]:
    """Return the empty cells within ``most`` steps of a tile, and their distances."""
    taken = {FOUNTAIN, *layout}
    found: dict[Cell, int] = {}
    edge = taken
    for step in range(1, most + 1):
        edge = {beside(cell, side) for cell in edge for side in range(4)} - taken - set(found)
        found |= dict.fromkeys(edge, step)
    return found


def _fits(layout: Masks, cell: Cell, mask: int) -> bool:
    """ALH-A2 for one cell."""
    tiles = {FOUNTAIN: 0, **layout}
    for side in range(4):
        there = beside(cell, side)
        if there in tiles and tiles[there] >> (side + 2) % 4 & 1 != mask >> side & 1:
            return False
    return True
