"""The arena, ``referee arena``: a quick tournament of bots without a folder, in one process or many.

Every group of bots plays the same deals, and every deal once from each seat, so that neither luck of the deal nor the
first turn favours anybody. The same seed gives the same results, with any number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

import referee as program
from referee.games import registry
from referee.games.game import SetupError
from referee.process.bulk import places
from referee.process.bulk.isolated import Limits
from referee.process.bulk.progress import metered
from referee.process.bulk.results import COST, LOST, PROGRAM, Head, Journal, Line, ResultsError, Shard
from referee.process.bulk.run import Done, run
from referee_clients.bots import load, names
from referee_clients.bots.bot import BrokenBot, UnknownBot
from referee_clients.match import IllegalMove, Outcome, play_game

_COMMAND: Final = "arena"
GAME: Final = "game"
"""The key of the game's name in a line."""
_NO_LIMIT_S: Final = 1e7


@dataclass(slots=True)
class Record:
    """The results of one entrant against the others of its group."""

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


Task = tuple[str, tuple[str, ...], int, int]
"""The rules, the players, the seed, and the number of the game."""


def play(task: Task) -> Line:
    """Return the result of one game of a group: its number gives the deal and the seats. Scores and the like are by
    entrant, not by seat.
    """
    game, group, seed, number = task
    seats = len(group)
    deal, turn = divmod(number, seats)
    order = [(seat + turn) % seats for seat in range(seats)]
    bots = [load(group[who], game, mix(seed, deal, turn, who)) for who in order]
    outcome = play_game(bots, mix(seed, deal), game)
    by_entrant = [order.index(who) for who in range(seats)]
    return {
        "scores": [outcome.scores[seat] for seat in by_entrant],
        "places": [outcome.places[seat] for seat in by_entrant],
        "turns": outcome.turns,
        "decisions": [outcome.decisions[seat] for seat in by_entrant],
        COST: {"thought_s": [outcome.thought_s[seat] for seat in by_entrant]},
    }


def mix(*numbers: int) -> int:
    """Return one seed of several numbers, the same in every process and every run."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 1_000_003 + number + 1) & (1 << 63) - 1
    return mixed


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a tournament: with equal terms and bots every game has the same result, wherever it is played."""

    game: str
    bots: tuple[str, ...]
    games: int
    """The number for each group; as many more are played as make all deals whole."""
    seats: int
    seed: int

    def as_line(self) -> Line:
        """Return it as the head of a file of results has it."""
        return {"command": _COMMAND, **asdict(self), "bots": ",".join(self.bots)}

    @classmethod
    def of_line(cls, line: Line) -> Terms:
        """Raise ``ResultsError``."""
        fields = dict(line)
        if fields.pop("command", None) != _COMMAND:
            raise ResultsError("these are not results of the arena; expected files that its --resume has written")
        return cls(**(fields | {"bots": tuple(str(fields["bots"]).split(","))}))

    @property
    def tasks(self) -> dict[str, Task]:
        """Every game by its name."""
        return {
            f"{'-'.join(group)} {number}": (self.game, group, self.seed, number)
            for group in groups(self.bots, self.seats)
            for number in range(-(-self.games // self.seats) * self.seats)
        }


def tournament(
    bots: Sequence[str], *, game: str = "alhambra", games: int, seats: int = 2, seed: int = 1, processes: int = 1
) -> list[Group]:
    """Return all groups, ``games`` games each."""
    return grouped(played(Terms(game, tuple(bots), games, seats, seed), processes).values())


def played(
    terms: Terms, processes: int, shard: Shard | None = None, resume: Path | None = None, *, on: str | None = None
) -> dict[str, Line]:
    """Return the line of every game of a shard, in order; games in ``resume`` are not played again.

    Raise ``IllegalMove``, ``BulkError``.
    """
    shard = shard or Shard()
    tasks = {name: task for name, task in terms.tasks.items() if shard.has(name)}
    names = sha256("\n".join(terms.tasks).encode()).hexdigest()
    head = Head(terms.as_line(), GAME, program.__version__, shard, len(tasks), len(terms.tasks), names)
    lines: dict[str, Line] = {}
    of_task = {task: name for name, task in tasks.items()}
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(resume, head)) if resume else None
        where = stack.enter_context(places.inline() if processes == 1 and not on else places.place(on, processes))
        meter = stack.enter_context(metered(len(tasks), GAME))

        def due() -> Iterator[Task]:
            for name, task in tasks.items():
                if journal and (line := journal.done(name)):
                    lines[name] = line
                    meter.add(before=True)
                else:
                    yield task

        def take(done: Done[Task, Line]) -> None:
            name = of_task[done.task]
            line: Line = {GAME: name, PROGRAM: program.__version__, "bots": done.task[1]}
            line |= done.result or {}
            if done.lost is not None:
                line |= {LOST: done.lost.why, "problem": done.lost.words}
            lines[name] = line
            if journal is not None:
                journal.write(line)
            meter.add(lost=done.lost is not None)

        # In this process itself a debugger works. Elsewhere a bot is at home, as its author starts it.
        at_home = Limits(memory_mib=0, seconds=_NO_LIMIT_S, at_home=True)
        limits = None if processes == 1 and not on else at_home
        run(where, play, due(), take, total=len(tasks), limits=limits, errors=(IllegalMove, UnknownBot, BrokenBot))
    return {name: lines[name] for name in tasks}


def grouped(lines: Iterable[Line]) -> list[Group]:
    """Return what the bots of each group have achieved; games that were lost do not count."""
    found: dict[tuple[str, ...], Group] = {}
    for line in lines:
        bots = tuple(line["bots"])
        group = found.setdefault(bots, Group([Record(name) for name in bots]))
        if LOST in line:
            continue
        scores, places_, decisions = (tuple(line[key]) for key in ("scores", "places", "decisions"))
        outcome = Outcome(scores, places_, line["turns"], decisions, tuple(line[COST]["thought_s"]))
        for who, record in enumerate(group.records):
            record.add(outcome, who)
        group.outcomes.append(outcome)
    return list(found.values())


def table(found: Sequence[Group], terms: Terms, seconds: float | None = None) -> Table:
    """Return the results for people; fits into 80 columns. ``seconds``: its duration, if all was played now."""
    games = sum(len(group.outcomes) for group in found)
    pace = f", {games / max(1e-9, seconds):.1f} games/s" if seconds is not None else ""
    seats = terms.seats
    shown = Table(
        title=f"{terms.game}, {seats} seat{'s' * (seats > 1)}, seed {terms.seed}",
        caption=f"{games} games{pace}",
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    shown.add_column("bot", overflow="fold")
    for heading in ("won", "drawn", "lost", "score", "95 % interval", "points", "CPU ms a move"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for group in found:
        for record in group.records:
            if not record.games:
                shown.add_row(record.name, end_section=record is group.records[-1])
                continue
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


def entrants(game: str, bots: str | None, seats: int) -> Sequence[str]:
    """Return who plays. Raise ``UnknownRules``, ``UnknownBot`` and ``SetupError``."""
    rules = registry.get(game)
    if not rules.min_seats <= seats <= rules.max_seats:
        raise SetupError(f"{seats} seats", f"{game} has {rules.min_seats} to {rules.max_seats}")
    if bots is None:
        return names(game, slow=False)[::-1]
    named = [name for word in bots.split(",") if (name := word.strip())]
    for name in named or [""]:
        load(name, game)
    return named
