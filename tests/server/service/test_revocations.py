"""A revocation under way survives all faults: once it is durable, the token is good for nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.server.service.server import Config, Server
from referee.server.store.store import Grant, StoreFailed
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from tests.server.service.access import Office, closing, with_principal
from tests.server.service.conftest import running
from tests.server.service.engines import place
from tests.server.service.player import Client, bearer, connected, refused
from tests.waiting import until, waiting_for


@dataclass
class Trouble:
    """A store that revokes, and tells so only when it is ``told`` to, or says that it does not know whether it did."""

    server: Server
    is_unknown: bool = False
    fails: int = 0
    """So many times more it cannot say what it knows of a token."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    told: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        store: Any = self.server.data.store
        self._revoke, self._find = store.revoke_grant, store.grant
        store.revoke_grant, store.grant = self._revoke_grant, self._grant

    async def _revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        found: Grant | None = await self._revoke(beginning, now_ms)
        self.done.set()
        if self.is_unknown:
            raise StoreFailed("the connection was lost after COMMIT")
        await self.told.wait()
        return found

    async def _grant(self, digest: bytes) -> Grant | None:
        if self.fails:
            self.fails -= 1
            raise StoreFailed("no answer")
        found: Grant | None = await self._find(digest)
        return found


async def is_in_use(client: Client) -> tuple[access.IssueTokenResponse, Any]:
    """Return a token, and a stream that came with it."""
    issued = await Office(client).issue("ani", access.SCOPE_PLAY)
    play = await with_principal(client, issued.secret)
    watching = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id), metadata=bearer(issued.secret))
    await watching.read()
    return issued, watching


async def is_good_for_nothing(client: Client, issued: access.IssueTokenResponse, watching: Any) -> None:
    async with waiting_for("the stream to end"):
        assert (await closing(watching)).reason == pb.CLOSING_REASON_REVOKED
    call = client.games.GetGame(pb.GetGameRequest(), metadata=bearer(issued.secret))
    assert (await refused(call)).message == "the token was revoked"


async def test_who_leaves_while_a_token_is_revoked_has_revoked_it(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        issued, watching = await is_in_use(client)
        store = Trouble(server)
        asking = asyncio.create_task(Office(client).revoke(issued))
        await store.done.wait()
        asking.cancel()
        await until(lambda: not server._calls._unary, "the referee to see that the caller has left", every_s=0.01)
        store.told.set()
        await is_good_for_nothing(client, issued, watching)


@pytest.mark.parametrize("fails", [0, 1])
async def test_what_may_have_been_revoked_is_asked_about_until_the_store_answers(tmp_path: Path, fails: int) -> None:
    async with running(tmp_path / "data") as (server, client):
        issued, watching = await is_in_use(client)
        office = Office(client)
        Trouble(server, is_unknown=True, fails=fails)
        with pytest.raises(grpc.aio.AioRpcError, match="the store failed"):
            await office.revoke(issued)
        await is_good_for_nothing(client, issued, watching)


async def test_who_stops_while_a_token_is_revoked_has_revoked_it(tmp_path: Path) -> None:
    path = tmp_path / "data"
    async with running(path) as (_, client):
        issued, _ = await is_in_use(client)
    server = await Server.start(Config(path, store=place(path)))
    async with connected(server.address, client.organiser) as client:
        store = Trouble(server)
        asking = asyncio.ensure_future(Office(client).revoke(issued))
        await store.done.wait()
        stopping = asyncio.create_task(server.stop(grace_s=0))
        with pytest.raises(grpc.aio.AioRpcError):
            await asking
        store.told.set()
        await stopping
    async with running(path) as (_, client):
        call = client.games.GetGame(pb.GetGameRequest(), metadata=bearer(issued.secret))
        assert (await refused(call)).message == "the token was revoked"
