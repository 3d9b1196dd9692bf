"""Finds the caller from the metadata or the certificate of a call.

Tokens and certificates are compared by their SHA-256 and never shown.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import grpc

from referee import api
from referee.log.events import Author
from referee.log.events import Role as Signs
from referee.server.live.opening import new_token, token_digest
from referee.server.live.refusals import BadField
from referee.server.service.limits import Account, Accounts, Guesses, Refusals, host_named, host_of
from referee.server.service.permissions import PERMISSIONS, Scope
from referee.server.store.store import Grant, Store

_BEARER = re.compile(r"[Bb]earer ([A-Za-z0-9_-]{20,200})\Z")
_KEPT = 4096
FOR = "x-referee-for"
"""Metadata in which a gateway names the address that the call is for."""
GATEWAY = "x-referee-gateway"
"""Metadata in which it shows its own token; ``authorization`` has that of the caller, if there is one."""
_FROM_NODE = "x-referee-node-"
"""The prefix of metadata with which a node describes a call that it passes on; others must not send it."""
_HOST, _PRINCIPAL, _CERTIFICATE = (_FROM_NODE + name for name in ("host", "gateway", "certificate"))
"""The address that the call came from or, with the principal of a gateway, that this has named; and the digest of the
certificate that was shown."""


class Unauthenticated(Exception):
    """No token where one is needed, or one that is not known, not any more, or has expired.

    ``state``: ``revoked`` or ``expired``, of one that was valid. ``field``: the metadata that it came in, if that is
    not ``authorization``.
    """

    def __init__(self, message: str, state: str = "", field: str = "") -> None:
        super().__init__(message)
        self.state = state
        self.field = field


class PermissionDenied(Exception):
    """The token is for something else; ``field`` as above."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(eq=False, slots=True)
class Caller:
    """The caller, and what its token allows; a caller without a token may read.

    One for all calls with a token, as long as it is remembered.
    """

    principal: str = ""
    """Empty for a token that came with a game: it names no principal."""
    scopes: frozenset[Scope] = frozenset()
    game_id: bytes | None = None
    seat: int | None = None
    digest: bytes = b""
    """SHA-256 of the token or the certificate (DER); empty without one."""
    credential: str = "token"
    """The kind of credential, in words."""
    expires_ms: int = 0
    """0: never."""
    is_revoked: bool = False
    account: Account = field(default_factory=Account, repr=False)
    """The account that its calls draw from; all tokens of one principal share it."""

    def check_valid(self, now_ms: int) -> None:
        """Raise ``Unauthenticated`` once the token is revoked or has expired."""
        if self.is_revoked or (self.expires_ms and now_ms >= self.expires_ms):
            raise self.lapsed()

    def lapsed(self) -> Unauthenticated:
        """Return the error of a token that was valid and is no more."""
        what, state = ("was revoked", "revoked") if self.is_revoked else ("has expired", "expired")
        return Unauthenticated(f"the {self.credential} {what}", state)

    def may(self, method: str) -> bool:
        """Return whether the token allows it."""
        allowed = PERMISSIONS[method]
        return not allowed or not allowed.isdisjoint(self.scopes)

    def check_method(self, method: str) -> None:
        """Raise ``Unauthenticated`` or ``PermissionDenied`` unless the token allows it."""
        if self.may(method):
            return
        if not self.digest:
            raise Unauthenticated("this call needs a token: authorization: Bearer TOKEN")
        scopes = " or ".join(sorted(PERMISSIONS[method]))
        raise PermissionDenied(f"{method.rpartition('/')[2]} needs a {self.credential} for {scopes}")

    def check_game(self, game_id: bytes) -> None:
        """Raise ``PermissionDenied`` if the token is for another game."""
        if self.game_id is not None and self.game_id != game_id:
            raise PermissionDenied(f"the {self.credential} is for another game")

    def check_author(self, game_id: bytes, author: Author, seat: int | None) -> None:
        """Raise ``PermissionDenied`` unless the author's acts may come with this token.

        ``seat``: the bearer's in this game.
        """
        self.check_game(game_id)
        if _NEEDED[author.role] not in self.scopes:
            raise PermissionDenied(f"the {self.credential} is not for acts by {author}")
        if author.role is Signs.SEAT and author.index != seat:
            whose = "for no seat of this game" if seat is None else f"for seat {seat}"
            raise PermissionDenied(f"the {self.credential} is {whose}, the intent is by {author}")


_NEEDED = {Signs.SEAT: Scope.PLAY, Signs.SCRIBE: Scope.SCRIBE, Signs.ARBITER: Scope.ARBITER}


