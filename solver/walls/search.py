"""The longest wall that some of the tiles can make: layouts from below, bounds from above, until they meet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.games.alhambra.tiles import parse_tile
from referee.games.game import Cell, SetupError
from solver.walls.annealing import anneal
from solver.walls.check import wall_length
from solver.walls.cnf import Question
from solver.walls.sat import Asking, Budget

Masks = dict[Cell, int]

_STEP = 25
"""What a step of annealing is charged, in Z3's unit of work: it takes about as long."""


@dataclass(frozen=True, slots=True)
class Wall:
    """What is known of the longest wall."""

    best: int
    """Sides of the wall of the layout."""
    bound: int
    """No layout of the tiles has a longer wall; if there is a region, none with all tiles in it."""
    proven: bool
    """``best == bound``."""
    region: int | None
    """The bound is only about tiles within so many steps of the fountain; None: about all layouts."""
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
    """Every improvement of the wall or of its bound, and at the end, with ``done``, what is known then.

    Any of the tiles may be left out. ``rlimit`` limits the work, in Z3's unit: with it alone, and a seed, the answers
    are the same every time. ``seconds`` is a fuse. Without either the search goes on until the wall is proven.
    Closing the iterator ends the search; a signal is heard within about half a second.
    With a region, the answer is about layouts with all tiles within so many steps of the fountain.

    Raises ``ValueError`` (a name that is no tile, or twice the same; no number of steps).
    """
    masks = _masks(tiles)
    if region is not None and region < 0:
        raise ValueError(f"region: expected a number of steps, 0 or more, got {region}")
    if region is not None and region >= len(tiles):
        region = None  # no tile gets farther
    return _Search(tiles, masks, Budget.of(rlimit, seconds), seed, region).run()


def _masks(tiles: Sequence[str]) -> list[int]:
    try:
        masks = [parse_tile(tile).walls for tile in tiles]
    except SetupError as error:
        raise ValueError(str(error)) from None
    for i, tile in enumerate(tiles):
        if tile in tiles[:i]:
            raise ValueError(f"tile {tile}: given twice, expected different tiles")
    return masks


class _Search:
    def __init__(self, tiles: Sequence[str], masks: list[int], budget: Budget, seed: int, region: int | None) -> None:
        self.tiles = tiles
        self.masks = masks
        self.budget = budget
        self.seed = seed
        self.region = region
        self.best = 0
        self.layout: Masks = {}
        self.bound = sum(mask.bit_count() for mask in masks)

    def run(self) -> Iterator[Wall]:
        yield self._wall()
        for _ in self._phases():
            yield self._wall()
        yield self._wall(done=True)

    def over(self) -> bool:
        return self.best == self.bound or self.budget.spent

    def _phases(self) -> Iterator[None]:
        """An item for every improvement."""
        yield from self._anneal(4)
        yield from self._boxes()
        yield from self._refute()

    def _anneal(self, descents: int) -> Iterator[None]:
        rng = random.Random(self.seed)  # noqa: S311 - a search, not a secret
        for _ in range(descents):
            for _, layout in anneal(self.masks, rng, 20_000):
                self.budget.charge(256 * _STEP)
                if self.over():
                    return
                if self._found(layout):
                    yield

    def _boxes(self) -> Iterator[None]:
        """Layouts without slack, which are as good as a proof, in boxes of several shapes, a slice each in turn."""
        size = len(self.masks)
        shapes = sorted(
            ((w, h) for w in range(2, size + 1) for h in range(2, size + 1) if w * h > size and w + h <= size + 2),
            key=lambda box: (box[0] * box[1] > 2.6 * size, abs(box[0] * box[1] - 2 * size) + 2 * abs(box[0] - box[1])),
        )[:12]
        asking = [Asking(Question(self.masks, self.bound, box=box), self.seed) for box in shapes]
        while asking and not self.over():
            for one in list(asking):
                if self.over():
                    break
                if self._ask(one):
                    yield
                if one.unsatisfiable:
                    asking.remove(one)

    def _refute(self) -> Iterator[None]:
        while not self.over():
            target = self.best + 1
            asking = Asking(Question(self.masks, target, region=self.region), self.seed)
            while not self.over() and self.best < target:
                if self._ask(asking):
                    yield
                if asking.unsatisfiable:
                    self.bound = self.best
                    yield

    def _ask(self, asking: Asking) -> bool:
        """A slice of work; whether it found a longer wall."""
        model = asking.step(self.budget)
        if model is None:
            return False
        if cuts := asking.question.cuts(model):
            asking.add(cuts)
        return any(self._found(layout) for layout in asking.question.layouts(model))

    def _found(self, masks: Masks) -> bool:
        """Whether the layout is the best so far. Raises ``IllegalLayout`` if it is none."""
        if not masks or (self.region is not None and any(abs(x) + abs(y) > self.region for x, y in masks)):
            return False
        length = wall_length(masks)
        if length <= self.best:
            return False
        self.best, self.layout = length, dict(masks)
        return True

    def _wall(self, *, done: bool = False) -> Wall:
        names = sorted(self.tiles, reverse=True)
        layout = {}
        for cell, mask in sorted(self.layout.items()):
            tile = next(name for name in reversed(names) if parse_tile(name).walls == mask)
            names.remove(tile)
            layout[cell] = tile
        return Wall(self.best, self.bound, self.best == self.bound, self.region, layout, done)
