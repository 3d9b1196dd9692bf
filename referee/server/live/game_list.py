"""Lists of games: a caller's filters, and every game of the store as it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from google.protobuf.message import DecodeError

from referee.log.intent import GAME_ID_BYTES
from referee.log.v1 import log_pb2
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.live.opening import EVENTS, PRINCIPAL
from referee.server.live.refusals import BadField, Elsewhere, Unsound
from referee.server.live.turns import Payer, Work
from referee.server.live.view import game_message, game_state
from referee.server.store.store import Listing, StoredGame, StoreFailed
from referee.v1 import game_pb2 as pb
from referee.v1.game_service_pb2 import ListGamesRequest

MIN_PREFIX = 8
"""Hexadecimal digits of an id: by fewer one would find too many games."""
_PAGE_GAMES = 100
_LISTED_AT_ONCE = 8
MOST_LOOKED_AT = 1000
"""Games that one list looks at, so that its cost has a bound whatever is asked for."""
_UNREAD = (pb.GAME_STATE_SET_ASIDE, pb.GAME_STATE_UNREADABLE)
"""States of games that cannot be read: such a game may be over or not."""
_OF_ANY = (pb.GAME_STATE_UNSPECIFIED, *_UNREAD)
_PREFIX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX},{2 * GAME_ID_BYTES}}}\Z")

_log = structlog.get_logger("referee.live_games")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Games that are asked for: those that have all that is set."""

    state: pb.GameState.ValueType = pb.GAME_STATE_UNSPECIFIED
    event_id: int | None = None
    round: int | None = None
    table: int | None = None
    principal: str = ""
    """The owner of a seat. The store finds these games; ``listing_fits`` does not look at it."""
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
        """True if only games that are over can be in the state, False if only others; None: both."""
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


class Games(Protocol):
    """The live games, as far as a list needs them; ``LiveGames`` says what its methods do."""

    @property
    def aside(self) -> Mapping[bytes, Unsound]: ...

    def running(self, game_id: bytes) -> LiveGame | None: ...

    async def game(self, game_id: bytes) -> LiveGame: ...

    def set_aside(self, error: Unsound) -> None: ...


class GameList:
    """Lists every game of the store as it stands: live here, live at another node, over, or not to be read."""

    def __init__(self, context: Context, games: Games) -> None:
        self._context = context
        self._games = games

    async def page(
        self, before: int | None, limit: int, wanted: Wanted, payer: Payer
    ) -> tuple[list[pb.Game], int | None]:
        """Return the games that are wanted, newest first, and where the next page begins.

        No more than ``MOST_LOOKED_AT`` games are looked at; the others are on later pages.
        """
        store = self._context.store
        if before is None and wanted.opened_until_ms:
            before = await store.first_since(wanted.opened_until_ms)
        found: list[pb.Game] = []
        looked_at = 0
        while True:
            page = await self._candidates(before, wanted)
            shown = await self._shown_elsewhere(page)
            for stored in page:
                if stored.listing.opened_ms < wanted.opened_from_ms:
                    return found, None  # and so are all that follow
                if len(found) == limit or looked_at == MOST_LOOKED_AT:
                    return found, before
                if looked_at % _LISTED_AT_ONCE == 0:
                    await self._context.turns.next(payer)
                before, looked_at = stored.number, looked_at + 1
                payer.charge(Work.LIST, 1)
                if not wanted.listing_fits(stored.game_id, stored.listing, closed=stored.closed is not None):
                    continue
                if stored.game_id in shown:
                    game = self._as_shown(stored, shown[stored.game_id], wanted)
                else:
                    game = await self._listed(stored, wanted)
                if game is not None:
                    found.append(game)
            if not page:
                return found, None

    async def _candidates(self, before: int | None, wanted: Wanted) -> list[StoredGame]:
        """Return the next games for that one of the filters that the store can search fastest."""
        store = self._context.store
        if wanted.ids is not None:
            return await store.games_between(*wanted.ids, before, _PAGE_GAMES)
        if wanted.principal:
            return await store.games_of_player(wanted.principal, before, _PAGE_GAMES)
        if wanted.event_id is not None:
            return await store.games_of_event(wanted.event_id, before, _PAGE_GAMES)
        return await store.games(before, _PAGE_GAMES, closed=wanted.closed)

    async def _shown_elsewhere(self, page: Sequence[StoredGame]) -> dict[bytes, bytes | None]:
        """Return of which games other nodes show how they stand. None is taken up for a list."""
        running = self._games.running
        ids = [stored.game_id for stored in page if stored.closed is None and running(stored.game_id) is None]
        return await self._context.store.nodes.shown(ids) if ids and self._context.store.nodes.shares else {}

    def _as_shown(self, stored: StoredGame, listed: bytes | None, wanted: Wanted) -> pb.Game | None:
        """Return the game as the node that has it showed it; None if it is not in the state that is wanted."""
        game = pb.Game.FromString(listed) if listed is not None else _unread(stored, pb.GAME_STATE_UNREADABLE)
        return game if wanted.state_fits(game.state) else None

    async def _listed(self, stored: StoredGame, wanted: Wanted) -> pb.Game | None:
        """Return the game as it is listed; None if it is not in the state that is wanted.

        An unreadable game is listed with the data of its opening, and with a note of that, so that it does not look
        missing.
        """
        try:
            if stored.game_id in self._games.aside:
                game = _unread(stored, pb.GAME_STATE_SET_ASIDE)
            elif stored.closed is not None:
                game = await self._as_it_ended(stored, pb.Game.FromString(stored.closed))
            else:
                record = await (await self._games.game(stored.game_id)).record()
                if not wanted.state_fits(game_state(record)):
                    return None
                game = game_message(record)
        except (Unsound, DecodeError) as error:
            self._games.set_aside(
                error if isinstance(error, Unsound) else Unsound(stored.game_id, "its ending cannot be read")
            )
            game = _unread(stored, pb.GAME_STATE_SET_ASIDE)
        except Elsewhere:  # since the page was read
            game = _unread(stored, pb.GAME_STATE_UNREADABLE)
        except StoreFailed as error:
            _log.error("game not read", game=stored.game_id.hex(), error=str(error))
            game = _unread(stored, pb.GAME_STATE_UNREADABLE)
        return game if wanted.state_fits(game.state) else None

    async def _as_it_ended(self, stored: StoredGame, game: pb.Game) -> pb.Game:
        """Return the game with the facts that earlier versions did not keep. Raise ``DecodeError``, ``StoreFailed``."""
        if not game.opened_ms:
            game.MergeFrom(_as_opened(stored))
            for row in await self._context.store.entries(stored.game_id, game.size - 1, 1):
                game.ended_ms = log_pb2.Entry.FromString(row.data).referee_ms
        return game

    async def owners(self, games: Sequence[pb.Game]) -> dict[str, str]:
        """Return by id, for games that are not over, the name of the node that has the game, where there are
        several."""
        if not self._context.store.nodes.shares:
            return {}
        ids = [bytes.fromhex(game.id) for game in games if game.state != pb.GAME_STATE_OVER]
        found = await self._context.store.nodes.owners(ids)
        return {game_id.hex(): node.words for game_id, node in found.items()}


def _unread(stored: StoredGame, state: pb.GameState.ValueType) -> pb.Game:
    game = _as_opened(stored)
    game.id, game.state = stored.game_id.hex(), state
    return game


def _as_opened(stored: StoredGame) -> pb.Game:
    """Return what lists find the game by."""
    event_id, round_, table, opened_ms = stored.listing
    return pb.Game(event_id=event_id, round=round_, table=table, opened_ms=opened_ms)
