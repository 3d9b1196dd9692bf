"""``referee rebuild-distance``: the fewest rebuild turns from one layout to another."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

from referee.cli.shared import output
from referee.cli.shared.solving import Rlimit, Solver
from referee.cli.solver import building
from referee.text.notation.alhambra.claims import describe_move, written_move
from referee.text.notation.alhambra.inspect import layout_names, tile_names
from referee.text.notation.outcomes import counted
from referee.text.notation.questions import only, required
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.claims import MOST_TURNS
from referee.wire.certificates.alhambra.wire import move_of, placed_tiles

_FIELDS = frozenset(("start", "reserve", "goal"))


def rebuild_distance(  # noqa: PLR0917 - typer reads options from the signature
    file: building.Position = None,
    start: Annotated[str | None, typer.Option(metavar="JSON", help="The layout to start from.")] = None,
    reserve: Annotated[
        str | None, typer.Option(metavar="TILES", help="Tiles in the reserve, such as tower-12,garden-10.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(metavar="JSON", help="The layout to reach; with --start, instead of a FILE.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST_TURNS, help="Give up beyond this many turns.")
    ] = 30,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Find the fewest rebuild turns from one layout to another; a turn adds, removes or swaps one tile.

    Layouts are written as for `referee inspect`:

        {"game":"alhambra","start":{"0,-1":"tower-12"},"reserve":["garden-10"],"goal":{"0,-1":"garden-10"}}

    Options replace fields of the file: `referee rebuild-distance --start '{"0,-1":"tower-12"}' --goal '{}'`
    """
    with building.telling():
        options = {
            "start": building.json_layout("--start", start),
            "reserve": building.listed(reserve),
            "goal": building.json_layout("--goal", goal),
        }
        fields = building.position(file, options, complete=start is not None and goal is not None)
        only(fields, _FIELDS)
        first = layout_names(required(fields, "start", "position"), "start")
        last = layout_names(required(fields, "goal", "position"), "goal")
        request = pb.RebuildDistanceRequest(
            start=placed_tiles(first),
            reserve=tile_names(fields.get("reserve", []), "reserve"),
            goal=placed_tiles(last),
            limit=limit,
            budget=pb.Budget(rlimit=rlimit or 0),
        )
        with Solver() as solver:
            began = perf_counter()
            found = solver.ask("RebuildDistance", request, pb.RebuildDistanceResponse)
            spent = round(1000 * (perf_counter() - began), 2)
    moves = [move_of(each, "moves") for each in found.moves]
    # No moves tell of no way, unless nothing has to be done.
    turns = len(moves) if moves or first == last else None
    if as_json:
        return building.write_json(
            {
                "turns": turns,
                "bound": found.bound,
                "proven": found.proven,
                "moves": None if turns is None else [written_move(each) for each in moves],
                "ms": spent,
            }
        )
    lines = [*map(describe_move, moves), _in_words(turns, found)]
    pictures = [f"{name}:\n{building.picture(layout)}" for name, layout in (("start", first), ("goal", last))]
    return output.write("\n".join(lines) + "\n\n" + "\n".join(pictures))


def _in_words(turns: int | None, found: pb.RebuildDistanceResponse) -> str:
    if turns is None and found.proven:
        return "there is no way, proven"
    if turns is None:
        return f"no way found; there is none in fewer turns than {found.bound}"
    way = counted(turns, "rebuild turn")
    if found.proven:
        return f"{way}; proven: there is no way in fewer"
    return f"{way}; not proven: the budget ran out, there is no way in fewer than {found.bound}"
