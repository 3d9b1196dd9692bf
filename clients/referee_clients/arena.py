"""A tournament of bots in this process: ``python -m referee_clients.arena``, or ``make arena``.

Every group of bots plays the same deals, and every deal once from each seat, so that neither luck of the deal nor the
first turn favours anybody. The same seed gives the same results, with any number of processes.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations, cycle, islice
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from referee.console import accept_every_character
from referee.games import registry
from referee.games.game import SetupError, UnknownRules
from referee_clients.bots import UnknownBot, load, names
from referee_clients.match import IllegalMove, Outcome, play_game


@dataclass(slots=True)
class Record:
    """What one entrant achieved against the others of its group."""

    name: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    score: float = 0.0
    """First places; a shared one is split, so with two seats a draw counts half."""
    points: int = 0
    decisions: int = 0
    thought_s: float = 0.0

    def add(self, outcome: Outcome, seat: int) -> None:
        self.games += 1
        firsts = outcome.places.count(1)
        if outcome.places[seat] == 1:
            self.wins += firsts == 1
            self.draws += firsts > 1
            self.score += 1 / firsts
        self.points += outcome.scores[seat]
        self.decisions += outcome.decisions[seat]
        self.thought_s += outcome.thought_s[seat]

    @property
    def losses(self) -> int:
        return self.games - self.wins - self.draws

    def interval(self) -> tuple[float, float]:
        """Return Wilson's 95 % interval of the score, as a share of all games."""
        return wilson(self.score, self.games)


@dataclass(slots=True)
class Group:
    """Bots that play each other."""

    records: list[Record]
    seconds: float = 0.0
    outcomes: list[Outcome] = field(default_factory=list)


def wilson(score: float, games: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval in which the true share lies; unlike the plain one it is right near 0 and 1 as well."""
    share, spread = score / games, z * z / games
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / games + spread / games / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def groups(bots: Sequence[str], seats: int) -> Iterator[tuple[str, ...]]:
    """Yield who meets whom: everybody everybody else, in groups of ``seats``; too few bots fill the table in turn."""
    if len(bots) >= seats:
        yield from combinations(bots, seats)
    else:
        yield tuple(islice(cycle(bots), seats))


def play(task: tuple[str, tuple[str, ...], int, int]) -> Outcome:
    """Return one game of a group: its number gives the deal and who sits where. Results are by entrant, not by seat."""
    game, group, seed, number = task
    seats = len(group)
    deal, turn = divmod(number, seats)
    order = [(seat + turn) % seats for seat in range(seats)]
    bots = [load(group[who], game, mix(seed, deal, turn, who)) for who in order]
    outcome = play_game(bots, mix(seed, deal), game)
    by_entrant = [order.index(who) for who in range(seats)]
    return Outcome(
        tuple(outcome.scores[seat] for seat in by_entrant),
        tuple(outcome.places[seat] for seat in by_entrant),
        outcome.turns,
        tuple(outcome.decisions[seat] for seat in by_entrant),
        tuple(outcome.thought_s[seat] for seat in by_entrant),
    )


def mix(*numbers: int) -> int:
    """Return one seed of several numbers, the same in every process and every run."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 1_000_003 + number + 1) & (1 << 63) - 1
    return mixed


def tournament(
    bots: Sequence[str],
    *,
    game: str = "alhambra",
    games: int,
    seats: int = 2,
    seed: int = 1,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Group]:
    """Return all groups, ``games`` games each."""
    met = list(groups(bots, seats))
    played: list[Group] = []
    task = progress.add_task("", total=games * len(met)) if progress else None
    with ProcessPoolExecutor(processes) as pool:
        for group_names in met:
            group = Group([Record(name) for name in group_names])
            began = time.perf_counter()
            tasks = [(game, group_names, seed, number) for number in range(games)]
            results = map(play, tasks) if processes == 1 else pool.map(play, tasks, chunksize=2)
            for outcome in results:
                for who, record in enumerate(group.records):
                    record.add(outcome, who)
                group.outcomes.append(outcome)
                if progress and task is not None:
                    progress.update(task, advance=1, description=" – ".join(group_names))
            group.seconds = time.perf_counter() - began
            played.append(group)
    return played


def table(played: Sequence[Group], game: str, seats: int, seed: int) -> Table:
    """Return the results for people; fits into 80 columns."""
    games = sum(len(group.outcomes) for group in played)
    pace = games / max(1e-9, sum(group.seconds for group in played))
    shown = Table(
        title=f"{game}, {seats} seat{'s' * (seats > 1)}, seed {seed}",
        caption=f"{games} games, {pace:.1f} games/s",
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    shown.add_column("bot", overflow="fold")
    for heading in ("won", "drawn", "lost", "score", "95 % interval", "points", "CPU ms a move"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for group in played:
        for record in group.records:
            low, high = record.interval()
            shown.add_row(
                record.name,
                str(record.wins),
                str(record.draws),
                str(record.losses),
                f"{record.score / record.games:.1%}",
                f"{low:.1%} – {high:.1%}",
                f"{record.points / record.games:.1f}",
                f"{1000 * record.thought_s / max(1, record.decisions):.1f}",
                end_section=record is group.records[-1],
            )
    return shown


def arena(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[str, typer.Option(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    games: Annotated[int, typer.Option(min=1, help="Number of games for each group of bots.")] = 200,
    bots: Annotated[
        str | None,
        typer.Option(
            help="Bots, separated by commas: names, or module:attribute for your own.",
            show_default="all bots of the game, best first",
        ),
    ] = None,
    seats: Annotated[int, typer.Option(min=1, help="Number of seats at a table.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the deals and for bots that choose at random.")] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Number of processes to play in.")] = os.cpu_count() or 1,
) -> None:
    """Let bots play each other, and print who won how often.

    Every deal is played once from each seat, and a draw counts half. Exit code 2: an unknown game or bot, or too many
    seats.
    """
    console = Console()
    try:
        entrants = _entrants(game, bots, seats)
    except UnknownRules as error:
        raise typer.Exit(_failed(console, f"{error}: there are {', '.join(registry.names())}", 2)) from error
    except (UnknownBot, SetupError) as error:
        raise typer.Exit(_failed(console, str(error), 2)) from error
    try:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            played = tournament(
                entrants, game=game, games=games, seats=seats, seed=seed, processes=processes, progress=progress
            )
    except IllegalMove as error:
        raise typer.Exit(_failed(console, str(error), 1)) from error
    console.print(table(played, game, seats, seed))


def _entrants(game: str, bots: str | None, seats: int) -> Sequence[str]:
    """Return who plays. Raise ``UnknownRules``, ``UnknownBot`` and ``SetupError``."""
    rules = registry.get(game)
    if not rules.min_seats <= seats <= rules.max_seats:
        raise SetupError(f"{seats} seats", f"{game} has {rules.min_seats} to {rules.max_seats}")
    if bots is None:
        return names(game)[::-1]
    entrants = [name for word in bots.split(",") if (name := word.strip())]
    for name in entrants or [""]:
        load(name, game)
    return entrants


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"arena: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


if __name__ == "__main__":
    accept_every_character()
    typer.run(arena)
