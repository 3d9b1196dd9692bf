"""Entries, the leaves of a game's tree, and GameOpen, the first one's body: built by the referee, read by all.

GameOpen names a player by a salted hash, which tells nothing without the salt. Knows the format and its limits, not the
state of a game: ``replay`` judges what may follow.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from referee.log.deck import COMMITMENT_BYTES, SEED_BYTES
from referee.log.errors import Code, LogError, malformed, misfit
from referee.log.intent import GAME_ID_BYTES, Place, check_length, check_name, check_signed_lengths
from referee.log.keys import check_public_key
from referee.log.merkle import HASH_BYTES, leaf_hash
from referee.log.terms import check_table_rules, check_terms
from referee.log.v1 import log_pb2
from referee.wire import strict

_which = log_pb2.Entry.WhichOneof
"""The method itself: to find it in a message takes as long as to call it."""

FORMAT_VERSION = 1
NONCE_BYTES = 16
MAX_ENTRIES = 65_536
MAX_SEATS = 255
"""A seat's number is one byte in its commitment."""
NO_ENTRY = bytes(HASH_BYTES)
"""``prev`` of entry 0."""

Event = (
    log_pb2.Signed
    | log_pb2.Chance
    | log_pb2.Refused
    | log_pb2.Timeout
    | log_pb2.ForcedPass
    | log_pb2.GameEnd
    | log_pb2.SeedDisclose
    | log_pb2.Recovered
    | log_pb2.Interrupted
    | log_pb2.Absent
    | log_pb2.StandIn
)
_FIELD_OF: dict[type[Event], str] = {
    log_pb2.Signed: "signed",
    log_pb2.Chance: "chance",
    log_pb2.Refused: "refused",
    log_pb2.Timeout: "timeout",
    log_pb2.ForcedPass: "forced_pass",
    log_pb2.GameEnd: "end",
    log_pb2.SeedDisclose: "disclose",
    log_pb2.Recovered: "recovered",
    log_pb2.Interrupted: "interrupted",
    log_pb2.Absent: "absent",
    log_pb2.StandIn: "stand_in",
}


class Clock(NamedTuple):
    """Times of an entry: when the act was there whole; charged to the seat, allowed, the referee's own."""

    referee_ms: int
    charged_ms: int = 0
    lag_ms: int = 0
    overhead_ms: int = 0


def clock_of(entry: log_pb2.Entry) -> Clock:
    """Return the entry's times."""
    return Clock(entry.referee_ms, entry.charged_ms, entry.lag_ms, entry.overhead_ms)


class Written(NamedTuple):
    """A new entry: its index, exact bytes and leaf hash."""

    seq: int
    data: bytes
    leaf: bytes


def build_entry(place: Place, clock: Clock, state_digest: bytes, event: Event | bytes) -> Written:
    """Return the entry for an event; ``bytes`` are those of GameOpen. Raise ``LogError`` if it is too large."""
    field: Any = {"open" if isinstance(event, bytes) else _FIELD_OF[type(event)]: event}
    entry = log_pb2.Entry(
        game_id=place.game_id,
        seq=place.seq,
        prev=place.prev,
        referee_ms=clock.referee_ms,
        charged_ms=clock.charged_ms,
        lag_ms=clock.lag_ms,
        overhead_ms=clock.overhead_ms,
        state_digest=state_digest,
        **field,
    )
    data = strict.encode(entry)
    if len(data) > strict.MAX_ENTRY_BYTES:
        raise LogError(Code.LIMIT, f"entry of {len(data)} bytes", f"at most {strict.MAX_ENTRY_BYTES}")
    return Written(place.seq, data, leaf_hash(data))


def entry_of(event: Event) -> log_pb2.Entry:
    """Return an entry that holds nothing but the event."""
    entry = log_pb2.Entry()
    getattr(entry, _FIELD_OF[type(event)]).CopyFrom(event)
    return entry


def decode_entry(data: bytes) -> log_pb2.Entry:
    """Decode strictly, with every field of its right length. Raise ``LogError``."""
    try:
        entry = strict.decode(log_pb2.Entry, data, max_bytes=strict.MAX_ENTRY_BYTES)
    except strict.MalformedError as error:
        raise malformed(error, "entry") from error
    if not (len(entry.game_id) == GAME_ID_BYTES and len(entry.prev) == len(entry.state_digest) == HASH_BYTES):
        check_length("entry", "game_id", entry.game_id, GAME_ID_BYTES)
        check_length("entry", "prev", entry.prev, HASH_BYTES)
        check_length("entry", "state_digest", entry.state_digest, HASH_BYTES)
    event = _which(entry, "event")
    if event is None:
        raise LogError(Code.MALFORMED, "entry without an event", "one event")
    if event == "signed":
        check_signed_lengths("entry.signed", entry.signed)
    elif event == "refused":
        check_signed_lengths("entry.refused", entry.refused)
        for i, rule_id in enumerate(entry.refused.rule_ids):
            check_name("entry", f"refused.rule_ids[{i}]", rule_id)
    elif event == "end" and entry.end.ending == log_pb2.ENDING_UNSPECIFIED:
        raise LogError(Code.MALFORMED, "GameEnd without an ending", "an ending")
    elif event == "disclose":
        check_length("entry", "disclose.seed", entry.disclose.seed, SEED_BYTES)
    elif event == "recovered":
        _check_loss(entry.recovered)
    elif event in ("timeout", "forced_pass", "absent", "stand_in") and not getattr(entry, event).HasField("seat"):
        raise LogError(Code.MALFORMED, f"entry.{event} without a seat", "the seat")
    return entry


