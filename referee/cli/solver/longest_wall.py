"""``referee longest-wall``: the longest wall that some tiles can make, or those of every set in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from cyclopts import Parameter

import referee as program
from referee.cli.shared import bulk, output
from referee.cli.shared.bulk import jobs_of, telling
from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Exit, Failure
from referee.cli.shared.solver import Rlimit
from referee.cli.solver import questions
from referee.cli.solver.questions import NO_LIMIT, Seconds, Seed, search
from referee.process.bulk.isolation import Limits
from referee.process.bulk.progress import metered
from referee.process.bulk.results import LOST, PROGRAM, Head, Journal, Line, Shard
from referee.process.bulk.run import Done, place, run
from referee.text.notation.alhambra.inspect import TILE_SET, tile_names, written_layout
from referee.text.notation.questions import QueryError
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.claims import layout_of

_SOLVER: Final = "referee.server.service.solver_worker"
_SET: Final = "set"
"""The key of the tiles in a line, as the file has them."""
_MEMORY_MIB: Final = 4096
_SLACK_S: Final = 60.0
"""The time for a search to end after its own time is used up."""


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
        tiles = questions.listed(line)
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
    return set_as_json(pb.FindLongestWallResponse.FromString(data))


def set_as_json(found: pb.FindLongestWallResponse) -> dict[str, Any]:
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
    """The settings of searches for walls."""

    seconds: float
    """The time for each set."""
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
                    questions.write_json(line)
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
            questions.write_json(line)

        run(where, find, due(), take, total=len(mine), limits=Limits(_MEMORY_MIB, wanted.seconds + _SLACK_S))
    return EXIT_FAILED if lost else EXIT_OK


Wall: TypeAlias = pb.FindLongestWallResponse


def longest_wall(
    *,
    tiles: Annotated[
        str | None,
        Parameter(metavar="TILES", help="The tiles to build with, such as garden-10-N,tower-12.", show_default=False),
    ] = None,
    every: Annotated[bool, Parameter(name="--all", help="Build with all 54 tiles.")] = False,
    sets: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Search for the wall of every set in a file, a set on each line; print a line of JSON for each.",
            show_default=False,
        ),
    ] = None,
    budget: Seconds = 60.0,
    rlimit: Rlimit = None,
    seed: Seed = 0,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON object instead of text.")] = False,
    svg: questions.Svg = None,
    shard: bulk.ShardWord = None,
    resume: bulk.Resume = None,
    jobs: bulk.Jobs = None,
    on: bulk.On = None,
) -> None:
    """Find the longest wall that the given tiles can make, and prove it if time allows. Tiles may be left out.

    `referee longest-wall --tiles garden-10-N,tower-8-NES,pavilion-2-NEW --svg wall.svg`

    Standard error shows the progress: the best wall so far, a bound that no layout exceeds, and the region for which
    the bound holds, if it is limited to one. Ctrl-C stops the search and keeps the best. With --json:

        {"best":7,"bound":7,"proven":true,"region":null,"layout":{…}}

    "proven" is true with region null if no layout of these tiles has a longer wall; with a region, if no layout within
    that many steps of the fountain has one.

    With --sets each line also has "set", its tiles, and lines come as sets are done. docs/bulk.md says how a run over
    many sets is divided among machines and resumed after a stop. Exit code 1: a search ended before its time.
    """
    if [tiles is not None, every, sets is not None].count(True) != 1:
        raise Failure("expected one of --tiles TILES, --all and --sets FILE", EXIT_USAGE)
    if sets is not None:
        names, limit = read_sets(sets), rlimit or NO_LIMIT
        with telling("set"):
            wanted = Options(budget, limit, seed, bulk.shard_of(shard), resume, jobs, on)
            raise Exit(find_all(names, wanted))
    if shard or resume or jobs or on:
        raise Failure("--shard, --resume, --jobs and --on are for many sets; expected --sets FILE", EXIT_USAGE)
    with questions.telling():
        chosen = TILE_SET.names if every else tile_names(questions.listed(tiles), "--tiles")
    request = pb.FindLongestWallRequest(tiles=chosen, budget=pb.Budget(rlimit=rlimit or NO_LIMIT), seed=seed)
    found, lost = search("FindLongestWall", request, Wall(bound=_walls_on(chosen)), budget, _known)
    layout = layout_of(found.layout, "layout")
    if as_json:
        questions.write_json(set_as_json(found))
    else:
        output.write(f"{_in_words(found)}\n\n{questions.picture(layout)}")
    if svg is not None:
        questions.write_svg(svg, layout, f"Longest wall: {found.best}")
    if lost:
        raise Failure(f"{lost}; the answer is the best found so far")


def _walls_on(tiles: Sequence[str]) -> int:
    """Return all walls that are on the tiles: no layout has more."""
    return sum(TILE_SET.walls[TILE_SET.numbers[tile]].bit_count() for tile in tiles)


def _in_words(wall: Wall) -> str:
    within = _within(wall)
    if wall.proven:
        return f"longest wall {wall.best}, proven: no layout of these tiles{within} has a longer one"
    return (
        f"longest wall found {wall.best}, not proven: no layout of these tiles{within} has one longer than {wall.bound}"
    )


def _within(wall: Wall) -> str:
    return f" within {wall.region} steps of the fountain" if wall.HasField("region") else ""


def _known(wall: Wall) -> str:
    return f"wall {wall.best}, bound {wall.bound}{_within(wall)}"
