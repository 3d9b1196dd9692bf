"""The longest wall that some of the tiles can make: layouts from below, bounds from above, until they meet."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from referee.games.alhambra.tiles import parse_tile
from referee.games.game import Cell, InputError
from referee_solver.alhambra.cuts import around, pieces, pockets
from referee_solver.alhambra.judge import IllegalLayout, beside, wall_length
from referee_solver.alhambra.wall_clauses import Box, Masks, Question, boxes, masks_of
from referee_solver.alhambra.walls.proofs import SLICE, Asking
from referee_solver.alhambra.walls.winding import Losing, wind
from referee_solver.cnf import FALSE, Clauses, is_true
from referee_solver.z3run import UNLIMITED, Budget, OutOfBudget, Sat

_SLICES = 25
"""Pieces of work that one shape of a closed wall is worth."""

_TILE, _CLAUSE = 100, 30
"""The charges for a tile that is tried in winding and for a clause, in Z3's unit of work: they take about as long."""

_NARROW, _WIDE = 100, 1000
"""Widths of beams: of the first, and of those after it."""

_WINDING = 15_000
"""The charge for winding before anything is asked, for each tile squared: questions about more tiles take longer."""

_ROWS = 70_000
"""Rows of one length that are kept to refute a wall: about a tenth of a gigabyte."""

_CELLS = 1500
"""Cells of all places that are asked about in turn: about a gigabyte."""


@dataclass(frozen=True, slots=True)
class Wall:
    """The bounds on the longest wall so far."""

    best: int
    """Sides of the wall of the layout."""
    bound: int
    """No layout of the tiles has a longer wall; if there is a region, none with all tiles in it."""
    proven: bool
    """``best == bound``."""
    region: int | None
    """The bound is only about tiles within this many steps of the fountain; None: about all layouts."""
    layout: dict[Cell, str]
    """Names of tiles by cell."""
    done: bool
    """The search is over."""


def longest_wall(
    tiles: Sequence[str],
    *,
    seconds: float | None = None,
    rlimit: int | None = None,
    seed: int = 0,
    region: int | None = None,
) -> Iterator[Wall]:
    """Yield every improvement of the wall or of its bound, and at the end, with ``done``, the last result.

    Any of the tiles may be left out. ``rlimit`` limits the work, in Z3's unit: with it alone, and a seed, the answers
    are the same every time. ``seconds`` is a fuse. Without either the search runs until the wall is proven. Closing the
    iterator ends the search; a signal is heard within about half a second. With a region, the answer is about layouts
    with all tiles within ``region`` steps of the fountain.

    Raise ``InputError`` (a name that is no tile, or twice the same; no number of steps).
    """
    masks = masks_of(tiles)
    if region is not None and region < 0:
        raise InputError("region", f"expected a number of steps, 0 or more, got {region}")
    if region is not None and region >= len(tiles):
        region = None  # no tile gets farther
    return _Search(tiles, masks, Budget(rlimit, seconds), seed, region).run()


