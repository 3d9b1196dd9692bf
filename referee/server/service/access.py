"""AccessService: tokens and client certificates are made for principals, and revoked with all that they admitted to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import structlog
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from referee.server.live.live_games import LiveGames
from referee.server.live.opening import ENTRANT, PRINCIPAL, entrant_principal, new_token, token_digest
from referee.server.live.refusals import RETRY_S, BadField
from referee.server.service.auth import Authenticator, Caller
from referee.server.service.calls import Calls
from referee.server.service.messages import game_id_of, page_of, page_token
from referee.server.service.permissions import Scope
from referee.server.service.tournaments import EventService
from referee.server.store.store import Grant, Store, StoreFailed
from referee.v1 import access_service_pb2 as pb

ID_BYTES = 8
_ID = re.compile(r"[0-9a-f]{16}\Z")
_MOST_LIFETIME_MS = 100 * 365 * 24 * 3600 * 1000
_MOST_CERTIFICATE_BYTES = 16 << 10

_SCOPES = {pb.Scope.Value(f"SCOPE_{scope.name}"): scope for scope in Scope}
_VALUES = {scope: value for value, scope in _SCOPES.items()}


class AccessService:
    """Every method is one of the API's."""

    def __init__(
        self, live_games: LiveGames, events: EventService, door: Authenticator, revocations: Revocations
    ) -> None:
        self._live_games = live_games
        self._events = events
        self._store = live_games.context.store
        self._door = door
        self._revocations = revocations
        self._log = structlog.get_logger("referee.access")

    async def IssueToken(self, request: pb.IssueTokenRequest, caller: Caller) -> pb.IssueTokenResponse:
        if request.event or request.entrant:
            await self._for_entrant(request, caller)
        if not PRINCIPAL.match(request.principal):
            raise BadField("principal", "1 to 64 of a-z, 0-9, dot, hyphen and underscore")
        scopes = _scopes(request)
        if ENTRANT.match(request.principal) and scopes != {Scope.PLAY}:
            raise BadField("scopes", "SCOPE_PLAY alone, for an entrant of an event")
        if Scope.GATEWAY in scopes and (len(scopes) > 1 or request.game_id or request.certificate):
            raise BadField("scopes", "SCOPE_GATEWAY alone, in a token for no game")
        game_id = await self._game_id(request, scopes)
        if request.lifetime_ms > _MOST_LIFETIME_MS:
            raise BadField("lifetime_ms", "at most 100 years")
        secret = "" if request.certificate else new_token()
        now_ms = self._live_games.context.time.now_ms()
        grant = Grant(
            _digest_of_certificate(request.certificate) if request.certificate else token_digest(secret),
            request.principal,
            scopes,
            game_id,
            request.seat if request.HasField("seat") else None,
            certificate=bool(request.certificate),
            issued_ms=now_ms,
            expires_ms=now_ms + request.lifetime_ms if request.lifetime_ms else 0,
        )
        if not await self._store.add_grant(grant):
            raise BadField("certificate", "one that was never admitted before")
        # Somebody may have shown the certificate before it was admitted.
        self._door.forget(grant.digest)
        token = _token(grant)
        self._log.info("token issued", id=token.id, principal=grant.principal, scopes=sorted(scopes), by=_name(caller))
        return pb.IssueTokenResponse(token=token, secret=secret)

    async def RevokeToken(self, request: pb.RevokeTokenRequest, caller: Caller) -> pb.RevokeTokenResponse:
        if not _ID.match(request.id):
            raise BadField("id", f"{2 * ID_BYTES} lower-case hexadecimal digits")
        grant = await self._revocations.revoke(bytes.fromhex(request.id), _name(caller))
        if grant is None:
            raise BadField("id", "that of a token that was issued here")
        return pb.RevokeTokenResponse(token=_token(grant))

    async def ListTokens(self, request: pb.ListTokensRequest, caller: Caller) -> pb.ListTokensResponse:
        size = min(request.page_size or 50, 500)
        kind = f"tokens/{request.principal}/{request.all}"
        before = page_of(request.page_token, kind) if request.page_token else None
        valid_ms = None if request.all else self._live_games.context.time.now_ms()
        found = await self._store.grants(before, size + 1, principal=request.principal, valid_ms=valid_ms)
        more = page_token(kind, found[size - 1][0]) if len(found) > size else ""
        return pb.ListTokensResponse(tokens=[_token(grant) for _, grant in found[:size]], next_page_token=more)

    async def _for_entrant(self, request: pb.IssueTokenRequest, caller: Caller) -> None:
        """Set what a token for an entrant has."""
        for field in ("principal", "scopes", "game_id"):
            if getattr(request, field):
                raise BadField(field, "none, for an entrant of an event")
        found = await self._events.event(request.event, caller.account, "event")
        entrants = [each for each in found.position.entrants if each.number == request.entrant]
        if not entrants or entrants[0].expelled:
            raise BadField("entrant", "the number of an entrant of this event")
        request.principal = entrant_principal(found.event_id, request.entrant)
        request.scopes.append(pb.SCOPE_PLAY)

    async def _game_id(self, request: pb.IssueTokenRequest, scopes: frozenset[str]) -> bytes | None:
        if not request.game_id:
            if request.HasField("seat"):
                raise BadField("seat", "none without a game")
            return None
        record = await (await self._live_games.game(game_id_of(request.game_id))).record()
        if request.HasField("seat"):
            seats = record.opened.seats
            if request.seat >= len(seats) or seats[request.seat].scribed:
                raise BadField("seat", "a seat of the game that is not scribed")
            if scopes != {Scope.PLAY}:
                raise BadField("scopes", "SCOPE_PLAY alone, for a seat")
        return record.game_id


