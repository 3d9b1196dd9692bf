"""The times of the solver, on one core: ``make bench-solver``. A row each: name, measured, target.

``python -m tests.bench.solver --quick`` takes five seeds in place of twenty and ten seconds for a wall in place of
sixty; ``--sections proofs turns`` takes only these; ``--compare`` puts other solvers beside Z3, as far as they are
installed (``make compare``, and the command cadical).
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.table import Table

from referee.games.alhambra.tiles import NAMES
from referee_solver.alhambra.walls import Wall, longest_wall
from tests.bench import certificates, solver_compare, solver_turns
from tests.bench.measure import Figure


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    seeds: range = range(20)
    seconds: float = 60.0
    """For each set of tiles; all 54 get ten times as much."""


QUICK = Scale(range(5), 10.0)


def proofs(scale: Scale) -> Iterator[Figure]:
    """Yield a verdict with its certificate, and the certificate alone."""
    yield from certificates.figures(scale.seeds)


def turns(scale: Scale) -> Iterator[Figure]:
    """Best turns and rebuild distances, found and proven."""
    yield from solver_turns.figures(scale.seeds)


def walls(scale: Scale) -> Iterator[Figure]:
    """Yield the longest walls of sets of tiles, proven without a region; and of all tiles, in ten times the time.

    ``solver_walls`` takes the same sets one by one, by work in place of time.
    """
    for size, share in ((10, 100), (15, 95), (20, 95), (30, 95), (40, 90)):
        found = [longest(random.Random(seed).sample(NAMES, size), scale.seconds, seed) for seed in scale.seeds]
        proven = sum(wall.proven and wall.region is None for wall in found)
        name = f"longest wall of {size} tiles, {scale.seconds:g} s each"
        yield Figure(f"{name}: proven, % of {len(found)} sets", 100 * proven / len(found), share)
    wall = longest(NAMES, 10 * scale.seconds, 0)
    yield Figure(f"longest wall of all 54 tiles, {10 * scale.seconds:g} s: sides", wall.best, 69)
    yield Figure("the same: bound", wall.bound)


def longest(tiles: Sequence[str], seconds: float, seed: int) -> Wall:
    """Return the result when the time is over."""
    *_, last = longest_wall(tiles, seconds=seconds, seed=seed)
    return last


SECTIONS: dict[str, Callable[[Scale], Iterator[Figure]]] = {"proofs": proofs, "turns": turns, "walls": walls}


def main(arguments: Sequence[str] | None = None) -> None:
    """Take every figure in turn."""
    parser = argparse.ArgumentParser(prog="tests.bench.solver", description="Measures the solver, on one core.")
    parser.add_argument("--quick", action="store_true", help="fewer seeds and less time: some minutes")
    parser.add_argument("--seconds", type=float, help="for each set of tiles of the longest wall")
    parser.add_argument("--compare", action="store_true", help="other solvers beside Z3")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    chosen = parser.parse_args(arguments)
    scale = QUICK if chosen.quick else Scale()
    if chosen.seconds is not None:
        scale = Scale(scale.seeds, chosen.seconds)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    console = Console(width=120)
    table = Table(
        "figure", "measured", "floor", "ratio", "target", "", title="The solver, on one core", title_justify="left"
    )
    with Live(table, console=console, auto_refresh=False) as shown:
        for name in chosen.sections:
            for figure in SECTIONS[name](scale):
                floor = number(figure.floor) if figure.floor else ""
                ratio = number(figure.ratio) if figure.ratio else ""
                table.add_row(figure.name, number(figure.value), floor, ratio, *target(figure))
                shown.refresh()
            table.add_section()
    if chosen.compare:
        console.print(solver_compare.table(scale.seeds, scale.seconds))


def number(value: float) -> str:
    """With three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def target(figure: Figure) -> tuple[str, str]:
    """Return the target, and whether it is reached."""
    wanted = "" if figure.target is None else f"at least {figure.target:g}"
    wanted = wanted if figure.at_most is None else f"at most {figure.at_most:g}"
    return wanted, {True: "reached", False: "[bold]missed[/bold]", None: ""}[figure.reached]


if __name__ == "__main__":
    main()