class _Search:
    """Layouts from below by winding and from models; the bound from above by questions without a model.

    All layouts lie in a box with ``w + h <= n + 2``, as they have ``n + 1`` cells that hang together. Each question is
    whether a box holds a wall of a number of sides: once at the bound, where yes ends the search and no in every box
    lowers the bound, and once halfway up to it, where a yes comes sooner.
    """

    def __init__(self, tiles: Sequence[str], masks: list[int], budget: Budget, seed: int, region: int | None) -> None:
        self.tiles = tiles
        self.masks = masks
        self.budget = budget
        self.seed = seed
        self.region = region
        self.best = 0
        self.layout: Masks = {}
        self.walls = self.bound = sum(mask.bit_count() for mask in masks)
        self.places: list[Box | int] = [*_likely(len(masks))] if region is None else [region]
        self.refuted = dict.fromkeys(self.places, self.bound + 1)
        """The least number of sides that no wall in a place has, by place."""
        self.asking: dict[tuple[Box | int, int], Asking] = {}

    def run(self) -> Iterator[Wall]:
        yield self._wall()
        with suppress(OutOfBudget):
            for improved in self._work():
                if improved:
                    yield self._wall()
                if self.best == self.bound or self.budget.spent:
                    break
        yield self._wall(done=True)

    def _work(self) -> Iterator[bool]:
        """Do a small piece of work for each item; yield whether it improved anything."""
        rng = random.Random(self.seed)  # noqa: S311 - a search, not a secret
        yield from self._wind(rng, _NARROW)
        if self.region is None:
            yield from self._close()
        yield from self._wind(rng, _NARROW, whole=False)
        yield from self._wind_on(rng, _WINDING * len(self.masks) ** 2)
        if self.region is None:
            yield from self._lose()
        effort = 0
        while True:
            effort += 1
            before = self.budget.left
            yield from self._ask_at(self.bound, effort, _CELLS)
            if (halfway := (self.best + self.bound + 1) // 2) < self.bound:
                yield from self._ask_at(halfway, effort, _CELLS // 4)
            yield from self._wind_on(rng, before - self.budget.left)

    def _wind_on(self, rng: random.Random, work: int) -> Iterator[bool]:
        until = self.budget.left - work
        while self.budget.left > until:
            yield from self._wind(rng, _WIDE)

    def _wind(self, rng: random.Random, width: int, *, whole: bool = True) -> Iterator[bool]:
        for tried, layout in wind(self.masks, rng, width, whole=whole):
            self.budget.left -= tried * _TILE
            yield self._found(layout)

    def _close(self) -> Iterator[bool]:
        """Yield walls that close and lack nothing. If there is none of a shape, that says nothing of other layouts."""
        for shape in shapes(self.masks):
            loop = Loop(self.masks, shape)
            for _ in range(_SLICES):
                layout = loop.step(self.budget, SLICE)
                yield layout is not None and self._found(layout)
                if loop.refuted or layout is not None:
                    break

    def _lose(self) -> Iterator[bool]:
        """Lower the bound as long as every row that would reach it can be laid."""
        while True:
            losing = Losing(self.masks, self.walls - self.bound, _ROWS)
            for tried, layout in losing.run():
                self.budget.left -= tried * _TILE
                yield self._found(layout)
            if not losing.refuted:
                return
            self.refuted = {place: min(least, self.bound) for place, least in self.refuted.items()}
            yield self._lower()

    def _ask_at(self, target: int, effort: int, cells: int) -> Iterator[bool]:
        """Ask the open places, the likely ones first and longer, up to this many cells in all: they take memory."""
        places = [place for place in self.places if self.refuted[place] > target and self._holds(place, target)]
        yield self._lower()
        for i, place in enumerate(places):
            cells -= _size(place)
            if i and cells < 0:
                break
            for _ in range(effort * max(1, 4 - i // 2)):
                if not self.best < target <= self.bound or self.refuted[place] <= target:
                    break
                yield self._ask(place, target)
        for key in [key for key in self.asking if key[1] != self.bound or self.refuted[key[0]] <= key[1]]:
            del self.asking[key]

    def _holds(self, place: Box | int, target: int) -> bool:
        """Return whether the place is large enough for as many tiles as the wall needs; if not, that refutes it."""
        walls = sorted((mask.bit_count() for mask in self.masks), reverse=True)
        needed = next(count for count in range(len(walls) + 1) if sum(walls[:count]) >= target)
        if _size(place) > needed:
            return True
        self.refuted[place] = target
        return False

    def _ask(self, place: Box | int, target: int) -> bool:
        asking = self.asking.get((place, target))
        if asking is None:
            question = Question(self.masks, target, place)
            self.budget.left -= len(question.clauses) * _CLAUSE
            asking = self.asking[place, target] = Asking(question, self.seed)
        found = asking.step(self.budget)
        if asking.refuted:
            self.refuted[place] = target
            del self.asking[place, target]
            return self._lower()
        return any([self._found(layout) for layout in found])  # noqa: C419 - all of them

    def _lower(self) -> bool:
        bound = max(self.refuted.values()) - 1
        lower, self.bound = bound < self.bound, max(bound, self.best)
        return lower

    def _found(self, masks: Masks) -> bool:
        """Return whether this is a layout of the tiles, and the best so far."""
        if Counter(masks.values()) - Counter(self.masks):
            return False
        if self.region is not None and any(abs(x) + abs(y) > self.region for x, y in masks):
            return False
        try:
            length = wall_length(masks)
        except IllegalLayout:
            return False
        if length <= self.best:
            return False
        self.best, self.layout = length, dict(masks)
        return True

    def _wall(self, *, done: bool = False) -> Wall:
        names: dict[int, list[str]] = {}
        for tile in sorted(self.tiles, reverse=True):
            names.setdefault(parse_tile(tile).walls, []).append(tile)
        layout = {cell: names[mask].pop() for cell, mask in sorted(self.layout.items())}
        return Wall(self.best, self.bound, self.best == self.bound, self.region, layout, done)


def _size(place: Box | int) -> int:
    return 2 * place * (place + 1) + 1 if isinstance(place, int) else place[0] * place[1]


def _likely(size: int) -> list[Box]:
    """Return the boxes, the likely ones first."""

    def unlikely(width: int, height: int) -> float:
        return abs(math.log(width * height / (1.75 * (size + 1)))) + 0.7 * abs(math.log(width / height))

    return sorted(boxes(size), key=lambda box: (unlikely(*box), box))


# Walls that close: every outer side carries one, and no wall of the tiles is anywhere else.
#
# Such a wall has all the walls that there are, so it is the longest. Whether a side is walled is then the same as
# whether the cell across it is empty: the question is about the shape alone. It is asked for shapes that are the same
# when they are turned about their middle, which needs tiles that are; a shape is then known from a part of it.

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
            # A piece has not all the tiles with walls, as the others have outer sides, too. So it continues somewhere.
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
