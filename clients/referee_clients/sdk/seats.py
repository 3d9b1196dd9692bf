"""Every game of one principal, played as they come: one token, one stream that reports them, a bot for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import grpc

from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.bots.bot import MakeBot
from referee_clients.join import Join
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.errors import answer_of, denied
from referee_clients.sdk.player import GameResult, play_async

Ended = Callable[[str, GameResult | Exception], None]
_CALL_S = 15.0


async def play_all(
    address: str,
    token: str,
    make_bot: MakeBot,
    on_end: Ended,
    *,
    at_once: int | None = None,
    key_file: Callable[[Join], Path] | None = None,
    log_copy: bool = True,
    verifier: str | None = None,
    patience_s: float = 300.0,
    move_limit_s: float | None = None,
    resign_on_failure: bool = False,
    security: Security | None = None,
) -> None:
    """Play in every game that awaits the token's bearer, each with a bot of its own, until cancelled.

    ``on_end`` is told each game's id, with the result or with what went wrong there: the other games go on, and one
    that failed is not tried again. ``at_once``: no further seat is taken while so many are played; the games then come
    in the order in which they were opened, so that players who share games never wait for each other. ``key_file``
    returns where a seat's key is kept: with it, games are gone on with after a restart. ``log_copy``: as for ``play``.
    Raise ``ClientError`` when the referee is away for too long or does not admit the token.
    """
    players: dict[str, asyncio.Task[GameResult]] = {}
    waiting: dict[str, Join] = {}
    """Seats to take, by game: the one that was opened first comes first."""
    failed = set[str]()

    def start(join: Join) -> None:
        player = play_async(
            join,
            make_bot,
            key_file=key_file(join) if key_file is not None else None,
            log_copy=log_copy,
            verifier=verifier,
            patience_s=patience_s,
            move_limit_s=move_limit_s,
            resign_on_failure=resign_on_failure,
            security=security,
        )
        players[join.game_id] = asyncio.create_task(player)
        players[join.game_id].add_done_callback(lambda done: ended(join.game_id, done))

    def fill() -> None:
        while waiting and (at_once is None or len(players) < at_once):
            start(waiting.pop(next(iter(waiting))))

    def ended(game_id: str, player: asyncio.Task[GameResult]) -> None:
        if player.cancelled():
            return
        del players[game_id]
        error = player.exception()
        if isinstance(error, Exception):
            failed.add(game_id)
        on_end(game_id, error if isinstance(error, Exception) else player.result())
        fill()

    async def take(message: pb.WatchSeatResponse) -> None:
        game_id = message.game_id
        if message.update.HasField("closing"):
            waiting.pop(game_id, None)
        # A turn says which seat is the bearer's. Until the first one there is nothing to do.
        if not message.HasField("turn") or game_id in players or game_id in failed:
            return
        join = Join(address, game_id, message.turn.seat, token)
        if message.turn.awaited == pb.AWAITED_JOIN:
            waiting.setdefault(game_id, join)
            fill()
        else:  # taken before, and its clock may run
            start(join)

    try:
        async with Connection(address, "", token, patience_s=patience_s, security=security) as connection:
            await connection.seats(take)
    finally:
        started = list(players.values())
        for player in started:
            player.cancel()
        await asyncio.gather(*started, return_exceptions=True)


async def check_principal(address: str, token: str, principal: str, security: Security | None = None) -> None:
    """Raise ``ClientError`` if the token is another's; a referee that is away is not asked."""
    request = pb.ListGamesRequest(principal=principal, page_size=1)
    async with open_channel(address, token, security) as channel:
        try:
            await pb_grpc.GameServiceStub(channel).ListGames(request, timeout=_CALL_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            if not (answer := answer_of(error)).passes:
                raise denied(answer) from error