def _scopes(request: pb.IssueTokenRequest) -> frozenset[str]:
    if not request.scopes:
        raise BadField("scopes", "at least one")
    for i, value in enumerate(request.scopes):
        if value not in _SCOPES:
            raise BadField(f"scopes[{i}]", f"one of {', '.join(pb.Scope.Name(known) for known in _SCOPES)}")
    return frozenset(_SCOPES[value].value for value in request.scopes)


def _digest_of_certificate(data: bytes) -> bytes:
    try:
        # In its strict encoding: by its bytes it is known again.
        if len(data) <= _MOST_CERTIFICATE_BYTES and _der(data) == data:
            return sha256(data).digest()
    except ValueError:
        pass
    raise BadField("certificate", f"X.509 in DER, at most {_MOST_CERTIFICATE_BYTES} bytes")


def _der(data: bytes) -> bytes:
    return x509.load_der_x509_certificate(data).public_bytes(Encoding.DER)


def _token(grant: Grant) -> pb.Token:
    return pb.Token(
        id=grant.digest[:ID_BYTES].hex(),
        principal=grant.principal,
        scopes=sorted(_VALUES[Scope(scope)] for scope in grant.scopes),
        game_id=grant.game_id.hex() if grant.game_id is not None else "",
        seat=grant.seat,
        expires_ms=grant.expires_ms,
        certificate=grant.certificate,
        issued_ms=grant.issued_ms,
        revoked_ms=grant.revoked_ms,
    )


def _name(caller: Caller) -> str:
    """Return the caller's name as logs have it."""
    return f"{caller.principal} {caller.digest[:ID_BYTES].hex()}"


_log = structlog.get_logger("referee.access")


class Revocations:
    """The tokens that are revoked here, and those that may have been, here or at another node."""

    def __init__(self, store: Store, door: Authenticator, calls: Calls, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._door = door
        self._calls = calls
        self._now_ms = now_ms
        self._under_way: set[asyncio.Task[Grant | None]] = set()
        self._unchecked: set[bytes] = set()
        """Digests with which calls came that may be valid no more."""
        self._checking: asyncio.Task[None] | None = None

    async def revoke(self, beginning: bytes, by: str) -> Grant | None:
        """Revoke as ``Store.revoke_grant`` does, and end the token's other calls, but not the one that asks for this.

        This is done even if the caller leaves. ``by``: the caller, for the log. Raise ``StoreFailed``.
        """
        task = asyncio.create_task(self._revoke(beginning, by, asyncio.current_task()))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _revoke(self, beginning: bytes, by: str, asking: asyncio.Task[Any] | None) -> Grant | None:
        try:
            grant = await self._store.revoke_grant(beginning, self._now_ms())
        except StoreFailed:
            self.heard()  # it may be durable all the same
            raise
        if grant is not None:
            self._door.forget(grant.digest)
            _log.info("token revoked", id=beginning.hex(), principal=grant.principal, by=by)
            self._calls.revoke(grant.digest, asking)
        return grant

    def heard(self) -> None:
        """Take that some token may have been revoked: the store is asked about all that are in use."""
        self._door.forget_all()
        self._unchecked |= self._calls.digests()
        if self._unchecked and self._checking is None:
            self._checking = asyncio.create_task(self._check())

    async def _check(self) -> None:
        try:
            while self._unchecked:
                digest = self._unchecked.pop()
                try:
                    grant = await self._store.grant(digest)
                except StoreFailed:
                    self._unchecked.add(digest)
                    await asyncio.sleep(RETRY_S)
                    continue
                is_gone = grant is None and not self._door.is_lent(digest)  # an organiser's that another one replaced
                if is_gone or (grant is not None and grant.revoked_ms):
                    self._calls.revoke(digest)
        finally:
            self._checking = None

    async def close(self) -> None:
        """Finish what is under way; to be called when no calls are left."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._checking is not None:
            self._checking.cancel()
