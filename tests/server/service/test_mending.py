"""After a failure: tables are read back unasked, every turn is announced, and no stream is lost over one game."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log import intent
from referee.server.live.watch import SeatWatcher
from referee.server.service import game_service as games_module
from referee.server.service.calls import ResponseStream
from referee.server.service.server import Server
from referee.server.store.sql import MARKS_FILE
from referee.server.store.store import StoreFailed
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.facts import held
from tests.server.service.player import Client, Play, bearer, connected, refused, seat_key, seat_seed, token_of
from tests.server.service.process import serve
from tests.waiting import until, waiting_for


async def on_turn(client: Client) -> tuple[Play, str]:
    """Return a game, and the token of the seat whose move is awaited."""
    play = await client.play()
    await play.until_play()
    return play, token_of(play, play.seat_on_turn())


async def stream_of(kind: str, play: Play, token: str) -> Any:
    """From the head on: there is nothing to send but the turn."""
    after_seq = play.record.size - 1
    if kind == "WatchSeat":
        resume = [pb.ResumePoint(game_id=play.id, after_seq=after_seq)]
        return play.client.games.WatchSeat(pb.WatchSeatRequest(resume=resume), metadata=bearer(token))
    stream = play.client.games.PlayGame(metadata=bearer(token))
    await stream.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id, after_seq=after_seq)))
    return stream


async def ani(client: Client) -> str:
    """Return a principal's token."""
    return (await Office(client).issue("ani", access.SCOPE_PLAY)).secret


def is_heartbeat(message: Any) -> bool:
    update = message.update if isinstance(message, pb.WatchSeatResponse) else message
    return bool(update.HasField("heartbeat"))


async def told(stream: Any) -> Any:
    """Return the next message that is not just a sign of life."""
    async with waiting_for("something else than heartbeats"):
        while (message := await stream.read()) is not grpc.aio.EOF and is_heartbeat(message):
            pass
    return message


@contextmanager
def withheld(server: Server) -> Iterator[list[Callable[[StoreFailed | None], None]]]:
    """Hold commits meanwhile until the test decides their outcome: none gets to the store."""
    commits: list[Callable[[StoreFailed | None], None]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.data.store, "commit", lambda _, done: commits.append(done))
        yield commits


KINDS = ["PlayGame", "WatchSeat"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_is_told_after_a_commit_that_failed(kind: str, tmp_path: Path) -> None:
    """The stream comes in when it has failed, or while it is under way."""
    async with running(tmp_path / "data", heartbeat_s=0.05) as (server, client):
        play, token = await on_turn(client)
        act = play.next_act()
        assert act is not None
        with withheld(server) as commits:
            acting = asyncio.create_task(refused(play.submit(*act)))
            await until(lambda: commits, "a commit under way")
            before = await stream_of(kind, play, token)
            assert is_heartbeat(await before.read())
            commits[0](StoreFailed("the disk is full"))
            assert (await acting).reason == "STORE_FAILED"
            after = await stream_of(kind, play, token)
        for stream in (before, after):
            message = await told(stream)
            assert (message.turn.awaited, message.turn.size) == (pb.AWAITED_MOVE, play.record.size)
        await play.act(*act)


async def test_who_watches_gets_what_was_durable_though_nobody_asks(tmp_path: Path) -> None:
    """The entry could not be marked: its author learned that it had failed, and does not come again."""
    async with running(tmp_path / "data", busy_s=0.01, heartbeat_s=0.05) as (_, client):
        play, _ = await on_turn(client)
        size = play.record.size
        watching = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=size - 2))
        assert (await watching.read()).seq == size - 1
        others = [await stream_of(kind, play, token_of(play, 1 - play.seat_on_turn())) for kind in KINDS]
        act = play.next_act()
        assert act is not None
        with held(tmp_path / "data" / MARKS_FILE):
            for stream in others:
                assert is_heartbeat(await stream.read())
            assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
        await play.catch_up(size + 1)
        for stream in (watching, *others):
            message = await told(stream)
            update = message.update if isinstance(message, pb.WatchSeatResponse) else message
            assert list(update.commit.entries) == play.entries[size:]


async def test_a_referee_that_cannot_read_back_stops_all_the_same(tmp_path: Path) -> None:
    def mending() -> list[asyncio.Task[Any]]:
        return [task for task in asyncio.all_tasks() if "_mend" in repr(task.get_coro())]

    async with running(tmp_path / "data", busy_s=0.01) as (server, client):
        play, _ = await on_turn(client)
        act = play.next_act()
        assert act is not None
        with held(tmp_path / "data" / MARKS_FILE):
            assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
            assert len(mending()) == 1
            await server.live_games.close()
            assert not mending()


async def test_one_game_ends_no_stream_of_others(tmp_path: Path, engine: Engine) -> None:
    """A game is set aside, shorter than the client knows it, or not there at all: the stream says so of that game."""
    async with running(tmp_path / "data") as (_, client):
        token = await ani(client)
        sick, short, well = [await client.create(2, principals=["ani", ""]) for _ in range(3)]
    engine.ask("UPDATE entries SET data = ? WHERE game = 1", bytes(1))
    async with running(tmp_path / "data") as (_, client):
        unknown = "0" * 32
        points = {sick.game.id: 0, unknown: 3, short.game.id: 5, well.game.id: 0}
        resume = [pb.ResumePoint(game_id=game_id, after_seq=seq) for game_id, seq in points.items()]
        stream = client.games.WatchSeat(pb.WatchSeatRequest(resume=resume), metadata=bearer(token))
        closed = {}
        while not (message := await stream.read()).HasField("turn"):
            closed[message.game_id] = (message.update.seq, message.update.closing.reason)
        assert closed == {
            sick.game.id: (0, pb.CLOSING_REASON_SET_ASIDE),
            unknown: (-1, pb.CLOSING_REASON_NOT_THERE),
            short.game.id: (0, pb.CLOSING_REASON_NOT_THERE),
        }
        assert message.game_id == well.game.id
        later = await client.create(2, principals=["ani", ""])
        assert (await stream.read()).game_id == later.game.id


