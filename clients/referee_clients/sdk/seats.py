"""Every game of one principal, played as they come: one token, one stream that reports them, a bot for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from referee.v1 import game_service_pb2 as pb
from referee_clients.bots.bot import MakeBot
from referee_clients.join import Join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.player import GameResult, play_async

Ended = Callable[[str, GameResult | Exception], None]


async def play_all(
    address: str,
    token: str,
    make_bot: MakeBot,
    on_end: Ended,
    *,
    key_file: Path | None = None,
    verifier: str | None = None,
    patience_s: float = 300.0,
    security: Security | None = None,
) -> None:
    """Play in every game that awaits the token's bearer, each with a bot of its own, until cancelled.

    ``on_end`` is told each game's id, with the result or with what went wrong there: the other games go on. With
    ``key_file``, one key for all games, they are gone on with after a restart. Raise ``ClientError`` when the referee
    is away for too long or does not admit the token.
    """
    players: dict[str, asyncio.Task[GameResult]] = {}

    def ended(game_id: str, player: asyncio.Task[GameResult]) -> None:
        if not player.cancelled():
            error = player.exception()
            on_end(game_id, error if isinstance(error, Exception) else player.result())

    async def take(message: pb.WatchSeatResponse) -> None:
        # A turn says which seat is the bearer's. Until the first one there is nothing to do.
        if message.HasField("turn") and message.game_id not in players:
            join = Join(address, message.game_id, message.turn.seat, token)
            player = play_async(
                join, make_bot, key_file=key_file, verifier=verifier, patience_s=patience_s, security=security
            )
            players[message.game_id] = asyncio.create_task(player)
            players[message.game_id].add_done_callback(lambda done: ended(message.game_id, done))

    try:
        async with Connection(address, "", token, patience_s=patience_s, security=security) as connection:
            await connection.seats(take)
    finally:
        for player in players.values():
            player.cancel()
        await asyncio.gather(*players.values(), return_exceptions=True)
