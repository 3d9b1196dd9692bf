"""Translates every exception that leaves the referee into a gRPC status with exactly one ErrorInfo.

Where waiting helps, a RetryInfo follows it.

Details travel in trailers, and large trailers get lost: every part that varies is cut to a length.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from math import ceil

import grpc
import structlog
from google.rpc import error_details_pb2, status_pb2

from referee.api import OtherGeneration
from referee.games.game import UnknownRules
from referee.log.errors import Code, LogError
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed
from referee.server.live import refusals
from referee.server.publishing.proofs import Missing, NotLogged
from referee.server.service.auth import PermissionDenied, Unauthenticated
from referee.server.service.limits import TookTooLong
from referee.server.store.store import Cause, NotReady, StoreFailed
from referee.text.notation.violations import NotationError, cut
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2 import ErrorReason

DOMAIN = "referee.v1"
STATUS_KEY = "grpc-status-details-bin"
"""The key of the status with its details, in trailing metadata."""
MAX_DETAILS_BYTES = 4096
SAID = "said"
"""The metadata key of a message that is a phrase: ``Phrase.encoded``, for translation."""
_BESIDE_SAID = 128
"""Bytes of the details that are neither the message nor metadata."""
_MAX_MESSAGE, _MAX_VALUE = 300, 200
"""Characters. With four bytes each and every value there is, the details stay below their limit."""

_S = grpc.StatusCode
STATUS_OF: Mapping[str, grpc.StatusCode] = {
    "INVALID_ARGUMENT": _S.INVALID_ARGUMENT,
    "UNKNOWN_GAME": _S.NOT_FOUND,
    "UNKNOWN_RULES": _S.NOT_FOUND,
    "UNAUTHENTICATED": _S.UNAUTHENTICATED,
    "PERMISSION_DENIED": _S.PERMISSION_DENIED,
    "MALFORMED_INTENT": _S.INVALID_ARGUMENT,
    "WRONG_GAME": _S.INVALID_ARGUMENT,
    "STALE_HEAD": _S.ABORTED,
    "BAD_SIGNATURE": _S.INVALID_ARGUMENT,
    "WEAK_KEY": _S.INVALID_ARGUMENT,
    "NOT_AWAITED": _S.FAILED_PRECONDITION,
    "MALFORMED_MOVE": _S.INVALID_ARGUMENT,
    "COMMITMENT_MISMATCH": _S.INVALID_ARGUMENT,
    "GAME_OVER": _S.FAILED_PRECONDITION,
    "ACT_NOT_OFFERED": _S.UNIMPLEMENTED,
    "SEQ_OUT_OF_RANGE": _S.OUT_OF_RANGE,
    "DRAINING": _S.UNAVAILABLE,
    "STORE_FAILED": _S.UNAVAILABLE,
    "LIMIT": _S.RESOURCE_EXHAUSTED,
    "INTERNAL": _S.INTERNAL,
    "DEADLINE": _S.DEADLINE_EXCEEDED,
    "SET_ASIDE": _S.FAILED_PRECONDITION,
    "SOLVER_FAILED": _S.ABORTED,
    "NOT_OWNER": _S.UNAVAILABLE,
    "OTHER_API": _S.FAILED_PRECONDITION,
    "NOT_LOGGED": _S.FAILED_PRECONDITION,
    "IN_DOUBT": _S.FAILED_PRECONDITION,
}

_OF_TABLE: dict[type[Exception], str] = {
    refusals.UnknownGame: "UNKNOWN_GAME",
    UnknownRules: "UNKNOWN_RULES",
    refusals.GameOver: "GAME_OVER",
    refusals.WeakKey: "WEAK_KEY",
    refusals.Draining: "DRAINING",
    Unauthenticated: "UNAUTHENTICATED",
    PermissionDenied: "PERMISSION_DENIED",
    TookTooLong: "DEADLINE",
}
_OF_LOG = {
    Code.MALFORMED: "MALFORMED_INTENT",
    Code.WRONG_GAME: "WRONG_GAME",
    Code.AUTHOR_SIGNATURE: "BAD_SIGNATURE",
    Code.KEY: "WEAK_KEY",
    Code.DECK: "COMMITMENT_MISMATCH",
    Code.LIMIT: "LIMIT",
}

_WITHHELD = frozenset({"INTERNAL", "SET_ASIDE", "STORE_FAILED"})
"""The reasons that are withheld from callers, in every language."""

_log = structlog.get_logger("referee.errors")


def status(error: Exception, **place: object) -> status_pb2.Status:
    """Return the status for the caller. ``place``: method, game and so on, for the log if it is our fault."""
    reason, message, metadata = _explained(error)
    if reason == "STORE_FAILED" and not isinstance(error, NotReady):
        _log.error("store failed", error=str(error), **place)
    if reason == "INTERNAL":
        incident = secrets.token_hex(8)
        _log.error("incident", incident=incident, exc_info=error, **place)
        message, metadata = (
            "a fault of the referee; please report the incident id to its operator",
            {"incident": incident},
        )
    said: Phrase | None = None if reason in _WITHHELD else getattr(error, "phrase", None)
    if isinstance(error, NotReady):
        said = _not_ready(error)
    return _status(reason, message, metadata, retry_s(error), "" if said is None else said.encoded())


def failure(error: Exception, **place: object) -> pb.Failure:
    """Return the error as a message, for a stream that continues."""
    found = status(error, **place)
    info = error_details_pb2.ErrorInfo()
    found.details[0].Unpack(info)
    reason = ErrorReason.Value(f"ERROR_REASON_{info.reason}")
    retry_ms = ceil(1000 * retry_s(error))
    return pb.Failure(code=found.code, reason=reason, message=found.message, metadata=info.metadata, retry_ms=retry_ms)


def retry_s(error: Exception) -> float:
    """Return how long to wait, where waiting helps; else 0. Sent in RetryInfo, and on streams in ``retry_ms``."""
    match error:
        case refusals.LimitReached(retry_s=wait_s):
            return wait_s
        case refusals.Elsewhere():
            return refusals.ELSEWHERE_RETRY_S
        case refusals.Draining() | StoreFailed() | NotLogged(missing=Missing.TURN | Missing.CHECKPOINT):
            return refusals.RETRY_S
    return 0


def reason_of(error: Exception) -> str:
    """Return the name in ``ErrorReason``, without its prefix."""
    return _explained(error)[0]


def reason_in(trailing: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the reason in a status that another node has sent; empty if it is not one of a referee."""
    found, info = status_pb2.Status(), error_details_pb2.ErrorInfo()
    for key, value in trailing:
        if key == STATUS_KEY and isinstance(value, bytes):
            found.ParseFromString(value)
    return info.reason if any(detail.Unpack(info) and info.domain == DOMAIN for detail in found.details) else ""


