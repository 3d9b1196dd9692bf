"""How a figure is taken: processor time, a warm-up, the median of several runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles
from time import process_time

RUNS = 7


@dataclass(frozen=True)
class Figure:
    """Something measured, most often how many times a second it is done, and what it is compared with."""

    name: str
    value: float
    target: float | None = None
    """At least this value, or at least this ratio if there is a floor."""
    floor: float | None = None
    """The bare operation's value in the same run."""
    paired: float | None = None
    """The median ratio of neighbouring runs, where both were taken in turn."""
    at_most: float | None = None
    """For what should be small."""

    @property
    def ratio(self) -> float | None:
        """The ratio to the floor."""
        return self.paired or (self.value / self.floor if self.floor else None)

    @property
    def reached(self) -> bool | None:
        """True if the target is reached; None without one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.target is None:
            return None
        return (self.ratio if self.floor else self.value) >= self.target  # type: ignore[operator]


def slice_rate(work: Callable[[], int]) -> float:
    """Return how many a second, of one batch."""
    start = process_time()
    done = work()
    return done / (process_time() - start)


def rate(work: Callable[[], int], runs: int = RUNS) -> float:
    """How many a second: ``work`` does a batch and returns how many it did."""
    work()
    return median(slice_rate(work) for _ in range(runs))


def against(name: str, work: Callable[[], int], bare: Callable[[], int], target: float, runs: int = 15) -> Figure:
    """Both in turn, so that the ratio holds while the machine's speed drifts."""
    work(), bare()
    pairs = [(slice_rate(work), slice_rate(bare)) for _ in range(runs)]
    rates, floors = zip(*pairs, strict=True)
    return Figure(name, median(rates), target, median(floors), median(ours / floor for ours, floor in pairs))


def p95(values: list[float]) -> float:
    """Return what 95 of 100 do not exceed."""
    return quantiles(values, n=20)[-1]
