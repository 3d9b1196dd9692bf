"""What can be proved of which game, by the rules' id and version: as engines and codecs are found."""

from __future__ import annotations

from typing import Any, Protocol

from referee.certificates.certificate import Checked
from referee.games import registry
from referee.games.game import UnknownRules
from referee.v1.solver_service_pb2 import ProveMoveRequest


class Provable(Protocol):
    """A game whose verdicts can be proved. Needs no solver."""

    def claims(self, state: Any, event: Any) -> tuple[Any, ...]:
        """What the event claims, from the position before it; two things at the most, often nothing."""
        ...

    def is_of_move(self, claim: Any) -> bool:
        """Whether it is the claim that the event itself is legal; others are about what it leads to."""
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
        """What the certificate proves. Raises ``referee.certificates.certificate.BadCertificate``."""
        ...


def provable(rules_id: str, version: int) -> Provable | None:
    """What ``PROVABLE`` of the game's ``provable`` has for this version; None for a game of which nothing can be."""
    try:
        found: dict[int, Provable] = registry.part(__package__, rules_id, "provable").PROVABLE
    except UnknownRules:
        return None
    return found.get(version)
