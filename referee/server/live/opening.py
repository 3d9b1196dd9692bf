"""Turns an organiser's wishes into a game that can be opened: header, GameOpen, secret, tokens."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from referee import dealer
from referee.games import registry, table_rules
from referee.games.game import InputError, UnknownRules
from referee.log.engines import Engines
from referee.log.entry import FORMAT_VERSION, NONCE_BYTES, Clock, check_open
from referee.log.errors import Code, LogError
from referee.log.header import build_header, header_hash
from referee.log.intent import game_id
from referee.log.names import Person, Source, check_unlike, checked
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.refusals import BadField
from referee.server.store.store import Grant, Listing, Opening, SeatName
from referee.tournament.log import opening
from referee.tournament.rules import TOURNAMENT
from referee.tournament.wire import CODECS
from referee.v1.event_service_pb2 import CreateEventRequest
from referee.v1.game_service_pb2 import CreateGameRequest, PlayerName
from referee.wire import strict

TOKEN_BYTES = 32
_OCCASION = ("event_id", "round", "table")
PRINCIPAL = re.compile(r"[a-z0-9._-]{1,64}\Z", re.ASCII)
ENTRANT = re.compile(r"event\.([0-9]{1,20})\.([0-9]{1,4})\Z", re.ASCII)
"""Principals of entrants: of which event, and who."""
EVENTS: Final = (1 << 64) - 1
"""Under this event's number lists find the events themselves; no game is of it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A game before its first entry; its tokens have not been handed out."""

    open_data: bytes
    opening: Opening
    seat_tokens: list[str]
    """Empty for a scribed seat, and for a principal's."""
    scribe_token: str
    arbiter_token: str


def new_token() -> str:
    """Return a token that cannot be guessed: letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_digest(token: str) -> bytes:
    """Return what is kept of a token. It is random and long, so one hash is enough."""
    return sha256(token.encode()).digest()


GRACE_MS: Final = 60_000
"""The time that clocks wait for the seats after the referee was not running, unless the terms set another."""


def prepare(request: CreateGameRequest, engines: Engines, producer: str, own_keys: Collection[bytes] = ()) -> Prepared:
    """Prepare a game. Raise ``BadField``, ``UnknownRules``, and ``LogError`` for a weak key.

    ``own_keys``: the referee's, which no other role may have.
    """
    if request.rules_id == TOURNAMENT.rules_id:
        raise UnknownRules("an event is no game; EventService.CreateEvent begins one")
    if request.event_id == EVENTS:
        raise BadField("event_id", f"less than {EVENTS}")
    opened = log_pb2.GameOpen(
        format_version=FORMAT_VERSION,
        options=request.options,
        seats=request.seats,
        arbiter_keys=request.arbiter_keys,
        nonce=secrets.token_bytes(NONCE_BYTES),
    )
    game = engines.game(request.rules_id, request.rules_version)
    _, wire = engines.get(game.rules_id, game.version)
    opened.rules_id, opened.rules_version = game.rules_id, game.version
    opened.tables = request.components or wire.encode_components(None)
    for name in ("terms", "series"):
        if request.HasField(name):
            getattr(opened, name).CopyFrom(getattr(request, name))
    # An open choice means the newest, as with the rules of the game.
    terms = opened.terms
    terms.table_rules = terms.table_rules or table_rules.VERSION
    is_timed = terms.HasField("clock") or terms.absence_ms > 0 or terms.protest_ms > 0
    if is_timed and terms.table_rules >= table_rules.GRACE_SINCE and not terms.HasField("grace_ms"):
        terms.grace_ms = GRACE_MS
    for name in _OCCASION:
        if request.HasField(name):  # type: ignore[arg-type]
            setattr(opened, name, getattr(request, name))
    proofs = _described_proofs(opened, engines)
    header = build_header(game.rules_id, game.version, game.catalogue, wire.signed_file(), producer, *proofs)
    opened.header_hash = header_hash(header)
    secret = None
    if request.declaring_scribe_key:
        opened.scribe_keys.append(request.declaring_scribe_key)
    opened.scribe_keys.extend(request.scribe_keys)
    for field, keys in (("arbiter_keys", opened.arbiter_keys), ("scribe_keys", opened.scribe_keys)):
        if not set(keys).isdisjoint(own_keys):
            raise BadField(field, "none of the referee's own keys")
    if set(opened.arbiter_keys) & set(opened.scribe_keys):
        raise BadField("arbiter_keys", "none that is a scribe's key as well")
    if request.declaring_scribe_key:
        dealer.declare(opened, 0)
    else:
        secret = dealer.deal(opened)
    names = _names(request)
    return _with_tokens(_encoded(opened), opened, header, secret, _principals(request), names=names)


def prepare_event(request: CreateEventRequest, producer: str) -> Prepared:
    """Prepare an event. Raise ``BadField``, and ``LogError`` for a weak key."""
    if not request.organiser_keys:
        raise BadField("organiser_keys", "one or more")
    try:
        terms = CODECS[TOURNAMENT.version].decode_components(request.terms)
    except strict.MalformedError as error:
        raise BadField(f"terms.{error.path}".removesuffix("."), what=str(error)) from error
    if terms.game not in registry.names():
        raise BadField("terms.game", f"one of {', '.join(registry.names())}")
    header, opened = opening(request.terms, request.organiser_keys, producer)
    return _with_tokens(_encoded(opened), opened, header, None, (), Listing(EVENTS))


def _encoded(opened: log_pb2.GameOpen) -> bytes:
    """Return the exact bytes of a game's opening. Raise as ``prepare`` does."""
    try:
        check_open(opened)
        open_data = strict.encode(opened)
        strict.decode(log_pb2.GameOpen, open_data)
        return open_data
    except strict.MalformedError as error:
        raise BadField(error.path or "request", error.expected) from error
    except LogError as error:
        if error.code is Code.UNSUPPORTED:
            raise BadField("terms.table_rules", error.expected) from error
        if error.code is not Code.MALFORMED:
            raise
        found = f", found {error.found}" if error.found else ""
        raise BadField(error.field or "request", f"{error.expected}{found}") from error


