"""Which games a list is asked for. Knows what a game was opened with and how it stands, not where games are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.log.identity import GAME_ID_BYTES
from referee.server.live.opening import EVENTS, PRINCIPAL
from referee.server.live.refusals import BadField
from referee.server.store.store import Listing
from referee.v1 import game_pb2 as pb
from referee.v1.game_service_pb2 import ListGamesRequest

MIN_PREFIX = 8
"""Hexadecimal digits of an id: by fewer one would find too many games."""
_UNREAD = (pb.GAME_STATE_SET_ASIDE, pb.GAME_STATE_UNREADABLE)
"""States of games that cannot be read: such a game may be over or not."""
_OF_ANY = (pb.GAME_STATE_UNSPECIFIED, *_UNREAD)
_PREFIX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX},{2 * GAME_ID_BYTES}}}\Z")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Games that are asked for: those that have all that is set."""

    state: pb.GameState.ValueType = pb.GAME_STATE_UNSPECIFIED
    event_id: int | None = None
    round: int | None = None
    table: int | None = None
    principal: str = ""
    """Who has a seat. The store finds these games; ``listing_fits`` does not look at it."""
    opened_from_ms: int = 0
    """Opened at this time or after it, and before the next; milliseconds since 1970, 0: no bound."""
    opened_until_ms: int = 0
    ids: tuple[bytes, bytes] | None = None
    """The first and the last id."""

    @classmethod
    def of(cls, request: ListGamesRequest) -> Wanted:
        """Raise ``BadField``."""
        if request.state not in pb.GameState.values():
            raise BadField("state", "a GameState")
        if request.principal and not PRINCIPAL.match(request.principal):
            raise BadField("principal", "1 to 64 of a-z, 0-9, dot, hyphen and underscore")
        return cls(
            request.state,
            request.event_id if request.HasField("event_id") else None,
            request.round if request.HasField("round") else None,
            request.table if request.HasField("table") else None,
            request.principal,
            request.opened_from_ms,
            request.opened_until_ms,
            _ids(request.id_prefix) if request.id_prefix else None,
        )

    @property
    def closed(self) -> bool | None:
        """Whether only games that are over, or only those that are not, can be in the state; None: both."""
        return None if self.state in _OF_ANY else self.state == pb.GAME_STATE_OVER

    def state_fits(self, state: pb.GameState.ValueType) -> bool:
        """Return whether a game in the state is wanted; one that cannot be read may be in any other state, too."""
        return self.state in (pb.GAME_STATE_UNSPECIFIED, state) or (state in _UNREAD and self.state not in _UNREAD)

    def listing_fits(self, game_id: bytes, listing: Listing, *, closed: bool) -> bool:
        """Return whether the game can be one of them, as far as that is known without its log."""
        if listing.event_id == EVENTS and self.event_id != EVENTS and self.ids is None:
            return False
        pairs = ((self.event_id, listing.event_id), (self.round, listing.round), (self.table, listing.table))
        return (
            all(wanted is None or wanted == found for wanted, found in pairs)
            and self.closed in (None, closed)
            and (self.ids is None or self.ids[0] <= game_id <= self.ids[1])
        )


def _ids(prefix: str) -> tuple[bytes, bytes]:
    if not _PREFIX.match(prefix):
        raise BadField("id_prefix", f"{MIN_PREFIX} to {2 * GAME_ID_BYTES} lower-case hexadecimal digits")
    first, last = (bytes.fromhex(prefix.ljust(2 * GAME_ID_BYTES, figure)) for figure in "0f")
    return first, last
