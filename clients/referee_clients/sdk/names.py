"""Names of players, as a referee tells them and entry 0 proves them; and how an organiser gives one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import grpc

from referee.log.entry import decode_open
from referee.log.names import Person, Row, Shown, Source, names_in
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import Metadata
from referee_clients.sdk.errors import answer_of, denied

CALL_S: Final = 15.0
MOST_GAMES: Final = 100


async def ask_names(
    channel: grpc.aio.Channel, games: Sequence[str], metadata: Metadata = ()
) -> dict[str, list[pb.PlayerName]]:
    """Return by game what the referee tells of 1 to 100; no names from one that knows of none.

    Raise ``grpc.aio.AioRpcError``.
    """
    stub: pb_grpc.GameServiceAsyncStub = pb_grpc.GameServiceStub(channel)
    request = pb.GetNamesRequest(game_ids=games)
    try:
        answer = await stub.GetNames(request, timeout=CALL_S, metadata=metadata, wait_for_ready=True)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED and not answer_of(error).reason:
            return {}
        raise
    return {game.game_id: list(game.names) for game in answer.games}


async def told_names(channel: grpc.aio.Channel, game: str, metadata: Metadata = ()) -> list[pb.PlayerName]:
    """Return what the referee tells of one game's players. Raise ``Denied``."""
    try:
        return (await ask_names(channel, [game], metadata)).get(game, [])
    except grpc.aio.AioRpcError as error:
        raise denied(answer_of(error)) from None


def rows_told(game: str, told: Iterable[pb.PlayerName]) -> list[Row]:
    """Return the lines for a file of names."""
    return [Row(name.seat + 1, Person(name.name, name.salt), game) for name in told]


def shown_names(opened: bytes, game: str, told: Sequence[pb.PlayerName]) -> dict[int, Shown]:
    """Return the names by seat, each with whether the game's opening proves it.

    ``opened``: the bytes of GameOpen, whose hash is the game's id. A name that is proven of one seat is no other's.
    """
    players = [seat.player for seat in decode_open(opened).seats]
    sources = {name.seat: Source(int(name.source)) for name in told if int(name.source) in list(map(int, Source))}
    return {
        seat: Shown(person.name, person.fits(players[seat]), sources.get(seat))
        for seat, person in names_in(rows_told(game, told), game, players).items()
    }


async def name_player(
    channel: grpc.aio.Channel, game: str, player: pb.PlayerName, metadata: Metadata
) -> pb.NamePlayerResponse:
    """Name a player, or with an empty name erase the one that is there. Raise ``Denied``."""
    stub: pb_grpc.GameServiceAsyncStub = pb_grpc.GameServiceStub(channel)
    try:
        return await stub.NamePlayer(
            pb.NamePlayerRequest(game_id=game, player=player), timeout=CALL_S, metadata=metadata, wait_for_ready=True
        )
    except grpc.aio.AioRpcError as error:
        raise denied(answer_of(error)) from None
