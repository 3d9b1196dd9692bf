"""The errors between a player and the referee, in plain words, and how gRPC's errors become these. Knows no game."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from referee.text.words.catalogue import Phrase
from referee.wire.enums import bare_name

# A command that reads a file knows these errors, and pays for gRPC only where one comes from it.
if TYPE_CHECKING:
    import grpc

    from referee.v1.game_service_pb2 import Failure

DOMAIN = "referee.v1"
_SAID = "said"
"""The key in the metadata of an error: its message as ``Phrase.encoded``."""
UNTRUSTED = ("CERTIFICATE_VERIFY_FAILED", "Hostname Verification")
"""gRPC's words when TLS refused the connection. Waiting does not help."""
EXPIRED = "certificate has expired"
"""gRPC's words when that is all that is wrong with the certificate."""


class ClientError(Exception):
    """The seat cannot continue. The message says what happened and, if anything helps, what to do."""

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        """``in_doubt``: perhaps only damaged on the way, so it is believed when it was said several times in a row."""
        super().__init__(message)
        self.in_doubt = in_doubt

    def add(self, words: str) -> None:
        """Put more words at the end of the message."""
        self.args = (f"{self}; {words}",)


class Unreachable(ClientError):
    """The referee did not answer for longer than the client's patience."""


class Denied(ClientError):
    """The referee does not admit this token, key or game."""

    is_lost = False
    """True if the referee cannot continue the game, or knows neither it nor the token: it may have lost what it had."""


class WentOn(Denied):
    """Others acted meanwhile, so an act that was signed for an older position was not entered."""

    def __init__(self, newest: int, what: str = "other entries came meanwhile") -> None:
        """``newest``: the last entry by now."""
        super().__init__(f"{what}: its newest entry is {newest}; your act was not entered")
        self.newest = newest


class Distrust(ClientError):
    """The referee's log contradicts its signatures, the rules or itself. The received data is the evidence."""


class BotFailed(ClientError):
    """The bot gave no move that could be sent."""


class BadMove(BotFailed):
    """The bot chose what the rules forbid; nothing was sent."""


_PASSING = (
    *("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED"),
    # A stream that a dying server cut in the middle of a frame.
    *("INTERNAL", "UNKNOWN"),
)
"""Codes of gRPC after which another attempt can help."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A gRPC error as the referee means it."""

    code: grpc.StatusCode
    message: str
    reason: str = ""
    """ErrorReason without its prefix, such as ``STALE_HEAD``; empty if the error is not the referee's own."""
    metadata: dict[str, str] = field(default_factory=dict)
    retry_s: float | None = None
    """The seconds after which the referee says that another attempt helps, if it does."""
    phrase: Phrase | None = None
    """The message, where it can be said in other languages."""

    @property
    def is_expired(self) -> bool:
        """Return whether the referee's certificate has expired."""
        return EXPIRED in self.message

    @property
    def passes(self) -> bool:
        """Return whether another attempt can help: the network, or a referee that is about to be back."""
        if self.retry_s is not None:
            return True
        if self.reason:
            return self.reason in ("DRAINING", "NOT_OWNER", "STORE_FAILED", "DEADLINE")
        if any(sign in self.message for sign in UNTRUSTED):
            return False
        return self.code.name in _PASSING

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


def answer_of(error: grpc.aio.AioRpcError) -> Answer:
    """Return what the referee, or the network, said."""
    from google.rpc import error_details_pb2  # noqa: PLC0415 - see above
    from grpc_status import rpc_status  # noqa: PLC0415

    message = error.details() or ""
    try:
        status = rpc_status.from_call(error)  # type: ignore[arg-type]  # it has all that is asked of a call
    except ValueError:
        status = None
    reason, metadata, retry_s = "", dict[str, str](), None
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    for detail in status.details if status is not None else ():
        if detail.Unpack(info) and info.domain == DOMAIN:
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Unpack(retry):
            retry_s = retry.retry_delay.ToNanoseconds() / 1e9
    said = Phrase.decoded(metadata.pop(_SAID, ""))
    return Answer(error.code(), message, reason, metadata, retry_s, said)


def answer_of_failure(failure: Failure) -> Answer:
    """Return what became of one act of a stream."""
    import grpc  # noqa: PLC0415 - see above

    from referee.v1.game_service_pb2 import ErrorReason  # noqa: PLC0415

    code = next((code for code in grpc.StatusCode if code.value[0] == failure.code), grpc.StatusCode.UNKNOWN)
    known = failure.reason in ErrorReason.values()
    reason = bare_name(ErrorReason, failure.reason) if known else str(failure.reason)
    retry_s = failure.retry_ms / 1000 if failure.retry_ms else None
    metadata = dict(failure.metadata)
    said = Phrase.decoded(metadata.pop(_SAID, ""))
    return Answer(code, failure.message, reason, metadata, retry_s, said)


_PLAIN = {
    "UNKNOWN_GAME": "the referee has no such game; check that the join string is for this referee",
    "UNAUTHENTICATED": "the referee does not know this token; check that the join string is complete",
    "PERMISSION_DENIED": "the token is for another game or seat, or was already used",
    "WEAK_KEY": "the referee refuses this key: it is weak, or another author of this game already has it",
    "GAME_OVER": "the game is over",
}


def expired(on: datetime | None = None) -> str:
    """Return the words that the referee's certificate has expired, and that the organiser can help."""
    when = "has expired" if on is None else f"expired on {on:%Y-%m-%d}"
    return f"the referee's certificate {when}; the organiser has to renew it"


def denied(answer: Answer, expired_on: datetime | None = None) -> ClientError:
    """Return the error for an answer that no repetition will change, unless the question was damaged on the way.

    ``expired_on``: of the certificate, where that is what is wrong.
    """
    if answer.is_expired:
        return Denied(expired(expired_on))
    if any(sign in answer.message for sign in UNTRUSTED):
        return Denied(f"no trusted authority signed the referee's certificate ({answer.code.name})")
    if answer.reason == "SEQ_OUT_OF_RANGE":
        return Distrust(f"the referee has lost entries that it had sent: {answer}", in_doubt=True)
    if answer.reason == "STALE_HEAD" and answer.metadata.get("size", "").isdecimal():
        return WentOn(int(answer.metadata["size"]) - 1)
    if answer.reason == "OTHER_API":
        return Denied(answer.message)
    plain = _PLAIN.get(answer.reason)
    if answer.reason == "UNAUTHENTICATED" and "state" in answer.metadata:
        plain = "this token is no longer valid; ask the organiser for another"
    error = Denied(f"{plain} ({answer})" if plain else f"the referee refused the call: {answer}", in_doubt=True)
    forgets = answer.reason == "UNAUTHENTICATED" and "state" not in answer.metadata
    error.is_lost = forgets or answer.reason in ("SET_ASIDE", "UNKNOWN_GAME")
    return error
