"""The strength of bots, computed from their places: the Plackett-Luce model, of all games at once.

The chance that a bot is placed before the others still to be placed is its strength over the sum of all of theirs. Bots
that share a place count as each order of them, all to the same part: so two that always share are equally strong. The
result depends on the games, not on their order. Bots are numbers here; a unit of luck is a block.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, groupby
from typing import Final

SCALE: Final = 400 / math.log(10)
"""Points of rating to each unit of a strength's logarithm: 400 more is ten times as strong."""
GHOST: Final = 1.0
"""The number of draws of each bot, beside its games, with one of strength 1: so that no bot is infinitely strong."""
CLOSE: Final = 1e-12
"""The last step, of strengths' logarithms."""
_NEAR: Final = 1e-3
_MOST_STEPS: Final = 20

Stage = tuple[int, ...]
"""Bots of whom one is to be placed next, ascending."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A game, as far as ratings go: the place of each bot."""

    bots: tuple[int, ...]
    places: tuple[int, ...]
    weight: float = 1.0


class Evidence:
    """The evidence of placings: how often each bot was placed next, and among whom."""

    def __init__(self, placings: Iterable[Placing] = ()) -> None:
        self.firsts: Counter[int] = Counter()
        self.stages: Counter[Stage] = Counter()
        for placing in placings:
            self.add(placing)

    def add(self, placing: Placing) -> None:
        """Count one more game."""
        for stage, firsts, weight in _stages(placing):
            self.stages[stage] += weight * placing.weight  # type: ignore[assignment]
            for bot in firsts:
                self.firsts[bot] += weight * placing.weight / len(firsts)  # type: ignore[assignment]


def _stages(placing: Placing) -> Iterator[tuple[Stage, Sequence[int], float]]:
    """Yield among whom one was placed next, who that may have been, and how much of a game that is."""
    order = sorted(zip(placing.places, placing.bots, strict=True), reverse=True)
    below: list[int] = []
    for _, group in groupby(order, key=lambda each: each[0]):
        tied = [bot for _, bot in group]
        for size in range(len(tied), 0, -1):
            if not below and size == 1:
                continue  # the last is before no other
            # In all orders of those who share a place, each part of them is as often what is left.
            parts = list(combinations(tied, size))
            for part in parts:
                yield tuple(sorted(chain(below, part))), part, 1 / len(parts)
        below += tied


def strengths(evidence: Evidence, bots: int, start: Sequence[float] | None = None) -> list[float]:
    """Return the most likely logarithms of the bots' strengths: Hunter's MM algorithm until it is near, which it
    always gets, then Newton's.

    ``start``: where to begin, which changes nothing but the time. Not centred: a bot without games has 0.
    """
    logs = list(start or [0.0] * bots)
    wins = [evidence.firsts[bot] + GHOST / 2 for bot in range(bots)]
    stages = sorted(evidence.stages.items())  # so that sums come out the same, whatever came first
    moved = 1.0
    while moved > _NEAR:
        gammas = [math.exp(value) for value in logs]
        below = [GHOST / (gamma + 1.0) for gamma in gammas]
        for stage, weight in stages:
            share = weight / sum(gammas[bot] for bot in stage)
            for bot in stage:
                below[bot] += share
        following = [math.log(won / under) for won, under in zip(wins, below, strict=True)]
        moved = max(abs(new - old) for new, old in zip(following, logs, strict=True))
        logs = following
    for _ in range(_MOST_STEPS):
        gammas = [math.exp(value) for value in logs]
        slopes = [won - GHOST * gamma / (gamma + 1.0) for won, gamma in zip(wins, gammas, strict=True)]
        for stage, weight in stages:
            share = weight / sum(gammas[bot] for bot in stage)
            for bot in stage:
                slopes[bot] -= share * gammas[bot]
        steps = [_dot(row, slopes) for row in _inverse(_information(evidence, logs))]
        logs = [value + step for value, step in zip(logs, steps, strict=True)]
        if max(map(abs, steps)) < CLOSE:
            break
    return logs


@dataclass(frozen=True, slots=True)
class Rating:
    """A bot's rating with its 95 % interval, both relative to the anchor. Of fewer than two units nothing is known."""

    value: float
    low: float
    high: float


