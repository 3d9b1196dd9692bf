"""The refusals of the gateway, as which all errors leave it: a status, and a body with reason, message and its parts.

The reasons are those of the API (ErrorReason). Those that only the gateway has are in ``OWN_REASONS``. The message is
in English where the refusal is made; in another language it is put together again from the reason, the parts, and the
phrase that tells what is wrong. Without a phrase the English message is quoted.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from math import ceil

import grpc
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from referee.text.words.catalogue import Phrase, languages, load, phrase
from referee_clients.sdk.errors import answer_of
from referee_clients.web.languages import spoken_to

RETRY_S = 2
"""Time until another attempt, where the referee names none."""
OWN_REASONS = frozenset(
    {
        *("UNAVAILABLE", "BAD_ANSWER", "NOT_FOUND", "METHOD_NOT_ALLOWED", "NO_KEY", "BAD_REQUEST", "NOT_ADMITTED"),
        *("WRONG_TYPE", "TOO_LARGE", "UNKNOWN_HOST", "FOREIGN_ORIGIN", "BUSY", "NO_ANSWER", "NO_SOLVER", "LEFT"),
    }
)

_STATUS_OF: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "MALFORMED_INTENT": 400,
    "MALFORMED_MOVE": 400,
    "WRONG_GAME": 400,
    "BAD_SIGNATURE": 400,
    "WEAK_KEY": 400,
    "COMMITMENT_MISMATCH": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "UNKNOWN_GAME": 404,
    "UNKNOWN_RULES": 404,
    "STALE_HEAD": 409,
    "NOT_AWAITED": 409,
    "GAME_OVER": 409,
    "SET_ASIDE": 409,
    "SEQ_OUT_OF_RANGE": 416,
    "LIMIT": 429,
    "INTERNAL": 500,
    "ACT_NOT_OFFERED": 501,
    "NOT_LOGGED": 409,
    "IN_DOUBT": 409,
    "OTHER_API": 502,
    "DRAINING": 503,
    "NOT_OWNER": 503,
    "STORE_FAILED": 503,
    "SOLVER_FAILED": 503,
    "DEADLINE": 504,
}
_WAITING_HELPS = frozenset({503, 504})
"""The codes after which waiting helps, if the refusal names no time. A limit passes only if its refusal says when."""
_AWAY = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})

_log = logging.getLogger("referee.web")


class Refusal(Exception):
    """The request is not answered as it was meant to be."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        retry_after: int | None = None,
        *,
        detail: Phrase | None = None,
    ) -> None:
        """``retry_after``: seconds after which trying again can help. ``detail``: the fault, in any language."""
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        self.detail = detail

    def response(self, scope: Scope) -> Response:
        """Return the response to the request of this scope."""
        language = spoken_to(scope)
        headers = {"Cache-Control": "no-store", "Content-Language": language}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        body = {"reason": self.reason, "message": self.words(language), "metadata": self.metadata}
        return JSONResponse(body, self.status, headers)

    def words(self, language: str) -> str:
        """Return the message in a language; in English where that has no words for the reason, or lacks a part."""
        if language not in languages("refusals"):
            return self.message
        say = load("refusals", language)
        detail = say("QUOTED", message=self.message) if self.detail is None else self.detail.by(language)
        parts: dict[str, object] = {**self.metadata, "detail": detail}
        waits = self.retry_after is not None
        try:
            if self.reason == "LIMIT" and not waits:
                return say("LIMIT_FOR_GOOD", **parts)
            return say(self.reason, **parts | ({"s": self.retry_after} if waits else {}))
        except KeyError:
            return self.message


class Stalled(OSError):
    """The client has taken none of its answer for too long."""


def bad_field(field: str, expected: Phrase) -> Refusal:
    """Return the refusal of a part of the address that is not as it has to be."""
    detail = phrase("{field}: expected {expected}", field=field, expected=expected)
    metadata = {"field": field, "expected": str(expected)}
    return Refusal(400, "INVALID_ARGUMENT", f"Correct {detail}", metadata, detail=detail)


def beyond_head(game_id: str, size: int) -> Refusal:
    """Return the refusal of a place after the last entry of the game."""
    message = f"Continue from an earlier entry: game {game_id} has {size}"
    return Refusal(416, "SEQ_OUT_OF_RANGE", message, {"game": game_id, "size": str(size)})


def limit_reached(limit: Phrase, retry_s: float) -> Refusal:
    """Return the refusal of too much; ``limit``: the exceeded one."""
    wait_s, detail = max(1, ceil(retry_s)), phrase("too many {limit}", limit=limit)
    message = f"Try again in {wait_s} s: {detail}"
    return Refusal(429, "LIMIT", message, {"limit": str(limit)}, wait_s, detail=detail)


_NO_ANSWER = phrase("the referee does not answer")


def away(why: Phrase = _NO_ANSWER) -> Refusal:
    """Return the refusal while there is no way to the referee."""
    return Refusal(503, "UNAVAILABLE", f"Try again in {RETRY_S} s: {why}", retry_after=RETRY_S, detail=why)


def fault(incident: str) -> Refusal:
    """Return the refusal of the gateway's own fault, which its log has under the incident."""
    message = "Tell the organiser of this incident: the gateway has a fault"
    return Refusal(500, "INTERNAL", message, {"incident": incident})


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    """Return what the referee's error, or the network's, is for the browser."""
    answer = answer_of(error)
    if not answer.reason:
        if answer.code in _AWAY:
            return away()
        if answer.code is grpc.StatusCode.DEADLINE_EXCEEDED:
            message = f"Try again in {RETRY_S} s: the referee took too long"
            return Refusal(504, "DEADLINE", message, retry_after=RETRY_S)
        _log.warning("the referee's answer is not one of its protocol: %s", answer)
        return Refusal(502, "BAD_ANSWER", "Tell the organiser: the referee gave an answer that is not of its protocol")
    if answer.metadata.get("field", "").startswith("x-referee-"):
        _log.error("the referee does not accept this gateway's word for its callers: %s", answer)
        return Refusal(502, "NOT_ADMITTED", "Tell the organiser: the referee does not admit this gateway")
    status = _STATUS_OF.get(answer.reason, 502)
    retry_after = None
    if answer.retry_s is not None or status in _WAITING_HELPS:
        retry_after = max(1, ceil(answer.retry_s or RETRY_S))
    return Refusal(status, answer.reason, answer.message, answer.metadata, retry_after, detail=answer.phrase)


async def answer(request: Request, error: Exception) -> Response:
    """Answer a request that ended with this error."""
    match error:
        case Refusal():
            return error.response(request.scope)
        case grpc.aio.AioRpcError():
            return refusal_of(error).response(request.scope)
        case Stalled():
            return Response(status_code=408)  # no client reads it
        case HTTPException(status_code=404):
            refusal = Refusal(404, "NOT_FOUND", "Check the address: there is nothing here")
            return refusal.response(request.scope)
        case HTTPException(status_code=405):
            refusal = Refusal(405, "METHOD_NOT_ALLOWED", "Ask in another way: this address does not take it")
            return refusal.response(request.scope)
        case HTTPException(status_code=status, detail=detail):
            return Refusal(status, "BAD_REQUEST", detail).response(request.scope)
    incident = secrets.token_hex(8)
    _log.error("incident %s", incident, exc_info=error)
    return fault(incident).response(request.scope)


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
    (Refusal, grpc.aio.AioRpcError, HTTPException, Exception), answer
)
"""The value of Starlette's ``exception_handlers``: nothing leaves without a reason."""
