"""``python -m tests.solver.differential``: the engine against Z3, as many verdicts as wanted."""

from __future__ import annotations

import signal
import time
from collections import Counter
from multiprocessing import get_context
from typing import Annotated

import typer

from referee.certificates.alhambra.claims import Remove
from referee.games import registry
from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.tiles import tile_set
from referee.render.alhambra.boxes import text
from referee_solver.alhambra.differential import Disagreement

STEPS = 20
"""Verdicts of a seed, in every game."""


def main(
    game: Annotated[str, typer.Option(help="alhambra or kingdomino.")] = "alhambra",
    seed: Annotated[int, typer.Option(min=0, help="Of the first layout; those that follow have the next ones.")] = 0,
    verdicts: Annotated[int, typer.Option(min=1, help="How many.")] = 1_000_000,
    processes: Annotated[int, typer.Option(min=1, help="At a time.")] = 2,
) -> None:
    """Engine and solver have to name the same rules and cells. Exit code 1: they did not."""
    compare = registry.part("referee_solver", game, "differential").compare
    shown = picture if game == "alhambra" else str
    seeds = range(seed, seed - (-verdicts // STEPS))
    met: Counter[str] = Counter()
    failed, done, began = 0, 0, time.monotonic()
    with get_context("spawn").Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for done, (rules, found) in enumerate(pool.imap(compare, seeds, chunksize=5), 1):
                met += rules
                failed += len(found)
                for disagreement in found:
                    print(f"seed {seeds[done - 1]}: {shown(disagreement)}\n")
                if done % 500 == 0:
                    rate = done * STEPS / (time.monotonic() - began)
                    print(
                        f"seed {seeds[done - 1]}: {done * STEPS} verdicts, {rate:.0f}/s, {failed} wrong",
                        flush=True,
                    )
        except KeyboardInterrupt:
            print(f"stopped; to go on: make differential ARGS='--game {game} --seed {seed + done}'")
    print(", ".join(f"{rule} {count}" for rule, count in sorted(met.items())))
    print(f"{done * STEPS} verdicts, {failed} disagreements, {time.monotonic() - began:.0f} s")
    raise typer.Exit(1 if failed or done < len(seeds) else 0)


def picture(disagreement: Disagreement) -> str:
    """In words, with a drawing of the layout and, where a tile is laid, of the one after."""
    known = tile_set()
    layout, step = disagreement.layout, disagreement.step
    boards = [layout]
    if not isinstance(step, Remove) and max(map(abs, step.at)) <= 54 and step.at != (0, 0):
        boards.append({**layout, step.at: step.tile})
    drawn = [text(Board.of(known, {cell: known.numbers[tile] for cell, tile in each.items()})) for each in boards]
    return "\n".join([str(disagreement), *drawn])


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(main)
    app()