class _Known(dict[bytes, Caller]):
    """Callers by digest; one for all the doors of a referee."""

    def __init__(self) -> None:
        super().__init__()
        self.former: set[bytes] = set()
        """Digests of some that were known before: no guesses."""

    def clear(self) -> None:
        """Forget all."""
        if len(self.former) >= _KEPT:
            self.former.clear()
        self.former.update(self)
        super().clear()

    times_forgotten = 0
    """The number of times that something was to be forgotten: earlier answers of the store may be wrong by now."""


Metadata = Sequence[tuple[str, str | bytes]]
Context = grpc.aio.ServicerContext[Any, Any]


class Authenticator:
    """Knows the tokens and the certificates."""

    def __init__(
        self, store: Store, accounts: Accounts, now_ms: Callable[[], int], *, certificates: bool = False
    ) -> None:
        """``certificates``: clients show some, which have been verified."""
        self._store = store
        self._accounts = accounts
        self._now_ms = now_ms
        self._certificates = certificates
        self._known = _Known()
        self._digests: dict[bytes, bytes] = {}
        """Digests of certificates, by their PEM."""
        self._lent: dict[bytes, Grant] = {}
        self._of_nodes = False
        self.refusals = Refusals()
        self._guesses = Guesses()

    def of_nodes(self) -> Authenticator:
        """Return an authenticator for a port that only nodes can use: it believes their metadata about the caller."""
        found = copy(self)
        found._of_nodes = True
        return found

    def lend(self, principal: str, scope: Scope) -> str:
        """Return a token that is good until this process ends, and is written nowhere."""
        token = new_token()
        digest = token_digest(token)
        self._lent[digest] = Grant(digest, principal, frozenset({scope}), None, None)
        return token

    def is_lent(self, digest: bytes) -> bool:
        """Return whether the token with this SHA-256 is one of ``lend``, which the store does not know."""
        return digest in self._lent

    async def caller(self, context: Context) -> Caller:
        """Return the caller by its token, if it has one, else by its certificate.

        Raise ``Unauthenticated`` for a token that is malformed, unknown or not the only one, and for a token or
        certificate that is not valid any more; ``LimitReached`` for one time too many from one address;
        ``OtherGeneration`` for a client with which no call would go well; ``PermissionDenied`` and ``BadField`` for the
        name of an address that is not a gateway's to give, or is none.
        """
        if self._of_nodes:
            return await self._passed_on(context)
        shown = named = gateway = None
        for key, value in _metadata(context):
            if key == "authorization":
                shown = str(value) if shown is None else ""
            elif key == "user-agent":
                api.check_agent(str(value))
            elif key == FOR:
                named = str(value) if named is None else ""
            elif key == GATEWAY:
                gateway = str(value) if gateway is None else ""
            elif key.startswith(_FROM_NODE):
                await self.refusals.draw(self.address(context))
                raise PermissionDenied(f"{key} is for the nodes of this referee among themselves", key)
        is_forwarded = named is not None or gateway is not None
        payer = await self._named(named, gateway, context) if is_forwarded else None
        try:
            if shown is not None:
                return await self._by_token(shown, payer, context)
            if self._certificates and not is_forwarded:
                return await self._known_by(self._digest_of_certificate(context), "certificate", payer, context)
        except Unauthenticated as error:
            if not error.state:  # it may be a guess
                await self.refusals.draw(payer or self.address(context))
            raise
        return Caller(account=payer or self.address(context))

    async def told_to_node(self, context: Context, caller: Caller) -> Metadata:
        """Return the metadata with which a call is passed on to another node: all that ``caller`` looks at."""
        told: list[tuple[str, str | bytes]] = [(_HOST, host_of(context.peer()))]
        for key, value in _metadata(context):
            if key == "authorization" and caller.digest not in self._lent:
                told.append((key, value))
            elif key == FOR:
                told[0] = (_HOST, host_named(str(value)))
            elif key == GATEWAY:
                told.append((_PRINCIPAL, (await self._by_token(str(value), None, context)).principal))
        if caller.credential == "certificate":
            told.append((_CERTIFICATE, caller.digest.hex()))
        return told

    async def _passed_on(self, context: Context) -> Caller:
        """Return the caller of a call that another node has passed on. Raise ``Unauthenticated``, ``LimitReached``."""
        told = {key: str(value) for key, value in _metadata(context)}
        host, gateway = told.get(_HOST, ""), told.get(_PRINCIPAL)
        payer = self._accounts.at(host) if gateway is None else self._accounts.named(gateway, host)
        try:
            if "authorization" in told:
                return await self._by_token(told["authorization"], payer, context)
            if _CERTIFICATE in told:
                return await self._known_by(bytes.fromhex(told[_CERTIFICATE]), "certificate", payer, context)
        except Unauthenticated as error:
            if not error.state:
                await self.refusals.draw(payer)
            raise
        return Caller(account=payer)

    async def _named(self, named: str | None, shown: str | None, context: Context) -> Account:
        """Return the account of the address that a gateway names."""
        gateway = await self._gateway(shown, context)
        try:
            return self._accounts.named(gateway.principal, host_named(named or ""))
        except ValueError:
            await self.refusals.draw(gateway.account)
            raise BadField(FOR, "one IPv4 or IPv6 address in numbers") from None

    async def _gateway(self, shown: str | None, context: Context) -> Caller:
        error: Exception
        if shown is None:
            error = PermissionDenied(f"{FOR} is for gateways, which show their token in {GATEWAY}", FOR)
        else:
            try:
                gateway = await self._by_token(shown, None, context)
            except Unauthenticated as refused:
                error = Unauthenticated(f"{GATEWAY}: {refused}", refused.state, GATEWAY)
            else:
                if Scope.GATEWAY in gateway.scopes:
                    return gateway
                error = PermissionDenied(f"{GATEWAY}: the token is not for {Scope.GATEWAY}", GATEWAY)
        await self.refusals.draw(self.address(context))
        raise error

    async def _by_token(self, shown: str, payer: Account | None, context: Context) -> Caller:
        """Return the caller by a token. ``payer``: of a guess; None: the address that the call comes from."""
        if (match := _BEARER.match(shown)) is None:
            raise Unauthenticated("malformed authorization; expected one: Bearer TOKEN")
        return await self._known_by(token_digest(match[1]), "token", payer, context)

    async def _known_by(self, digest: bytes, credential: str, payer: Account | None, context: Context) -> Caller:
        known = self._known.get(digest)
        if known is None:
            if digest in self._lent or digest in self._known.former:
                known = await self._look_up(digest, credential)
            else:
                async with self._guesses.turn(payer or self.address(context), context.peer()):
                    known = self._known.get(digest) or await self._look_up(digest, credential)
        if known.is_revoked or known.expires_ms:
            known.check_valid(self._now_ms())
        return known

    async def _look_up(self, digest: bytes, credential: str) -> Caller:
        grant = self._lent.get(digest) or await self._grant(digest)
        if grant is None or grant.certificate != (credential == "certificate"):
            raise Unauthenticated(f"unknown {credential}")
        if len(self._known) >= _KEPT:
            self._known.clear()
        known = self._known[digest] = self._caller(grant, credential)
        return known

    async def _grant(self, digest: bytes) -> Grant | None:
        """Return what the store has, asked again if something was to be forgotten before it had answered."""
        while True:
            times = self._known.times_forgotten
            grant = await self._store.grant(digest)
            if times == self._known.times_forgotten:
                return grant

    @property
    def kept(self) -> dict[str, int]:
        """The number of callers and accounts that are remembered."""
        return {"callers": len(self._known), "accounts": len(self._accounts)}

    def forget(self, digest: bytes) -> None:
        """Forget the token: the store knows something else about it from now on."""
        if self._known.pop(digest, None) is not None:
            self._known.former.add(digest)
        self._known.times_forgotten += 1

    def forget_all(self) -> None:
        """Forget every token, as it is not known about which the store knows something else."""
        self._known.clear()
        self._known.times_forgotten += 1

    def _caller(self, grant: Grant, credential: str) -> Caller:
        return Caller(
            grant.principal,
            frozenset(map(Scope, grant.scopes)),
            grant.game_id,
            grant.seat,
            grant.digest,
            credential,
            grant.expires_ms,
            grant.revoked_ms != 0,
            self._accounts.of(grant.principal or grant.digest),
        )

    def address(self, context: Context) -> Account:
        """Return the account of the address that the call comes from."""
        return self._accounts.at(host_of(context.peer()))

    def _digest_of_certificate(self, context: Context) -> bytes:
        pem = next(iter(context.auth_context().get("x509_pem_cert", ())), b"")
        digest = self._digests.get(pem)
        if digest is None:
            if len(self._digests) >= _KEPT:
                self._digests.clear()
            digest = self._digests[pem] = sha256(ssl.PEM_cert_to_DER_cert(pem.decode("ascii"))).digest()
        return digest


def _metadata(context: Context) -> Metadata:
    # The stubs call it one thing, at runtime it is another; both are pairs.
    return cast("Metadata", context.invocation_metadata() or ())
