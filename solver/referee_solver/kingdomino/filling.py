"""Kingdoms in which nothing is lacking: all dominoes are laid, and each terrain with crowns is one area.

The search is exhaustive and knows no solver. It covers cell after cell with a domino, and gives up where the squares of
a terrain cannot become one area any more, not even through all cells that are still empty. Only terrains count, so
dominoes that differ in crowns alone are tried once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.wire.certificates.kingdomino.claims import Placed
from referee_solver.kingdomino.annealing import in_order

_Kind = tuple[int, int]
"""Terrains of a domino, the lower first."""
_Laid = tuple[int, int, int, int]
"""Two cells as bits, and the terrain of each."""


def crowned(dominoes: Sequence[Domino]) -> set[int]:
    """Return the terrains with crowns."""
    return {half.terrain for domino in dominoes for half in (domino.left, domino.right) if half.crowns}


def least_lacking(dominoes: Sequence[Domino]) -> int:
    """Return how many points a kingdom lacks at least if a square of a terrain with crowns is not in its one area.

    Two parts of m and n squares with a and b crowns lack ``m * b + n * a``: if one is without crowns, at least all the
    terrain's crowns, else at least all its squares. A square that is not laid is a part that is worth nothing.
    """
    halves = [half for domino in dominoes for half in (domino.left, domino.right)]
    return min(
        min(len(crowns), sum(crowns))
        for terrain in crowned(dominoes)
        for crowns in [[half.crowns for half in halves if half.terrain == terrain]]
    )


def fillings(dominoes: Sequence[Domino], size: int, castle: Cell) -> Iterator[tuple[Placed, ...]]:
    """Yield after each step of the search: the dominoes of a kingdom in which nothing is lacking, or none.

    ``castle``: its column and row in the frame. The dominoes are in an order in which they are legal.
    """
    stride = size + 1  # as in annealing: no neighbour is across an edge
    terrains = [half.terrain for domino in dominoes for half in (domino.left, domino.right)]
    whole = [(terrain, terrains.count(terrain)) for terrain in sorted(crowned(dominoes))]
    of_kind: dict[_Kind, list[Domino]] = defaultdict(list)
    for domino in dominoes:
        one, other = sorted((domino.left.terrain, domino.right.terrain))
        of_kind[one, other].append(domino)
    kinds = [*of_kind]

    def kingdom(laid: Sequence[_Laid]) -> tuple[Placed, ...]:
        left = {kind: iter(those) for kind, those in of_kind.items()}
        placed = []
        for *bits, one, other in laid:
            domino = next(left[min(one, other), max(one, other)])
            here, there = [
                (x - castle[0], y - castle[1]) for x, y in (divmod(bit.bit_length() - 1, stride) for bit in bits)
            ]
            placed.append(Placed(domino, *((here, there) if domino.left.terrain == one else (there, here))))
        ordered = in_order(placed)
        return ordered if len(ordered) == len(placed) else ()

    empty = sum(1 << x * stride + y for x, y in product(range(size), repeat=2) if (x, y) != castle)
    spare = empty.bit_count() - len(terrains)
    counts = tuple(map(len, of_kind.values()))
    stack: list[tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[_Laid, ...]]] = [
        (empty, spare, counts, (0,) * len(TERRAINS), ())
    ]
    while stack:
        empty, spare, counts, squares, laid = stack.pop()
        if not any(counts):
            found = kingdom(laid) if all(_reach(squares[t], squares[t], stride) for t, _ in whole) else ()
            yield found
            continue
        yield ()
        if spare < 0 or any(_reach(squares[t], squares[t] | empty, stride) < number for t, number in whole):
            continue
        here = empty & -empty
        if spare:
            stack.append((empty ^ here, spare - 1, counts, squares, laid))
        for there in (here << 1, here << stride):
            if there & empty:
                for i, (one, other) in enumerate(kinds):
                    if counts[i]:
                        fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
                        for a, b in {(one, other), (other, one)}:
                            more = [*squares]
                            more[a] |= here
                            more[b] |= there
                            stack.append(
                                (empty ^ here ^ there, spare, fewer, tuple(more), (*laid, (here, there, a, b)))
                            )


def _reach(squares: int, cells: int, stride: int) -> int:
    """Return how many of the cells an area of all these squares can have: 0 if some are apart.

    Without squares it can have any of the cells.
    """
    if not squares:
        return cells.bit_count()
    area, grown = 0, squares & -squares
    while grown != area:
        area = grown
        grown = (area | area << 1 | area >> 1 | area << stride | area >> stride) & cells
    return 0 if squares & ~area else area.bit_count()
