"""What comes in the bodies of requests: of the right type, and never longer than it may be."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message
from starlette.requests import ClientDisconnect, Request

from referee.text.notation.questions import QueryError, parse_object
from referee_clients.web.errors import Refusal

MOST_BYTES: Final = 20 << 10
JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"

_M = TypeVar("_M", bound=Message)


async def body_of(request: Request, media_type: str = JSON, *, undone: str = "judged") -> bytes:
    """Return the body. ``undone``: what was not done with one that is refused. Raise ``Refusal`` if it is longer than
    ``MOST_BYTES``, without reading the rest.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != media_type:
        raise Refusal(415, "WRONG_TYPE", f"Nothing was {undone}: expected Content-Type: {media_type}.")
    found = bytearray()
    try:
        async for part in request.stream():
            found += part
            if len(found) > MOST_BYTES:
                raise Refusal(413, "TOO_LARGE", f"Nothing was done: the request is longer than {MOST_BYTES} bytes.")
    except ClientDisconnect as error:
        raise Refusal(400, "INVALID_ARGUMENT", "The request ended in the middle.") from error
    return bytes(found)


async def question_of(request: Request, *, undone: str = "judged") -> dict[str, Any]:
    """Return the object of JSON in the body. Raise ``Refusal``."""
    return parsed(await body_of(request, undone=undone), undone=undone)


def parsed(question: bytes, *, undone: str = "judged") -> dict[str, Any]:
    """Return the object of JSON. Raise ``Refusal``."""
    try:
        return parse_object(question)
    except QueryError as error:
        raise Refusal(400, "INVALID_ARGUMENT", f"Nothing was {undone}: {error}.", {"field": "body"}) from error


async def message_of(request: Request, kind: type[_M]) -> _M:
    """Return the message in the body. Raise ``Refusal``."""
    try:
        return kind.FromString(await body_of(request, PROTOBUF, undone="sent"))
    except DecodeError as error:
        message = f"Nothing was sent: expected the bytes of {kind.DESCRIPTOR.name}."
        raise Refusal(400, "INVALID_ARGUMENT", message, {"field": "body"}) from error
