"""``referee arena``: bots play each other without a server, and who won how often is printed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from referee.cli.shared import bulk
from referee.games import registry
from referee.games.game import SetupError, UnknownRules
from referee.process.bulk.results import LOST, BadOption, BulkError, Line, Merged
from referee_clients.bots import UnknownBot
from referee_clients.match import IllegalMove
from referee_clients.match.arena import GAME, Terms, entrants, grouped, played, table


def arena(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[str, typer.Option(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    games: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of games for each group of bots, rounded up so that every deal is played from each seat.",
        ),
    ] = 200,
    bots: Annotated[
        str | None,
        typer.Option(
            help="Bots, separated by commas: names, or module:attribute for your own.",
            show_default="all bots of the game but sampler, best first",
        ),
    ] = None,
    seats: Annotated[int, typer.Option(min=1, help="Number of seats at a table.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the deals and for bots that choose at random.")] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Number of processes to play in.")] = os.cpu_count() or 1,
    shard: bulk.ShardWord = None,
    resume: bulk.Resume = None,
    on: bulk.On = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OUT.jsonl",
            help="Print the table of what --resume has written; once for each file.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Let bots play each other, and print who won how often.

    Every deal is played once from each seat, and a draw counts half. Games can be divided among machines, and resumed
    after a stop: each game has the same result wherever it is played. Exit code 1: a bot failed, or games are missing;
    2: an unknown game or bot, or too many seats.
    """
    sys.path.insert(0, str(Path.cwd()))
    console = Console()
    try:
        if merge:
            raise typer.Exit(_merge(console, merge))
        terms = Terms(game, tuple(entrants(game, bots, seats)), games, seats, seed)
        began = time.perf_counter()
        lines = played(terms, processes, bulk.shard_of(shard), resume, on=on)
    except UnknownRules as error:
        raise typer.Exit(_failed(f"{error}: there are {', '.join(registry.names())}", 2)) from error
    except (UnknownBot, SetupError, BadOption) as error:
        raise typer.Exit(_failed(str(error), 2)) from error
    except (IllegalMove, BulkError) as error:
        raise typer.Exit(_failed(str(error), 1)) from error
    console.print(table(grouped(lines.values()), terms, None if resume else time.perf_counter() - began))
    raise typer.Exit(_lost(lines.values()))


def _merge(console: Console, paths: Sequence[Path]) -> int:
    """Raise ``BulkError``."""
    with Merged(paths) as merged:
        terms, lines = Terms.of_line(merged.head.what), list(merged.lines())
        problems = list(merged.problems())
    console.print(table(grouped(lines), terms))
    for problem in problems:
        _failed(problem, 1)
    return _lost(lines) or (1 if problems else 0)


def _lost(lines: Iterable[Line]) -> int:
    lost = [line for line in lines if LOST in line]
    for line in lost:
        _failed(f"game {line[GAME]} has no result, played twice: {line['problem']}", 1)
    return 1 if lost else 0


def _failed(why: str, code: int) -> int:
    Console(stderr=True).print(f"arena: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code
