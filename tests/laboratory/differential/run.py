"""``python -m tests.laboratory.differential.run``: the engine against Z3, as many verdicts as wanted."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import bulk
from referee.games import registry
from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.tiles import tile_set
from referee.process.bulk import run as driver
from referee.process.bulk.isolation import Limits
from referee.process.bulk.progress import metered
from referee.process.bulk.run import Done, run
from referee.text.render.alhambra import text
from referee.wire.certificates.alhambra.claims import Remove
from tests.laboratory.differential.alhambra import Disagreement

STEPS = 20
"""Verdicts of a seed, in every game."""
_LIMITS = Limits(memory_mib=4096, seconds=3600.0)


def main(
    *,
    game: Annotated[str, Parameter(help="alhambra or kingdomino.")] = "alhambra",
    seed: Annotated[
        int, Parameter(help="Of the first layout; those that follow have the next ones.", validator=Number(gte=0))
    ] = 0,
    verdicts: Annotated[int, Parameter(help="How many.", validator=Number(gte=1))] = 1_000_000,
    processes: Annotated[int, Parameter(help="At a time.", validator=Number(gte=1))] = 2,
    shard: bulk.ShardWord = None,
    on: bulk.On = None,
) -> None:
    """Engine and solver have to name the same rules and cells. Exit code 1: they did not.

    A seed is a task, so whatever is wrong with one is repeated with it alone: --seed N --verdicts 20.
    """
    compare = registry.part(__package__, game).compare
    shown = picture if game == "alhambra" else str
    part = bulk.shard_of(shard)
    seeds = [each for each in range(seed, seed - (-verdicts // STEPS)) if part.has(str(each))]
    met = Counter[str]()
    wrong = dict.fromkeys(seeds, 0)
    done = set[int]()

    try:
        with driver.place(on, processes) as where, metered(len(seeds), "seed") as meter:

            def take(each: Done[int, tuple[Counter[str], list[Disagreement]]]) -> None:
                done.add(each.task)
                rules, found = each.result or (Counter(), [])
                met.update(rules)
                for disagreement in found:
                    print(f"seed {each.task}: {shown(disagreement)}\n", flush=True)
                if each.lost is not None:
                    print(f"seed {each.task}: no verdict: {each.lost.words}\n", flush=True)
                wrong[each.task] = len(found) + (each.lost is not None)
                meter.add(lost=bool(wrong[each.task]))

            run(where, compare, seeds, take, total=len(seeds), limits=_LIMITS)
    except KeyboardInterrupt:
        first = next(each for each in seeds if each not in done)
        print(f"stopped; to go on: make differential ARGS='--game {game} --seed {first}'")
    failed = sum(wrong.values())
    print(", ".join(f"{rule} {count}" for rule, count in sorted(met.items())))
    print(f"{len(done) * STEPS} verdicts, {failed} disagreements")
    raise SystemExit(1 if failed or len(done) < len(seeds) else 0)


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
    cyclopts.run(main)
