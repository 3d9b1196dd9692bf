"""Simulated annealing on layouts (Kirkpatrick, Gelatt and Vecchi 1983): long walls soon, without any promise.

Tiles are masks here: equal walls are equal tiles. A step takes a tile away, lays one, or both, by the local rules of
building; the energy is what the longest wall lacks.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from referee.games.game import Cell

_STRIDE = 128
_ORIGIN = 64 * _STRIDE + 64
_EMPTY = -1
_UP, _RIGHT, _DOWN, _LEFT = -_STRIDE, 1, _STRIDE, -1
_RING = (_UP, _UP + 1, 1, _DOWN + 1, _DOWN, _DOWN - 1, -1, _UP - 1)
_OUTLINE = (
    (1, _UP + _RIGHT, _RIGHT, 3, 1),
    (2, _RIGHT + _DOWN, _DOWN, 0, 2),
    (4, _DOWN + _LEFT, _LEFT, 1, 3),
    (8, _LEFT + _UP, _UP, 2, 0),
)
"""A clockwise walk along each side: its bit, the cell across the corner, the cell ahead, the sides inwards, around."""


def anneal(masks: Sequence[int], rng: random.Random, steps: int) -> Iterator[tuple[int, dict[Cell, int]]]:
    """One descent of so many steps: every longer wall with its layout, as soon as it is found.

    Yields ``(0, {})``, too, every few hundred steps, so that the caller may stop.
    """
    board = _Board(masks)
    best = 0
    hot = heat = 1.0
    cold = 0.3
    energy = board.energy()[0]
    for step in range(steps):
        if step % 256 == 0:
            heat = hot * (cold / hot) ** (step / steps)
            yield 0, {}
        undo = board.move(rng)
        if undo is None:
            continue
        changed, wall = board.energy()
        if changed <= energy or rng.random() < math.exp((energy - changed) / heat):
            energy = changed
            if wall > best:
                best = wall
                yield wall, board.layout()
        else:
            board.undo(undo)


class _Board:
    def __init__(self, masks: Sequence[int]) -> None:
        self.cells = [_EMPTY] * (_STRIDE * _STRIDE)
        self.cells[_ORIGIN] = 0
        self.placed: list[int] = []
        self.reserve = list(masks)
        self.walls = sum(mask.bit_count() for mask in masks)

    def layout(self) -> dict[Cell, int]:
        return {(i % _STRIDE - 64, i // _STRIDE - 64): self.cells[i] for i in self.placed}

    def fits(self, index: int, mask: int) -> bool:
        """ALH-A2 to ALH-A6 for one tile more, by its ring of eight."""
        cells = self.cells
        way = False
        for bit, step, meets in ((1, _UP, 4), (2, 1, 8), (4, _DOWN, 1), (8, -1, 2)):
            there = cells[index + step]
            if there >= 0:
                if bool(mask & bit) != bool(there & meets):
                    return False
                if not mask & bit:
                    way = True
        if not way:
            return False
        blocks = 0
        before = cells[index + _RING[7]] >= 0
        for step in _RING:
            here = cells[index + step] >= 0
            if here and not before:
                blocks += 1
            before = here
        return blocks == 1

    def keeps(self, index: int) -> bool:
        """ALH-D3: without the tile of the cell, no other is cut off and there is no hole."""
        cells = self.cells
        if all(cells[index + step] >= 0 for step in (_UP, 1, _DOWN, -1)):
            return False
        mask = cells[index]
        ways = sum(not mask & bit and cells[index + step] >= 0 for bit, step in ((1, _UP), (2, 1), (4, _DOWN), (8, -1)))
        if ways == 1:
            return True
        seen = {index, _ORIGIN}
        todo = [_ORIGIN]
        while todo:
            here = todo.pop()
            walls = cells[here]
            for bit, step in ((1, _UP), (2, 1), (4, _DOWN), (8, -1)):
                if not walls & bit and cells[here + step] >= 0 and here + step not in seen:
                    seen.add(here + step)
                    todo.append(here + step)
        return len(seen) == len(self.placed) + 1

    def take(self, index: int) -> int:
        mask = self.cells[index]
        self.cells[index] = _EMPTY
        self.placed.remove(index)
        self.reserve.append(mask)
        return mask

    def lay(self, index: int, mask: int) -> None:
        self.cells[index] = mask
        self.placed.append(index)
        self.reserve.remove(mask)

    def move(self, rng: random.Random) -> tuple[tuple[int, int, int], ...] | None:
        """A random step, or None if the one that was drawn is not allowed. Returns (index, before, after) of each."""
        roll = rng.random()
        if self.placed and (roll < 0.25 or not self.reserve):
            source = rng.choice(self.placed)
            mask = self.cells[source]
            if not self.keeps(source):
                return None
            self.take(source)
            target = self._somewhere(rng)
            other = mask if roll < 0.7 else rng.choice(self.reserve)
            if target != source and self.cells[target] < 0 and self.fits(target, other):
                self.lay(target, other)
                return (source, mask, _EMPTY), (target, _EMPTY, other)
            self.lay(source, mask)
            return None
        if self.placed and roll < 0.55:
            one = rng.choice(self.placed)
            here = self.cells[one]
            if self.reserve and rng.random() < 0.5:
                mask = rng.choice(self.reserve)
                if mask == here or not self._swaps(one, mask):
                    return None
                self.take(one)
                self.lay(one, mask)
                return ((one, here, mask),)
            other_cell = rng.choice(self.placed)
            there = self.cells[other_cell]
            if here == there or not (self._swaps(one, there) and self._swaps(other_cell, here)):
                return None
            self.cells[one], self.cells[other_cell] = there, here
            return (one, here, there), (other_cell, there, here)
        if self.placed and roll < 0.6:
            source = rng.choice(self.placed)
            if not self.keeps(source):
                return None
            return ((source, self.take(source), _EMPTY),)
        if not self.reserve:
            return None
        target = self._somewhere(rng)
        mask = rng.choice(self.reserve)
        if self.cells[target] >= 0 or not self.fits(target, mask):
            return None
        self.lay(target, mask)
        return ((target, _EMPTY, mask),)

    def _swaps(self, index: int, mask: int) -> bool:
        """ALH-D4: the same walls towards every neighbour."""
        cells = self.cells
        differ = cells[index] ^ mask
        return not (
            (differ & 1 and cells[index + _UP] >= 0)
            or (differ & 2 and cells[index + 1] >= 0)
            or (differ & 4 and cells[index + _DOWN] >= 0)
            or (differ & 8 and cells[index - 1] >= 0)
        )

    def _somewhere(self, rng: random.Random) -> int:
        base = rng.choice(self.placed) if self.placed and rng.random() < 0.95 else _ORIGIN
        return base + rng.choice((_UP, 1, _DOWN, -1))

    def undo(self, changes: tuple[tuple[int, int, int], ...]) -> None:
        if len(changes) == 2 and _EMPTY not in (changes[0][2], changes[1][1]):
            for index, before, _ in changes:
                self.cells[index] = before
            return
        for index, before, after in reversed(changes):
            if after != _EMPTY:
                self.take(index)
            if before != _EMPTY:
                self.lay(index, before)

    def energy(self) -> tuple[float, int]:
        """What is lacking, and the longest wall."""
        cells = self.cells
        here = min(*self.placed, _ORIGIN) if self.placed else _ORIGIN
        start, walls = here, cells[here]
        bit, across, ahead, inwards, around = _OUTLINE[0]
        runs = []
        run = 0
        while True:
            if walls & bit:
                run += 1
            else:
                runs.append(run)
                run = 0
            beyond = cells[here + ahead]
            if beyond >= 0:
                corner = cells[here + across]
                if corner >= 0:
                    here, walls = here + across, corner
                    bit, across, ahead, inwards, around = _OUTLINE[inwards]
                else:
                    here, walls = here + ahead, beyond
            else:
                bit, across, ahead, inwards, around = _OUTLINE[around]
                if here == start and bit == 1:
                    break
        if not runs:
            return self.walls - run, run
        runs[0] += run
        longest = max(runs)
        return self.walls - longest - 0.4 * (sum(runs) - longest), longest
