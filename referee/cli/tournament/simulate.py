"""``referee event simulate``: one random tournament, or many of the same terms, played to the end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

import referee as program
from referee.cli.shared import bulk, output
from referee.cli.shared.bulk import jobs_of, telling
from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Exit, Failure
from referee.cli.shared.tournament import EventPath, failures
from referee.console import printable
from referee.games.game import InputError
from referee.log.deck import SEED_BYTES
from referee.process.bulk.isolation import Limits
from referee.process.bulk.progress import metered
from referee.process.bulk.results import LOST, PROGRAM, Head, Journal, Line, Shard
from referee.process.bulk.run import Done, place, run
from referee.text.notation.outcomes import counted
from referee.tournament.file import EventFile
from referee.tournament.input import numbers, points_of
from referee.tournament.rules import State, Terms
from referee.tournament.rules.position import commitment
from referee.tournament.rules.scoring import standings
from referee.tournament.simulate import Chances, Simulation
from referee.tournament.words import lines, standing_lines

_MOST: Final = 10
"""Rows of the standings that are printed."""


def simulate(
    file: EventPath,
    /,
    *,
    players: Annotated[int, Parameter(metavar="N", help="How many enter.", validator=Number(gte=2, lte=1024))] = 64,
    rounds: Annotated[int, Parameter(metavar="N", help="Rounds before the cut.", validator=Number(gte=1))] = 6,
    seed: Annotated[int, Parameter(metavar="N", help="The same number gives the same results.")] = 1,
    sizes: Annotated[str, Parameter(metavar="LIST", help="Sizes of tables, best first.")] = "4,3",
    points: Annotated[str, Parameter(metavar="POINTS", help="Points by place, for each size.")] = (
        "4: 5,3,2,1; 3: 5,3,1"
    ),
    cut: Annotated[
        int, Parameter(metavar="K", help="The K best advance to a knock-out at tables of 4.", validator=Number(gte=0))
    ] = 0,
    absent: Annotated[str, Parameter(metavar="PERCENT", help="Absent from a round.")] = "0%",
    late: Annotated[str, Parameter(metavar="PERCENT", help="Come after the first round.")] = "0%",
    withdraw: Annotated[str, Parameter(metavar="PERCENT", help="Leave before a round, or come back.")] = "0%",
    no_show: Annotated[str, Parameter(metavar="PERCENT", help="Do not come to their table.")] = "0%",
    forfeit: Annotated[str, Parameter(metavar="PERCENT", help="Forfeit a game.")] = "0%",
    amend: Annotated[str, Parameter(metavar="PERCENT", help="Results that are amended.")] = "0%",
    events: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="Play this many, with seeds from --seed on, and write only how they went: a line of JSON each.",
            show_default=False,
            validator=Number(gte=1),
        ),
    ] = None,
    shard: bulk.ShardWord = None,
    jobs: bulk.Jobs = None,
    on: bulk.On = None,
) -> None:
    """Make an event of random players and results: to try terms, or to have something to look at.

    The file is an event like any other, with keys of its own: `referee event check` checks it. Its lots are not secret.

    With --events the lines of FILE say how many entries, rounds, byes and repeated meetings each event has, and the
    place of its strongest entrant. The same command resumes a stopped run. To look at one of the events, make it
    again with its seed and without --events.
    """
    with failures(file):
        wanted = numbers("--sizes", sizes)
        terms = Terms(
            sizes=wanted,
            rounds=rounds,
            points=points_of(points, wanted),
            commitment=bytes(32),
            late_until=rounds,
            cut=cut,
            cut_size=4 if cut else 0,
            cut_advance=1 if cut else 0,
        )
        chances = Chances(
            absent=_share("--absent", absent),
            late=_share("--late", late),
            withdraw=_share("--withdraw", withdraw),
            no_show=_share("--no-show", no_show),
            forfeit=_share("--forfeit", forfeit),
            amend=_share("--amend", amend),
        )
        if events is not None:
            trials = [Trial(terms, players, chances, seed + number) for number in range(events)]
            with telling("event"):
                found = try_all(trials, file, bulk.shard_of(shard), jobs, on)
            output.write(f"{summary(found)}\n")
            raise Exit(EXIT_FAILED if any(LOST in line for line in found) else EXIT_OK)
        if shard or jobs or on:
            raise Failure("--shard, --jobs and --on are for many events; expected --events N", EXIT_USAGE)
        event, _ = simulated(Trial(terms, players, chances, seed), file)
        event.save()
    told = list(standing_lines(event.log.state, event.names))[: _MOST + 1]
    output.write(lines([*told, f"{printable(str(file))}: {event.log.record.size} entries"]))


def _share(option: str, text: str) -> float:
    """Return ``3%`` as a part of one. Raise ``InputError``."""
    number = text.removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(option, f"{text[:20]!r}", "0% to 100%")
    return share


_SEED: Final = "seed"
_LIMITS: Final = Limits(memory_mib=1024, seconds=3600.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One event: equal trials have equal results."""

    terms: Terms
    """But for the commitment, which hangs on the seed."""
    players: int
    chances: Chances
    seed: int


