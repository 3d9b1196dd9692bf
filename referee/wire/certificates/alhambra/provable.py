"""What can be proved of a game of Alhambra. Needs no solver."""

from __future__ import annotations

from typing import Any, Final

from referee.alhambra.v1 import proof_pb2
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.alhambra import certificate, events
from referee.wire.certificates.alhambra.claims import Claim, StepClaim
from referee.wire.certificates.alhambra.wire import message_of


class Alhambra:
    """``referee.wire.certificates.registry.Provable``."""

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
