"""Names of players: who may give one, what is kept of it, and who gets it. They stand beside the games, in no log."""

from __future__ import annotations

from typing import Final

import structlog

from referee.log.names import Person, Source, check_unlike
from referee.server.live.live_games import LiveGames
from referee.server.live.opening import name_of
from referee.server.live.refusals import BadField
from referee.server.live.turns import Work
from referee.server.service.auth import Caller, PermissionDenied
from referee.server.service.messages import game_id_of
from referee.server.service.permissions import Scope
from referee.server.store.store import SeatName
from referee.v1 import game_service_pb2 as pb

MOST_GAMES: Final = 100
"""The most games that are asked about in one call."""
_AT_ONCE: Final = 25
"""Games whose names are read without a look at anything else."""
_NAMING: Final = 10
"""The cost of a name in requests: it waits for the disk, and its giver may only have a seat."""

_log = structlog.get_logger("referee.names")


async def names_of(live_games: LiveGames, request: pb.GetNamesRequest, caller: Caller) -> pb.GetNamesResponse:
    """Return the names of the players of some games."""
    if not 1 <= len(request.game_ids) <= MOST_GAMES:
        raise BadField("game_ids", f"1 to {MOST_GAMES} games")
    wanted = list(dict.fromkeys(map(game_id_of, request.game_ids)))
    response = pb.GetNamesResponse()
    for first in range(0, len(wanted), _AT_ONCE):
        some = wanted[first : first + _AT_ONCE]
        caller.account.charge(Work.LIST, len(some))
        if first:
            await live_games.context.turns.next(caller.account)
        found = await live_games.context.store.names(some)
        for game_id in some:
            if game_id in found:
                response.games.add(game_id=game_id.hex(), names=map(_message, found[game_id]))
    return response


async def name_player(live_games: LiveGames, request: pb.NamePlayerRequest, caller: Caller) -> pb.NamePlayerResponse:
    """Keep a name that an organiser gives, or a player before a key has taken the seat; or erase it."""
    game_id, seat = game_id_of(request.game_id), request.player.seat
    caller.check_game(game_id)
    caller.account.charge(Work.REQUEST, _NAMING)
    record = await (await live_games.game(game_id, caller.account)).record()
    if seat >= len(record.opened.seats):
        raise BadField("player.seat", f"a seat of the game, 0 to {len(record.opened.seats) - 1}")
    organises = Scope.ORGANISE in caller.scopes
    if not organises:
        await _check_own(live_games, caller, game_id, seat)
        if seat in record.game.joins:
            raise PermissionDenied("a key has taken the seat; from then on the organiser names its player")
    store = live_games.context.store
    by = caller.principal or "bearer"
    if not request.player.name:
        erased = await store.erase_name(game_id, seat)
        if erased:
            _log.info("name erased", game=request.game_id, seat=seat, by=by)
        return pb.NamePlayerResponse()
    others = {f"p{name.seat + 1}": name.name for name in (await store.names([game_id])).get(game_id, ())}
    others.pop(f"p{seat + 1}", None)
    name = Person(name_of(request.player, "player", others), request.player.salt)
    player = record.opened.seats[seat].player
    if request.player.salt and not name.fits(player):
        raise BadField("player.salt", "the salt with which the name fits Seat.player, or none")
    if player and not organises and not name.fits(player):
        raise BadField("player.name", "the name that the game was opened with, as the organiser gave it; ask there")
    source = Source.OPENING if name.fits(player) else Source.ORGANISER if organises else Source.PLAYER
    alike = [int(other[1:]) - 1 for other in check_unlike(name.name, others)]
    kept = SeatName(seat, name.name, name.salt, source, live_games.context.time.now_ms())
    await store.keep_name(game_id, kept)
    _log.info("player named", game=request.game_id, seat=seat, by=by)
    return pb.NamePlayerResponse(player=_message(kept), alike=alike)


async def _check_own(live_games: LiveGames, caller: Caller, game_id: bytes, seat: int) -> None:
    """Raise ``PermissionDenied`` unless the bearer of the token plays that seat."""
    own = caller.seat if caller.game_id == game_id else None
    if own is None and caller.principal:
        own = await live_games.seats.seat_of(caller.principal, game_id)
    if own != seat:
        raise PermissionDenied(f"the {caller.credential} is for another seat, or for none of this game")


def _message(name: SeatName) -> pb.PlayerName:
    return pb.PlayerName(
        seat=name.seat,
        name=name.name,
        salt=name.salt,
        source=pb.NameSource.ValueType(name.source),
        named_ms=name.named_ms,
    )
