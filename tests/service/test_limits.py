"""What everybody may do, nobody may do without limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc

from referee.v1 import game_service_pb2 as pb
from tests.service.conftest import running
from tests.service.player import Client, connected, refusal, refused


async def test_room_for_so_many_watchers(tmp_path: Path) -> None:
    """At one game and in all; who leaves makes room."""
    async with running(tmp_path / "data", max_watchers=3, max_watchers_of_game=2) as (_, client):
        one, two = [pb.WatchGameRequest(game_id=(await client.create()).game.id) for _ in range(2)]
        streams = [client.games.WatchGame(request) for request in (one, one, two)]
        for stream in streams:
            assert (await stream.read()).HasField("snapshot")
        found = await refused(client.games.WatchGame(one))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "watchers of this game"})
        found = await refused(client.games.WatchGame(two))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "watchers"})
        streams[0].cancel()
        await let_in(client, one.game_id)


async def test_a_watcher_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    """It does not take its place for ever, though its connection lives; and it is not told that it has everything."""
    async with running(tmp_path / "data") as (_, client):
        play, other = await client.play(6), await client.create()
        await play.to_the_end()
    async with running(tmp_path / "data", max_watchers=1, write_s=0.01) as (server, client):
        # So that little fits between a writer and a reader that does not read.
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, client.organiser, **narrow) as slow:
            stream = slow.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
            assert (await stream.read()).seq == 0
            await let_in(client, other.game.id)
            seen = 0
            while isinstance(message := await stream.read(), pb.WatchGameResponse):
                assert not message.HasField("closing")
                seen = message.seq
            assert seen < len(play.entries) - 1


async def let_in(client: Client, game_id: str) -> Any:
    """A stream, as soon as there is room for it."""
    for _ in range(5000):
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=game_id))
        try:
            await stream.read()
        except grpc.aio.AioRpcError as error:
            if refusal(error).reason != "LIMIT":
                raise
        else:
            return stream
    raise AssertionError("there is no room")