class Ratings:
    """All of a match's ratings."""

    def __init__(
        self,
        units: Sequence[Sequence[Placing]],
        bots: int,
        *,
        anchor: int | None = None,
        seed: int = 1,
        samples: int = 1000,
    ) -> None:
        """``anchor``: the bot whose rating is 0; None: the mean is. ``samples``: of the bootstrap over units."""
        self._bots, self._anchor = bots, anchor
        self.logs = strengths(Evidence(chain.from_iterable(units)), bots)
        self._units = Counter(bot for unit in units for bot in {bot for placing in unit for bot in placing.bots})
        self._spread = self._resampled(units, random.Random(seed), samples) if len(units) > 1 else []

    def __getitem__(self, bot: int) -> Rating:
        value = self._points(self.logs)[bot]
        if self._units[bot] < 2:
            return Rating(value, -math.inf, math.inf)
        drawn = sorted(each[bot] for each in self._spread)
        return Rating(value, quantile(drawn, 0.025), quantile(drawn, 0.975))

    def before(self, bot: int, other: int) -> float:
        """Return how often the bot is placed before the other one, at a table of any size."""
        return 1 / (1 + math.exp(self.logs[other] - self.logs[bot]))

    def _points(self, logs: Sequence[float]) -> list[float]:
        zero = math.fsum(logs) / len(logs) if self._anchor is None else logs[self._anchor]
        return [SCALE * (value - zero) for value in logs]

    def _resampled(self, units: Sequence[Sequence[Placing]], rng: random.Random, samples: int) -> list[list[float]]:
        """Return the ratings of matches that are drawn from this one's units and one more, which places all bots by
        lot: without that, units that are all alike would leave no doubt, however few they are.

        Each is one of Newton's steps away from the ratings of all units: to fit every one anew takes a hundred times as
        long, and moves the ends of an interval by less than a tenth of its width from some 50 units on.
        """
        inverse = _inverse(_information(Evidence(chain.from_iterable(units)), self.logs))

        def move_of(unit: Sequence[Placing]) -> list[float]:
            slope = _slope(unit, self.logs)
            return [_dot(row, slope) for row in inverse]

        moves = [move_of(unit) for unit in units]
        places = tuple(range(1, self._bots + 1))
        whole = [math.fsum(column) for column in zip(*moves, strict=True)]
        """For all units; the ghost's games, which are in every sample, move as far back."""
        drawn: list[list[float]] = []
        for _ in range(samples):
            logs = list(self.logs)
            for move in rng.choices([*moves, None], k=len(moves) + 1):
                if move is None:  # the one more, which is never the same
                    lot = Placing(tuple(rng.sample(range(self._bots), self._bots)), places)
                    move = move_of([lot])  # noqa: PLW2901
                for bot, step in enumerate(move):
                    logs[bot] += step
            drawn.append(self._points([value - own for value, own in zip(logs, whole, strict=True)]))
        return drawn


def _slope(unit: Iterable[Placing], logs: Sequence[float]) -> list[float]:
    """Return how the unit's likelihood grows with each bot's strength."""
    found = [0.0] * len(logs)
    for placing in unit:
        for stage, firsts, weight in _stages(placing):
            total = sum(math.exp(logs[bot]) for bot in stage)
            counted = weight * placing.weight
            for bot in stage:
                found[bot] -= counted * math.exp(logs[bot]) / total
            for bot in firsts:
                found[bot] += counted / len(firsts)
    return found


def _information(evidence: Evidence, logs: Sequence[float]) -> list[list[float]]:
    """Return the likelihood's second derivatives, with the opposite sign."""
    gammas = [math.exp(value) for value in logs]
    found = [[0.0] * len(logs) for _ in logs]
    for bot, gamma in enumerate(gammas):
        found[bot][bot] = GHOST * gamma / (1 + gamma) ** 2
    for stage, weight in sorted(evidence.stages.items()):
        total = sum(gammas[bot] for bot in stage)
        for bot in stage:
            share = weight * gammas[bot] / total
            found[bot][bot] += share
            for other in stage:
                found[bot][other] -= share * gammas[other] / total
    return found


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Return the inverse of a positive definite matrix (Gauss and Jordan)."""
    size = len(matrix)
    rows = [list(row) + [float(at == column) for column in range(size)] for at, row in enumerate(matrix)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        head = rows[at][at]
        rows[at] = [value / head for value in rows[at]]
        for row in range(size):
            if row != at and (factor := rows[row][at]):
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[at], strict=True)]
    return [row[size:] for row in rows]


def _dot(row: Sequence[float], column: Sequence[float]) -> float:
    return math.fsum(each * other for each, other in zip(row, column, strict=True))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which this share of them lies, between two of them in proportion."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])
