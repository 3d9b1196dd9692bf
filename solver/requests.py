"""What a worker answers: from a method of SolverService and its request to its answers.

A question that cannot be answered as it is asked is a ``ValueError`` of one line. What takes longer than there is time
is answered with what was found by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from referee.games.game import Violation
from referee.v1 import game_pb2
from referee.v1 import solver_service_pb2 as pb
from solver.alhambra.best_turn import best_turn
from solver.alhambra.distance import distance
from solver.alhambra.proving import prove
from solver.alhambra.walls import longest_wall
from solver.alhambra.wire import claim_of, layout_of, move_message, placed_tiles
from solver.proof import Proof
from solver.z3run import fused

_MOST_TURNS = 200
"""Of a way from one layout to another."""
_FINDINGS = {True: pb.FINDING_HOLDS, False: pb.FINDING_FAILS, None: pb.FINDING_UNDECIDED}


def answers(method: str, data: bytes, seconds: float) -> Iterator[bytes]:
    """Raises ``ValueError``."""
    request_class, behaviour = _METHODS[method]
    request = request_class()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise ValueError(f"request: no message; expected {request_class.DESCRIPTOR.full_name}") from None
    with fused(seconds):
        for response in behaviour(request, seconds):
            yield response.SerializeToString()


def _prove_move(request: pb.ProveMoveRequest, _: float) -> Iterator[Message]:
    if not request.HasField("alhambra"):
        raise ValueError("claim: none is set, expected one of a game")
    found = prove(claim_of(request.alhambra), smt_lib=request.smt_lib, **_rlimit(request.budget))
    yield pb.ProveMoveResponse(proof=_proof(found))


def _proof(found: Proof) -> pb.Proof:
    return pb.Proof(
        finding=_FINDINGS[found.holds],
        violations=map(_violation, found.violations),
        core=found.core,
        certificate=found.certificate,
        smt_lib=[pb.SmtLibFile(name=file.name, text=file.text, expected=file.expected) for file in found.smt_lib],
    )


def _violation(violation: Violation) -> game_pb2.Violation:
    """Without the sentence, which is made where it is shown."""
    return game_pb2.Violation(
        rule_id=violation.rule_id,
        cells=[game_pb2.Cell(x=x, y=y) for x, y in violation.cells],
        facts=[game_pb2.Fact(key=key, value=str(value)) for key, value in violation.facts.items()],
    )


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
    limit = {"limit": min(request.limit, _MOST_TURNS)} if request.limit else {}
    found = distance(start, request.reserve, goal, **limit, **_rlimit(request.budget))
    yield pb.RebuildDistanceResponse(moves=map(move_message, found.moves or ()), bound=found.bound, proven=found.proven)


def _rlimit(budget: pb.Budget) -> dict[str, int]:
    """Nothing for what the function itself gives."""
    return {"rlimit": budget.rlimit} if budget.rlimit else {}


_METHODS: Final[dict[str, tuple[type[Message], Callable[[Any, float], Iterator[Message]]]]] = {
    "ProveMove": (pb.ProveMoveRequest, _prove_move),
    "FindBestTurn": (pb.FindBestTurnRequest, _find_best_turn),
    "FindLongestWall": (pb.FindLongestWallRequest, _find_longest_wall),
    "RebuildDistance": (pb.RebuildDistanceRequest, _rebuild_distance),
}
