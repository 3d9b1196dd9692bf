"""A referee that its players reach and the database does not: they are sent where their games continue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.server.service.server import Config, Server
from referee.server.store import nodes
from referee.v1 import game_service_pb2 as pb
from tests.nemesis.relay import Relay
from tests.server.service.nodes import CLOCKS, directories
from tests.server.service.player import Client, Play, bearer, connected, refused, token_of
from tests.server.service.resend import moved, send_all_again
from tests.server.store.postgres import USER, Postgres
from tests.waiting import until, waiting_for


class Way:
    """A relay on a loop of its own: what connects over it blocks the loop of the test."""

    def __init__(self, postgres: Postgres) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._relay = Relay([postgres.folder])
        self._do(self._relay.start())

    def url(self, url: str) -> str:
        return f"postgresql://{USER}@/{Postgres.name_in(url)}?host={self._relay.folders[0]}"

    def cut(self) -> None:
        self._loop.call_soon_threadsafe(self._relay.cut)

    def close(self) -> None:
        self._do(self._relay.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Cluster:
    """The first node reaches the database, the second one over a way that can be cut."""

    def __init__(self, way: Way, servers: list[Server], clients: list[Client]) -> None:
        self.way, self.servers = way, servers
        self.here, self.there = clients


@asynccontextmanager
async def cluster(postgres: Postgres, tmp_path: Path) -> AsyncIterator[Cluster]:
    url, paths = postgres.new(), [tmp_path / "one", tmp_path / "two"]
    await directories(url, *paths)
    token = (paths[0] / "organiser.token").read_text().strip()
    way = Way(postgres)
    async with AsyncExitStack() as stack:
        servers: list[Server] = []
        for path, store in zip(paths, (url, way.url(url)), strict=True):
            servers.append(await Server.start(Config(path, store=store)))
            stack.push_async_callback(servers[-1].stop, 0)
        clients = [await stack.enter_async_context(connected(server.address, token)) for server in servers]
        stack.callback(way.close)  # first of all: what waits for an answer over it is to fail
        for server in servers:
            others = server.data.store.nodes
            await until(lambda others=others: others.others, "the nodes to see each other", every_s=0.01)  # type: ignore[misc]
        yield Cluster(way, servers, clients)


async def entered(client: Client, play: Play, seat: int) -> Any:
    """Return a stream of PlayGame, of which the picture is read."""
    playing = client.games.PlayGame(metadata=bearer(token_of(play, seat)))
    await playing.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))
    assert (await playing.read()).HasField("snapshot")
    return playing


async def closing(stream: Any) -> int:
    """Read on to the end; return its reason."""
    async with waiting_for("the stream to end"):
        while not (message := await stream.read()).HasField("closing"):
            assert message is not grpc.aio.EOF
    reason: int = message.closing.reason
    return reason


async def test_a_node_that_is_cut_off_from_the_database_sends_its_players_away(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node lets no new player in."""
    async with cluster(postgres, tmp_path) as both:
        play = await both.there.play(terms=CLOCKS)
        await play.until_play()
        token = bearer(token_of(play, 0))
        playing = await entered(both.there, play, 0)
        watching = both.there.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
        following = both.there.games.WatchSeat(pb.WatchSeatRequest(), metadata=token)
        for stream in (watching, following):
            assert (await stream.read()) is not grpc.aio.EOF
        monkeypatch.setattr(nodes, "CUT_OFF_S", 1.0)
        both.way.cut()
        for stream in (playing, watching):
            assert await closing(stream) == pb.CLOSING_REASON_DRAINING
        async with waiting_for("the stream of all games to end"):
            while (message := await following.read()).game_id or not message.update.HasField("closing"):
                pass
        assert message.update.closing.reason == pb.CLOSING_REASON_DRAINING
        again = both.there.games.PlayGame(metadata=token)
        await again.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))
        for call in (
            again.read(),
            both.there.games.WatchGame(pb.WatchGameRequest(game_id=play.id)).read(),
            both.there.games.WatchSeat(pb.WatchSeatRequest(), metadata=token).read(),
            both.there.games.GetGame(pb.GetGameRequest(game_id=play.id)),
        ):
            assert (await refused(call)).reason == "STORE_FAILED"


@pytest.mark.long
async def test_the_games_of_a_node_that_is_cut_off_go_on_at_another(postgres: Postgres, tmp_path: Path) -> None:
    async with cluster(postgres, tmp_path) as both:
        play = await both.there.play(terms=CLOCKS)
        await play.until_play()
        await play.steps(1)
        direct, passed_on = await entered(both.there, play, 0), await entered(both.here, play, 1)
        watching = both.here.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
        assert (await watching.read()).HasField("snapshot")
        both.way.cut()
        for stream in (passed_on, watching):
            async with waiting_for("what is passed on to end"):
                found = await refused(_to_the_end(stream))
            assert found.reason == "NOT_OWNER"
        assert await closing(direct) == pb.CLOSING_REASON_DRAINING
        moved(play, both.here)
        await until(
            lambda: both.servers[0].live_games.running(bytes.fromhex(play.id)), "the game to be taken up", every_s=0.01
        )
        await send_all_again(play)
        await play.catch_up(play.record.size + 1)  # that it was interrupted
        await play.steps(2)


async def _to_the_end(stream: Any) -> None:
    while await stream.read() is not grpc.aio.EOF:
        pass
