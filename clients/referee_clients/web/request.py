"""A request's token, body, fields and codings. ``Refusal`` and ``BadWord`` say what is wrong with them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import brotli
from google.protobuf.message import DecodeError, Message
from starlette.requests import ClientDisconnect, Request

from referee.text.notation.questions import QueryError, parse_object, shown
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import Phrase, phrase
from referee_clients.sdk.opening import milliseconds
from referee_clients.web.refusals import Refusal, bad_field

LEAST_BYTES: Final = 600
"""Shorter bodies are sent as they are."""
_NONE: Final = ("q=0", "q=0.0", "q=0.00", "q=0.000")


def _brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data, mode=brotli.MODE_TEXT, quality=11)
    return packed


BEST: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "br": _brotli,
    "gzip": lambda data: gzip.compress(data, 9, mtime=0),
}
"""Functions that pack once for all requests, by the name in Content-Encoding (RFC 9110, section 12.5.3).

The first that a browser takes is the shortest. Browsers take Brotli only from addresses whose answers cannot be changed
on the way: with TLS, or from their own machine.
"""


def takes(request: Request, wanted: str) -> bool:
    """Return whether the browser takes a coding: it names it, and not to say that it does not."""
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == wanted:
            return weight.replace(" ", "") not in _NONE
    return False


# --- token, page, body -----------------------------------------------------------------------------------------------


_BEARER: Final = re.compile(r"Bearer [!-~]{1,1000}", re.ASCII | re.IGNORECASE)
_PAGE: Final = re.compile("[!-~]{0,1000}", re.ASCII)


def token_of(request: Request, *, undone: str) -> str:
    """Return the Authorization header. ``undone``: the act that was not done without one. Raise ``Refusal``."""
    found = request.headers.get("authorization", "")
    if not _BEARER.fullmatch(found):
        message = f"Nothing was {undone}: expected a token, as Authorization: Bearer TOKEN."
        raise Refusal(401, "UNAUTHENTICATED", message)
    return found


def page_of(request: Request) -> str:
    """Return the name of the page of a list, empty for the first one. Raise ``Refusal``."""
    found = request.query_params.get("page", "")
    if not _PAGE.fullmatch(found):
        raise bad_field("page", phrase("next_page of the answer before"))
    return found


MOST_BYTES: Final = 20 << 10
JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"

_M = TypeVar("_M", bound=Message)


async def body_of(request: Request, media_type: str = JSON, *, undone: str = "judged") -> bytes:
    """Return the body. ``undone``: the act that was not done with a refused one. Raise ``Refusal`` if it is longer than
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


# --- fields ----------------------------------------------------------------------------------------------------------


_MOST: Final = (1 << 32) - 1
_KEY_BYTES: Final = 32


class Given:
    """The fields that were sent. Each method raises ``BadWord``; a missing field is None, or empty."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._read = set[str]()

    def _of(self, name: str, kind: type, expected: Phrase) -> Any:
        self._read.add(name)
        value = self._fields.get(name)
        if value is not None and type(value) is not kind:  # a bool is an int, too
            raise BadWord(name, phrase(": {found}; expected {expected}", found=shown(value), expected=expected))
        return value

    def check_all_read(self) -> None:
        """Raise ``BadWord`` for a field that was not read."""
        for name in self._fields:
            if name not in self._read:
                raise BadWord(
                    name[:40].encode("ascii", "backslashreplace").decode(),
                    phrase(": unknown here; expected some of {names}", names=", ".join(sorted(self._read))),
                )

    def number(self, name: str, most: int = _MOST) -> int | None:
        expected = phrase("a number from 0 to {most}", most=most)
        value: int | None = self._of(name, int, expected)
        if value is not None and not 0 <= value <= most:
            raise BadWord(name, phrase(": {found}; expected {expected}", found=shown(value), expected=expected))
        return value

    def large(self, name: str, most: int) -> int | None:
        """Return a number that may come as its digits: in browsers numbers beyond 2^53 are not exact."""
        value = self._fields.get(name)
        if not isinstance(value, str) or not (value.isascii() and value.isdigit() and len(value) <= len(str(most))):
            return self.number(name, most)
        self._read.add(name)
        return Given({name: int(value)}).number(name, most)

    def needed(self, name: str) -> int:
        """Return a number that has to be there."""
        value = self.number(name)
        if value is None:
            raise BadWord(name, phrase(": missing; expected a number"))
        return value

    def text(self, name: str) -> str:
        value: str = self._of(name, str, phrase("a text")) or ""
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise BadWord(name, phrase(": half of a surrogate pair; expected characters"))
        return value

    def truth(self, name: str) -> bool:
        return bool(self._of(name, bool, phrase("true or false")))

    def ms(self, name: str) -> int:
        """Return a time, such as 5m, in milliseconds."""
        return milliseconds(name, self.text(name))

    def object(self, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._of(name, dict, phrase("an object"))
        return found

    def texts(self, name: str) -> list[str]:
        found = self._of(name, list, phrase("an array of texts")) or []
        return [Given({name: each}).text(name) for each in found]

    def numbers(self, name: str, least: int = 0) -> list[int]:
        found = self._of(name, list, phrase("an array of numbers")) or []
        for each in found:
            if type(each) is not int or not least <= each < 1 << 31:
                what = phrase(": {found}; expected numbers from {least} on", found=shown(each), least=least)
                raise BadWord(name, what)
        return list(found)

    def keys(self, name: str) -> list[bytes]:
        """Return public keys, which are given as hexadecimal digits."""
        return [key_of(name, each) for each in self.texts(name)]


def key_of(word: str, text: str) -> bytes:
    """Return a public key. Raise ``BadWord``."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != _KEY_BYTES or found.hex() != text.lower():
        raise BadWord(word, phrase(": not a key; expected 64 hexadecimal digits"))
    return found
