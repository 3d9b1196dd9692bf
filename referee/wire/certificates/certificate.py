"""What the certificates of all games have in common: how they are read, and what an accepted one proves. No solver.

Each game has its own messages and its own checker, ``solver.<game>.certificate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from referee.games.game import Violation

MAX_BYTES = 64 * 1024

_Message = TypeVar("_Message", bound=Message)


class BadCertificate(ValueError):
    """The bytes prove nothing: what is wrong, where, and what was expected; one line."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a certificate proves."""

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
