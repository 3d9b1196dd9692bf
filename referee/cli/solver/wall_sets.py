"""``referee longest-wall --sets``: the longest wall of every set of tiles in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import referee as program
from referee.cli.shared.bulk import jobs_of
from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure
from referee.cli.solver import building
from referee.process.bulk.isolated import Limits
from referee.process.bulk.places import place
from referee.process.bulk.progress import metered
from referee.process.bulk.results import LOST, PROGRAM, Head, Journal, Line, Shard
from referee.process.bulk.run import Done, run
from referee.text.notation.alhambra.inspect import tile_names, written_layout
from referee.text.notation.questions import QueryError
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.wire import layout_of

_SOLVER: Final = "referee.server.service.solver_worker"
_SET: Final = "set"
"""In a line: the tiles, as the file has them."""
_MEMORY_MIB: Final = 4096
_SLACK_S: Final = 60.0
"""For a search to end that has used up its time."""


@dataclass(frozen=True, slots=True)
class Task:
    """One set of tiles, and how long its wall is searched for."""

    name: str
    request: bytes
    """``FindLongestWallRequest``."""
    seconds: float


def read_sets(file: Path) -> list[str]:
    """Return the sets of tiles, each once. Raise ``Failure`` that names the line."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"--sets {file}: {getattr(error, 'strerror', None) or 'not text'}", EXIT_USAGE) from None
    names: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        tiles = building.listed(line)
        if not tiles:
            continue
        try:
            names[",".join(tile_names(tiles, f"line {number}"))] = None
        except QueryError as error:
            raise Failure(f"--sets {file}: {error}", EXIT_USAGE) from None
    if not names:
        raise Failure(
            f"--sets {file}: no set of tiles; expected one on each line, such as garden-10-N,tower-12", EXIT_USAGE
        )
    return list(names)


def find(task: Task) -> Line:
    """Search in a process of its own; return what a single search prints with ``--json``."""
    *_, data = import_module(_SOLVER).answers("FindLongestWall", task.request, task.seconds)
    return as_json(pb.FindLongestWallResponse.FromString(data))


def as_json(found: pb.FindLongestWallResponse) -> dict[str, Any]:
    """Return the answer as ``--json`` prints it."""
    return {
        "best": found.best,
        "bound": found.bound,
        "proven": found.proven,
        "region": found.region if found.HasField("region") else None,
        "layout": written_layout(layout_of(found.layout, "layout")),
    }


@dataclass(frozen=True, slots=True)
class Options:
    """How walls are searched for."""

    seconds: float
    """For each set."""
    rlimit: int
    seed: int
    shard: Shard
    resume: Path | None
    jobs: int | None
    on: str | None


def find_all(names: list[str], wanted: Options) -> int:
    """Print a line of JSON for each set as soon as it is done; return the exit code. Raise ``BulkError``."""
    mine = [name for name in names if wanted.shard.has(name)]
    what: Line = {"command": "longest-wall", "budget": wanted.seconds, "rlimit": wanted.rlimit, "seed": wanted.seed}
    digest = sha256("\n".join(names).encode()).hexdigest()
    head = Head(what, _SET, program.__version__, wanted.shard, len(mine), len(names), digest)
    lost: list[str] = []
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(wanted.resume, head)) if wanted.resume else None
        where = stack.enter_context(place(wanted.on, jobs_of(wanted.jobs, len(mine))))
        meter = stack.enter_context(metered(len(mine), _SET))

        def due() -> Iterator[Task]:
            for name in mine:
                if journal and (line := journal.done(name)):
                    meter.add(before=True)
                    building.write_json(line)
                else:
                    budget = pb.Budget(rlimit=wanted.rlimit)
                    request = pb.FindLongestWallRequest(tiles=name.split(","), budget=budget, seed=wanted.seed)
                    yield Task(name, request.SerializeToString(), wanted.seconds)

        def take(done: Done[Task, Line]) -> None:
            line: Line = {_SET: done.task.name, PROGRAM: program.__version__, **(done.result or {})}
            if done.lost is not None:
                line |= {LOST: done.lost.why, "problem": done.lost.words}
                lost.append(done.task.name)
            if journal is not None:
                journal.write(line)
            meter.add(lost=done.lost is not None)
            building.write_json(line)

        run(where, find, due(), take, total=len(mine), limits=Limits(_MEMORY_MIB, wanted.seconds + _SLACK_S))
    return EXIT_FAILED if lost else EXIT_OK