def simulated(trial: Trial, file: Path) -> tuple[EventFile, Simulation]:
    """Make the event in this file and play it. Raise ``FileExistsError``, ``InputError``, ``LogError``."""
    secret = random.Random(trial.seed).randbytes(SEED_BYTES)  # noqa: S311 - nothing hangs on these lots
    event = EventFile.create(file, replace(trial.terms, commitment=commitment(secret)), secret)
    simulation = Simulation(event.log, secret, trial.players, trial.chances, trial.seed)
    simulation.run()
    event.names = simulation.names
    return event, simulation


def tried(trial: Trial) -> Line:
    """Play the event, keep nothing of it, and return how it went."""
    with TemporaryDirectory() as folder:
        event, simulation = simulated(trial, Path(folder) / "trial.eventlog")
        state: State = event.log.state
        meetings = Counter(
            pair for each in state.rounds for table in each.tables for pair in combinations(sorted(table), 2)
        )
        places = {row.number: row.place for row in standings(state)}
        return {
            "entries": event.log.record.size,
            "rounds": len(state.rounds),
            "byes": sum(len(each.byes) for each in state.rounds),
            "repeats": sum(times - 1 for times in meetings.values()),
            "strongest": places[simulation.strongest],
        }


def try_all(trials: Sequence[Trial], resume: Path, shard: Shard, jobs: int | None, on: str | None) -> list[Line]:
    """Return a line for each event of the shard; they are kept in ``resume``. Raise ``BulkError``."""
    mine = [trial for trial in trials if shard.has(str(trial.seed))]
    first = trials[0]
    terms = {each.name: repr(getattr(first.terms, each.name)) for each in fields(first.terms)}
    del terms["commitment"]
    what: Line = {
        "command": "event simulate",
        "terms": terms,
        "players": first.players,
        "chances": asdict(first.chances),
    }
    digest = sha256(repr([trial.seed for trial in trials]).encode()).hexdigest()
    head = Head(what, _SEED, program.__version__, shard, len(mine), len(trials), digest)
    lines: list[Line] = []
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(resume, head))
        where = stack.enter_context(place(on, jobs_of(jobs, len(mine))))
        meter = stack.enter_context(metered(len(mine), "event"))
        due: list[Trial] = []
        for trial in mine:
            if (line := journal.done(str(trial.seed))) is None:
                due.append(trial)
            else:
                lines.append(line)
        meter.add(len(lines), before=True)

        def take(done: Done[Trial, Line]) -> None:
            line: Line = {_SEED: str(done.task.seed), PROGRAM: program.__version__, **(done.result or {})}
            if done.lost is not None:
                line |= {LOST: done.lost.why, "problem": done.lost.words}
            journal.write(line)
            lines.append(line)
            meter.add(lost=done.lost is not None)

        run(where, tried, due, take, total=len(due), limits=_LIMITS)
    return lines


def summary(lines: Sequence[Line]) -> str:
    """Return what the events come to, in words."""
    whole = [line for line in lines if LOST not in line]
    told = [counted(len(whole), "event")]
    if whole:
        firsts = fmean(line["strongest"] == 1 for line in whole)
        place_, repeats, byes = (fmean(line[key] for line in whole) for key in ("strongest", "repeats", "byes"))
        told.append(f"the strongest entrant was first in {firsts:.1%}, and its place was {place_:.1f} on average")
        told.append(f"{repeats:.1f} repeated meetings and {byes:.1f} byes in an event")
    lost = [f"seed {line[_SEED]} has no result: {line['problem']}" for line in lines if LOST in line]
    return "; ".join([*told, *lost])
