"""Prints every figure: what, its value, the floor of the same run, the ratio to it, and the target.

``python -m tests.bench acts crowd`` takes only these sections; ``compiled --against REVISION`` compares the rules with
those that the repository had then, and ``before --against REVISION`` the referee.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from tests.bench import (
    acts,
    audit,
    before,
    browser_audit,
    bulk,
    ceiling,
    certificates,
    compiled,
    crowd,
    floods,
    inspect,
    nodes,
    playing,
    postgresql,
    public_log,
    rules,
    shares,
    suite,
    take_over,
    thinking,
    tlog,
    web,
)
from tests.bench.measure import Figure

SECTIONS = {
    "rules": ("rules a second, one core", rules),
    "compiled": (
        "rules a second with the compiled core; the floor is the pure one, of today or of --against",
        compiled,
    ),
    "playing": ("playing on in thought, and learning; on one core", playing),
    "thinking": ("a move of the sampler, milliseconds of processor time", thinking),
    "audit": ("audit, on one core where nothing else is said", audit),
    "bulk": ("many files audited, a second, by the clock", bulk),
    "certificates": (
        "proofs of steps, milliseconds on one core; the floor is bare Z3 on the same questions",
        certificates,
    ),
    "inspect": ("questions a second, start-up included", inspect),
    "tlog": ("the public log, microseconds on one core unless something else is said", tlog),
    "shares": ("what an act is made of, microseconds, each step alone", shares),
    "acts": ("acts a second over gRPC, durable and signed for; server and client have a core each", acts),
    "crowd": ("many at once", crowd),
    "floods": ("players while strangers ask for all they can; the floor is the quiet run", floods),
    "web": ("pages in a browser; the floor of a tap is its question alone", web),
    "browser-audit": ("a reader waits for the whole audit in a browser, by the clock", browser_audit),
    "nodes": ("acts at two referees on one PostgreSQL; the floor is the same act at the game's own", nodes),
    "postgresql": (
        "acts on PostgreSQL with a standby that they wait for; the floor is a referee in a file",
        postgresql,
    ),
    "take-over": ("until others go on, seconds by the clock", take_over),
    "before": ("acts of a referee in a file; the floor is the one of --against REVISION", before),
    "public-log": ("acts with a public log; the floor is a referee without one, in the same run", public_log),
    "ceiling": (f"acts a second of {ceiling.GAMES} games with something left out, or at two referees", ceiling),
    "suite": ("the tests, seconds; with each folder and cause, how many tests it has", suite),
}


def main(words: list[str]) -> None:
    """Take every figure in turn."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure.")
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"one of {', '.join(SECTIONS)}; without any, all"
    )
    parser.add_argument(
        "--against", metavar="REVISION", help="the floor of `compiled` and `before`: what the repository had then"
    )
    options = parser.parse_args(words)
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; expected {', '.join(SECTIONS)}")
    if options.against and not {"compiled", "before"} & {*options.sections}:
        parser.error("--against is for the sections compiled and before")
    console = Console(width=120)
    for name in options.sections or SECTIONS:
        title, section = SECTIONS[name]
        with_floor_of_then = section is compiled or section is before
        figures = section.figures(options.against) if with_floor_of_then else section.figures()
        console.print(table_of(title, figures))


def table_of(title: str, figures: Iterable[Figure]) -> Table:
    """Return the figures as a table."""
    table = Table("figure", "value", "floor", "ratio", "target", "", title=title, title_justify="left")
    for figure in figures:
        table.add_row(*_cells(figure))
    return table


def _cells(figure: Figure) -> tuple[str, ...]:
    target = ""
    if figure.target is not None:
        target = f"{figure.target:,}"
    elif figure.at_most is not None:
        target = f"at most {figure.at_most:,}"
    return (
        figure.name,
        _number(figure.value),
        _number(figure.floor) if figure.floor else "",
        f"{figure.ratio:.3f}" if figure.ratio else "",
        target,
        {True: "reached", False: "[bold]missed[/bold]", None: ""}[figure.reached],
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main(sys.argv[1:])
