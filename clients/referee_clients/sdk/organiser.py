"""The organiser's calls: open a game, hand out its seats, fetch its log. The module plays and signs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from referee.games import table_rules
from referee.log.names import Person
from referee.log.v1 import log_pb2
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.join import Join
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import answer_of, denied

CALL_S = 15.0


@dataclass(frozen=True, slots=True)
class Opened:
    """A new game: a seat for each player, and the key that its log can be checked with."""

    game_id: str
    joins: tuple[Join, ...]
    verifier: str
    scribe_token: str = field(repr=False, default="")
    """The scribe's token, for a game whose chance a scribe declares."""


@dataclass(frozen=True, slots=True)
class Table:
    """A new game at a physical table: its scribe's token, and the key for checks of its log."""

    game_id: str
    token: str = field(repr=False)
    verifier: str
    arbiter_token: str = field(repr=False, default="")


class Organiser:
    """An organiser's calls at one referee. Each raises ``Denied``."""

    def __init__(self, channel: grpc.aio.Channel, address: str, token: str) -> None:
        self._stub = pb_grpc.GameServiceStub(channel)
        self._address = address
        self._metadata = bearer(token)

    async def open_game(
        self,
        rules_id: str,
        seats: int,
        options: bytes = b"",
        terms: log_pb2.Terms | None = None,
        *,
        scribe: bytes = b"",
    ) -> Opened:
        """Open a game that the referee deals, or that the scribe of this public key declares the chance of.

        ``options``: exact bytes of the game's Options; empty: defaults. ``terms``: whether refused moves are recorded,
        and for which entries the game's file is to have certificates.
        """
        places = [log_pb2.Seat() for _ in range(seats)]
        request = pb.CreateGameRequest(
            rules_id=rules_id, options=options, seats=places, terms=terms, declaring_scribe_key=scribe
        )
        response = await self._create(request)
        joins = (Join(self._address, response.game.id, seat, token) for seat, token in enumerate(response.seat_tokens))
        return Opened(response.game.id, tuple(joins), response.verifier_key, response.scribe_token)

    async def open_table(
        self,
        rules_id: str,
        seats: int,
        scribe: bytes,
        *,
        options: bytes = b"",
        components: bytes = b"",
        arbiters: Sequence[bytes] = (),
        people: Mapping[int, Person] | None = None,
    ) -> Table:
        """Open a game at a physical table: the scribe of this public key declares what is drawn and enters all moves.

        It is played by the rules of the table, so that what was entered wrongly can be corrected. ``options``,
        ``components``: exact bytes of the game's messages; empty: defaults. ``arbiters``: public keys of those who can
        rule on the game; none can be added later. ``people``: the players by seat; the game commits to their names.
        """
        people = people or {}
        places = [
            log_pb2.Seat(scribed=True, player=people[seat].player if seat in people else b"") for seat in range(seats)
        ]
        request = pb.CreateGameRequest(
            rules_id=rules_id,
            options=options,
            components=components,
            seats=places,
            terms=log_pb2.Terms(table_rules=table_rules.VERSION, take_backs=True),
            arbiter_keys=arbiters,
            declaring_scribe_key=scribe,
            names=[pb.PlayerName(seat=n, name=person.name, salt=person.salt) for n, person in people.items()],
        )
        response = await self._create(request)
        return Table(response.game.id, response.scribe_token, response.verifier_key, response.arbiter_token)

    async def _create(self, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        try:
            return await self._stub.CreateGame(request, timeout=CALL_S, metadata=self._metadata, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None

    async def game(self, game_id: str) -> game_pb2.Game:
        """Return how far the game is."""
        request = pb.GetGameRequest(game_id=game_id)
        try:
            return (await self._stub.GetGame(request, timeout=CALL_S, wait_for_ready=True)).game
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None

    async def abort(self, game_id: str) -> int:
        """End a game without a result. Return the number of its last entry."""
        try:
            request = pb.AbortGameRequest(game_id=game_id)
            ended = await self._stub.AbortGame(request, timeout=CALL_S, metadata=self._metadata, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        return int(ended.game.size) - 1

    async def save_log(self, game_id: str, path: Path) -> None:
        """Write the game's file; of a running game, as far as it has come."""
        try:
            with path.open("wb") as file:
                async for part in self._stub.GetLog(pb.GetLogRequest(game_id=game_id), metadata=self._metadata):
                    file.write(part.chunk)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None


@asynccontextmanager
async def organiser(address: str, token: str, security: Security | None = None) -> AsyncIterator[Organiser]:
    """Connect when the first call is made, and wait for a referee that is still starting."""
    async with open_channel(address, token, security) as channel:
        yield Organiser(channel, address, token)
