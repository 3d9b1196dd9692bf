"""Intents: made, encoded and signed by a seat, a scribe or an arbiter; all that a client needs to take part in a log.

The bytes that are signed are DSSE's encoding of a payload type and the body (DSSE v1.0.2, protocol.md). Knows the
format and keys, not the state of a game.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from referee.log import deck
from referee.log.errors import Code, LogError, malformed, misfit
from referee.log.events import Author, Role
from referee.log.keys import KEY_ID_BYTES, PUBLIC_KEY_BYTES, SIGNATURE_BYTES, PrivateKey
from referee.log.merkle import HASH_BYTES
from referee.log.v1 import log_pb2
from referee.wire import strict

GAME_ID_BYTES: Final = 16
GAME_ID_TEXT: Final = f"{2 * GAME_ID_BYTES} lower-case hexadecimal digits"
"""The text form of an id, for errors."""

_TEXT: Final = re.compile(rf"[0-9a-f]{{{2 * GAME_ID_BYTES}}}\Z")


def game_id(open_data: bytes) -> bytes:
    """Return the id of the game that these bytes of a GameOpen open."""
    return sha256(open_data).digest()[:GAME_ID_BYTES]


def parse_game_id(text: str) -> bytes | None:
    """Return the id that the text is; None if it is none."""
    return bytes.fromhex(text) if _TEXT.match(text) else None


INTENT_TYPE = "application/vnd.tile-referee.intent.v1+protobuf"
"""One type for each kind of signed body, never used for another: a signature is for one purpose."""


_INTENT_PREFIX = b"DSSEv1 %d %b " % (len(INTENT_TYPE), INTENT_TYPE.encode())
"""``"DSSEv1" SP len(type) SP type SP``; ``len(body) SP body`` follows. Lengths are of bytes, in decimal."""


def intent_encoding(body: bytes) -> bytes:
    """Return the bytes that an intent's author signs."""
    return _INTENT_PREFIX + b"%d " % len(body) + body


_which: Final = log_pb2.Intent.WhichOneof
"""The method itself: to find it in a message takes as long as to call it."""
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

TableAct = (
    log_pb2.Resign
    | log_pb2.Consent
    | log_pb2.Protest
    | log_pb2.Appeal
    | log_pb2.TakeBack
    | log_pb2.Correct
    | log_pb2.Rule
    | log_pb2.ChangeKey
)
"""The acts at the table beside moves."""
_FIELD_OF: dict[type[TableAct], str] = {
    log_pb2.Resign: "resign",
    log_pb2.Consent: "consent",
    log_pb2.Protest: "protest",
    log_pb2.Appeal: "appeal",
    log_pb2.TakeBack: "take_back",
    log_pb2.Correct: "correct",
    log_pb2.Rule: "rule",
    log_pb2.ChangeKey: "change_key",
}

_ROLES: Final = {role.value: role for role in Role}


class SignedIntent(NamedTuple):
    """An intent's exact bytes and its author's signature: these are sent, and stand in the entry."""

    intent: bytes
    signature: bytes
    key_id: bytes


class Place(NamedTuple):
    """The place of an intent: its index, and the leaf hash of the entry before, which binds the history."""

    game_id: bytes
    seq: int
    prev: bytes


def sign(intent: log_pb2.Intent, key: PrivateKey) -> SignedIntent:
    """Serialise once and sign; these bytes are what counts from here on."""
    return sign_bytes(strict.encode(intent), key)


def sign_bytes(body: bytes, key: PrivateKey) -> SignedIntent:
    """Sign an intent that was serialised elsewhere."""
    return SignedIntent(body, key.sign(intent_encoding(body)), key.public.id)


def join(place: Place, seat: int, key: PrivateKey, seed: bytes | None) -> SignedIntent:
    """Take a seat. ``seed`` is p_i, to be revealed later, in a dealt game, and None in a declared one."""
    commitment = b"" if seed is None else deck.seat_commitment(place.game_id, seat, seed)
    intent = _intent(place, Author(Role.SEAT, seat))
    intent.join.CopyFrom(log_pb2.Join(key=key.public.raw, commitment=commitment))
    return sign(intent, key)


def reveal(place: Place, seat: int, key: PrivateKey, seed: bytes) -> SignedIntent:
    intent = _intent(place, Author(Role.SEAT, seat))
    intent.reveal.seed = seed
    return sign(intent, key)


def move(place: Place, author: Author, key: PrivateKey, data: bytes) -> SignedIntent:
    """Return a move. ``data``: exact bytes of the game's Move message."""
    intent = _intent(place, author)
    intent.move = data
    return sign(intent, key)


