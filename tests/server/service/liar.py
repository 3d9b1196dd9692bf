"""A solver that proves something else than it is asked: loaded into workers in place of ``referee_solver.requests``."""

from __future__ import annotations

from collections.abc import Iterator

from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.alhambra.claims import Place, StepClaim, message_of
from referee_solver import requests

ANOTHER = StepClaim({}, Place("garden-10-N", (0, 1)))
"""Which does not hold."""


def answers(method: str, request: bytes, seconds: float) -> Iterator[bytes]:
    other = pb.ProveMoveRequest(alhambra=message_of(ANOTHER))
    yield from requests.answers(method, other.SerializeToString(), seconds)
