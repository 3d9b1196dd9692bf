"""A sequential test: is the first bot better than the others at its table by a given amount (Wald's SPRT)?

A sample is one block: the bot's share of first places in it, or its points or places against the others'. The
likelihood of the samples under a hypothesis is that of the best distribution over the values seen that has the mean it
claims, so that a skew is taken into account.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from referee.games.game import InputError

LEAST: Final = 60
"""Blocks before anything is decided: of fewer the distribution is not known well enough."""
ERROR: Final = 0.05
"""The chance of either error, if one of the two hypotheses is true."""
BOUND: Final = math.log((1 - ERROR) / ERROR)
_STEPS: Final = 60
_TEXT: Final = re.compile(r"(first-places|points|placing):(-?\d+(?:\.\d+)?)(%?),(-?\d+(?:\.\d+)?)(%?)\Z")


class Measure(StrEnum):
    """The measure that is compared."""

    FIRST_PLACES = "first-places"
    """The share above or below the even one: 10% is 55 instead of 50 first places of 100 at two seats."""
    POINTS = "points"
    """A game, more than the mean of the others at the table."""
    PLACING = "placing"
    """Shares from 0%, always last, to 100%, always first; more than the 50% that are even."""


class Verdict(StrEnum):
    """The result of the test."""

    H0 = "H0"
    H1 = "H1"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Sprt:
    """The hypotheses."""

    measure: Measure
    h0: float
    h1: float
    """Percentages are parts of one."""

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """Return the test of ``first-places:0,10%``. Raise ``InputError``."""
        expected = "such as first-places:0,10%, points:0,2 or placing:0,3%, the second number the greater one"
        if (found := _TEXT.match(text)) is None:
            raise InputError("--sprt", f"{text[:40]!r}", expected)
        measure = Measure(found[1])
        h0, h1 = (float(number) / (1 if measure is Measure.POINTS else 100) for number in (found[2], found[4]))
        is_percent = bool(found[5])
        if not h0 < h1 or is_percent is (measure is Measure.POINTS) or (found[3] and not is_percent):
            raise InputError("--sprt", f"{text[:40]!r}", expected)
        if measure is Measure.FIRST_PLACES and h0 <= -1:
            raise InputError("--sprt", f"{text[:40]!r}", "more than -100%")
        return cls(measure, h0, h1)

    def to_json(self) -> list[Any]:
        """Return the same as JSON has it."""
        return [self.measure.value, self.h0, self.h1]

    @classmethod
    def from_json(cls, told: list[Any]) -> Sprt:
        """Return what ``to_json`` gave."""
        return cls(Measure(told[0]), told[1], told[2])

    def __str__(self) -> str:
        unit = 1 if self.measure is Measure.POINTS else 100
        sign = "" if unit == 1 else "%"
        return f"{self.measure}: {self.h0 * unit:+g}{sign} (H0) or {self.h1 * unit:+g}{sign} (H1)"


class Trial:
    """A test as its samples come."""

    def __init__(self, sprt: Sprt) -> None:
        self.sprt = sprt
        self._seen: Counter[float] = Counter()
        self._sum = self._squares = self._wholes = 0.0
        self.samples = 0

    def add(self, sample: float, whole: float) -> None:
        """Take one more block: how much more than even the first bot has, and a large sample (``schedule.whole``)."""
        self._seen[sample] += 1
        self.samples += 1
        self._wholes += whole
        self._sum += sample
        self._squares += sample * sample

    @property
    def mean(self) -> float:
        """Return the mean of all samples; 0 without one."""
        return self._sum / self.samples if self.samples else 0.0

    def ratio(self) -> float:
        """Return the logarithm of how much likelier H1 makes the samples than H0."""
        if self.samples < 2:
            return 0.0
        h0, h1 = self.sprt.h0, self.sprt.h1
        plain = self._plain()
        if abs(plain) < BOUND / 2:  # a tenth off at most, and nothing is decided there
            return plain
        as_h0, as_h1 = self._likeliest(h0), self._likeliest(h1)
        if as_h0 is None or as_h1 is None:  # no value beyond one of them was seen
            return plain
        return as_h0 - as_h1

    @property
    def _whole(self) -> float:
        """By how much the half of one more block is above, and the other half below even. Without it, blocks that are
        all alike would leave no doubt: two bots that seldom differ have nothing else for a long time.
        """
        return self._wholes / self.samples

    def _plain(self) -> float:
        """Return the same for a normal distribution."""
        spread = (self._squares + self._whole**2 - self.samples * self.mean**2) / (self.samples - 1)
        middle = (self.sprt.h0 + self.sprt.h1) / 2
        return self.samples * (self.sprt.h1 - self.sprt.h0) * (self.mean - middle) / spread

    def _likeliest(self, mean: float) -> float | None:
        """Return by how much (in logarithms) the best distribution with this mean fits worse than the one seen."""
        halves = Counter({self._whole: 0.5, -self._whole: 0.5})
        seen = [(value - mean, count) for value, count in sorted((self._seen + halves).items())]
        least, most = seen[0][0], seen[-1][0]
        if least >= 0 or most <= 0:
            return None
        low, high = -1 / most, -1 / least
        for _ in range(_STEPS):
            tilt = (low + high) / 2
            if sum(count * value / (1 + tilt * value) for value, count in seen) > 0:
                low = tilt
            else:
                high = tilt
        tilt = (low + high) / 2
        return sum(count * math.log1p(tilt * value) for value, count in seen)

    def verdict(self) -> Verdict:
        """Return what is decided by now."""
        if self.samples < LEAST:
            return Verdict.UNDECIDED
        ratio = self.ratio()
        if ratio >= BOUND:
            return Verdict.H1
        return Verdict.H0 if ratio <= -BOUND else Verdict.UNDECIDED
