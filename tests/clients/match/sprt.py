"""Simulated matches for the sequential test; ``python -m tests.clients.match.sprt [RUNS]`` counts its errors."""

from __future__ import annotations

import math
import random
import sys
from bisect import bisect
from itertools import accumulate

from referee_clients.match.sprt import Measure, Sprt, Trial, Verdict

H0_OR_10 = Sprt(Measure.FIRST_PLACES, 0.0, 0.1)


MOST = 20_000


def ended(rng: random.Random, seats: int, better: float) -> Verdict:
    """Return the verdict where the bot wins each game of a block as often as it is better than even."""
    p = (1 + better) / seats
    sums = list(accumulate(math.comb(seats, wins) * p**wins * (1 - p) ** (seats - wins) for wins in range(seats + 1)))
    test = Trial(H0_OR_10)
    for _ in range(MOST):
        test.add(min(seats, bisect(sums, rng.random())) - 1, 1.0)
        if (verdict := test.verdict()) is not Verdict.UNDECIDED:
            return verdict
    return Verdict.UNDECIDED


def errors(seats: int, runs: int, seed: int = 1) -> tuple[int, int]:
    rng = random.Random(seed)
    return (
        sum(ended(rng, seats, 0.0) is not Verdict.H0 for _ in range(runs)),
        sum(ended(rng, seats, 0.1) is not Verdict.H1 for _ in range(runs)),
    )


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    for seats in (2, 4, 6):
        wrong_h1, wrong_h0 = errors(seats, runs, seed=11)
        print(f"{seats} seats, {runs} runs each: H0 rejected {wrong_h1 / runs:.1%}, H1 missed {wrong_h0 / runs:.1%}")


if __name__ == "__main__":
    main()
