"""What can be proved of which game, found by the rules' id and version like engines and codecs."""

from __future__ import annotations

from typing import Any, Protocol

from referee.games import registry
from referee.games.game import UnknownRules
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.certificate import Checked


class Provable(Protocol):
    """A game whose verdicts can be proved. Needs no solver."""

    def claims(self, state: Any, event: Any) -> tuple[Any, ...]:
        """Return what the event claims, from the position before it; at most two claims, often none."""
        ...

    def is_of_move(self, claim: Any) -> bool:
        """Return whether this is the claim that the event itself is legal; other claims are about what it leads to."""
        ...

    def fingerprint(self, claim: Any) -> bytes:
        """Return 32 bytes, the same for equal claims."""
        ...

    def request(self, claim: Any) -> ProveMoveRequest:
        """Return the claim as a question to a solver."""
        ...

    def file(self) -> Any:
        """Return the descriptor of the proto file that describes the game's certificates."""
        ...

    def check(self, data: bytes) -> Checked:
        """Return what the certificate proves. Raise ``BadCertificate``."""
        ...


def provable(rules_id: str, version: int) -> Provable | None:
    """Return what ``PROVABLE`` of the game's ``provable`` has for this version; None for a game without."""
    try:
        found: dict[int, Provable] = registry.part(__package__, rules_id, "provable").PROVABLE
    except UnknownRules:
        return None
    return found.get(version)
