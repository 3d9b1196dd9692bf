"""Guessing tokens costs the guesser: the store is asked little, and a token gets in from the same address."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from referee.server.live.opening import new_token
from referee.server.live.refusals import LimitReached
from referee.server.service.limits import REQUESTS_PER_S, STRANGERS_HELD_S, STRANGERS_PART, Account, Guesses
from referee.server.service.server import Server
from referee.server.store.store import Grant
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.limits import SPARSE
from tests.server.service.player import Client, Refusal, bearer, connected, refused
from tests.waiting import until, waiting_for

ALONE: Mapping[str, Any] = {"grpc.use_local_subchannel_pool": 1}
"""Options of a channel that has a connection of its own."""


class Counted:
    """Counts what the store is asked about tokens, and the most questions at one time."""

    def __init__(self, server: Server) -> None:
        self.asked = self.most = self._open = 0
        self.answers = asyncio.Event()
        """Cleared by a test that wants questions to come together: SQLite answers at once."""
        self.answers.set()
        store: Any = server.data.store
        self._find = store.grant
        store.grant = self._grant

    async def _grant(self, digest: bytes) -> Grant | None:
        self.asked += 1
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            await self.answers.wait()
            found: Grant | None = await self._find(digest)
        finally:
            self._open -= 1
        return found


def guess(client: Client) -> Awaitable[Refusal]:
    return refused(client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(new_token())))


async def test_a_burst_of_guesses_asks_the_store_no_more_than_the_address_may(tmp_path: Path) -> None:
    """And each is refused for one of two reasons; of many for the limit, after a while."""
    requests_per_s = 20.0  # so few that even a slow machine asks more often
    async with running(tmp_path / "data", requests_per_s=requests_per_s) as (server, client):
        store = Counted(server)
        begun_s = monotonic()
        found = await asyncio.gather(*(guess(client) for _ in range(800)))
        reasons = {each.reason for each in found}
        assert reasons == {"UNAUTHENTICATED", "LIMIT"}
        assert store.most == 1
        held = requests_per_s * STRANGERS_PART * STRANGERS_HELD_S
        refilled = (monotonic() - begun_s) * requests_per_s * STRANGERS_PART
        assert held <= store.asked <= held + refilled + 2


@pytest.mark.usefixtures("nothing_refills")
async def test_a_new_token_gets_in_while_others_at_its_address_guess(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (server, client):
        issued = await Office(client).issue("ani", access.SCOPE_PLAY)
        store, guesses = Counted(server), count()

        async def guess_on(guessing: Client) -> None:
            while True:
                await guess(guessing)
                next(guesses)

        async with (
            connected(server.address, "", **ALONE) as guessing,
            connected(server.address, "", **ALONE) as playing,
        ):
            flood = [asyncio.create_task(guess_on(guessing)) for _ in range(100)]
            await until(lambda: store.asked > 2, "the store to be asked once the address has nothing left")
            async with waiting_for("a valid token to be let in"):
                await playing.games.ListGames(pb.ListGamesRequest(), metadata=bearer(issued.secret))
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
        assert store.asked < next(guesses) + 2


async def test_calls_that_show_the_same_new_token_ask_once(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=REQUESTS_PER_S) as (server, client):
        issued = await Office(client).issue("ani", access.SCOPE_PLAY)
        store, queues = Counted(server), server._door._guesses._queues
        store.answers.clear()
        calls = [client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(issued.secret)) for _ in range(20)]
        waiting = asyncio.gather(*calls)
        await until(
            lambda: store.asked == 20 or sum(queue.waiting.total() for queue in queues.values()) == 20, "20 calls"
        )
        store.answers.set()
        await waiting
        assert store.asked == 1


@pytest.mark.usefixtures("nothing_refills")
async def test_a_token_that_was_known_before_is_no_guess(tmp_path: Path) -> None:
    """When all are looked up anew, players do not wait for a caller who uses up their address."""
    async with running(tmp_path / "data", requests_per_s=0.3) as (server, client):  # three at once, one of an address
        issued, door = await Office(client).issue("ani", access.SCOPE_PLAY), server._door
        await client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(issued.secret))
        await guess(client)
        async with (
            door._guesses.turn(door._accounts.at("ipv4:127.0.0.1"), "another connection"),
            waiting_for("a token that is looked up out of turn"),
        ):
            door.forget_all()
            await client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(issued.secret))


@pytest.mark.usefixtures("nothing_refills")
def test_of_each_connection_one_waits() -> None:
    asyncio.run(_one_waits())


async def _one_waits() -> None:
    guesses, account = Guesses(), Account(requests_per_s=1000.0, held_s=0.001)
    account.charge()
    account.charge()
    entered: list[str] = []

    async def wait(connection: str) -> None:
        async with guesses.turn(account, connection):
            entered.append(connection)
            account.charge()

    found = await asyncio.gather(*(wait(each) for each in "aaabbc"), return_exceptions=True)
    assert sorted(entered) == ["a", "b", "c"]
    assert [type(each) for each in found if each is not None] == [LimitReached] * 3
    assert not guesses._queues[account].waiting
