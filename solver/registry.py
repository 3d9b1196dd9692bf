"""What can be proved of which game, by the rules' id and version: as engines and codecs are found."""

from __future__ import annotations

from typing import Any, Final, Protocol

from referee.alhambra.v1 import proof_pb2
from referee.v1.solver_service_pb2 import ProveMoveRequest
from solver.alhambra import certificate, events
from solver.alhambra.claims import Claim
from solver.alhambra.wire import message_of
from solver.certificate import Checked


class Provable(Protocol):
    """A game whose verdicts can be proved. Needs no solver."""

    def claims(self, state: Any, event: Any) -> tuple[Any, ...]:
        """What the event claims, from the position before it; two things at the most, often nothing."""
        ...

    def fingerprint(self, claim: Any) -> bytes:
        """32 bytes, the same for equal claims."""
        ...

    def request(self, claim: Any) -> ProveMoveRequest:
        """The claim as a question to a solver."""
        ...

    def file(self) -> Any:
        """The descriptor of the proto file that describes its certificates."""
        ...

    def check(self, data: bytes) -> Checked:
        """What the certificate proves. Raises ``solver.certificate.BadCertificate``."""
        ...


class _Alhambra:
    claims = staticmethod(events.claims)
    fingerprint = staticmethod(events.fingerprint)
    check = staticmethod(certificate.check)

    @staticmethod
    def file() -> Any:
        return proof_pb2.DESCRIPTOR

    @staticmethod
    def request(claim: Claim) -> ProveMoveRequest:
        return ProveMoveRequest(alhambra=message_of(claim))


_PROVABLE: Final[dict[tuple[str, int], Provable]] = {("alhambra", 1): _Alhambra()}


def provable(rules_id: str, version: int) -> Provable | None:
    """None for a game of which nothing can be proved."""
    return _PROVABLE.get((rules_id, version))