def declare(place: Place, scribe: int, key: PrivateKey, data: bytes) -> SignedIntent:
    """Return a declared outcome. ``data``: exact bytes of the game's Outcome message."""
    intent = _intent(place, Author(Role.SCRIBE, scribe))
    intent.declare = data
    return sign(intent, key)


def act(place: Place, author: Author, key: PrivateKey, message: TableAct) -> SignedIntent:
    """Return a signed act by the rules of the table; ``message`` says which."""
    return sign(_act(place, author, message), key)


def unsigned(place: Place, author: Author, message: TableAct) -> bytes:
    """Return the exact bytes of the same act, to be signed elsewhere."""
    return strict.encode(_act(place, author, message))


def _act(place: Place, author: Author, message: TableAct) -> log_pb2.Intent:
    intent = _intent(place, author)
    getattr(intent, _FIELD_OF[type(message)]).CopyFrom(message)
    return intent


def _intent(place: Place, author: Author) -> log_pb2.Intent:
    intent = log_pb2.Intent(game_id=place.game_id, seq=place.seq, prev=place.prev)
    setattr(intent, author.role, author.index)
    return intent


def decode_intent(data: bytes) -> log_pb2.Intent:
    """Decode strictly, with every field of its right length. Raise ``LogError``."""
    try:
        intent = strict.decode(log_pb2.Intent, data)
    except strict.MalformedError as error:
        raise malformed(error, "intent") from error
    if not (len(intent.game_id) == GAME_ID_BYTES and len(intent.prev) == HASH_BYTES):
        check_length("intent", "game_id", intent.game_id, GAME_ID_BYTES)
        check_length("intent", "prev", intent.prev, HASH_BYTES)
    if _which(intent, "author") is None:
        raise LogError(Code.MALFORMED, "intent without an author", "seat, scribe or arbiter")
    act = _which(intent, "act")
    if act is None:
        raise LogError(Code.MALFORMED, "intent without an act", "one act")
    if act == "move":
        return intent
    if act == "join":
        check_length("intent", "join.key", intent.join.key, PUBLIC_KEY_BYTES)
        if intent.join.commitment:
            check_length("intent", "join.commitment", intent.join.commitment, deck.COMMITMENT_BYTES)
    elif act == "reveal":
        check_length("intent", "reveal.seed", intent.reveal.seed, deck.SEED_BYTES)
    elif act in ("protest", "appeal", "rule"):
        check_remark("intent", f"{act}.remark", getattr(intent, act).remark)
        if act == "rule" and intent.rule.WhichOneof("ruling") is None:
            raise LogError(Code.MALFORMED, "intent.rule without a ruling", "one ruling")
    return intent


def author_of(intent: log_pb2.Intent) -> Author:
    """Return the author of an intent that ``decode_intent`` accepted."""
    role = _which(intent, "author")
    if role is None:
        raise LogError(Code.MALFORMED, "intent without an author", "seat, scribe or arbiter")
    return _author(role, getattr(intent, role))


@lru_cache(maxsize=1024)
def _author(role: str, index: int) -> Author:
    return Author(_ROLES[role], index)


def act_name(intent: log_pb2.Intent) -> str:
    """Return the field of an intent's act, such as ``take_back``, for messages that know no game."""
    return _which(intent, "act") or ""


def check_signed_lengths(thing: str, signed: log_pb2.Signed | log_pb2.Refused | SignedIntent) -> None:
    """Raise ``LogError`` unless signature and key id have their lengths."""
    if not (len(signed.signature) == SIGNATURE_BYTES and len(signed.key_id) == KEY_ID_BYTES):
        check_length(thing, "signature", signed.signature, SIGNATURE_BYTES)
        check_length(thing, "key_id", signed.key_id, KEY_ID_BYTES)


def check_length(thing: str, field: str, value: bytes, expected: int) -> None:
    """Check a field of the message ``thing``. Raise ``LogError``."""
    if len(value) != expected:
        raise misfit(thing, field, f"of {len(value)} bytes", f"{expected} bytes")


def check_remark(thing: str, field: str, value: bytes) -> None:
    """Check a commitment to a text; empty means none. Raise ``LogError``."""
    if value:
        check_length(thing, field, value, HASH_BYTES)


def check_name(thing: str, field: str, name: str) -> None:
    """Check a rules id or the id of a rule. Raise ``LogError``."""
    if not _NAME.fullmatch(name):
        raise misfit(thing, field, repr(name[:64]), "1 to 64 of A-Z, a-z, 0-9, dot, hyphen and underscore")
