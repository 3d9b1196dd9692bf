"""The searches of SolverService in Kingdomino: from each method's request to its answers.

A question that cannot be answered as it is asked is an ``InputError`` of one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message

from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.kingdomino.claims import domino_of, frame_of, placed_dominoes
from referee_solver.kingdomino.best_kingdom import best_kingdom


def _find_best_kingdom(request: pb.FindBestKingdomRequest, seconds: float) -> Iterator[Message]:
    dominoes = [domino_of(domino) for domino in request.dominoes]
    rlimit = request.budget.rlimit or None
    frame = frame_of(request.frame)
    for found in best_kingdom(dominoes, frame, seconds=seconds, rlimit=rlimit, seed=request.seed):
        yield pb.FindBestKingdomResponse(
            best=found.best,
            bound=found.bound,
            proven=found.proven,
            kingdom=placed_dominoes(found.kingdom.dominoes),
            done=found.done,
        )


SEARCHES: Final = {"FindBestKingdom": (pb.FindBestKingdomRequest, _find_best_kingdom)}
