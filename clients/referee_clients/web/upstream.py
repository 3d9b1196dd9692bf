"""The gateway's way to the referee: calls that everybody may make, for whom the referee charges them to.

It holds no key, and at most one token, which is for saying who calls and for nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from referee.log.note import VerifierKey
from referee.v1 import game_pb2, rules_service_pb2, rules_service_pb2_grpc, solver_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import Insecure, Metadata, Security, bearer, check, open_channel
from referee_clients.web.hub import Hub, HubLimits
from referee_clients.web.limits import CALLER

CALL_S = 10.0
"""Longest time of the referee for an answer, or for the next piece of one."""
PAGE_SIZE = 50
FOR, GATEWAY = "x-referee-for", "x-referee-gateway"
"""The keys in the metadata of a call: the address that it is for, and the token of the gateway that says so."""


def may_bear_tokens(address: str, security: Security) -> bool:
    try:
        check(address, security, "a token")
    except Insecure:
        return False
    return True


class Upstream:
    """One referee. ``async with`` it, on the event loop that uses it."""

    def __init__(
        self,
        address: str,
        *,
        verifier: VerifierKey | None = None,
        token: str = "",
        security: Security | None = None,
        limits: HubLimits | None = None,
    ) -> None:
        """``verifier``: the key that the referee signs with; without it the gateway does not check its checkpoints.

        ``token``: for a gateway; without it all whom the gateway serves share its address's account. ``security``: as
        the environment says, if not given. ``limits``: of what is watched.

        Raise ``BadAddress`` and ``Insecure``.
        """
        self.address = address
        self.verifier = verifier
        self._token = token
        self.channel = open_channel(address, token, security)
        self._games = pb_grpc.GameServiceStub(self.channel)
        self._rules = rules_service_pb2_grpc.RulesServiceStub(self.channel)
        self.solver: solver_service_pb2_grpc.SolverServiceAsyncStub = solver_service_pb2_grpc.SolverServiceStub(
            self.channel
        )
        self.may_bear_tokens = may_bear_tokens(address, security or Security.from_environment())
        """True if no one on the way to the referee can read the messages."""
        self.hub = Hub(address, self.game, verifier=verifier, token=token, security=security, limits=limits)

    async def __aenter__(self) -> Upstream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End every stream, and the connection."""
        await self.hub.close()
        await self.channel.close()

    def metadata(self, authorization: str = "") -> Metadata:
        """Return the metadata of a call for the caller of now. ``authorization``: the caller's own, as it was sent."""
        found = (("authorization", authorization),) if authorization else ()
        if self._token and (address := CALLER.get()) is not None:
            return *found, (GATEWAY, f"Bearer {self._token}"), (FOR, str(address))
        return found or bearer(self._token)

    # Each raises ``grpc.aio.AioRpcError``.

    async def game(self, game_id: str) -> game_pb2.Game:
        """Return how far the game is."""
        return (
            await self._games.GetGame(pb.GetGameRequest(game_id=game_id), timeout=CALL_S, metadata=self.metadata())
        ).game

    async def games(self, state: game_pb2.GameState.ValueType, page: str) -> pb.ListGamesResponse:
        """Return a page of the games, the newest first."""
        request = pb.ListGamesRequest(page_size=PAGE_SIZE, page_token=page, state=state)
        return await self._games.ListGames(request, timeout=CALL_S, metadata=self.metadata())

    async def names(self, games: Sequence[str]) -> pb.GetNamesResponse:
        """Return the names of the players of at most 100 games."""
        request = pb.GetNamesRequest(game_ids=games)
        return await self._games.GetNames(request, timeout=CALL_S, metadata=self.metadata())

    async def log(self, game_id: str) -> AsyncGenerator[bytes]:
        """Yield the game's file in pieces."""
        async for part in self._games.GetLog(pb.GetLogRequest(game_id=game_id), metadata=self.metadata()):
            yield part.chunk

    async def catalogue(self, rules_id: str, version: int) -> rules_service_pb2.GetCatalogueResponse:
        """Return every rule of a game."""
        request = rules_service_pb2.GetCatalogueRequest(rules_id=rules_id, rules_version=version)
        return await self._rules.GetCatalogue(request, timeout=CALL_S, metadata=self.metadata())
