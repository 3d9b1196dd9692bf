"""What can be proved of a game of Kingdomino. Needs no solver."""

from __future__ import annotations

from typing import Any, Final

from referee.kingdomino.v1 import proof_pb2
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.kingdomino import certificate, events
from referee.wire.certificates.kingdomino.claims import Claim
from referee.wire.certificates.kingdomino.wire import message_of


class Kingdomino:
    """``referee.wire.certificates.registry.Provable``."""

    claims = staticmethod(events.claims)
    fingerprint = staticmethod(events.fingerprint)
    check = staticmethod(certificate.check)

    @staticmethod
    def is_of_move(claim: Claim) -> bool:  # noqa: ARG004 - every one is
        return True

    @staticmethod
    def file() -> Any:
        return proof_pb2.DESCRIPTOR

    @staticmethod
    def request(claim: Claim) -> ProveMoveRequest:
        return ProveMoveRequest(kingdomino=message_of(claim))


PROVABLE: Final = {1: Kingdomino()}
