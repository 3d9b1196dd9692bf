"""What can be proved of a game of Alhambra. Needs no solver."""

from __future__ import annotations

from typing import Any, Final

from referee.alhambra.v1 import proof_pb2
from referee.certificates.alhambra import certificate, events
from referee.certificates.alhambra.claims import Claim, StepClaim
from referee.certificates.alhambra.wire import message_of
from referee.v1.solver_service_pb2 import ProveMoveRequest


class Alhambra:
    """``referee.certificates.registry.Provable``."""

    claims = staticmethod(events.claims)
    fingerprint = staticmethod(events.fingerprint)
    check = staticmethod(certificate.check)

    @staticmethod
    def is_of_move(claim: Claim) -> bool:
        return isinstance(claim, StepClaim)

    @staticmethod
    def file() -> Any:
        return proof_pb2.DESCRIPTOR

    @staticmethod
    def request(claim: Claim) -> ProveMoveRequest:
        return ProveMoveRequest(alhambra=message_of(claim))


PROVABLE: Final = dict.fromkeys((1, 2), Alhambra())
