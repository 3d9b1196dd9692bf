"""From the metadata of a call to who is calling. Tokens are compared by their SHA-256 and never shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from referee.log.intent import Author
from referee.log.intent import Role as Signs
from referee.service.permissions import PERMISSIONS, Role
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
    """Who is calling: a role, in one game or in all."""

    role: Role
    game_id: bytes | None = None
    seat: int | None = None

    def check_method(self, method: str) -> None:
        """Raises ``Unauthenticated`` or ``PermissionDenied`` unless the role may call it."""
        if self.role in PERMISSIONS[method]:
            return
        if self.role is Role.SPECTATOR:
            raise Unauthenticated("this call needs a token: authorization: Bearer TOKEN")
        raise PermissionDenied(f"{self.role}s may not call {method.rpartition('/')[2]}")

    def check_author(self, game_id: bytes, author: Author) -> None:
        """Raises ``PermissionDenied`` unless the author's acts may come with this token."""
        if self.game_id is not None and self.game_id != game_id:
            raise PermissionDenied("the token is for another game")
        if _SIGNS[self.role] is not author.role:
            raise PermissionDenied(f"the token is a {self.role}'s, the intent is by {author}")
        if self.seat is not None and self.seat != author.index:
            raise PermissionDenied(f"the token is for seat {self.seat}, the intent is by {author}")


_SIGNS = {Role.SEAT: Signs.SEAT, Role.SCRIBE: Signs.SCRIBE, Role.ARBITER: Signs.ARBITER}
_SPECTATOR = Caller(Role.SPECTATOR)

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
            return _SPECTATOR
        match = _BEARER.match(str(values[0]))
        if match is None or len(values) > 1:
            raise Unauthenticated("malformed authorization; expected one: Bearer TOKEN")
        digest = token_digest(match[1])
        known = self._known.get(digest)
        if known is None:
            grant = await self._store.grant(digest)
            if grant is None:
                raise Unauthenticated("unknown token")
            known = Caller(Role(grant.role), grant.game_id, grant.seat)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[digest] = known
        return known