def entrant_principal(event_id: int, number: int) -> str:
    """Return the principal of an event's entrant, which has the entrant's seats in games of the event."""
    return f"event.{event_id}.{number}"


def rehearse(request: CreateGameRequest, engines: Engines) -> None:
    """Raise what a referee would raise for the request, ``BadField`` mostly, but for what is of the referee itself."""
    prepared = prepare(request, engines, "rehearsal")
    try:
        Record.start(prepared.open_data, Clock(0), engines=engines, secret=prepared.opening.secret)
    except LogError as error:
        raise bad_field(error) from None


def bad_field(error: LogError) -> BadField | LogError:
    """Return the part of the request that is to blame where a game cannot be begun with it, or else the error."""
    if error.code is Code.MALFORMED:
        return BadField("options", f"{error.expected} ({error.what})")
    if error.code is Code.RULES:
        return BadField(error.field or "options", what=error.found or error.what)
    return error


def _described_proofs(opened: log_pb2.GameOpen, engines: Engines) -> list[Any]:
    """Return what describes the certificates that the terms ask for. Raise ``BadField`` if there can be none."""
    terms = opened.terms
    if not terms.proofs:
        return []
    if (provable := engines.provable(opened.rules_id, opened.rules_version)) is None:
        raise BadField("terms.proofs", f"none, as nothing can be proved of {opened.rules_id}")
    recorded = terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
    if terms.proofs == log_pb2.PROOF_POLICY_REFUSALS and not recorded:
        raise BadField("terms.proofs", "illegal_moves that are recorded, as there are no refusals to prove otherwise")
    return [provable.file()]


def _principals(request: CreateGameRequest) -> Sequence[str]:
    principals = list(request.principals)
    if len(principals) not in (0, len(request.seats)):
        raise BadField("principals", "one for each seat, or none")
    for i, principal in enumerate(principals):
        if principal and not PRINCIPAL.match(principal):
            raise BadField(f"principals[{i}]", "1 to 64 of a-z, 0-9, dot, hyphen and underscore")
        if principal and request.seats[i].scribed:
            raise BadField(f"principals[{i}]", "none, as a scribe enters the seat's moves")
        if (entrant := ENTRANT.match(principal)) and (
            not request.HasField("event_id") or int(entrant[1]) != request.event_id
        ):
            raise BadField(f"principals[{i}]", f"none, as that is an entrant of event {entrant[1]}")
        if principal and principal in principals[:i]:
            raise BadField(f"principals[{i}]", "each principal at one seat")
    return principals


def _names(request: CreateGameRequest) -> list[SeatName]:
    """Return the names of the players, which the seats commit to. Raise ``BadField``."""
    found: dict[int, SeatName] = {}
    for i, message in enumerate(request.names):
        field, seat = f"names[{i}]", message.seat
        if seat >= len(request.seats) or seat in found:
            raise BadField(f"{field}.seat", "each seat of the game once")
        name = Person(name_of(message, field, {f"p{n + 1}": other.name for n, other in found.items()}), message.salt)
        if not name.fits(request.seats[seat].player):
            raise BadField(f"{field}.salt", "the 16 bytes with which the name fits player of the seat")
        found[seat] = SeatName(seat, name.name, name.salt, Source.OPENING, 0)
    return [found[seat] for seat in sorted(found)]


def name_of(message: PlayerName, field: str, others: Mapping[str, str]) -> str:
    """Return a name of a request that no other player has. ``others``: by ``p1``, ``p2``, …. Raise ``BadField``."""
    try:
        name = checked(message.name)
        check_unlike(name, others)
    except InputError as error:
        raise BadField(f"{field}.name", error.expected, what=f"{error.what}; expected {error.expected}") from None
    if name != message.name:
        raise BadField(f"{field}.name", f"the form {name!r}: Unicode's NFC, with single blanks")
    return name


def _with_tokens(  # noqa: PLR0917 - what a game is made of
    open_data: bytes,
    opened: log_pb2.GameOpen,
    header: bytes,
    secret: bytes | None,
    principals: Sequence[str],
    listing: Listing | None = None,
    names: Sequence[SeatName] = (),
) -> Prepared:
    identity = game_id(open_data)
    taken = principals or [""] * len(opened.seats)
    tokens = ["" if seat.scribed or who else new_token() for seat, who in zip(opened.seats, taken, strict=True)]
    play = frozenset({"play"})
    grants = [Grant(token_digest(token), "", play, identity, seat) for seat, token in enumerate(tokens) if token]
    scribe_token = new_token() if opened.scribe_keys else ""
    arbiter_token = new_token() if opened.arbiter_keys else ""
    for scope, token in (("scribe", scribe_token), ("arbiter", arbiter_token)):
        if token:
            grants.append(Grant(token_digest(token), "", frozenset({scope}), identity))
    wants = bool(opened.terms.proofs)
    event_id, round_, table = (getattr(opened, name) if opened.HasField(name) else None for name in _OCCASION)  # type: ignore[arg-type]
    listing = listing or Listing(event_id, round_, table)
    opening = Opening(
        opened.header_hash,
        header,
        secret,
        grants,
        principals,
        wants_certificates=wants,
        listing=listing,
        names=names,
    )
    return Prepared(open_data, opening, tokens, scribe_token, arbiter_token)