async def test_a_turn_comes_after_every_entry_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network is slow just when turns are announced; meanwhile the games continue."""
    slow, go_on = asyncio.Event(), asyncio.Event()
    send = ResponseStream.send

    async def held(self: ResponseStream, data: bytes) -> None:
        await send(self, data)
        if isinstance(self.watcher, SeatWatcher) and pb.WatchSeatResponse.FromString(data).HasField("turn"):
            slow.set()
            await go_on.wait()

    monkeypatch.setattr(ResponseStream, "send", held)
    async with running(tmp_path / "data") as (_, client):
        token = await ani(client)
        plays = [await client.play(4, principals=["ani", "", "", ""]) for _ in range(3)]
        stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token))
        await slow.wait()
        for play in plays:
            await play.catch_up(1)
            await play.act(play.join(1), token_of(play, 1))
        go_on.set()
        sizes: dict[str, int] = {}
        turns: list[tuple[int, int]] = []
        while sorted(sizes.values()) != [2] * 3 or len(turns) < 4:
            message = await stream.read()
            if message.HasField("turn"):
                turns.append((message.turn.size, sizes[message.game_id]))
            else:
                sizes[message.game_id] = message.update.seq + 1
        assert sorted(turns) == [(1, 1), (2, 2), (2, 2), (2, 2)]


async def test_a_checkpoint_that_is_gone_harms_one_game(tmp_path: Path, engine: Engine) -> None:
    """In a process of its own, as it might stand still."""
    referee = await serve(tmp_path / "data", tmp_path / "log")
    try:
        async with connected(referee.address, referee.token) as client:
            play, well = await client.play(), await client.play(seed=2)
            await play.until_play()
            engine.ask("UPDATE entries SET note = ? WHERE game = 1 AND seq = ?", b"", play.record.size - 1)
            request = pb.WatchGameRequest(game_id=play.id, after_seq=play.record.size - 2)
            assert (await refused(client.games.WatchGame(request, timeout=300))).reason == "SET_ASIDE"
            await well.until_play()
    finally:
        referee.process.kill()
        await referee.process.wait()


async def test_who_waits_for_a_game_that_is_not_opened_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        token = await ani(client)
        with withheld(server) as commits:
            creating = asyncio.create_task(refused(client.create(2, principals=["ani", ""])))
            await until(lambda: commits, "a game being opened")
            (table,) = server.live_games.open_games
            stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token))
            await until(lambda: table.present, "a stream that waits for the game")
            commits[0](StoreFailed("the disk is full"))
            assert (await creating).reason == "STORE_FAILED"
        later = await client.create(2, principals=["ani", ""])
        assert (await stream.read()).game_id == later.game.id
        assert [table.game_id.hex() for table in server.live_games.open_games] == [later.game.id]
        assert not server.live_games.aside


async def test_a_create_that_failed_and_is_durable_has_one_table(tmp_path: Path) -> None:
    """It could not be marked. One stream was there before, one comes in meanwhile; both hear of all that follows."""
    async with running(tmp_path / "data", busy_s=1.0, heartbeat_s=0.05) as (server, client):
        token = await ani(client)
        streams = [client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token))]
        assert is_heartbeat(await streams[0].read())
        with held(tmp_path / "data" / MARKS_FILE):
            creating = asyncio.create_task(refused(client.create(2, principals=["ani", ""])))
            await until(lambda: server.live_games.seats.games_of("ani"), "a game being opened")
            (table,) = server.live_games.open_games
            streams.append(client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token)))
            await until(lambda: table.present, "a stream that waits for the game")
            assert (await creating).reason == "STORE_FAILED"
        for stream in streams:
            message = await told(stream)
            assert (message.game_id, message.update.snapshot.game.size) == (table.game_id.hex(), 1)
            assert (await told(stream)).turn.awaited == pb.AWAITED_JOIN
        assert list(server.live_games.open_games) == [table]
        record = await table.record()
        signed = intent.join(record.place, 0, seat_key(0), seat_seed(0))
        request = pb.SubmitIntentRequest(game_id=table.game_id.hex(), intent=signed.intent, signature=signed.signature)
        await client.games.SubmitIntent(request, metadata=bearer(token))
        for stream in streams:
            assert len((await told(stream)).update.commit.entries) == 1


async def test_an_answer_that_cannot_be_made_leaves_no_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, token = await on_turn(client)
        size = play.record.size
        own = await stream_of("PlayGame", play, token)
        assert (await own.read()).HasField("turn")
        act = play.next_act()
        assert act is not None
        original = games_module._StreamReply._message

        def fail(*words: Any) -> pb.Answer:
            monkeypatch.setattr(games_module._StreamReply, "_message", original)
            raise MemoryError("no more")

        monkeypatch.setattr(games_module._StreamReply, "_message", fail)
        signed = pb.SignedAct(intent=act[0].intent, signature=act[0].signature, id=1)
        await own.write(pb.PlayGameRequest(act=signed))
        await play.catch_up(size + 1)
        await play.steps(2)
        entries: list[bytes] = []
        while size + len(entries) < play.record.size:
            entries += (await own.read()).commit.entries
        assert entries == play.entries[size:]
