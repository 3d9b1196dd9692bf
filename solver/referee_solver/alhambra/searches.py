"""The searches of SolverService in Alhambra: from each method's request to its answers.

A question that cannot be answered as it is asked is an ``InputError`` of one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message

from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.claims import layout_of, move_message, placed_tiles
from referee_solver.alhambra.best_turn import best_turn
from referee_solver.alhambra.distance import distance
from referee_solver.alhambra.walls import longest_wall

_TURNS_SOUGHT = 200
"""Most turns that are looked at, whatever a request allows; claims elsewhere may take more."""


def _find_best_turn(request: pb.FindBestTurnRequest, _: float) -> Iterator[Message]:
    layout = layout_of(request.layout, "layout")
    found = best_turn(layout, request.reserve, request.bought, **_rlimit(request.budget))
    yield pb.FindBestTurnResponse(
        moves=map(move_message, found.moves),
        wall=found.wall,
        tiles=found.tiles,
        bound=found.bound,
        proven=found.proven,
    )


def _find_longest_wall(request: pb.FindLongestWallRequest, seconds: float) -> Iterator[Message]:
    rlimit = request.budget.rlimit or None
    for wall in longest_wall(list(request.tiles), seconds=seconds, rlimit=rlimit, seed=request.seed):
        yield pb.FindLongestWallResponse(
            best=wall.best,
            bound=wall.bound,
            proven=wall.proven,
            region=wall.region,
            layout=placed_tiles(wall.layout),
            done=wall.done,
        )


def _rebuild_distance(request: pb.RebuildDistanceRequest, _: float) -> Iterator[Message]:
    start, goal = layout_of(request.start, "start"), layout_of(request.goal, "goal")
    limit = {"limit": min(request.limit, _TURNS_SOUGHT)} if request.limit else {}
    found = distance(start, request.reserve, goal, **limit, **_rlimit(request.budget))
    yield pb.RebuildDistanceResponse(moves=map(move_message, found.moves or ()), bound=found.bound, proven=found.proven)


def _rlimit(budget: pb.Budget) -> dict[str, int]:
    """Return the request's limit as an argument; nothing where the function has its own."""
    return {"rlimit": budget.rlimit} if budget.rlimit else {}


SEARCHES: Final = {
    "FindBestTurn": (pb.FindBestTurnRequest, _find_best_turn),
    "FindLongestWall": (pb.FindLongestWallRequest, _find_longest_wall),
    "RebuildDistance": (pb.RebuildDistanceRequest, _rebuild_distance),
}
