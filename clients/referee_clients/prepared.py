"""A ruling that waits for its arbiter's signature: the small file in which it comes from a page to the arbiter's key.

It is one JSON object, ``{"intent": BASE64, "words": {"salt": BASE64, "text": TEXT}}``; a ruling without a reason has no
``words``. It says nothing twice: game, place, arbiter and ruling are in the intent's bytes alone.
"""

from __future__ import annotations

import binascii
import json
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any, Final

from referee.log import remarks
from referee.log.errors import LogError
from referee.log.intent import (
    Author,
    Place,
    Role,
    SignedIntent,
    TableAct,
    author_of,
    decode_intent,
    sign_bytes,
    unsigned,
)
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.text.notation.lines import parse_object
from referee.text.notation.strict_json import QueryError, an_object, only, required
from referee.v1 import arbiter_service_pb2 as pb
from referee_clients.sdk.errors import ClientError

MOST_BYTES: Final = 64 << 10
"""Of the file."""
_ACTS: Final = ("rule", "change_key")


class NotPrepared(ClientError):
    """The bytes are no such file. The message says what is wrong and what was expected."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an arbiter signs, and the reason that goes with it."""

    body: bytes
    """Exact bytes of the intent: these are signed, and nothing else in the file counts."""
    words: pb.Words | None
    intent: log_pb2.Intent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise ``NotPrepared``."""
        try:
            intent = decode_intent(self.body)
            self._check(intent)
        except LogError as error:
            raise NotPrepared(f"{error.what}; expected {error.expected}" if error.expected else error.what) from None
        object.__setattr__(self, "intent", intent)

    def _check(self, intent: log_pb2.Intent) -> None:
        if self.words is not None:
            remark = log_pb2.Remark(seq=intent.seq, salt=self.words.salt, text=self.words.text)
            remarks.check(remark, remarks.committed(intent))
        elif remarks.committed(intent):
            raise NotPrepared("the ruling commits to a reason that is not there; expected words with it")
        if author_of(intent).role is not Role.ARBITER or intent.WhichOneof("act") not in _ACTS:
            raise NotPrepared(f"this is an act of {author_of(intent)}, and no ruling; expected an arbiter's ruling")

    @classmethod
    def of(cls, place: Place, author: Author, act: TableAct, text: str) -> Prepared:
        """Prepare a ruling, or a change of a key, which has no reason. ``text``: the reason, or empty."""
        words = None
        if text and isinstance(act, log_pb2.Rule):
            words = pb.Words(salt=secrets.token_bytes(remarks.SALT_BYTES), text=text)
            act.remark = remarks.commitment(words.salt, text)
        return cls(unsigned(place, author, act), words)

    @classmethod
    def read(cls, data: bytes) -> Prepared:
        """Return what a file says. Raise ``NotPrepared``."""
        try:
            found = parse_object(data, MOST_BYTES)
            only(found, frozenset(("intent", "words")))
            words = None
            if "words" in found:
                given = an_object(found["words"], "words")
                only(given, frozenset(("salt", "text")), "words")
                words = pb.Words(salt=_bytes(given, "salt"), text=_text(given, "text"))
            return cls(_bytes(found, "intent"), words)
        except QueryError as error:
            raise NotPrepared(str(error)) from None

    def json(self) -> dict[str, Any]:
        """Return what ``read`` reads, but for the writing."""
        found: dict[str, Any] = {"intent": b64encode(self.body).decode("ascii")}
        if self.words is not None:
            salt = b64encode(self.words.salt).decode("ascii")
            found["words"] = {"salt": salt, "text": self.words.text}
        return found

    def write(self) -> bytes:
        """Return the file."""
        return json.dumps(self.json(), ensure_ascii=False).encode() + b"\n"

    @property
    def author(self) -> Author:
        """Return who is to sign."""
        return author_of(self.intent)

    @property
    def place(self) -> Place:
        """Return where the ruling stands: in no other place, and after no other history."""
        return Place(self.intent.game_id, self.intent.seq, self.intent.prev)

    @property
    def act(self) -> TableAct:
        """Return what is ruled."""
        found: TableAct = getattr(self.intent, self.intent.WhichOneof("act") or "")
        return found

    def signed(self, key: PrivateKey) -> SignedIntent:
        """Sign the exact bytes."""
        return sign_bytes(self.body, key)


def _text(fields: dict[str, Any], name: str) -> str:
    value = required(fields, name, "file")
    if not isinstance(value, str):
        raise QueryError("expected a string", name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise QueryError("half of a surrogate pair; expected characters", name) from None
    return value


def _bytes(fields: dict[str, Any], name: str) -> bytes:
    text = _text(fields, name)
    try:
        found = b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        found = b""
    if b64encode(found).decode("ascii") != text:
        raise QueryError("expected base64", name)
    return found
