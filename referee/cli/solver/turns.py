"""``referee best-turn`` and ``rebuild-distance``: the best legal end of a turn, and the fewest turns of rebuilding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import output
from referee.cli.shared.solver import Rlimit, Solver
from referee.cli.solver import questions
from referee.games.game import Cell
from referee.text.notation.alhambra.claims import describe_move, written_move
from referee.text.notation.alhambra.inspect import layout_names, tile_names, written_layout
from referee.text.notation.outcomes import counted
from referee.text.notation.questions import only, required
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra import claims

_TURN_FIELDS = frozenset(("layout", "reserve", "bought"))


def best_turn(
    file: questions.Position = None,
    /,
    *,
    layout: Annotated[str | None, Parameter(metavar="JSON", help="The layout, instead of a FILE.")] = None,
    reserve: Annotated[
        str | None, Parameter(metavar="TILES", help="Tiles in the reserve, such as tower-12,garden-10.")
    ] = None,
    bought: Annotated[str | None, Parameter(metavar="TILES", help="Tiles bought in this turn.")] = None,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON object instead of text.")] = False,
    svg: questions.Svg = None,
) -> None:
    """Find the best legal end of a turn: at most one rebuild, then every bought tile is placed or reserved.

    The best turn leaves the longest wall and, among equals, the most tiles in the Alhambra. A position, with a layout
    as for `referee inspect`:

        {"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"reserve":[],"bought":["tower-8-NES"]}

    Options replace fields of the file: `referee best-turn --layout '{}' --bought tower-12,garden-10-N`

    The turn is proven best if Z3 refuted that a better one exists. Otherwise the budget ran out, and the answer is the
    best turn found and a bound.
    """
    with questions.telling():
        options = {
            "layout": questions.json_layout("--layout", layout),
            "reserve": questions.listed(reserve),
            "bought": questions.listed(bought),
        }
        fields = questions.position(file, options, complete=layout is not None)
        only(fields, _TURN_FIELDS)
        before = layout_names(fields.get("layout", {}), "layout")
        request = pb.FindBestTurnRequest(
            layout=claims.placed_tiles(before),
            reserve=tile_names(fields.get("reserve", []), "reserve"),
            bought=tile_names(fields.get("bought", []), "bought"),
            budget=pb.Budget(rlimit=rlimit or 0),
        )
        with Solver() as solver:
            start = perf_counter()
            found = solver.ask("FindBestTurn", request, pb.FindBestTurnResponse)
            spent = round(1000 * (perf_counter() - start), 2)
    moves = [claims.move_of(each, "moves") for each in found.moves]
    after = _after(before, moves)
    wall, _ = questions.engine_layout(before).wall()
    if as_json:
        questions.write_json(
            {
                "moves": [written_move(each) for each in moves],
                "wall_before": wall,
                "wall": found.wall,
                "tiles": found.tiles,
                "bound": found.bound,
                "proven": found.proven,
                "layout": written_layout(after),
                "ms": spent,
            }
        )
    else:
        lines = [
            *(map(describe_move, moves) if moves else ["no move"]),
            f"wall {wall} before, {found.wall} after; {found.tiles} {'tile' if found.tiles == 1 else 'tiles'}",
            "proven: no legal turn is better"
            if found.proven
            else f"not proven: the budget ran out; no legal turn makes a longer wall than {found.bound}",
        ]
        output.write("\n".join(lines) + "\n\n" + questions.picture(after))
    if svg is not None:
        questions.write_svg(svg, after, f"Best turn: wall {found.wall}")


def _after(layout: Mapping[Cell, str], moves: Iterable[claims.TurnMove]) -> dict[Cell, str]:
    """Return the layout that the moves lead to."""
    after = dict(layout)
    for each in moves:
        match each:
            case claims.Add(tile, at) | claims.Place(tile, at) | claims.Swap(tile, at):
                after[at] = tile
            case claims.Remove(at):
                del after[at]
    return after


_DISTANCE_FIELDS = frozenset(("start", "reserve", "goal"))


def rebuild_distance(
    file: questions.Position = None,
    /,
    *,
    start: Annotated[str | None, Parameter(metavar="JSON", help="The layout to start from.")] = None,
    reserve: Annotated[
        str | None, Parameter(metavar="TILES", help="Tiles in the reserve, such as tower-12,garden-10.")
    ] = None,
    goal: Annotated[
        str | None, Parameter(metavar="JSON", help="The layout to reach; with --start, instead of a FILE.")
    ] = None,
    limit: Annotated[
        int,
        Parameter(metavar="N", help="Give up beyond this many turns.", validator=Number(gte=1, lte=claims.MOST_TURNS)),
    ] = 30,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Find the fewest rebuild turns from one layout to another; a turn adds, removes or swaps one tile.

    Layouts are written as for `referee inspect`:

        {"game":"alhambra","start":{"0,-1":"tower-12"},"reserve":["garden-10"],"goal":{"0,-1":"garden-10"}}

    Options replace fields of the file: `referee rebuild-distance --start '{"0,-1":"tower-12"}' --goal '{}'`
    """
    with questions.telling():
        options = {
            "start": questions.json_layout("--start", start),
            "reserve": questions.listed(reserve),
            "goal": questions.json_layout("--goal", goal),
        }
        fields = questions.position(file, options, complete=start is not None and goal is not None)
        only(fields, _DISTANCE_FIELDS)
        first = layout_names(required(fields, "start", "position"), "start")
        last = layout_names(required(fields, "goal", "position"), "goal")
        request = pb.RebuildDistanceRequest(
            start=claims.placed_tiles(first),
            reserve=tile_names(fields.get("reserve", []), "reserve"),
            goal=claims.placed_tiles(last),
            limit=limit,
            budget=pb.Budget(rlimit=rlimit or 0),
        )
        with Solver() as solver:
            began = perf_counter()
            found = solver.ask("RebuildDistance", request, pb.RebuildDistanceResponse)
            spent = round(1000 * (perf_counter() - began), 2)
    moves = [claims.move_of(each, "moves") for each in found.moves]
    # An empty list of moves means that there is no way, unless nothing has to be done.
    turns = len(moves) if moves or first == last else None
    if as_json:
        return questions.write_json(
            {
                "turns": turns,
                "bound": found.bound,
                "proven": found.proven,
                "moves": None if turns is None else [written_move(each) for each in moves],
                "ms": spent,
            }
        )
    lines = [*map(describe_move, moves), _in_words(turns, found)]
    pictures = [f"{name}:\n{questions.picture(layout)}" for name, layout in (("start", first), ("goal", last))]
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
