"""Callers that use up what they may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc

from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import (
    Client,
    bearer,
    refusal,
)
from tests.waiting import waiting_for


async def let_in(client: Client, game_id: str) -> Any:
    """Return a stream, as soon as there is room for it."""
    async with waiting_for("room"):
        while True:
            stream = client.games.WatchGame(pb.WatchGameRequest(game_id=game_id))
            try:
                await stream.read()
            except grpc.aio.AioRpcError as error:
                if refusal(error).reason != "LIMIT":
                    raise
            else:
                return stream


SPARSE = 0.01
"""Requests a second: one call, and then none for longer than any test takes."""


async def to_the_end(call: Any) -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


async def games_that_are_over(data: Path, count: int, moves: int = 12) -> list[str]:
    """And a referee that has been started again since, so that none of them is in memory."""
    games: list[str] = []
    async with running(data) as (_, client):
        for seed in range(count):
            play = await client.play(seed=seed)
            await play.until_play()
            await play.steps(moves)
            await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
            games.append(play.id)
    return games
