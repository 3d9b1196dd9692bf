"""The games with provable claims, found by the rules' id and version, and the result of a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from referee.games import registry
from referee.games.game import UnknownRules, Violation
from referee.v1.solver_service_pb2 import ProveMoveRequest


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


# The common part of all games' certificates: how to read them, and the result of an accepted one. No solver.
#
# Each game has its own messages and its own checker, ``solver.<game>.certificate``.

MAX_BYTES = 64 * 1024

_Message = TypeVar("_Message", bound=Message)


class BadCertificate(ValueError):
    """The bytes prove nothing: the fault, its place, and the expected form; one line."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of an accepted certificate."""

    claim: Any
    """One of the game's ``claims``."""
    holds: bool
    violations: tuple[Violation, ...] = ()
    """Every rule that is broken, with the cells; facts of a turn name the move, counted from 1."""
    counterexample: Any = None
    """The first placement that is legal, if it was claimed that there is none."""
    assumed: str = ""
    """The part that was not checked, in words; empty if everything was."""


def read(message_class: type[_Message], data: bytes) -> _Message:
    """Return the message. Raise ``BadCertificate``."""
    if len(data) > MAX_BYTES:
        raise BadCertificate(f"certificate: {len(data)} bytes, expected at most {MAX_BYTES}")
    message = message_class()
    try:
        message.ParseFromString(data)
    except DecodeError:
        expected = message_class.DESCRIPTOR.full_name
        raise BadCertificate(f"certificate: not a message, expected a {expected}") from None
    return message


def canonical(message: Message, data: bytes) -> None:
    """Raise ``BadCertificate`` unless the bytes are the one encoding of the message, without unknown fields."""
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != data:
        raise BadCertificate("certificate: another encoding, expected the one of this certificate")
