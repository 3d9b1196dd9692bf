"""Stopping: accepted acts are answered and durable, streams end with the place to resume from, and it is over soon."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.log import file, intent
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.intent import SignedIntent
from referee.server.service.permissions import SERVICES
from referee.server.service.server import Config, Server
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.errors import answer_of
from tests.server.service.conftest import running
from tests.server.service.engines import Engine, place
from tests.server.service.facts import NOT_SERVING, commit_under_way, is_draining, under_way
from tests.server.service.player import Client, Play, bearer, connected, refused, seat_key, seat_seed, token_of
from tests.server.service.process import serve
from tests.server.service.streams import Stream, rest
from tests.waiting import until, waiting_for

NARROW = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
"""So that little fits between a writer and a reader that does not read."""


WAITS_FOR_THE_STORE = """
from dataclasses import replace
from referee.server.service.server import Server
start = Server.start
Server.start = classmethod(lambda _, config: start(replace(config, busy_s=600.0)))
"""
"""A referee whose store is waited for however long."""
GIVES_TIME_TO_READ = """
from referee.server.service.server import Server
Server.stop.__defaults__ = (15.0,)
"""
"""A referee that stops slowly: a reader has read everything by then, however slow the machine is."""


@asynccontextmanager
async def started(path: Path, **config: Any) -> AsyncIterator[tuple[Server, Client]]:
    """Start a server as ``running`` does, for tests that stop it."""
    server = await Server.start(Config(path, store=place(path), **config))
    async with connected(server.address, server.data.token_path.read_text().strip()) as client:
        yield server, client


async def log_of(client: Client, game_id: str) -> list[bytes]:
    return list(file.entries(BytesIO(await client.log(game_id))))


# --- acts under way ------------------------------------------------------------------------------------------


async def test_acts_under_way_are_answered_while_all_else_is_refused(tmp_path: Path, engine: Engine) -> None:
    data = tmp_path / "data"
    async with started(data, busy_s=600.0) as (server, client):
        plays = [await client.play(2, principals=["ani", ""] if number == 2 else ()) for number in range(3)]
        for play in plays[:2]:
            await play.until_play()
        unary, streamed, _ = plays
        seat = streamed.seat_on_turn()
        stream = Stream(streamed, token_of(streamed, seat), after_seq=streamed.record.size - 1)
        await stream.begin()
        watching = client.games.WatchGame(pb.WatchGameRequest(game_id=unary.id))
        await watching.read()
        with engine.held():
            act = unary.move(unary.seat_on_turn(), unary.a_move())
            answer = asyncio.create_task(unary.submit(act, token_of(unary, unary.seat_on_turn())))
            await stream.act(streamed.move(seat, streamed.a_move()))
            await under_way(server, 2)
            stopping = asyncio.create_task(server.stop(grace_s=600.0))
            await is_draining(client)
            await everything_else_is_refused(client, plays[2])
            assert not answer.done()
        assert (await answer).HasField("accepted")
        answered = await stream.read()
        assert answered.answer.HasField("accepted")
        last = await stream.read()
        assert (last.closing.reason, last.seq) == (pb.CLOSING_REASON_DRAINING, answered.seq)
        messages = await rest(watching)
        assert messages[-1].closing.reason == pb.CLOSING_REASON_DRAINING
        assert messages[-1].seq == (await answer).accepted.size - 1
        await stopping
    async with running(data) as (_, client):
        assert decode_entry((await log_of(client, unary.id))[act_seq(act)]).signed.intent == act.intent
        assert len(await log_of(client, streamed.id)) == answered.seq + 1


def act_seq(act: SignedIntent) -> int:
    return intent.decode_intent(act.intent).seq


async def everything_else_is_refused(client: Client, play: Play) -> None:
    """The reason is DRAINING; reads continue, and the health of every name is known."""
    token = play.created.seat_tokens[1]
    await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    play.record.read((await log_of(client, play.id))[0])
    entering = Stream(play, token)
    await entering.call.write(pb.PlayGameRequest(enter=entering.enter))
    for call in (
        client.create(),
        play.submit(play.join(1), token),
        client.games.WatchGame(pb.WatchGameRequest(game_id=play.id)),
        client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token)),
        entering.call,
    ):
        assert (await refused(call)).reason == "DRAINING"
    names = [service.full_name for service in SERVICES]
    health: Any = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", *names):
        assert (await health.Check(health_pb2.HealthCheckRequest(service=name))).status == NOT_SERVING
    reflection: Any = reflection_pb2_grpc
    reflected = reflection.ServerReflectionStub(client.channel).ServerReflectionInfo()
    await reflected.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    listed = {service.name for service in (await reflected.read()).list_services_response.service}
    assert set(names) <= listed
    await reflected.done_writing()


async def test_the_store_is_waited_for_however_long(tmp_path: Path, engine: Engine) -> None:
    """The callers may be cut off by then; what was accepted is durable all the same."""
    data = tmp_path / "data"
    async with started(data, busy_s=600.0) as (server, client):
        play = await client.play()
        await play.until_play()
        act = play.move(play.seat_on_turn(), play.a_move())
        with engine.held():
            answer = asyncio.create_task(play.submit(act, token_of(play, play.seat_on_turn())))
            await under_way(server, 1)
            stopping = asyncio.create_task(server.stop(grace_s=0))
            with pytest.raises(grpc.aio.AioRpcError):
                await answer
            for _ in range(100):
                await asyncio.sleep(0)
            assert not stopping.done()
        await stopping
    async with running(data) as (_, client):
        assert decode_entry((await log_of(client, play.id))[act_seq(act)]).signed.intent == act.intent


async def test_a_second_signal_ends_it_at_once(tmp_path: Path, engine: Engine) -> None:
    data = tmp_path / "data"
    referee = await serve(data, tmp_path / "log", changed=WAITS_FOR_THE_STORE)
    async with connected(referee.address, referee.token) as client:
        play = await client.play()
        await play.until_play()
        with engine.held():
            act = asyncio.create_task(play.submit(*play.next_act() or ()))
            await commit_under_way(client, play)  # otherwise there is nothing to wait for
            referee.process.terminate()
            await is_draining(client)
            referee.process.terminate()
            assert await referee.process.wait() == -signal.SIGTERM
            with pytest.raises(grpc.aio.AioRpcError):
                await act
    again = await serve(data, tmp_path / "log")
    async with connected(again.address, again.token) as client:
        assert await log_of(client, play.id) == play.entries
    again.process.send_signal(signal.SIGINT)
    assert await again.process.wait() == 0


# --- the real process under load -----------------------------------------------------------------------------


@dataclass
class Crowd:
    """All players, and their messages."""

    acked: list[tuple[str, int, bytes]] = field(default_factory=list)
    """Game, seq and intent of each accepted act."""
    last: list[tuple[str, Any]] = field(default_factory=list)
    """Game and last message of each stream that reads."""
    cut: list[Exception] = field(default_factory=list)
    """By streams that were written to when they were over: then the library forgets what there was to read."""
    begun: int = 0
    """Streams that have sent something."""
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self, play: Play, seat: int, acts: int) -> None:
        """Until the stream ends. ``acts``: of all together, after which there are enough."""
        stream, key = Stream(play, token_of(play, seat), after_seq=-1, legal_moves=True), seat_key(seat)
        message, sent, seen = await stream.begin(), b"", 0
        self.begun += 1
        while True:
            seen += len(message.commit.entries)
            assert message.seq == seen - 1
            if message.answer.HasField("accepted"):
                self.acked.append((play.id, message.answer.accepted.seq, sent))
                if len(self.acked) >= acts:
                    self.enough.set()
            if message.HasField("closing"):
                self.last.append((play.id, message))
                assert await stream.call.read() is grpc.aio.EOF
                return
            if message.HasField("turn"):
                turn = message.turn
                place = intent.Place(bytes.fromhex(play.id), turn.size, turn.head)
                if turn.awaited == pb.AWAITED_JOIN:
                    act = intent.join(place, seat, key, seat_seed(seat))
                elif turn.awaited == pb.AWAITED_REVEAL:
                    act = intent.reveal(place, seat, key, seat_seed(seat))
                else:
                    move = turn.moves[turn.size * 7919 % len(turn.moves)]
                    act = intent.move(place, Author(Role.SEAT, seat), key, move)
                sent = act.intent
                try:
                    await stream.act(act)
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
                    self.cut.append(error)
                    return
            message = await stream.read()

    async def watch(self, client: Client, game_id: str) -> None:
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=game_id, after_seq=-1))
        messages = [await stream.read()]
        self.begun += 1
        while (message := await stream.read()) is not grpc.aio.EOF:
            messages.append(message)
        message, seen = messages[-1], sum(len(message.commit.entries) for message in messages)
        assert message.seq == seen - 1
        self.last.append((game_id, message))


def check_told(crowd: Crowd, logs: dict[str, list[bytes]]) -> None:
    """Every acknowledged act is in the logs, and every stream got the end, and all before it."""
    for game_id, seq, signed in crowd.acked:
        assert decode_entry(logs[game_id][seq]).signed.intent == signed
    errors = [error for error in crowd.cut if isinstance(error, grpc.aio.AioRpcError)]
    assert all(answer_of(error).passes for error in errors), "who plays comes again"
    for game_id, message in crowd.last:
        assert message.closing.reason == pb.CLOSING_REASON_DRAINING
        assert message.seq == len(logs[game_id]) - 1, "nothing came after what the stream was told last"


@pytest.mark.long
async def test_under_load(tmp_path: Path) -> None:
    """Many games are in play, some watchers do not read: no acknowledged act is lost, every reader gets the end."""
    data, log, games, sleepers = tmp_path / "data", tmp_path / "log", 8, 4
    referee = await serve(data, log, changed=GIVES_TIME_TO_READ)
    crowd = Crowd()
    async with (
        connected(referee.address, referee.token) as client,
        connected(referee.address, referee.token, **NARROW) as sleepy,
    ):
        old = await client.play(4, seed=5)
        await old.to_the_end()
        plays = [await client.play(2) for _ in range(games)]
        players = [asyncio.create_task(crowd.play(play, seat, 300)) for play in plays for seat in range(2)]
        watchers = [asyncio.create_task(crowd.watch(client, play.id)) for play in plays]
        for _ in range(sleepers):
            stream = sleepy.games.WatchGame(pb.WatchGameRequest(game_id=old.id, after_seq=-1))
            assert (await stream.read()).HasField("commit")
        enough = asyncio.create_task(crowd.enough.wait())
        async with waiting_for("so many acts"):
            await asyncio.wait([enough, *players], return_when=asyncio.FIRST_COMPLETED)
        assert crowd.enough.is_set()
        await until(lambda: crowd.begun == len(players) + len(watchers), "every stream", every_s=0.01)
        referee.process.terminate()
        async with waiting_for("the end of every stream and of the referee"):
            await asyncio.gather(*players, *watchers)
            assert await referee.process.wait() == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (cut,) = [line for line in lines if line["event"] == "streams cut"]
    assert cut["WatchGame"] == sleepers
    assert "PlayGame" not in cut
    assert lines[-1]["event"] == "stopped"
    again = await serve(data, log)
    async with connected(again.address, again.token) as client:
        logs = {play.id: await log_of(client, play.id) for play in plays}
    again.process.terminate()
    assert await again.process.wait() == 0
    assert len(crowd.last) == 3 * games - len(crowd.cut)
    check_told(crowd, logs)
