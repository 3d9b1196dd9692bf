"""The question "is there a wall of at least so many sides?" as clauses, for any SAT solver.

Tiles are counted by their walls: of the 54 there are 13 kinds. In the names below, ``walls`` is the sum of the walls
of all tiles, and the slack of a question is what a wall of the length asked for may leave out of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from referee.games.game import Cell
from solver.alhambra.judge import FOUNTAIN, Side, beside, following

Clause = tuple[int, ...]

_SMALL = 9
"""So many cells at most are worth forbidding in every place at once."""


Box = tuple[int, int]
"""Width and height, in cells."""


class Question:
    """Clauses that every layout with a wall of ``target`` sides or more satisfies, and the way back from a model.

    Where the layouts lie is either a box, which they fill from side to side, or a region, a number of steps from the
    fountain. In a box it does not matter where the fountain is: it is the first cell without a wall.

    Of passages and holes only what is cheap is said: ``cuts`` finds the clauses that a model lacks. Every clause holds
    for every layout asked for, so no model means no layout, whatever is left out.
    """

    def __init__(self, masks: Sequence[int], target: int, where: Box | int) -> None:
        self.target = target
        self.where = where
        self.stock = Counter(masks)
        self.stock[0] += 1  # the fountain
        self.walls = sum(mask.bit_count() for mask in masks)
        self.clauses: list[Clause] = []
        self.variables = 0
        self.cells = list(_ball(where) if isinstance(where, int) else _box(where))
        self._tile = {(cell, mask): self._new() for cell in self.cells for mask in sorted(self.stock)}
        self._occupied = {cell: self._new() for cell in self.cells}
        sides = [(cell, side) for cell in self.cells for side in range(4)]
        self._wall = {side: self._new() for side in sides}
        self._run = {side: self._new() for side in sides}
        self._passage = {(cell, side): self._new() for cell, side in sides if side in (1, 2)}
        self._start = {side: self._new() for side in sides}
        self._end = {side: self._new() for side in sides}
        self._fountain = {} if isinstance(where, int) else {cell: self._new() for cell in self.cells}
        self._false = self._new()
        self._add(-self._false)
        self._building()
        self._the_wall()
        self._counting()
        self._place()

    # Building

    def _building(self) -> None:
        for cell in self.cells:
            kinds = [self._tile[cell, mask] for mask in sorted(self.stock)]
            here = self._occupied[cell]
            self._add(-here, *kinds)
            for i, one in enumerate(kinds):
                self._add(-one, here)
                for second in kinds[i + 1 :]:
                    self._add(-one, -second)
            for side in range(4):
                wall = self._wall[cell, side]
                self._add(-wall, *(self._tile[cell, mask] for mask in sorted(self.stock) if mask >> side & 1))
                for mask in self.stock:
                    self._add(-self._tile[cell, mask], wall if mask >> side & 1 else -wall)
                there = self.occupied(beside(cell, side))
                if side in (1, 2) and there != self._false:
                    meets = self._wall[beside(cell, side), (side + 2) % 4]
                    self._add(-here, -there, -wall, meets)
                    self._add(-here, -there, wall, -meets)
                    way = self._passage[cell, side]
                    self._add(-way, here)
                    self._add(-way, there)
                    self._add(-way, -wall)
                    self._add(way, -here, -there, wall)
            # No hole of one cell or two.
            ring = [self.occupied(there) for there in _beside(cell)]
            self._add(here, *(-there for there in ring))
            for other in (beside(cell, 1), beside(cell, 2)):
                rim = {*_beside(cell), *_beside(other)} - {cell, other}
                self._add(here, self.occupied(other), *(-self.occupied(at) for at in sorted(rim)))
        # No two tiles of four that touch at the corner only.
        for x, y in sorted({(x - dx, y - dy) for x, y in self.cells for dx in (0, 1) for dy in (0, 1)}):
            one, two, three, four = (self.occupied(cell) for cell in ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)))
            self._add(-one, -three, two, four)
            self._add(-two, -four, one, three)
        # A way leads on from a tile, and from two. A box takes more than two to fill, unless it is as small; in a
        # region two may be all: the fountain and a tile.
        for cell in self.cells:
            if len(self.cells) > 1:
                self._add(-self._occupied[cell], *(self.passage(cell, side) for side in range(4)))
            for side in (1, 2):
                other = beside(cell, side)
                all_there_is = len(self.cells) <= 2 if self._fountain else FOUNTAIN in (cell, other)
                if other in self._occupied and not all_there_is:
                    beyond = [self.passage(cell, out) for out in range(4) if out != side]
                    beyond += [self.passage(other, out) for out in range(4) if out != (side + 2) % 4]
                    self._add(-self._occupied[cell], -self._occupied[other], *beyond)

    def _place(self) -> None:
        if isinstance(self.where, int):
            self._add(self._tile[FOUNTAIN, 0])
            return
        for axis in range(2):
            for line in range(self.where[axis]):
                self._add(*(self._occupied[cell] for cell in self.cells if cell[axis] == line))
            # The only ways from one half to the other.
            for line in range(1, self.where[axis]):
                self._add(*(self._passage[cell, 1 + axis] for cell in self.cells if cell[axis] == line - 1))
        before = self._false
        for cell in self.cells:
            # The first cell without a wall, in the order of the cells.
            fountain, open_ = self._fountain[cell], self._tile[cell, 0]
            seen = self._new()
            self._add(-fountain, open_)
            self._add(-fountain, -before)
            self._add(fountain, before, -open_)
            self._add(-before, seen)
            self._add(-open_, seen)
            self._add(-seen, before, open_)
            before = seen
        self._add(before)

    # The wall

    def _the_wall(self) -> None:
        for cell, side in self._run:
            run, start, end = self._run[cell, side], self._start[cell, side], self._end[cell, side]
            self._add(-run, self._wall[cell, side])
            self._add(-run, -self.occupied(beside(cell, side)))
            self._add(-start, run)
            self._add(-end, run)
            for turn, stop in ((-1, start), (1, end)):
                ahead = beside(cell, (side + turn) % 4)
                across = beside(ahead, side)
                there, corner = self.occupied(ahead), self.occupied(across)
                self._add(-run, stop, -there, -corner, self._run.get((across, (side - turn) % 4), self._false))
                self._add(-run, stop, -there, corner, self._run.get((ahead, side), self._false))
                self._add(-run, stop, there, self._run[cell, (side + turn) % 4])
        self._at_most_one(list(self._start.values()))
        self._at_most_one(list(self._end.values()))

    def _counting(self) -> None:
        slack = self.walls - self.target
        if slack < 0:
            self._add(self._false)
            return
        missing: list[int] = []  # a literal for every side that may be missing from the wall
        for mask, number in sorted(self.stock.items()):
            used = self._counter([self._tile[cell, mask] for cell in self.cells], number)
            if len(used) > number:
                self._add(-used[number])
            if mask:
                missing += [-literal for literal in used[:number] for _ in range(mask.bit_count())]
                missing += [-self._false] * (max(0, number - len(used)) * mask.bit_count())
        for side, wall in self._wall.items():
            waste = self._new()
            self._add(-wall, self._run[side], waste)
            missing.append(waste)
        count = self._counter(missing, slack, down=False)
        if len(count) > slack:
            self._add(-count[slack])

    def _counter(self, literals: Sequence[int], limit: int, *, down: bool = True) -> list[int]:
        """``[at least one, at least two, … at least limit + 1]`` of the literals (Sinz 2005).

        Both ways if ``down``; else too many true literals make an output true, and nothing the other way.
        """
        before: list[int] = []
        for literal in literals:
            after = [self._new() for _ in range(min(len(before) + 1, limit + 1))]
            for i, now in enumerate(after):
                was = before[i] if i < len(before) else self._false
                less = before[i - 1] if i else -self._false
                self._add(-was, now)
                self._add(-literal, -less, now)
                if down:
                    self._add(-now, was, literal)
                    self._add(-now, was, less)
            before = after
        return before

    def _at_most_one(self, literals: Sequence[int]) -> None:
        self._add(-self._counter(literals, 1, down=False)[1])

    # Reading models

    def layout(self, model: set[int]) -> dict[Cell, int]:
        """Masks by cell, all of them, the fountain included, where the model has them."""
        return {cell: mask for (cell, mask), variable in self._tile.items() if variable in model}

    def layouts(self, model: set[int]) -> Iterator[dict[Cell, int]]:
        """What hangs together in a model, the fountain in its place and left out. Not all of it need be legal."""
        masks = self.layout(model)

        def ways(cell: Cell) -> Iterator[Cell]:
            return (beside(cell, side) for side in range(4) if not masks[cell] >> side & 1)

        for piece in _pieces(set(masks), ways):
            open_ = sorted(cell for cell in piece if masks[cell] == 0)
            for x, y in [FOUNTAIN] if not self._fountain and FOUNTAIN in piece else open_[:1]:
                yield {(cx - x, cy - y): masks[cx, cy] for cx, cy in sorted(piece) if (cx, cy) != (x, y)}

    def contains(self, layout: Mapping[Cell, int]) -> bool:
        """Whether a layout, the fountain left out, lies where it was asked for."""
        if isinstance(self.where, int):
            return all(abs(x) + abs(y) <= self.where for x, y in layout)
        cells = [*layout, FOUNTAIN]
        return all(
            max(line) - min(line) < size for line, size in zip(zip(*cells, strict=True), self.where, strict=True)
        )

    def cuts(self, model: set[int]) -> list[Clause]:
        """Clauses that every layout asked for satisfies and the model does not; none if it is such a layout.

        What is forbidden in one place is forbidden in all: each clause comes with its translations, unless it is long.
        """
        masks = self.layout(model)
        clauses: list[Clause] = []
        for hole in _pieces(set(self.cells) - set(masks), _beside):
            rim = {cell for spot in hole for cell in _beside(spot)} - hole
            if rim <= set(masks):
                clauses += self._everywhere(partial(self._filled, sorted(hole), sorted(rim)), hole | rim)

        def ways(cell: Cell) -> Iterator[Cell]:
            return (beside(cell, side) for side in range(4) if not masks[cell] >> side & 1)

        for piece in _pieces(set(masks), ways):
            if not any(self._fountain.get(c, 0) in model if self._fountain else c == FOUNTAIN for c in piece):
                rim_sides = [
                    (cell, side, bool(masks[cell] >> side & 1))
                    for cell in sorted(piece)
                    for side in range(4)
                    if beside(cell, side) not in piece
                ]
                clauses += self._everywhere(partial(self._leads_on, sorted(piece), rim_sides), piece)
        for loop in self._loops(model, masks):
            if len(loop) < self.target:
                clauses += self._everywhere(partial(self._open, loop), {cell for cell, _ in loop})
        return clauses

    def _everywhere(self, clause: Callable[[Cell], Clause], cells: set[Cell]) -> Iterator[Clause]:
        """The clause for the cells where they are, and wherever else they fit."""
        yield clause((0, 0))
        if len(cells) > _SMALL:
            return
        x, y = min(cells)
        for cell in self.cells:
            by = cell[0] - x, cell[1] - y
            if by != (0, 0) and all((cx + by[0], cy + by[1]) in self._occupied for cx, cy in cells):
                yield clause(by)

    def _filled(self, hole: list[Cell], rim: list[Cell], by: Cell) -> Clause:
        """No empty cells with tiles all around."""
        return (
            *(self._occupied[_moved(cell, by)] for cell in hole),
            *(-self._occupied[_moved(cell, by)] for cell in rim),
        )

    def _leads_on(self, piece: list[Cell], rim: list[tuple[Cell, int, bool]], by: Cell) -> Clause:
        """Tiles without the fountain have a way out, or are not all there.

        A way out takes a tile beyond the rim and no wall between: one of the two is asked for, at each side.
        """
        cells = [_moved(cell, by) for cell in piece]
        if FOUNTAIN in cells and not self._fountain:
            return (self._occupied[FOUNTAIN],)
        clause = [-self._occupied[cell] for cell in cells]
        clause += [self._fountain[cell] for cell in cells if self._fountain]
        for cell, side, walled in rim:
            here = _moved(cell, by)
            if (there := beside(here, side)) in self._occupied:
                clause.append(-self._wall[here, side] if walled else self._occupied[there])
        return tuple(clause)

    def _open(self, loop: list[Side], by: Cell) -> Clause:
        """A wall that closes on itself is the whole wall, so not one as short as this."""
        return tuple(-self._run[_moved(cell, by), side] for cell, side in loop)

    def _loops(self, model: set[int], masks: dict[Cell, int]) -> Iterator[list[Side]]:
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
                yield loop

    # Writing

    def occupied(self, cell: Cell) -> int:
        """The literal of "a tile lies here"; outside of the region, false."""
        return self._occupied.get(cell, self._false)

    def passage(self, cell: Cell, side: int) -> int:
        """The literal of "one can walk from this cell across this side"."""
        if side in (0, 3):
            cell, side = beside(cell, side), (side + 2) % 4
        return self._passage.get((cell, side), self._false) if beside(cell, side) in self._occupied else self._false

    def dimacs(self) -> str:
        """The clauses in DIMACS CNF."""
        lines = [f"p cnf {self.variables} {len(self.clauses)}"]
        lines += [" ".join(map(str, clause)) + " 0" for clause in self.clauses]
        return "\n".join(lines) + "\n"

    def _new(self) -> int:
        self.variables += 1
        return self.variables

    def _add(self, *literals: int) -> None:
        self.clauses.append(literals)


def _beside(cell: Cell) -> Iterator[Cell]:
    return (beside(cell, side) for side in range(4))


def _moved(cell: Cell, by: Cell) -> Cell:
    return cell[0] + by[0], cell[1] + by[1]


def _ball(radius: int) -> Iterator[Cell]:
    """Cells within so many steps of the fountain."""
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            yield x, y


def _box(box: Box) -> Iterator[Cell]:
    return ((x, y) for y in range(box[1]) for x in range(box[0]))


def _pieces(cells: set[Cell], ways: Callable[[Cell], Iterable[Cell]]) -> Iterator[set[Cell]]:
    """The parts of ``cells`` that hang together by ``ways``."""
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
