"""The question whether a wall has this many sides, as clauses, and evidence that none has. Imports no solver.

Tiles are counted by their walls: of the 54 there are 13 kinds. In the names below, ``walls`` is the sum of the walls
of all tiles, and the slack of a question is what a wall of the length asked for may leave out of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from referee.games.alhambra.tiles import parse_tile
from referee.games.game import Cell, InputError
from referee_solver import drat
from referee_solver.alhambra.cuts import CutOff, Pocket, cut_off, moved, pockets, walks
from referee_solver.alhambra.judge import FOUNTAIN, Side, beside, following
from referee_solver.cnf import FALSE, TRUE, Clauses

Masks = dict[Cell, int]
"""Walls by cell, bit ``1 << side``; the fountain left out."""

Box = tuple[int, int]
"""Width and height, in cells."""

_SMALL = 9
"""The most cells of a cut that is worth forbidding in every place at once."""


@dataclass(frozen=True, slots=True)
class Closed:
    """ALH-B6: a wall that closes on itself is the whole wall.

    Holds for sides of which each follows the one before, and the first the last, if they are fewer than the wall asked
    for: if all of them are walled outer sides, one after the other is the outline, and there is no other wall.
    """

    sides: tuple[Side, ...]

    def span(self) -> set[Cell]:
        """Return the cells that the clause is about."""
        return {cell for cell, _ in self.sides}

    def moved(self, by: Cell) -> Closed:
        """Return the same cut elsewhere."""
        return Closed(tuple((moved(cell, by), side) for cell, side in self.sides))

    def closes(self) -> bool:
        """Return whether each side can follow the one before: round an inner corner, straight on, or round its own
        cell.
        """
        for (cell, side), after in zip(self.sides, self.sides[1:] + self.sides[:1], strict=True):
            right = (side + 1) % 4
            ahead = beside(cell, right)
            if after not in ((cell, right), (ahead, side), (beside(ahead, side), (side - 1) % 4)):
                return False
        return bool(self.sides)


Cut = Pocket | CutOff | Closed


class Question:
    """Clauses that every layout with a wall of ``target`` sides or more satisfies, and the way back from a model.

    Where the layouts lie is either a box, which they fill from side to side, or a region, a number of steps from the
    fountain. In a box it does not matter where the fountain is: it is the first cell without a wall.

    Passages and holes are stated only as far as it is cheap: ``lacks`` finds the cuts that a model lacks, ``add`` adds
    them. Every clause holds for every layout asked for, so no model means no layout, whatever is left out. The same
    tiles, target, place and cuts make the same clauses.
    """

    def __init__(self, masks: Sequence[int], target: int, where: Box | int) -> None:
        self.target = target
        self.where = where
        self.stock = Counter(masks)
        self.stock[0] += 1  # the fountain
        self.walls = sum(mask.bit_count() for mask in masks)
        self.clauses = Clauses()
        self.cuts: list[Cut] = []
        """The cuts that were added."""
        self.cells = list(_ball(where) if isinstance(where, int) else _box(where))
        self._tile = {(cell, mask): self.clauses.new() for cell in self.cells for mask in sorted(self.stock)}
        self._occupied = {cell: self.clauses.new() for cell in self.cells}
        sides = [(cell, side) for cell in self.cells for side in range(4)]
        self._wall = {side: self.clauses.new() for side in sides}
        self._run = {side: self.clauses.new() for side in sides}
        self._passage = {(cell, side): self.clauses.new() for cell, side in sides if side in (1, 2)}
        self._start = {side: self.clauses.new() for side in sides}
        self._end = {side: self.clauses.new() for side in sides}
        self._fountain = {} if isinstance(where, int) else {cell: self.clauses.new() for cell in self.cells}
        self._building()
        self._the_wall()
        self._counting()
        self._place()

    # Building

    def _building(self) -> None:
        for cell in self.cells:
            kinds = [self._tile[cell, mask] for mask in sorted(self.stock)]
            here = self._occupied[cell]
            self.clauses.add(-here, *kinds)
            for i, one in enumerate(kinds):
                self.clauses.add(-one, here)
                for second in kinds[i + 1 :]:  # in pairs: they are many in a model's search
                    self.clauses.add(-one, -second)
            for side in range(4):
                wall = self._wall[cell, side]
                self.clauses.add(-wall, *(self._tile[cell, mask] for mask in sorted(self.stock) if mask >> side & 1))
                for mask in sorted(self.stock):
                    self.clauses.add(-self._tile[cell, mask], wall if mask >> side & 1 else -wall)
                there = self.occupied(beside(cell, side))
                if side in (1, 2) and there != FALSE:
                    meets = self._wall[beside(cell, side), (side + 2) % 4]
                    self.clauses.add(-here, -there, -wall, meets)
                    self.clauses.add(-here, -there, wall, -meets)
                    way = self._passage[cell, side]
                    self.clauses.add(-way, here)
                    self.clauses.add(-way, there)
                    self.clauses.add(-way, -wall)
                    self.clauses.add(way, -here, -there, wall)
            # No hole of one cell or two.
            ring = [self.occupied(there) for there in _beside(cell)]
            self.clauses.add(here, *(-there for there in ring))
            for other in (beside(cell, 1), beside(cell, 2)):
                rim = {*_beside(cell), *_beside(other)} - {cell, other}
                self.clauses.add(here, self.occupied(other), *(-self.occupied(at) for at in sorted(rim)))
        # No two tiles of four that touch at the corner only.
        for x, y in sorted({(x - dx, y - dy) for x, y in self.cells for dx in (0, 1) for dy in (0, 1)}):
            one, two, three, four = (self.occupied(cell) for cell in ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)))
            self.clauses.add(-one, -three, two, four)
            self.clauses.add(-two, -four, one, three)
        # A way leads on from a tile, and from two. A box takes more than two to fill, unless it is as small; in a
        # region two may be all: the fountain and a tile.
        for cell in self.cells:
            if len(self.cells) > 1:
                self.clauses.add(-self._occupied[cell], *(self.passage(cell, side) for side in range(4)))
            for side in (1, 2):
                other = beside(cell, side)
                all_there_is = len(self.cells) <= 2 if self._fountain else FOUNTAIN in (cell, other)
                if other in self._occupied and not all_there_is:
                    beyond = [self.passage(cell, out) for out in range(4) if out != side]
                    beyond += [self.passage(other, out) for out in range(4) if out != (side + 2) % 4]
                    self.clauses.add(-self._occupied[cell], -self._occupied[other], *beyond)

    def _place(self) -> None:
        if isinstance(self.where, int):
            self.clauses.add(self._tile[FOUNTAIN, 0])
            return
        for axis in range(2):
            for line in range(self.where[axis]):
                self.clauses.add(*(self._occupied[cell] for cell in self.cells if cell[axis] == line))
            # The only ways from one half to the other.
            for line in range(1, self.where[axis]):
                self.clauses.add(*(self._passage[cell, 1 + axis] for cell in self.cells if cell[axis] == line - 1))
        before = FALSE
        for cell in self.cells:
            # The first cell without a wall, in the order of the cells.
            fountain, open_ = self._fountain[cell], self._tile[cell, 0]
            seen = self.clauses.new()
            self.clauses.add(-fountain, open_)
            self.clauses.add(-fountain, -before)
            self.clauses.add(fountain, before, -open_)
            self.clauses.add(-before, seen)
            self.clauses.add(-open_, seen)
            self.clauses.add(-seen, before, open_)
            before = seen
        self.clauses.add(before)

    # The wall

    def _the_wall(self) -> None:
        for cell, side in self._run:
            run, start, end = self._run[cell, side], self._start[cell, side], self._end[cell, side]
            self.clauses.add(-run, self._wall[cell, side])
            self.clauses.add(-run, -self.occupied(beside(cell, side)))
            self.clauses.add(-start, run)
            self.clauses.add(-end, run)
            for turn, stop in ((-1, start), (1, end)):
                ahead = beside(cell, (side + turn) % 4)
                across = beside(ahead, side)
                there, corner = self.occupied(ahead), self.occupied(across)
                self.clauses.add(-run, stop, -there, -corner, self._run.get((across, (side - turn) % 4), FALSE))
                self.clauses.add(-run, stop, -there, corner, self._run.get((ahead, side), FALSE))
                self.clauses.add(-run, stop, there, self._run[cell, (side + turn) % 4])
        self.clauses.at_most_one(list(self._start.values()))
        self.clauses.at_most_one(list(self._end.values()))

    def _counting(self) -> None:
        slack = self.walls - self.target
        if slack < 0:
            self.clauses.add(FALSE)
            return
        missing: list[int] = []  # a literal for every side that may be missing from the wall
        for mask, number in sorted(self.stock.items()):
            used = self.clauses.count([self._tile[cell, mask] for cell in self.cells], number + 1)
            self.clauses.add(-used[number + 1])
            missing += [-literal for literal in used[1 : number + 1] for _ in range(mask.bit_count())]
        for side, wall in self._wall.items():
            waste = self.clauses.new()
            self.clauses.add(-wall, self._run[side], waste)
            missing.append(waste)
        self.clauses.at_most(missing, slack)

    # Reading models

    def layout(self, model: frozenset[int]) -> dict[Cell, int]:
        """Return masks by cell, all of them, the fountain included, where the model has them."""
        return {cell: mask for (cell, mask), variable in self._tile.items() if variable in model}

    def layouts(self, model: frozenset[int]) -> Iterator[Masks]:
        """Yield the connected parts of a model, moved so that the fountain, left out, is in its place. Some may be
        illegal.
        """
        masks = self.layout(model)
        for piece in walks(masks):
            open_ = sorted(cell for cell in piece if masks[cell] == 0)
            for x, y in [FOUNTAIN] if not self._fountain and FOUNTAIN in piece else open_[:1]:
                yield {(cx - x, cy - y): masks[cx, cy] for cx, cy in sorted(piece) if (cx, cy) != (x, y)}

    def contains(self, layout: Mapping[Cell, int]) -> bool:
        """Return whether a layout, the fountain left out, lies in the place that is asked about."""
        if isinstance(self.where, int):
            return all(abs(x) + abs(y) <= self.where for x, y in layout)
        cells = [*layout, FOUNTAIN]
        return all(
            max(line) - min(line) < size for line, size in zip(zip(*cells, strict=True), self.where, strict=True)
        )

    def lacks(self, model: frozenset[int]) -> list[Cut]:
        """Return what every layout asked for satisfies and the model does not; nothing if it is such a layout."""
        masks = self.layout(model)
        fountain = next((cell for cell, literal in self._fountain.items() if literal in model), FOUNTAIN)
        loops = (loop for loop in self._loops(model, masks) if len(loop) < self.target)
        return [*pockets(set(masks)), *cut_off(masks, fountain), *map(Closed, loops)]

    def add(self, cut: Cut) -> None:
        """Add the clause of a cut, and those of the same cut wherever else it fits, unless it is long.

        Raise ``ValueError`` if it does not lie in the place, or if its clause need not hold.
        """
        span = cut.span()
        if not span or not span <= set(self.cells):
            raise ValueError(f"cut: expected cells in the place asked about, got {cut}")
        if isinstance(cut, Closed) and not (cut.closes() and len(cut.sides) < self.target):
            raise ValueError(f"cut: expected sides that close a wall of less than {self.target}, got {cut}")
        self.cuts.append(cut)
        self.clauses.add(*self._clause(cut))
        if len(span) > _SMALL:
            return
        x, y = min(span)
        for cell in self.cells:
            by = cell[0] - x, cell[1] - y
            if by != (0, 0) and all(moved(at, by) in self._occupied for at in span):
                self.clauses.add(*self._clause(cut.moved(by)))

    def _clause(self, cut: Cut) -> list[int]:
        if isinstance(cut, Pocket):
            return cut.clause(self.occupied)
        if isinstance(cut, CutOff):
            return cut.clause(self.occupied, lambda cell, side: self._wall[cell, side], self._is_fountain)
        return [-self._run[side] for side in cut.sides]

    def _is_fountain(self, cell: Cell) -> int:
        if isinstance(self.where, int):
            return TRUE if cell == FOUNTAIN else FALSE
        return self._fountain[cell]

    def _loops(self, model: frozenset[int], masks: Mapping[Cell, int]) -> Iterator[tuple[Side, ...]]:
        occupied = set(masks)
        left = {side for side, variable in self._run.items() if variable in model}
        while left:
            first = min(left)
            loop = [first]
            left.discard(first)
            while (side := following(occupied, loop[-1])) in left:
                loop.append(side)
                left.discard(side)
            if side == first:
                yield tuple(loop)

    def occupied(self, cell: Cell) -> int:
        """Return the literal of "a tile lies here"; outside of the region, false."""
        return self._occupied.get(cell, FALSE)

    def passage(self, cell: Cell, side: int) -> int:
        """Return the literal of "one can walk from this cell across this side"."""
        if side in (0, 3):
            cell, side = beside(cell, side), (side + 2) % 4
        return self._passage.get((cell, side), FALSE) if beside(cell, side) in self._occupied else FALSE


def _beside(cell: Cell) -> Iterator[Cell]:
    return (beside(cell, side) for side in range(4))


def _ball(radius: int) -> Iterator[Cell]:
    """Yield the cells within ``radius`` steps of the fountain."""
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            yield x, y


def _box(box: Box) -> Iterator[Cell]:
    return ((x, y) for y in range(box[1]) for x in range(box[0]))


# Evidence that no layout of some tiles has a wall of a given length. Checked without a solver: imports none.
#
# The claim is split by places, so that each layout lies in one. For each place there is a proof that the clauses which
# every such layout satisfies have no model. The clauses are not taken from the evidence: ``wall_clauses``
# states them again from tiles, target, place and cuts, so what was proven is the claim.


@dataclass(frozen=True, slots=True)
class Part:
    """One place that holds no such wall."""

    where: Box | int
    """A box, width and height, that the tiles fill from side to side; or the steps from the fountain."""
    cuts: tuple[Cut, ...]
    """The cuts that were added to the clauses, in this order."""
    drat: str
    """Proof, in the DRAT format, that they have no model."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """No layout of the tiles has a wall of ``target`` sides."""

    tiles: tuple[str, ...]
    target: int
    region: int | None
    """The claim is about layouts with all tiles within this many steps of the fountain; None: about all layouts."""
    parts: tuple[Part, ...]
    """The parts; without a region, every box with ``w + h <= n + 2``: no layout of n tiles fills another one."""

    def check(self) -> int:
        """Go through every proof; how many steps they have.

        Raise ``ValueError``: a place is missing, a cut is none, a proof fails or is that of another claim.
        """
        places = [self.region] if self.region is not None else boxes(len(self.tiles))
        if sorted(str(part.where) for part in self.parts) != sorted(map(str, places)):
            raise InputError("refutation", "expected one part for every place that a layout can fill")
        return sum(drat.check(self.dimacs(part), part.drat) for part in self.parts)

    def dimacs(self, part: Part) -> str:
        """Return the clauses that every layout in the part's place satisfies if its wall is as long as the target:
        DIMACS CNF.

        Raise ``ValueError`` for a cut whose clause need not hold.
        """
        question = Question(masks_of(self.tiles), self.target, part.where)
        for cut in part.cuts:
            question.add(cut)
        return question.clauses.dimacs()


def boxes(size: int) -> list[Box]:
    """Return all boxes that ``size`` tiles and the fountain, all connected, can fill from side to side."""
    return [(w, h) for w in range(1, size + 2) for h in range(1, size + 3 - w)]


def masks_of(tiles: Sequence[str]) -> list[int]:
    """Return the walls of the tiles. Raise ``InputError`` (a name that is no tile, or a name twice)."""
    masks = [parse_tile(tile).walls for tile in tiles]
    for i, tile in enumerate(tiles):
        if tile in tiles[:i]:
            raise InputError(f"tile {tile}", "given twice", "different tiles")
    return masks
