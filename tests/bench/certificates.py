"""A verdict of Alhambra with its certificate: milliseconds of processor time, on layouts of 20 tiles.

The floor is a bare Z3 in turn: the same questions as text, in one new context for each claim, checked and nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from time import process_time

import z3

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import tile_set
from referee.wire.certificates.alhambra.certificate import check
from referee.wire.certificates.alhambra.claims import Place, Remove, Step, StepClaim, Swap
from referee_solver.alhambra.prover import prove
from tests.bench import solver_turns
from tests.bench.measure import Figure

TILES = 20
"""In the layouts."""
SEEDS = range(20)
_STEPS = 25
"""Claims about each layout."""


def claims(seeds: range) -> Iterator[StepClaim]:
    """Placements on and around the layout, removals, swaps: legal ones and others."""
    for seed in seeds:
        rng = random.Random(seed)
        layout, left = solver_turns.position(seed, TILES, _STEPS)
        engine = Layout.of(tile_set(), {cell: tile_set().numbers[name] for cell, name in layout.items()})
        around = sorted({(x + dx, y + dy) for x, y in layout for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))})
        empty = [cell for cell in around if cell not in layout and cell != (0, 0)]
        for number in range(_STEPS):
            tile = left[number % len(left)]
            legal = engine.placeable_cells(tile_set().walls[tile_set().numbers[tile]])
            steps: list[Step] = [
                Place(tile, rng.choice(legal or empty)),
                Place(tile, rng.choice(empty)),
                Remove(rng.choice(sorted(layout))),
                Swap(tile, rng.choice(sorted(layout))),
            ]
            yield StepClaim(layout, steps[number % len(steps)])


def figures(seeds: range = SEEDS) -> Iterator[Figure]:
    """Yield the proof of each claim, beside bare Z3; and the check of each certificate, without a solver."""
    asked = list(claims(seeds))
    questions = [[file.text for file in prove(claim, smt_lib=True).smt_lib] for claim in asked]
    proving, bare, checking = [], [], []
    for claim, texts in zip(asked, questions, strict=True):
        proving.append(_ms(partial(prove, claim)))
        bare.append(_ms(partial(_ask, texts)))
        certificate = prove(claim).certificate
        checking.append(_ms(partial(check, certificate), 10))
    name = f"proof with certificate, {TILES}-tile layout, {len(asked)} claims"
    ratio = median(ours / floor for ours, floor in zip(proving, bare, strict=True))
    yield Figure(f"{name}: median, ms", median(proving), floor=median(bare), paired=ratio, at_most=5)
    yield Figure(f"{name}: 99th percentile, ms", _p99(proving), floor=_p99(bare), at_most=20)
    yield Figure("certificate check: median, ms", median(checking), at_most=0.3)
    yield Figure("certificate check: 99th percentile, ms", _p99(checking))


def _ask(texts: Sequence[str]) -> None:
    """Nothing but Z3."""
    context = z3.Context()
    for text in texts:
        solver = z3.SimpleSolver(ctx=context)
        solver.from_string(text)
        solver.check()


def _ms(work: Callable[[], object], times: int = 1) -> float:
    """Return milliseconds of processor time; several times where the clock is too coarse for once."""
    start = process_time()
    for _ in range(times):
        work()
    return 1000 * (process_time() - start) / times


def _p99(values: Sequence[float]) -> float:
    """Return the value that 99 of 100 do not exceed."""
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]
