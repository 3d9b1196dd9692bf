"""The question "is there a wall of at least so many sides?" as clauses, for any SAT solver.

Tiles are counted by their walls: of the 54 there are 13 kinds. In the names below, ``walls`` is the sum of the walls
of all tiles, and the slack of a question is what a wall of the length asked for may leave out of them.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from referee.games.game import Cell
from solver.walls.check import FOUNTAIN, IllegalLayout, Side, beside, following, wall_length

Clause = tuple[int, ...]


class Question:
    """Clauses that every layout with a wall of ``target`` sides or more satisfies, and the way back from a model.

    With a ``region`` all tiles lie within so many steps of the fountain. Without, nothing is lost either: the layout
    is moved so that it touches the axes of x and y; it has ``n + 1`` cells, so that its width and height add up to
    ``n + 2`` at most and every cell has ``x + y <= n``; the fountain is the first cell without a wall.

    Passages and holes are left out at first, apart from the smallest: ``cuts`` finds the clauses that a model lacks.
    """

    def __init__(
        self, masks: Sequence[int], target: int, *, region: int | None = None, box: tuple[int, int] | None = None
    ) -> None:
        self.target = target
        self.region = region
        self.stock = Counter(masks)
        self.stock[0] += 1  # the fountain
        self.walls = sum(mask.bit_count() for mask in masks)
        self.clauses: list[Clause] = []
        self.variables = 0
        if box is not None:
            self.cells = [(x, y) for y in range(box[1]) for x in range(box[0])]
        else:
            self.cells = list(_triangle(len(masks)) if region is None else _ball(region))
        self._tile = {(cell, mask): self._new() for cell in self.cells for mask in sorted(self.stock)}
        self._occupied = {cell: self._new() for cell in self.cells}
        sides = [(cell, side) for cell in self.cells for side in range(4)]
        self._wall = {side: self._new() for side in sides}
        self._run = {side: self._new() for side in sides}
        self._start = {side: self._new() for side in sides}
        self._end = {side: self._new() for side in sides}
        self._fountain = {cell: self._new() for cell in self.cells} if region is None else {}
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
                for other in kinds[i + 1 :]:
                    self._add(-one, -other)
            for side in range(4):
                wall = self._wall[cell, side]
                self._add(-wall, *(self._tile[cell, mask] for mask in sorted(self.stock) if mask >> side & 1))
                for mask in self.stock:
                    self._add(-self._tile[cell, mask], wall if mask >> side & 1 else -wall)
                there = self.occupied(beside(cell, side))
                if side < 2 and there != self._false:
                    meets = self._wall[beside(cell, side), side + 2]
                    self._add(-here, -there, -wall, meets)
                    self._add(-here, -there, wall, -meets)
            # No two tiles of four that touch at the corner only.
            east, south, both = (self.occupied((cell[0] + dx, cell[1] + dy)) for dx, dy in ((1, 0), (0, 1), (1, 1)))
            self._add(-here, -both, east, south)
            self._add(-east, -south, here, both)
            # No hole of one cell or two.
            ring = [self.occupied(beside(cell, side)) for side in range(4)]
            self._add(here, *(-there for there in ring))
            for side in (1, 2):
                other = beside(cell, side)
                rim = {beside(end, way) for end in (cell, other) for way in range(4)} - {cell, other}
                self._add(here, self.occupied(other), *(-self.occupied(at) for at in sorted(rim)))
            # Something hangs on to it.
            if len(self.cells) > 1:
                self._add(-here, *ring)

    def _place(self) -> None:
        if self.region is not None:
            self._add(self._tile[FOUNTAIN, 0])
            return
        for axis in range(2):
            self._add(*(self._occupied[cell] for cell in self.cells if cell[axis] == 0))
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
        """The legal layouts in a model, the fountain in its place and left out: what hangs together by passages."""
        masks = self.layout(model)

        def ways(cell: Cell) -> Iterator[Cell]:
            return (beside(cell, side) for side in range(4) if not masks[cell] >> side & 1)

        for piece in _pieces(set(masks), ways):
            for x, y in sorted(cell for cell in piece if masks[cell] == 0)[:1]:
                layout = {(cx - x, cy - y): masks[cx, cy] for cx, cy in sorted(piece) if (cx, cy) != (x, y)}
                with contextlib.suppress(IllegalLayout):
                    wall_length(layout)
                    yield layout

    def cuts(self, model: set[int]) -> list[Clause]:
        """Clauses that every layout asked for satisfies and the model does not; none if it is such a layout."""
        masks = self.layout(model)
        clauses = []
        for hole in _pieces(set(self.cells) - set(masks), lambda cell: (beside(cell, side) for side in range(4))):
            rim = {beside(cell, side) for cell in hole for side in range(4)} - hole
            if rim <= set(masks):
                clauses.append((*(self._occupied[c] for c in sorted(hole)), *(-self._occupied[c] for c in sorted(rim))))

        def ways(cell: Cell) -> Iterator[Cell]:
            return (beside(cell, side) for side in range(4) if not masks[cell] >> side & 1)

        clauses += [
            self._leads_on(piece, masks)
            for piece in _pieces(set(masks), ways)
            if not any(self._fountain.get(c, 0) in model if self.region is None else c == FOUNTAIN for c in piece)
        ]
        clauses += [
            tuple(-self._run[side] for side in loop) for loop in self._loops(model, masks) if len(loop) < self.target
        ]
        return clauses

    def _leads_on(self, piece: set[Cell], masks: dict[Cell, int]) -> Clause:
        """Tiles without the fountain have a way out, or are not all there."""
        ways = []
        for cell in sorted(piece):
            ways.append(-self._occupied[cell])
            if self._fountain:
                ways.append(self._fountain[cell])
            for side in range(4):
                there = beside(cell, side)
                if there in piece or there not in self._occupied:
                    continue
                # Through here: a tile there and no wall between. Where the model has a wall, its absence will do.
                ways.append(-self._wall[cell, side] if masks[cell] >> side & 1 else self._occupied[there])
        return tuple(ways)

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


def _ball(radius: int) -> Iterator[Cell]:
    """Cells within so many steps of the fountain."""
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            yield x, y


def _triangle(size: int) -> Iterator[Cell]:
    return ((x, y) for y in range(size + 1) for x in range(size + 1 - y))


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
