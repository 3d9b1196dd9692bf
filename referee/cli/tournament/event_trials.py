"""``referee event simulate --events``: many random events of the same terms, and how they went."""

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
from typing import Final

import referee as program
from referee.cli.shared.bulk import jobs_of
from referee.log.deck import SEED_BYTES
from referee.process.bulk.isolated import Limits
from referee.process.bulk.places import place
from referee.process.bulk.progress import metered
from referee.process.bulk.results import LOST, PROGRAM, Head, Journal, Line, Shard
from referee.process.bulk.run import Done, run
from referee.text.notation.outcomes import counted
from referee.tournament.event_file import EventFile
from referee.tournament.rules import State, Terms
from referee.tournament.rules.position import commitment
from referee.tournament.rules.scoring import standings
from referee.tournament.simulate import Chances, Simulation

_SEED: Final = "seed"
_LIMITS: Final = Limits(memory_mib=1024, seconds=3600.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One event: with the same everything is the same."""

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
