"""What a kingdom is worth before it is finished, in points: what it has and what it may become. It chooses nothing."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.kingdom import STRIDE, Kingdom


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each thing counts."""

    growth: float = 0.42
    """Part of the points that an area would gain if the squares that may be expected all came to it."""
    crowns: float = 0.5
    """As ``growth``, for the crowns on them."""
    preference: float = 1.3
    """How much more of a terrain comes than chance brings, as dominoes are chosen."""
    border: float = 1.2
    """Squares that an area can gain for each empty cell beside it."""
    hole: float = 4.3
    """Points lost with an empty cell that has no empty neighbour."""
    odd: float = 2.4
    """Points lost with the last cell of an empty region of an odd size."""
    fit: float = 6.0
    """Points lost if none of the dominoes to come fits, in proportion."""
    unplaced: float = 5.0
    """Points lost with a domino that has to be discarded."""
    later: float = 0.46
    """Points that it costs to be one place later in the order of the next round."""


WEIGHTS = Weights()

_SAMPLE = 12
"""Dominoes to come that are tried for whether they fit."""


class Valuation:
    """Values kingdoms that a seat can reach, by the dominoes that are still to come."""

    def __init__(self, state: State, weights: Weights = WEIGHTS) -> None:
        self._weights = weights
        self._dominoes = (state.options.size() ** 2 - 1) // 2
        """Dominoes of a whole kingdom."""
        coming = [domino for domino in state.domino_set.dominoes if state.unseen >> domino.number & 1]
        self._sample = coming[:: max(1, len(coming) // _SAMPLE)]
        halves = [half for domino in coming for half in (domino.left, domino.right)]
        squares, crowns = [0] * len(TERRAINS), [0] * len(TERRAINS)
        for half in halves:
            squares[half.terrain] += 1
            crowns[half.terrain] += half.crowns
        self._share = [weights.preference * count / max(1, len(halves)) for count in squares]
        """Share of the cells that are still empty, by terrain."""
        self._crowned = [crown / max(1, count) for crown, count in zip(crowns, squares, strict=True)]
        """Crowns of a square, by terrain."""

    def best(self, kingdom: Kingdom, domino: Domino) -> float:
        """Return the kingdom's worth with the domino where it is worth most."""
        return max(
            (self.kingdom(kingdom.placed(domino, (ax, ay), (bx, by))) for ax, ay, bx, by in kingdom.placements(domino)),
            default=self.kingdom(kingdom) - self._weights.unplaced,
        )

    def kingdom(self, kingdom: Kingdom) -> float:
        """Return what the kingdom has, and what it may become."""
        weights = self._weights
        room = kingdom.room
        holes, odd = _lost(room)
        to_come = self._dominoes - len(kingdom.dominoes)
        cells = max(0, min(2 * to_come, room.bit_count() - holes - odd))
        value = -weights.hole * holes - weights.odd * odd
        for terrain, areas in enumerate(kingdom.area_sets):
            expected = cells * self._share[terrain]
            prospect = 0.0
            for area, crowns in areas:
                squares = area.bit_count()
                value += squares * crowns
                if expected and (border := (_beside(area) & room).bit_count()):
                    more = min(expected, weights.border * border)
                    crowned = weights.crowns * squares * self._crowned[terrain]
                    prospect = max(prospect, more * (weights.growth * crowns + crowned))
            value += prospect  # what comes can only come once: to the area that gains most
        if to_come and self._sample and weights.fit:
            unfit = sum(not kingdom.fits(domino) for domino in self._sample) / len(self._sample)
            value -= weights.fit * unfit * min(1.0, to_come / 4)
        return value


def _beside(cells: int) -> int:
    """Return the neighbours of a set of cells, and those of its cells that have neighbours in it."""
    return cells << 1 | cells >> 1 | cells << STRIDE | cells >> STRIDE


def _lost(room: int) -> tuple[int, int]:
    """Empty cells without an empty neighbour, and larger empty regions of an odd size: dominoes cover no such."""
    joined = room & _beside(room)
    odd = 0
    left = joined
    while left:
        region, grown = 0, left & -left
        while grown != region:
            region, grown = grown, (grown | _beside(grown)) & joined
        odd += region.bit_count() & 1
        left ^= region
    return (room ^ joined).bit_count(), odd
