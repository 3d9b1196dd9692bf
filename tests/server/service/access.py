"""The office where tokens are issued, and games of principals."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from referee.alhambra.v1.alhambra_pb2 import Options
from referee.server.service.server import Server
from referee.server.store.store import Grant
from referee.v1 import access_service_pb2 as access
from referee.v1 import access_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import Client, Play, bearer

SHORT = Options(max_turns=12).SerializeToString()


class Office:
    """Where tokens are issued."""

    def __init__(self, client: Client) -> None:
        self.stub: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
        self.metadata = bearer(client.organiser)

    async def issue(self, principal: str, *scopes: access.Scope.ValueType, **fields: Any) -> access.IssueTokenResponse:
        request = access.IssueTokenRequest(principal=principal, scopes=scopes, **fields)
        response: access.IssueTokenResponse = await self.stub.IssueToken(request, metadata=self.metadata)
        return response

    async def revoke(self, issued: access.IssueTokenResponse) -> access.Token:
        request = access.RevokeTokenRequest(id=issued.token.id)
        response: access.RevokeTokenResponse = await self.stub.RevokeToken(request, metadata=self.metadata)
        return response.token

    async def tokens(self, **fields: Any) -> list[access.Token]:
        request = access.ListTokensRequest(page_size=2, **fields)
        found: list[access.Token] = []
        while True:
            page = await self.stub.ListTokens(request, metadata=self.metadata)
            assert len(page.tokens) <= 2
            found += page.tokens
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token


async def with_principal(client: Client, token: str, seat: int = 0) -> Play:
    """Return a game in which ani has the seat, and plays it with this token."""
    principals = ["", ""]
    principals[seat] = "ani"
    play = await client.play(2, principals=principals, options=SHORT)
    assert not play.created.seat_tokens[seat]
    play.created.seat_tokens[seat] = token
    return play


class LateAnswer:
    """A store that has read a token but does not answer until ``told`` is set."""

    def __init__(self, server: Server) -> None:
        self._grant = server.data.store.grant
        self.read, self.told = asyncio.Event(), asyncio.Event()
        server.data.store.grant = self._late  # type: ignore[method-assign]

    async def _late(self, digest: bytes) -> Grant | None:
        found = await self._grant(digest)
        self.read.set()
        await self.told.wait()
        return found


async def closing(call: Any) -> pb.Closing:
    """Return the last message of the stream, which ends well."""
    last = None
    while (message := await call.read()) is not grpc.aio.EOF:
        last = getattr(message, "update", message)
    assert last is not None
    assert await call.code() is grpc.StatusCode.OK
    return last.closing  # type: ignore[no-any-return]
