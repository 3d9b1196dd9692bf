"""Is there a wall that lacks so many of the tiles' walls? Every row is laid that could be one. No solver, no chance.

A wall that lacks a few of the tiles' walls is a row that wastes nothing of what is left of them. Of a tile it may lack

- all walls: the tile is left out, or lies in a corner of the row, where each of its walls faces an empty cell or
  another wall that is lacking;
- walls at one end or both: each of these faces another tile, which lacks the opposite wall. A wall that faces an empty
  cell belongs to the same stretch of the outline as the tile's next one.

It never lacks the middle one of three alone. The tile across would be reached from the fountain another way, and both
together would enclose one of the cells that the tile's other two walls face (ALH-A5, ALH-A6). Nor does a tile have
walls on two sides that lie across and on no other.

What the walls that are lacking do to the layout is said only in part, so a row that is found need not be a wall. If no
row is found, there is no wall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from referee_solver.alhambra.wall_clauses import Masks
from referee_solver.alhambra.walls.winding import STEP, Beam, State, cells_of


@dataclass(frozen=True, slots=True)
class Loss:
    """Which walls are lacking."""

    left: tuple[int, ...]
    """What each tile that the row winds round still has of its walls."""
    gone: tuple[int, ...]
    """Walls of the tiles that lack all of theirs."""
    inside: bool
    """Whether tiles of the row lack some, which face other tiles."""


class Losing:
    """Looks for walls that lack exactly ``lacking`` of all walls."""

    def __init__(self, masks: Sequence[int], lacking: int, width: int) -> None:
        """``width``: rows of one length that are kept at most. With more than that nothing is refuted."""
        self.refuted = False
        """There is no such wall. Known when ``run`` is over."""
        self._masks = masks
        self._lacking = lacking
        self._width = width
        self._plain = 1 + sum(not mask for mask in masks)

    def run(self) -> Iterator[tuple[int, Masks]]:
        """Yield how many tiles were tried since, and now and then a layout, which need be neither legal nor so long."""
        for loss in losses(self._masks, self._lacking):
            beam = Beam([*loss.left, *[0] * (self._plain - 1 + len(loss.gone))], Random(0), self._width, whole=True)  # noqa: S311
            possible = False
            for tried, rows in beam.every():
                fitting = [row for row in rows if self._fits(row, loss)]
                yield tried, beam.layout(fitting[0]) if fitting else {}
                possible |= bool(fitting)
            if possible or beam.full:
                return
        self.refuted = True

    def _fits(self, row: State, loss: Loss) -> bool:
        """Return whether the tiles without walls and those that lack all of theirs can lie in the row's corners."""
        owed = list(cells_of(row.owed))
        return self._placed(len(owed) - self._plain, list(loss.gone), owed, row, loss)

    def _placed(self, needed: int, gone: list[int], owed: list[int], row: State, loss: Loss) -> bool:
        if needed <= 0:
            return True
        if len(gone) < needed:
            return False
        mask, *rest = gone
        return self._placed(needed, rest, owed, row, loss) or any(
            self._may_lie(mask, cell, row, loss)
            and self._placed(needed - 1, rest, [other for other in owed if other != cell], row, loss)
            for cell in owed
        )

    def _may_lie(self, mask: int, cell: int, row: State, loss: Loss) -> bool:
        for side, step in enumerate(STEP):
            if mask >> side & 1:
                by_another = row.owed >> cell + step & 1 and self._lacking > mask.bit_count()
                by_the_row = row.laid >> cell + step & 1 and loss.inside
                if (row.laid | row.owed) >> cell + step & 1 and not by_another and not by_the_row:
                    return False
        return True


def losses(masks: Sequence[int], lacking: int) -> Iterator[Loss]:
    """Yield every way in which the tiles can lack so many walls; tiles with the same walls are the same."""
    kinds = sorted((mask, count) for mask, count in Counter(masks).items() if mask)
    for chosen in _chosen(kinds, lacking):
        lost = Counter(side for mask, kept in chosen for side in range(4) if (mask & ~kept) >> side & 1)
        inside = Counter(side for mask, kept in chosen if kept for side in range(4) if (mask & ~kept) >> side & 1)
        if all(inside[side] <= lost[side + 2 & 3] for side in range(4)):
            left = tuple(kept for _, kept in chosen if kept)
            gone = tuple(mask for mask, kept in chosen if not kept)
            yield Loss(left, gone, bool(inside))


def _chosen(kinds: Sequence[tuple[int, int]], lacking: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield for each tile its walls and what it keeps of them, so that ``lacking`` are lacking in all."""
    if not kinds:
        if not lacking:
            yield ()
        return
    (mask, count), *rest = kinds
    for kept in _shares(_kept(mask), count):
        spent = sum((mask & ~each).bit_count() for each in kept)
        if spent <= lacking:
            for others in _chosen(rest, lacking - spent):
                yield (*((mask, each) for each in kept), *others)


def _kept(mask: int) -> list[int]:
    """Return what a tile may have left of its walls: some that follow each other, all, or none."""
    sides = [side for side in range(4) if mask >> side & 1]
    first = next(side for side in sides if not mask >> (side - 1 & 3) & 1)
    run = [1 << (first + i & 3) for i in range(len(sides))]
    return [mask, 0] + [sum(run[i:j]) for i in range(len(run)) for j in range(i + 1, len(run) + 1) if j - i < len(run)]


def _shares(choices: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield each choice for each of ``count`` tiles, whichever tile it is."""
    if not count:
        yield ()
        return
    for i, choice in enumerate(choices):
        for rest in _shares(choices[i:], count - 1):
            yield (choice, *rest)
