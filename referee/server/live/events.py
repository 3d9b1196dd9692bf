"""Events among the live games: found by the number by which games name them, and what they say of an entrant."""

from __future__ import annotations

from typing import cast

from referee.log.identity import GAME_ID_BYTES
from referee.server.live.games import LiveGames
from referee.server.live.opening import ENTRANT, EVENTS
from referee.server.live.turns import Payer
from referee.tournament.rules import State

_NUMBER_BYTES = 8
"""Of an id, of which the number is all but the last bit."""


async def event_of(live_games: LiveGames, number: int) -> bytes | None:
    """Return the id of the event that games name by this number; None if there is none."""
    if number >= 1 << 63:
        return None
    first, last = ((number << 1 | bit).to_bytes(_NUMBER_BYTES, "big") for bit in (0, 1))
    rest = GAME_ID_BYTES - _NUMBER_BYTES
    store = live_games.context.store
    for stored in await store.games_between(first + bytes(rest), last + b"\xff" * rest, None, 2):
        if stored.listing.event_id == EVENTS:
            return stored.game_id
    return None


async def registered_key(live_games: LiveGames, principal: str, payer: Payer) -> bytes:
    """Return the key with which the principal has to join; empty if it is no entrant, or has registered none."""
    if (entrant := ENTRANT.match(principal)) is None:
        return b""
    if (event_id := await event_of(live_games, int(entrant[1]))) is None:
        return b""
    record = await live_games.record(event_id, payer)
    found = cast("State", record.game.position.state).entrants.get(int(entrant[2]))
    return b"" if found is None else found.key
