"""From the metadata of a call to who is calling. Tokens are compared by their SHA-256 and never shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from referee.log.intent import Author
from referee.log.intent import Role as Signs
from referee.service.permissions import PERMISSIONS, Scope
from referee.store.store import Store
from referee.table.opening import token_digest

_BEARER = re.compile(r"[Bb]earer ([A-Za-z0-9_-]{20,200})\Z")
_KEPT = 4096


class Unauthenticated(Exception):
    """No token where one is needed, or one that is not known."""


class PermissionDenied(Exception):
    """The token is for something else."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, and what the token allows; without a token nobody, who may read."""

    principal: str = ""
    """Empty for a token that came with a game: whoever bears it."""
    scopes: frozenset[Scope] = frozenset()
    game_id: bytes | None = None
    seat: int | None = None
    digest: bytes = b""
    """SHA-256 of the token; empty without one."""

    def check_method(self, method: str) -> None:
        """Raises ``Unauthenticated`` or ``PermissionDenied`` unless the token allows it."""
        allowed = PERMISSIONS[method]
        if not allowed or allowed & self.scopes:
            return
        if not self.digest:
            raise Unauthenticated("this call needs a token: authorization: Bearer TOKEN")
        scopes = " or ".join(sorted(allowed))
        raise PermissionDenied(f"{method.rpartition('/')[2]} needs a token for {scopes}")

    def check_author(self, game_id: bytes, author: Author, seat: int | None) -> None:
        """Raises ``PermissionDenied`` unless the author's acts may come with this token.

        ``seat``: the bearer's in this game.
        """
        if self.game_id is not None and self.game_id != game_id:
            raise PermissionDenied("the token is for another game")
        if _NEEDED[author.role] not in self.scopes:
            raise PermissionDenied(f"the token is not for acts by {author}")
        if author.role is Signs.SEAT and author.index != seat:
            whose = "for no seat of this game" if seat is None else f"for seat {seat}"
            raise PermissionDenied(f"the token is {whose}, the intent is by {author}")


_NEEDED = {Signs.SEAT: Scope.PLAY, Signs.SCRIBE: Scope.SCRIBE, Signs.ARBITER: Scope.ARBITER}
_NOBODY = Caller()

Metadata = Sequence[tuple[str, str | bytes]]


class Doorkeeper:
    """Knows the tokens."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[bytes, Caller] = {}

    async def caller(self, metadata: Metadata) -> Caller:
        """Raises ``Unauthenticated`` for a token that is malformed, unknown or not the only one."""
        values = [value for key, value in metadata if key == "authorization"]
        if not values:
            return _NOBODY
        match = _BEARER.match(str(values[0]))
        if match is None or len(values) > 1:
            raise Unauthenticated("malformed authorization; expected one: Bearer TOKEN")
        digest = token_digest(match[1])
        known = self._known.get(digest)
        if known is None:
            grant = await self._store.grant(digest)
            if grant is None:
                raise Unauthenticated("unknown token")
            scopes = frozenset(map(Scope, grant.scopes))
            known = Caller(grant.principal, scopes, grant.game_id, grant.seat, digest)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[digest] = known
        return known
