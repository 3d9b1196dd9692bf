"""``referee longest-wall``: the longest wall that some tiles can make, found and proven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from referee.cli.shared import bulk, output
from referee.cli.shared.bulk import telling
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.solving import Rlimit
from referee.cli.solver import building, wall_sets
from referee.cli.solver.progress import NO_LIMIT, Seconds, Seed, search
from referee.text.notation.alhambra.inspect import TILE_SET, tile_names
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.wire import layout_of

Wall: TypeAlias = pb.FindLongestWallResponse


def longest_wall(  # noqa: PLR0917 - typer reads options from the signature
    tiles: Annotated[
        str | None,
        typer.Option(
            metavar="TILES", help="The tiles to build with, such as garden-10-N,tower-12.", show_default=False
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Build with all 54 tiles.")] = False,
    sets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Search for the wall of every set in a file, a set on each line; print a line of JSON for each.",
            show_default=False,
        ),
    ] = None,
    budget: Seconds = 60.0,
    rlimit: Rlimit = None,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    svg: building.Svg = None,
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
    many sets is shared out among machines and goes on after a stop. Exit code 1: a search ended before its time.
    """
    if [tiles is not None, every, sets is not None].count(True) != 1:
        raise Failure("expected one of --tiles TILES, --all and --sets FILE", EXIT_USAGE)
    if sets is not None:
        names, limit = wall_sets.read_sets(sets), rlimit or NO_LIMIT
        with telling("set"):
            wanted = wall_sets.Options(budget, limit, seed, bulk.shard_of(shard), resume, jobs, on)
            raise typer.Exit(wall_sets.find_all(names, wanted))
    if shard or resume or jobs or on:
        raise Failure("--shard, --resume, --jobs and --on are for many sets; expected --sets FILE", EXIT_USAGE)
    with building.telling():
        chosen = TILE_SET.names if every else tile_names(building.listed(tiles), "--tiles")
    request = pb.FindLongestWallRequest(tiles=chosen, budget=pb.Budget(rlimit=rlimit or NO_LIMIT), seed=seed)
    found, lost = search("FindLongestWall", request, Wall(bound=_walls_on(chosen)), budget, _known)
    layout = layout_of(found.layout, "layout")
    if as_json:
        building.write_json(wall_sets.as_json(found))
    else:
        output.write(f"{_in_words(found)}\n\n{building.picture(layout)}")
    if svg is not None:
        building.write_svg(svg, layout, f"Longest wall: {found.best}")
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
