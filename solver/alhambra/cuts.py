"""What a layout lacks, each as a clause that every legal layout satisfies.

Ways are the one thing about a layout that clauses say badly. So a question leaves them out, and what its model breaks
is added: the instance of the rule for these cells. What follows from some instances of a rule follows from the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from referee.games.game import Cell
from solver.alhambra.judge import FOUNTAIN, beside

Literal = Callable[[Cell], int]
Clause = list[int]


def pockets(there: set[Cell], occupied: Literal) -> Iterator[Clause]:
    """ALH-A5, ALH-A6: empty cells that are shut in are not all empty, or not all of the cells around have tiles."""
    xs, ys = [x for x, _ in there], [y for _, y in there]
    left, right, top, bottom = min(xs) - 1, max(xs) + 1, min(ys) - 1, max(ys) + 1
    empty = set(product(range(left, right + 1), range(top, bottom + 1))) - there
    for piece in pieces(empty, lambda cell: [beside(cell, side) for side in range(4)]):
        if (left, top) not in piece:
            rim = {beside(cell, side) for cell in piece for side in range(4)} - piece
            yield [*map(occupied, sorted(piece)), *(-occupied(cell) for cell in sorted(rim))]


def cut_off(masks: Mapping[Cell, int], occupied: Literal, wall: Callable[[Cell, int], int]) -> Iterator[Clause]:
    """ALH-A3, ALH-A4: tiles that cannot be walked to are not all there, or there is a way out of them.

    ``masks`` has the fountain's, and its walls agree (ALH-A2).
    """

    def ways(cell: Cell) -> list[Cell]:
        return [beside(cell, side) for side in range(4) if not masks[cell] >> side & 1]

    for piece in pieces(set(masks), ways):
        if FOUNTAIN in piece:
            continue
        clause = [-occupied(cell) for cell in sorted(piece)]
        for cell, side in product(sorted(piece), range(4)):
            if (there := beside(cell, side)) not in piece:
                # What the way lacks: an open side, or a tile.
                clause.append(-wall(cell, side) if masks[cell] >> side & 1 else occupied(there))
        yield clause


def pieces(cells: set[Cell], ways: Callable[[Cell], Iterable[Cell]]) -> Iterator[set[Cell]]:
    """The parts of the cells that hang together by ways."""
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
