"""A solver that says more than it proves: loaded into workers in place of ``referee_solver.requests``."""

from __future__ import annotations

from collections.abc import Iterator

from referee.v1 import solver_service_pb2 as pb
from referee_solver import requests

OTHER_RULES, NO_CERTIFICATE = 10_000_001, 10_000_002
"""Budgets that choose its lie."""


def answers(method: str, request: bytes, seconds: float) -> Iterator[bytes]:
    rlimit = pb.ProveMoveRequest.FromString(request).budget.rlimit
    for answer in requests.answers(method, request, seconds):
        response = pb.ProveMoveResponse.FromString(answer)
        if rlimit == OTHER_RULES:
            response.proof.violations[0].rule_id = "ALH-A5"
        elif rlimit == NO_CERTIFICATE:
            response.proof.ClearField("certificate")
        yield response.SerializeToString()