def _check_loss(recovered: log_pb2.Recovered) -> None:
    """Raise ``LogError`` unless it names either the lost head or the time of the copy."""
    if not recovered.copied_ms:
        check_length("entry", "recovered.lost_root", recovered.lost_root, HASH_BYTES)
        if recovered.declared_ms:
            raise LogError(Code.MALFORMED, "entry.recovered.declared_ms with a lost head", "copied_ms with it")
    elif recovered.lost_size or recovered.lost_root:
        raise LogError(Code.MALFORMED, "entry.recovered with a lost head and the time of a copy", "one of them")


def event_name(entry: log_pb2.Entry) -> str:
    """Return the field of an entry's event, such as ``signed``."""
    return _which(entry, "event") or ""


def decode_open(data: bytes) -> log_pb2.GameOpen:
    """Decode strictly a game that can be played by this format. Raise ``LogError``."""
    try:
        opened = strict.decode(log_pb2.GameOpen, data)
    except strict.MalformedError as error:
        _check_stated_versions(data)
        raise malformed(error, "game_open") from error
    check_open(opened)
    return opened


def _check_stated_versions(data: bytes) -> None:
    # A later version may have fields that this one does not know: they are not malformed.
    try:
        stated = log_pb2.GameOpen.FromString(data[: strict.MAX_BODY_BYTES])
    except DecodeError:
        return
    _check_version(stated.format_version or FORMAT_VERSION)
    check_table_rules(stated.terms.table_rules)


def _check_version(version: int) -> None:
    if version != FORMAT_VERSION:
        raise LogError(Code.UNSUPPORTED, f"format version {version}", str(FORMAT_VERSION))


def check_open(opened: log_pb2.GameOpen) -> None:
    """Raise ``LogError``: ``UNSUPPORTED`` for another format version, ``MALFORMED`` for the rest."""
    _check_version(opened.format_version)
    check_table_rules(opened.terms.table_rules)
    check_name("game_open", "rules_id", opened.rules_id)
    _demand(opened.rules_version > 0, "rules_version", "a version from 1 on")
    _demand(opened.tables != b"", "tables", "the game's tables")
    _demand(1 <= len(opened.seats) <= MAX_SEATS, "seats", f"1 to {MAX_SEATS}")
    for i, seat in enumerate(opened.seats):
        _demand(len(seat.player) in (0, 32), f"seats[{i}].player", "32 bytes or none")
    for name, keys in (("arbiter_keys", opened.arbiter_keys), ("scribe_keys", opened.scribe_keys)):
        _demand(len(set(keys)) == len(keys), name, "each key once")
        for i, key in enumerate(keys):
            check_length("game_open", f"{name}[{i}]", key, 32)
            check_public_key(key)
    check_length("game_open", "header_hash", opened.header_hash, HASH_BYTES)
    check_length("game_open", "nonce", opened.nonce, NONCE_BYTES)
    _check_chance(opened)
    check_terms(opened)
    if opened.HasField("series"):
        check_length("game_open", "series.id", opened.series.id, 16)
        _demand(opened.series.HasField("index"), "series.index", "a number")
        first = opened.series.index == 0
        check_length("game_open", "series.previous_head", opened.series.previous_head, 0 if first else HASH_BYTES)


def _check_chance(opened: log_pb2.GameOpen) -> None:
    scribed = [seat.scribed for seat in opened.seats]
    _demand(not any(scribed) or len(opened.scribe_keys) > 0, "scribe_keys", "a scribe for the scribed seats")
    if opened.HasField("dealt"):
        check_length("game_open", "dealt.commitment", opened.dealt.commitment, COMMITMENT_BYTES)
        # Otherwise the referee alone would choose the deck.
        _demand(not all(scribed), "seats", "a seat that joins, in a dealt game")
    elif opened.HasField("declared"):
        _demand(
            opened.declared.HasField("scribe") and opened.declared.scribe < len(opened.scribe_keys),
            "declared.scribe",
            "an index into scribe_keys",
        )
    else:
        raise LogError(Code.MALFORMED, "game_open without chance", "dealt or declared")


def _demand(condition: bool, field: str, expected: str) -> None:
    if not condition:
        raise misfit("game_open", field, "", expected)


SALT_BYTES: Final = 16
_DOMAIN: Final = b"tile-referee/v1/player\0"


def player_hash(salt: bytes, identity: str) -> bytes:
    """Return what ``GameOpen.seats.player`` holds: SHA-256(domain || salt || identity), the identity in UTF-8.

    ``salt``: random, for each player of each game, and kept elsewhere: without it nothing tells who it is, nor whether
    two games had the same player. Raise ``ValueError`` for a salt of another length.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"salt: expected {SALT_BYTES} bytes, got {len(salt)}")
    return sha256(_DOMAIN + salt + identity.encode()).digest()