def _explained(error: Exception) -> tuple[str, str, dict[str, object]]:
    """Reason, message and variable parts."""
    reason = _OF_TABLE.get(type(error), "INTERNAL")
    metadata: dict[str, object] = {}
    match error:
        case Unauthenticated(state=state, field=field):
            metadata = {name: value for name, value in (("state", state), ("field", field)) if value}
        case PermissionDenied(field=field) if field:
            metadata = {"field": field}
        case OtherGeneration(referee=referee, client=client):
            reason, metadata = "OTHER_API", {"referee": referee, "client": client}
        case refusals.Elsewhere(node=node):
            reason, metadata = "NOT_OWNER", {"owner": node.address}
        case NotLogged(missing=missing):
            reason, metadata = "NOT_LOGGED", {"missing": missing.value}
        case refusals.InDoubt(copied_ms=copied_ms):
            reason, metadata = "IN_DOUBT", {"copied_ms": copied_ms}
        case refusals.StaleHead(size=size, head=head):
            reason, metadata = "STALE_HEAD", {"size": size, "head": head.hex()}
        case refusals.NotAwaited(awaited=awaited):
            reason, metadata = "NOT_AWAITED", {"awaited": awaited}
        case refusals.BeyondHead(size=size):
            reason, metadata = "SEQ_OUT_OF_RANGE", {"size": size}
        case refusals.BadField(field=field, what=what, expected=expected):
            reason, metadata = "INVALID_ARGUMENT", {"field": field, "what": what, "expected": expected}
        case NotationError(kind=kind, line=line, column=column, what=what, expected=expected, rule_ids=rules):
            reason, metadata = "INVALID_ARGUMENT", {"field": "text", "line": line, "column": column, "kind": kind}
            metadata |= {"what": what, "expected": expected} | ({"rules": ", ".join(rules)} if rules else {})
        case BadQuestion(fields={"field": field, "expected": expected}):
            reason, metadata = "INVALID_ARGUMENT", {"field": field, "expected": expected}
        case WorkerFailed(why=why):
            reason, metadata = "SOLVER_FAILED", {"why": why}
        case refusals.LimitReached(limit=limit):
            reason, metadata = "LIMIT", {"limit": limit}
        case refusals.MalformedMove():
            reason, metadata = "MALFORMED_MOVE", {"detail": error}
        case refusals.MalformedIntent():
            reason, metadata = "MALFORMED_INTENT", {"detail": error}
        case LogError(code=Code.UNSUPPORTED):
            reason = "ACT_NOT_OFFERED"
        case LogError(code=code):
            reason = _OF_LOG.get(code, "INTERNAL")
            metadata = {"detail": error.what} if reason == "MALFORMED_INTENT" else {}
            metadata |= {"limit": error.what} if reason == "LIMIT" else {}
        case refusals.Unsound():
            return "SET_ASIDE", "the game is set aside: the referee cannot continue it; ask its operator why", {}
        case NotReady():
            return "STORE_FAILED", str(_not_ready(error)), {}
        case StoreFailed():
            return (
                "STORE_FAILED",
                "the store failed, so nothing was acknowledged or can be shown; send the same bytes again",
                {},
            )
    return reason, str(error), metadata


