"""What an organiser does: open a game, hand out its seats, fetch its log. Plays nothing and signs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from clients.join import Join
from clients.sdk.channel import Security, bearer, open_channel
from clients.sdk.errors import answer_of, denied
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc

CALL_S = 15.0


@dataclass(frozen=True, slots=True)
class Opened:
    """A new game: a seat for each player, and the key that its log can be checked with."""

    game_id: str
    joins: tuple[Join, ...]
    verifier: str


class Organiser:
    """An organiser's calls at one referee. Each raises ``Denied``."""

    def __init__(self, channel: grpc.aio.Channel, address: str, token: str) -> None:
        self._stub = pb_grpc.GameServiceStub(channel)
        self._address = address
        self._metadata = bearer(token)

    async def open_game(
        self, rules_id: str, seats: int, options: bytes = b"", terms: log_pb2.Terms | None = None
    ) -> Opened:
        """Opens a game that the referee deals.

        ``options``: exact bytes of the game's Options; empty: defaults. ``terms``: whether refused moves are recorded,
        and for which entries the game's file is to have certificates.
        """
        places = [log_pb2.Seat() for _ in range(seats)]
        request = pb.CreateGameRequest(rules_id=rules_id, options=options, seats=places, terms=terms)
        try:
            response = await self._stub.CreateGame(
                request, timeout=CALL_S, metadata=self._metadata, wait_for_ready=True
            )
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        joins = (Join(self._address, response.game.id, seat, token) for seat, token in enumerate(response.seat_tokens))
        return Opened(response.game.id, tuple(joins), response.verifier_key)

    async def save_log(self, game_id: str, path: Path) -> None:
        """Writes the game's file; of a running game, as far as it has come."""
        try:
            with path.open("wb") as file:
                async for part in self._stub.GetLog(pb.GetLogRequest(game_id=game_id), metadata=self._metadata):
                    file.write(part.chunk)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None


@asynccontextmanager
async def organiser(address: str, token: str, security: Security | None = None) -> AsyncIterator[Organiser]:
    """Connects when the first call is made, and waits for a referee that is still starting."""
    async with open_channel(address, token, security) as channel:
        yield Organiser(channel, address, token)
