"""Kingdoms worth much, found by annealing: a frame that is tiled with slots, and dominoes that change places.

A slot is two neighbouring cells. Every slot has a domino or is blank; a domino without a slot is left out. A state need
not be legal: what counts are the dominoes that can be laid in some order, each beside the castle or its own terrain.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.wire.certificates.kingdomino.claims import CASTLE, Placed, beside
from referee_solver.kingdomino.bounds import capacity

_HOT, _COLD = 5.0, 0.5
"""Points that are given up easily, at first and in the end."""
_BREATH = 1_000
"""Steps after which the caller gets a turn."""
_TURN, _SLIDE, _FLIP = 0.25, 0.35, 0.5
"""How often slots turn, a slot slides and a domino flips, added up; else two dominoes change places."""

_Slot = tuple[int, int]
"""Cells as bits: that of the left half, that of the right half."""


def anneal(
    dominoes: Sequence[Domino], size: int, castle: Cell, rng: random.Random, steps: int
) -> Iterator[tuple[int, tuple[Placed, ...]]]:
    """Yield the points and the dominoes of each kingdom that is better than those before it; now and then the same
    again.

    ``castle``: its column and row in the frame. The dominoes are in an order in which they are legal.
    """
    state = _State(dominoes, size, castle, rng)
    now = best = state.points()
    found = state.kingdom()
    for step in range(steps):
        if step % _BREATH == 0:
            yield best, found
        heat = _HOT * (_COLD / _HOT) ** (step / steps)
        before = state.copy()
        state.change()
        after = state.points()
        if after < now and rng.random() >= math.exp((after - now) / heat):
            state.restore(before)
            continue
        now = after
        if now > best:
            best, found = now, state.kingdom()
            yield best, found


class _State:
    """Column x and row y are the bit ``x * (size + 1) + y``: no neighbour is across an edge."""

    def __init__(self, dominoes: Sequence[Domino], size: int, castle: Cell, rng: random.Random) -> None:
        self._rng = rng
        self._at = castle
        self._stride = size + 1
        self._castle = self._bit(castle)
        slots = tiling(size, castle, rng)
        self._slots: list[_Slot] = [(self._bit(left), self._bit(right)) for left, right in slots]
        free = {(x, y) for x in range(size) for y in range(size)} - {castle, *(cell for slot in slots for cell in slot)}
        self._free = [self._bit(cell) for cell in sorted(free)]
        """Cells without a slot: some if the castle is on a cell of the rarer colour."""
        self._held: list[Domino | None] = [*dominoes]
        """By slot; dominoes beyond the last slot are left out."""
        self._held += [None] * (len(slots) - len(dominoes))
        rng.shuffle(self._held)

    def _bit(self, cell: Cell) -> int:
        return 1 << cell[0] * self._stride + cell[1]

    def copy(self) -> tuple[list[_Slot], list[Domino | None], list[int]]:
        """Return what changes."""
        return self._slots[:], self._held[:], self._free[:]

    def restore(self, before: tuple[list[_Slot], list[Domino | None], list[int]]) -> None:
        """Restore what ``copy`` returned."""
        self._slots, self._held, self._free = before

    # What it is worth

    def points(self) -> int:
        """Return the points of the dominoes that can be laid."""
        return self._laid()[0]

    def kingdom(self) -> tuple[Placed, ...]:
        """Return the dominoes that can be laid, the castle at (0, 0)."""
        _, laid = self._laid()
        placed = [
            Placed(domino, self._cell(left), self._cell(right))
            for (left, right), domino in zip(self._slots, self._held, strict=False)
            if domino is not None and left & laid
        ]
        return in_order(placed)

    def _cell(self, bit: int) -> Cell:
        x, y = divmod(bit.bit_length() - 1, self._stride)
        return x - self._at[0], y - self._at[1]

    def _laid(self) -> tuple[int, int]:
        """Return points, and the cells of the dominoes that can be laid."""
        terrains, ones, twos = [0] * len(TERRAINS), 0, 0
        for bits, domino in zip(self._slots, self._held, strict=False):
            if domino is not None:
                for bit, (terrain, crowns) in zip(bits, (domino.left, domino.right), strict=True):
                    terrains[terrain] |= bit
                    if crowns:
                        ones |= bit if crowns & 1 else 0
                        twos |= bit if crowns & 2 else 0
        areas = [area for cells in terrains for area in self._areas(cells)]
        laid = self._reached(areas)
        points = 0
        for area in areas:
            if area & laid and area & (ones | twos):
                points += area.bit_count() * ((area & ones).bit_count() + 2 * (area & twos).bit_count())
        return points, laid

    def _areas(self, cells: int) -> Iterator[int]:
        """Yield the areas among the cells."""
        stride = self._stride
        left = cells
        while left:
            area, grown = 0, left & -left
            while grown != area:
                area = grown
                grown = (area | area << 1 | area >> 1 | area << stride | area >> stride) & left
            left ^= area
            yield area

    def _reached(self, areas: Sequence[int]) -> int:
        """Return the cells of the areas that have a domino beside the castle, or one of a domino that is reached."""
        castle, stride = self._castle, self._stride
        near = castle << 1 | castle >> 1 | castle << stride | castle >> stride
        laid, before = 0, -1
        while laid != before:
            before = laid
            for area in areas:
                if area & near:
                    laid |= area
            for (one, other), domino in zip(self._slots, self._held, strict=False):
                if domino is not None and (one | other) & laid:
                    near |= one | other
        return laid

    # Changes

    def change(self) -> None:
        """Make a small change, or none."""
        rng, kind = self._rng, self._rng.random()
        i = rng.randrange(len(self._slots))
        if kind < _TURN:
            self._turn(i)
        elif kind < _SLIDE and self._free:
            self._slide(i)
        elif kind < _FLIP:
            self._slots[i] = self._slots[i][::-1]
        else:
            j = rng.randrange(len(self._held))
            self._held[i], self._held[j] = self._held[j], self._held[i]
            for k in (i, j):
                if k < len(self._slots) and rng.random() < 0.5:
                    self._slots[k] = self._slots[k][::-1]

    def _turn(self, i: int) -> None:
        """Two slots that make a square lie the other way."""
        one, other = self._slots[i]
        shift = 1 if max(one, other) == min(one, other) << self._stride else self._stride
        there = (one | other) << shift
        for j, (third, fourth) in enumerate(self._slots):
            if third | fourth == there:
                self._slots[i], self._slots[j] = (one, one << shift), (other, other << shift)
                return

    def _slide(self, i: int) -> None:
        """Into a free cell beside it, so that a cell of the slot is free."""
        bits, stride = self._slots[i], self._stride
        k = self._rng.randrange(len(self._free))
        free = self._free[k]
        near = free << 1 | free >> 1 | free << stride | free >> stride
        for stays, leaves in (bits, bits[::-1]):
            if stays & near:
                self._slots[i], self._free[k] = (stays, free), leaves
                return


def in_order(placed: Sequence[Placed]) -> tuple[Placed, ...]:
    """Return an order in which each domino is laid beside the castle or its own terrain, as far as there is one."""
    left, laid = [*placed], list[Placed]()
    squares: dict[Cell, int] = {}
    while True:
        for each in left:
            if any(
                there == CASTLE or (there in squares and squares[there] == half.terrain)
                for cell, half in each.squares()
                for there in beside(cell)
            ):
                break
        else:
            return tuple(laid)
        left.remove(each)
        laid.append(each)
        squares |= {cell: half.terrain for cell, half in each.squares()}


def tiling(size: int, castle: Cell, rng: random.Random) -> list[tuple[Cell, Cell]]:
    """Return as many slots as fit, at random."""
    while True:
        empty = {(x, y) for x in range(size) for y in range(size)} - {castle}
        slots = []
        while True:
            ways = {cell: [near for near in beside(cell) if near in empty] for cell in sorted(empty)}
            ways = {cell: near for cell, near in ways.items() if near}
            if not ways:
                break
            one = min(ways, key=lambda cell: (len(ways[cell]), rng.random()))
            other = rng.choice(ways[one])
            empty -= {one, other}
            slots.append((one, other))
        if len(slots) == capacity(size, castle):
            return slots