def _not_ready(error: NotReady) -> Phrase:
    cause = _CAUSES[error.cause]
    # The others have the same database, but another disk, and another way to it.
    if error.referees > 1 and error.cause in {Cause.STANDBY, Cause.NO_PRIMARY}:
        what = "{n} referees run, and none of them can enter anything now: {cause}; games wait, try again later"
        return phrase(what, n=error.referees, cause=cause)
    return phrase("the referee runs, and can enter nothing now: {cause}; games wait, try again later", cause=cause)


_CAUSES: Mapping[Cause, Phrase] = {
    Cause.UNKNOWN: phrase("its store cannot be written"),
    Cause.STANDBY: phrase("the database waits for a standby, and none is connected"),
    Cause.NO_PRIMARY: phrase("no server of the database takes writes"),
    Cause.DATABASE: phrase("the database does not answer"),
}


def _status(reason: str, message: str, metadata: Mapping[str, object], wait_s: float, said: str) -> status_pb2.Status:
    ErrorReason.Value(f"ERROR_REASON_{reason}")  # a reason that is not in the API must not get out
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN)
    for key, value in metadata.items():
        info.metadata[key] = cut(str(value), _MAX_VALUE)
    if said and info.ByteSize() + len(said) + _BESIDE_SAID <= MAX_DETAILS_BYTES - 4 * _MAX_MESSAGE:
        info.metadata[SAID] = said  # whole, or not at all
    found = status_pb2.Status(code=STATUS_OF[reason].value[0], message=cut(message, _MAX_MESSAGE))
    found.details.add().Pack(info)
    if wait_s:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(ceil(1000 * wait_s))
        found.details.add().Pack(retry)
    return found
