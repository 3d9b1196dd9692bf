"""``referee best-turn``: the best legal end of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Annotated

import typer

from referee.cli.shared import output
from referee.cli.shared.solving import Rlimit, Solver
from referee.cli.solver import building
from referee.games.game import Cell
from referee.text.notation.alhambra.claims import describe_move, written_move
from referee.text.notation.alhambra.inspect import layout_names, tile_names, written_layout
from referee.text.notation.questions import only
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.claims import Add, Place, Remove, Swap, TurnMove
from referee.wire.certificates.alhambra.wire import move_of, placed_tiles

_FIELDS = frozenset(("layout", "reserve", "bought"))


def best_turn(  # noqa: PLR0917 - typer reads options from the signature
    file: building.Position = None,
    layout: Annotated[str | None, typer.Option(metavar="JSON", help="The layout, instead of a FILE.")] = None,
    reserve: Annotated[
        str | None, typer.Option(metavar="TILES", help="Tiles in the reserve, such as tower-12,garden-10.")
    ] = None,
    bought: Annotated[str | None, typer.Option(metavar="TILES", help="Tiles bought in this turn.")] = None,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    svg: building.Svg = None,
) -> None:
    """Find the best legal end of a turn: at most one rebuild, then every bought tile is placed or reserved.

    The best turn leaves the longest wall and, among equals, the most tiles in the Alhambra. A position, with a layout
    as for `referee inspect`:

        {"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"reserve":[],"bought":["tower-8-NES"]}

    Options replace fields of the file: `referee best-turn --layout '{}' --bought tower-12,garden-10-N`

    The turn is proven best if Z3 refuted that a better one exists. Otherwise the budget ran out, and the answer is the
    best turn found and a bound.
    """
    with building.telling():
        options = {
            "layout": building.json_layout("--layout", layout),
            "reserve": building.listed(reserve),
            "bought": building.listed(bought),
        }
        fields = building.position(file, options, complete=layout is not None)
        only(fields, _FIELDS)
        before = layout_names(fields.get("layout", {}), "layout")
        request = pb.FindBestTurnRequest(
            layout=placed_tiles(before),
            reserve=tile_names(fields.get("reserve", []), "reserve"),
            bought=tile_names(fields.get("bought", []), "bought"),
            budget=pb.Budget(rlimit=rlimit or 0),
        )
        with Solver() as solver:
            start = perf_counter()
            found = solver.ask("FindBestTurn", request, pb.FindBestTurnResponse)
            spent = round(1000 * (perf_counter() - start), 2)
    moves = [move_of(each, "moves") for each in found.moves]
    after = _after(before, moves)
    wall, _ = building.engine_layout(before).wall()
    if as_json:
        building.write_json(
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
        output.write("\n".join(lines) + "\n\n" + building.picture(after))
    if svg is not None:
        building.write_svg(svg, after, f"Best turn: wall {found.wall}")


def _after(layout: Mapping[Cell, str], moves: Iterable[TurnMove]) -> dict[Cell, str]:
    """Return the layout that the moves lead to."""
    after = dict(layout)
    for each in moves:
        match each:
            case Add(tile, at) | Place(tile, at) | Swap(tile, at):
                after[at] = tile
            case Remove(at):
                del after[at]
    return after
