"""Watching: every entry once, in order, from wherever one comes in, and a word at the end."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path

import grpc

from referee.log import file
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, bearer, connected
from tests.server.service.streams import rest, watched


def entries_of(messages: list[pb.WatchGameResponse]) -> list[bytes]:
    return [data for message in messages for data in message.commit.entries]


async def test_a_snapshot_then_what_follows(client: Client) -> None:
    play = await client.play()
    await play.until_play()
    await play.steps(5)
    stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    first = await stream.read()
    size = play.record.size
    assert (first.seq, first.snapshot.game.size, first.snapshot.game.head) == (size - 1, size, play.record.head)
    game = await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    assert (first.snapshot.game, first.snapshot.position) == (game.game, game.position)
    await play.steps(5)
    while size < play.record.size:
        message = await stream.read()
        assert list(message.commit.entries) == play.entries[size : message.seq + 1]
        assert message.commit.checkpoint == play.notes[message.seq + 1]
        size = message.seq + 1


async def test_resuming_anywhere(client: Client) -> None:
    play = await client.play()
    await play.until_play()
    await play.steps(20)
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    await play.catch_up(play.record.size + 2)
    assert entries_of(await watched(client, play.id, -1)) == play.entries
    for after_seq in range(len(play.entries)):
        messages = await watched(client, play.id, after_seq)
        assert entries_of(messages) == play.entries[after_seq + 1 :]
        ends = [size - 1 for size in sorted(play.notes) if size - 1 > after_seq]
        assert [message.seq for message in messages[:-1]] == ends
        assert messages[-1].seq == len(play.entries) - 1
        assert messages[-1].closing.reason == pb.CLOSING_REASON_GAME_OVER


async def test_coming_in_while_it_goes_on(client: Client) -> None:
    """Watchers start at every moment, some from a snapshot, some from an entry; none has a gap or a repeat."""
    play = await client.play(3)
    await play.until_play()
    watchers: list[tuple[int | None, asyncio.Task[list[pb.WatchGameResponse]]]] = []
    for step in range(60):
        after_seq = None if step % 3 == 0 else (step * 7) % play.record.size
        watchers.append((after_seq, asyncio.create_task(watched(client, play.id, after_seq))))
        await play.step()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    await play.catch_up(play.record.size + 2)
    for after_seq, watcher in watchers:
        messages = await watcher
        first = messages[0].seq if after_seq is None else after_seq
        assert messages[0].HasField("snapshot") == (after_seq is None)
        assert entries_of(messages) == play.entries[first + 1 :]


async def test_a_finished_game(client: Client) -> None:
    play = await client.play()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    snapshot, closing = await watched(client, play.id)
    assert snapshot.snapshot.game.state == game_pb2.GAME_STATE_OVER
    assert (closing.seq, closing.closing.reason) == (2, pb.CLOSING_REASON_GAME_OVER)


async def test_a_heartbeat_in_silence(tmp_path: Path) -> None:
    async with running(tmp_path / "data", heartbeat_s=0.01) as (_, client):
        play = await client.play()
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
        assert (await stream.read()).HasField("commit")
        for _ in range(3):
            message = await stream.read()
            assert (message.seq, message.WhichOneof("item")) == (0, "heartbeat")
            assert message.heartbeat.referee_ms > 0


async def test_draining(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.steps(3)
        streams = [
            client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=after_seq)) for after_seq in (None, 1)
        ]
        for stream in streams:
            await stream.read()
        server.live_games.drain()
        for stream in streams:
            messages = await rest(stream)
            assert messages[-1].closing.reason == pb.CLOSING_REASON_DRAINING
            assert messages[-1].seq == play.record.size - 1


async def test_too_slow(tmp_path: Path) -> None:
    """A watcher that stops reading is cut off, learns where to resume, and misses nothing when it does."""
    async with running(tmp_path / "data", queue_items=16) as (server, client):
        token = client.organiser
        # So that little fits between a writer and a reader that does not read.
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, token, **narrow) as slow:
            play = await client.play(6)
            await play.catch_up(1)
            stream = slow.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
            seen = [await stream.read()]
            await play.to_the_end()
            seen += await rest(stream)
            assert seen[-1].closing.reason == pb.CLOSING_REASON_TOO_SLOW
            assert entries_of(seen) == play.entries[: seen[-1].seq + 1]
            later = await watched(slow, play.id, seen[-1].seq)
            assert entries_of(seen) + entries_of(later) == play.entries


async def test_a_watcher_that_leaves_is_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.steps(2)
        table = await server.live_games.game(bytes.fromhex(play.id))
        assert len(table.audience) == 1
        streams = [client.games.WatchGame(pb.WatchGameRequest(game_id=play.id)) for _ in range(5)]
        for stream in streams:
            await stream.read()
        assert len(table.audience) == 6
        for stream in streams:
            stream.cancel()
        # The server has noticed or not: unread messages harm no client.
        while len(table.audience) > 1:
            await play.step()


async def test_the_log_is_what_was_watched(play: Play) -> None:
    await play.steps(10)
    assert list(file.entries(BytesIO(await play.client.log(play.id)))) == play.entries


async def test_the_log_comes_in_chunks(play: Play) -> None:
    await play.to_the_end()
    stream = play.client.games.GetLog(pb.GetLogRequest(game_id=play.id))
    chunks = [response.chunk async for response in stream]
    assert len(chunks) > 1
    assert b"".join(chunks) == await play.client.log(play.id)
    assert await stream.code() is grpc.StatusCode.OK
