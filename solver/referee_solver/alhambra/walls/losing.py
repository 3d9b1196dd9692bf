"""Is there a wall that lacks so many of the tiles' walls? Every row is laid that could be one. No solver, no chance.

A wall that lacks a few of the tiles' walls is a row that wastes nothing of what is left of them. Of a tile it may lack

- all walls: the tile is left out, or lies in a corner of the row, where each of its walls faces an empty cell or
  another wall that is lacking;
- walls at one end or both: each of these faces another tile, which lacks the opposite wall. A wall that faces an empty
  cell belongs to the same stretch of the outline as the tile's next one.

One reaches both tiles of a wall that is lacking from the fountain, on ways that together go round one end of this wall.
What lies there is enclosed, so not each end of the wall has an empty cell (ALH-A5, ALH-A6). So no tile lacks the middle
one of three alone. Nor does a tile have walls on two sides that lie across and on no other.

What the walls that are lacking do to the layout is said only in part, so a row that is found need not be a wall. If no
row is found, there is no wall. Ways to lack walls that leave the same to the row are held against the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from referee_solver.alhambra.wall_clauses import Masks
from referee_solver.alhambra.walls.winding import STEP, Beam, State, cells_of, tiles_of


@dataclass(frozen=True, slots=True)
class Loss:
    """Which walls are lacking."""

    left: tuple[int, ...]
    """What each tile that the row winds round still has of its walls."""
    gone: tuple[int, ...]
    """Walls of the tiles that lack all of theirs."""
    cut: tuple[tuple[int, int], ...]
    """Tiles of the row that lack some, which face other tiles: their walls, and what they still have of them."""


_Side = tuple[int, int]
"""A cell and one of its sides."""


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
        for (left, plain), alike in self._rows():
            beam = Beam([*left, *[0] * plain], Random(0), self._width, whole=True)  # noqa: S311
            possible = False
            for tried, rows in beam.every():
                yield tried + len(rows) * len(alike), {}
                for row, loss in product(rows, alike):
                    for others in self._completed(row, loss):
                        possible = True
                        yield 1, beam.layout(row, others)
            if possible or beam.full:
                return
        self.refuted = True

    def _rows(self) -> list[tuple[tuple[tuple[int, ...], int], list[Loss]]]:
        """Return tiles with walls that rows are made of, tiles without, and what is lacking then; whole tiles first."""
        alike: dict[tuple[tuple[int, ...], int], list[Loss]] = {}
        for loss in losses(self._masks, self._lacking):
            alike.setdefault((loss.left, self._plain - 1 + len(loss.gone)), []).append(loss)
        return sorted(alike.items(), key=lambda item: min(len(loss.cut) for loss in item[1]))

    def _completed(self, row: State, loss: Loss) -> Iterator[dict[int, int]]:
        """Yield walls by cell of tiles that lack some, in the row and in its corners, if the rest can be plain tiles:
        once for each way to tell the tiles of the row that do.
        """
        tiles = tiles_of(row)
        for cut in _cut(tiles, loss.cut):
            lacking = {(cell, side) for cell, (mask, kept) in cut.items() for side in _sides(mask & ~kept)}
            across: dict[int, int] = {}
            """Cells that a tile with these walls has to lie on."""
            for cell, side in lacking:
                there, opposite = cell + STEP[side], side + 2 & 3
                if (there, opposite) not in lacking:
                    across[there] = across.get(there, 0) | 1 << opposite
            if any((row.laid | row.empty) >> cell & 1 for cell in across):
                continue
            if not all(_walked_around(row.empty, *side) for side in lacking):
                continue
            placed = self._placed(row, list(loss.gone), across, lacking, dict(across))
            if placed is None:
                continue
            others = {cell: mask for cell, (mask, _) in cut.items()} | placed
            if self._hangs_together(row, tiles | others, loss, lacking):
                yield others

    def _placed(
        self,
        row: State,
        gone: Sequence[int],
        across: dict[int, int],
        lacking: Collection[_Side],
        wanted: dict[int, int],
    ) -> dict[int, int] | None:
        """Return cells for tiles that lack all walls: those that are ``wanted``, and enough of those that are owed."""
        owed = [cell for cell in cells_of(row.owed) if cell not in across]
        if not wanted and len(owed) <= self._plain:
            return {}
        for cell in [next(iter(wanted))] if wanted else owed:
            for i, mask in enumerate(gone):
                if mask in gone[:i] or wanted.get(cell, 0) & ~mask or not self._may_lie(mask, cell, row, lacking):
                    continue
                rest = {other: walls for other, walls in wanted.items() if other != cell}
                more = self._placed(row, [*gone[:i], *gone[i + 1 :]], across | {cell: mask}, lacking, rest)
                if more is not None:
                    return {cell: mask} | more
        return None

    def _hangs_together(self, row: State, tiles: dict[int, int], loss: Loss, lacking: Collection[_Side]) -> bool:
        """Return whether all tiles can be reached from one (ALH-A4), perhaps across others that lie nowhere yet."""
        owed = list(cells_of(row.owed))
        masks = dict.fromkeys(owed, 0) | tiles

        def takes(cell: int, mask: int) -> bool:
            return self._may_lie(mask, cell, row, lacking)

        over = self._plain + len(loss.gone) + len(loss.left) - len(masks)
        # One that lacks all of its walls may yet lie in a corner in the place of one without walls.
        plain = self._plain - len(owed) + sum(any(takes(cell, mask) for cell in owed) for mask in loss.gone)
        reached = {next(iter(masks))}
        edge = {(cell, 0, 0) for cell in reached}
        """Cells, and how many tiles lead there from those that are reached: any, and those without walls."""
        while edge:
            further = set()
            for cell, bridge, without in edge:
                for side, step in enumerate(STEP):
                    there = cell + step
                    if there in reached or masks.get(cell, 0) >> side & 1 or masks.get(there, 0) >> (side + 2 & 3) & 1:
                        continue
                    if there in masks:
                        further.add((there, 0, 0))
                    elif bridge < over and not row.empty >> there & 1:
                        now = without + (not any(takes(there, mask) for mask in loss.gone))
                        if now <= plain:
                            further.add((there, bridge + 1, now))
            reached |= {cell for cell, *_ in further if cell in masks}
            edge = further
        return len(reached) == len(masks)

    def _may_lie(self, mask: int, cell: int, row: State, lacking: Collection[_Side]) -> bool:
        """Return whether each wall faces an empty cell, or a wall that is lacking: of the row, or of a tile like it."""
        for side in _sides(mask):
            there = cell + STEP[side]
            if row.laid >> there & 1 and (there, side + 2 & 3) not in lacking:
                return False
            if row.owed >> there & 1 and self._lacking <= mask.bit_count():
                return False
        return True


def _cut(row: Mapping[int, int], cut: Sequence[tuple[int, int]]) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield each choice of tiles of the row that are the ones that lack some: by cell, all walls and those kept."""
    if not cut:
        yield {}
        return
    (mask, kept), *rest = cut
    for cell, walls in row.items():
        if walls == kept:
            others = {other: each for other, each in row.items() if other != cell}
            for more in _cut(others, rest):
                yield {cell: (mask, kept)} | more


def _walked_around(empty: int, cell: int, side: int) -> bool:
    """Return whether the wall on this side of a cell has an end at which no cell has to be empty."""
    there = cell + STEP[side]
    return any(not (empty >> cell + step | empty >> there + step) & 1 for step in (STEP[side - 1], STEP[side - 3]))


def _sides(mask: int) -> list[int]:
    return [side for side in range(4) if mask >> side & 1]


def losses(masks: Sequence[int], lacking: int) -> Iterator[Loss]:
    """Yield every way in which the tiles can lack so many walls; tiles with the same walls are the same."""
    kinds = sorted((mask, count) for mask, count in Counter(masks).items() if mask)
    for chosen in _chosen(kinds, lacking):
        lost = Counter(side for mask, kept in chosen for side in range(4) if (mask & ~kept) >> side & 1)
        inside = Counter(side for mask, kept in chosen if kept for side in range(4) if (mask & ~kept) >> side & 1)
        if all(inside[side] <= lost[side + 2 & 3] for side in range(4)):
            left = tuple(sorted(kept for _, kept in chosen if kept))
            gone = tuple(mask for mask, kept in chosen if not kept)
            yield Loss(left, gone, tuple((mask, kept) for mask, kept in chosen if kept and kept != mask))


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
