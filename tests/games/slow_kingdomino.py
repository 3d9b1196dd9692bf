"""Placing and scoring in Kingdomino, slowly, from the rule text alone: dictionaries of squares, one step at a time.

Written apart from the engine and without a word of it. Comments quote the rule text (Královská zahrada, translated).
"""

from __future__ import annotations

from dataclasses import dataclass, field

Cell = tuple[int, int]
Square = tuple[str, int]
"""Terrain and crowns."""
Placement = tuple[int, int, int, int]

CASTLE = (0, 0)


def square(name: str) -> Square:
    """Return the square of ``wheat`` or ``mine:2``."""
    terrain, *crowns = name.split(":")
    return terrain, int(crowns[0]) if crowns else 0


def sides(cell: Cell) -> list[Cell]:
    x, y = cell
    return [(x - 1, y), (x, y - 1), (x, y + 1), (x + 1, y)]


@dataclass
class SlowKingdom:
    """The squares around the castle, which lies at (0, 0)."""

    size: int
    castle: Cell | None
    """Its column and row in a fixed frame; None: relative."""
    squares: dict[Cell, Square] = field(default_factory=dict)

    def lay(self, halves: tuple[str, str], left: Cell, right: Cell) -> None:
        self.squares[left] = square(halves[0])
        self.squares[right] = square(halves[1])

    def taken(self) -> list[Cell]:
        return [CASTLE, *self.squares]

    def faults(self, halves: tuple[str, str], left: Cell, right: Cell) -> set[str]:
        """Return the numbers of all rules that the placement breaks."""
        broken = set()
        if not self.touches(square(halves[0]), left) and not self.touches(square(halves[1]), right):
            broken.add("KDO-14")
        if not self.fits([left, right]):
            broken.add("KDO-16")
        # "Once laid, a stone stays in its place until the end of the game."
        if left in self.taken() or right in self.taken():
            broken.add("KDO-18")
        # "Each domino consists of two square cells."
        if right not in sides(left):
            broken.add("KDO-19")
        return broken

    def touches(self, half: Square, cell: Cell) -> bool:
        """ "By a side of one cell (not a corner)": to the castle, or "to the same kind of landscape"."""
        for beside in sides(cell):
            if beside == CASTLE:
                return True
            if beside in self.squares and self.squares[beside][0] == half[0]:
                return True
        return False

    def fits(self, cells: list[Cell]) -> bool:
        """ "All your dominoes have to fit into the space of 5 by 5 cells"."""
        if self.castle is not None:
            column, row = self.castle
            return all(0 <= x + column < self.size and 0 <= y + row < self.size for x, y in cells)
        xs = [x for x, _ in [*self.taken(), *cells]]
        ys = [y for _, y in [*self.taken(), *cells]]
        return max(xs) - min(xs) < self.size and max(ys) - min(ys) < self.size

    def placements(self, halves: tuple[str, str]) -> list[Placement]:
        """Return every legal one; of two that make the same picture the smaller."""
        edge = {beside for cell in self.taken() for beside in sides(cell)}
        pictures: dict[frozenset[tuple[Cell, str]], Placement] = {}
        # One half touches, so it lies on the edge; the other lies beside it.
        pairs = [(cell, other) for cell in edge for other in sides(cell)]
        for left, right in sorted(pairs + [(b, a) for a, b in pairs]):
            if not self.faults(halves, left, right):
                picture = frozenset([(left, halves[0]), (right, halves[1])])
                pictures.setdefault(picture, (*left, *right))
        return sorted(pictures.values())

    def areas(self) -> list[tuple[str, int, int, list[Cell]]]:
        """ "Groups of connected cells of the same kind": terrain, squares, crowns, cells."""
        left = dict(self.squares)
        found = []
        while left:
            first = min(left)
            terrain = left[first][0]
            group, new = set(), [first]
            while new:
                cell = new.pop()
                if cell in left and left[cell][0] == terrain:
                    del left[cell]
                    group.add(cell)
                    new += sides(cell)
            crowns = sum(self.squares[cell][1] for cell in group)
            found.append((terrain, len(group), crowns, sorted(group)))
        return found

    def score(self) -> int:
        """ "As many points as the number of cells of the area times the number of crowns on its cells"."""
        return sum(squares * crowns for _, squares, crowns, _ in self.areas())

    def largest_area(self) -> int:
        return max([squares for _, squares, _, _ in self.areas()], default=0)

    def crowns(self) -> int:
        return sum(crowns for _, crowns in self.squares.values())

    def is_central(self) -> bool:
        """ "If your castle is in the middle of your kingdom", which has the full size."""
        xs = [x for x, _ in self.taken()]
        ys = [y for _, y in self.taken()]
        full = max(xs) - min(xs) + 1 == self.size == max(ys) - min(ys) + 1
        return full and min(xs) + max(xs) == 0 == min(ys) + max(ys)
