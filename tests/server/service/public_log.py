"""A proof that a game's head is in the public log."""

from __future__ import annotations

import asyncio

import grpc

from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.errors import answer_of
from tests.server.service.player import Client, Play
from tests.waiting import waiting_for


async def proved(client: Client, play: Play, size: int = 0) -> pb.GetLogProofResponse:
    """Return it once it is there."""
    async with waiting_for("the proof"):
        while True:
            try:
                found: pb.GetLogProofResponse = await client.games.GetLogProof(
                    pb.GetLogProofRequest(game_id=play.id, size=size)
                )
            except grpc.aio.AioRpcError as error:
                if answer_of(error).retry_s is None:
                    raise
            else:
                return found
            await asyncio.sleep(0.05)
