"""Two referees on one database: any of them takes any call, and the one that has the game answers it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.server.live.refusals import Unsound
from referee.server.live.watch import QUEUE_ITEMS
from referee.server.service import play_stream
from referee.server.service.server import Config, Server
from referee.server.service.tls import NODE_NAME, NODE_SECRET_BYTES, Certificates, NodeCredentials, Tls
from referee.server.store.nodes import Node
from referee.server.store.postgres_cluster import PostgresNodes
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_pb2, game_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import Security, open_channel
from tests.server.service.access import LateAnswer, Office
from tests.server.service.certificates import Authority
from tests.server.service.conftest import running
from tests.server.service.nodes import directories
from tests.server.service.player import Client, Play, bearer, refused, token_of
from tests.server.store.postgres import Postgres
from tests.waiting import until, waiting_for

pytestmark = pytest.mark.usefixtures("unhurried")


@dataclass
class Two:
    """The first one opens the games, and the other passes on."""

    owner: Server
    other: Server
    there: Client
    here: Client

    async def play(self, seats: int = 2, **fields: object) -> Play:
        """Return a game of the owner, played through the other."""
        play = await self.there.play(seats, **fields)  # type: ignore[arg-type]
        play.client = self.here
        return play


@pytest.fixture
async def two(tmp_path: Path, postgres: Postgres) -> AsyncIterator[Two]:
    url = postgres.new()
    await directories(url, tmp_path / "owner", tmp_path / "other")
    shutil.copy(tmp_path / "owner" / "organiser.token", tmp_path / "other")
    async with AsyncExitStack() as stack:
        owner, there = await stack.enter_async_context(running(tmp_path / "owner", store=url))
        other, here = await stack.enter_async_context(running(tmp_path / "other", store=url))
        yield Two(owner, other, there, here)


async def test_a_game_is_played_through_another_node(two: Two) -> None:
    play = await two.play(rules_id="kingdomino")
    await play.to_the_end()
    log = await two.here.log(play.id)
    assert log == await two.there.log(play.id)
    game = await two.here.games.GetGame(pb.GetGameRequest(game_id=play.id))
    assert game.game.state == game_pb2.GAME_STATE_OVER


async def test_streams_say_where_the_game_is(two: Two) -> None:
    play = await two.play()
    watching = two.here.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    named = dict(await watching.initial_metadata())
    assert named["referee-owner"] == two.owner.address
    assert "referee-api" in named
    assert (await watching.read()).HasField("snapshot")
    playing = two.here.games.PlayGame(metadata=bearer(token_of(play, 0)))
    await playing.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))
    assert dict(await playing.initial_metadata())["referee-owner"] == two.owner.address
    await play.catch_up(1)
    signed = play.join(0)
    await playing.write(pb.PlayGameRequest(act=pb.SignedAct(intent=signed.intent, signature=signed.signature, id=7)))
    while (message := await playing.read()) is not grpc.aio.EOF:
        if message.answer.id == 7:
            break
    assert message.answer.HasField("accepted")
    assert (await watching.read()).commit.entries


async def test_what_nodes_tell_each_other_nobody_else_may_say(two: Two) -> None:
    play = await two.play()
    for name in ("host", "gateway", "certificate", "x"):
        call = two.here.games.GetGame(
            pb.GetGameRequest(game_id=play.id), metadata=((f"x-referee-node-{name}", "ipv4:10.0.0.1"),)
        )
        assert (await refused(call)).reason == "PERMISSION_DENIED"


async def test_one_stream_tells_of_the_games_of_all_nodes(two: Two) -> None:
    token = (await Office(two.here).issue("ann", access.SCOPE_PLAY)).secret
    far = await two.there.play(principals=["ann", "bob"])
    watching = two.here.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token))
    near = await two.here.play(principals=["ann", "bob"])
    seen: dict[str, list[pb.WatchSeatResponse]] = {far.id: [], near.id: []}

    async def until_turns() -> None:
        while not all(any(each.HasField("turn") for each in found) for found in seen.values()):
            message = await watching.read()
            if message.game_id:
                seen[message.game_id].append(message)

    async with waiting_for("both games to be told"):
        await until_turns()
    assert all(found[0].update.HasField("snapshot") for found in seen.values())
    watching.cancel()


async def test_a_game_that_is_set_aside_is_told_of_once(two: Two) -> None:
    play = await two.here.play()
    later = await two.here.play()
    await later.until_play()  # so that there is something to read before the other one is looked at
    await until(lambda: two.other.data.store.nodes.others, "the nodes to see each other", every_s=0.01)
    two.other.live_games.set_aside(Unsound(bytes.fromhex(play.id), "as a test wants it"))
    issued = await Office(two.here).issue("eve", access.SCOPE_SCRIBE)
    points = [pb.ResumePoint(game_id=each.id, after_seq=0) for each in (later, play)]
    watching = two.here.games.WatchSeat(pb.WatchSeatRequest(resume=points), metadata=bearer(issued.secret))
    ended: list[str] = []
    async with waiting_for("both games to be told of"):
        while later.id not in ended:
            message = await watching.read()
            if not message.update.HasField("closing"):
                continue
            ended.append(message.game_id)
            if ended == [play.id]:
                await asyncio.sleep(2 * play_stream.LOOK_S)  # so that it could be sent again
                request = pb.AbortGameRequest(game_id=later.id)
                await two.here.games.AbortGame(request, metadata=bearer(two.here.organiser))
    assert ended == [play.id, later.id]


async def test_a_stream_goes_on_with_any_number_of_games(two: Two) -> None:
    """They are more than its queue holds, and each has news."""
    await until(lambda: two.other.data.store.nodes.others, "the nodes to see each other", every_s=0.01)
    games = [(await two.here.create(2)).game.id for _ in range(QUEUE_ITEMS + 44)]
    issued = await Office(two.here).issue("eve", access.SCOPE_SCRIBE)
    points = [pb.ResumePoint(game_id=game_id, after_seq=-1) for game_id in games]
    watching = two.here.games.WatchSeat(pb.WatchSeatRequest(resume=points), metadata=bearer(issued.secret))
    told: set[str] = set()
    async with waiting_for("every game to be told of"):
        while len(told) < len(games):
            message = await watching.read()
            assert not message.update.HasField("closing")
            if message.update.HasField("commit"):
                told.add(message.game_id)
    await asyncio.sleep(3 * play_stream.LOOK_S)  # in which the other node is heard of, and asked for them
    await two.here.games.AbortGame(pb.AbortGameRequest(game_id=games[0]), metadata=bearer(two.here.organiser))
    async with waiting_for("a game to be over"):
        while not (message := await watching.read()).update.HasField("closing"):
            assert message is not grpc.aio.EOF
    assert message.game_id == games[0]


async def test_a_token_that_is_revoked_at_one_node_is_good_at_none(two: Two) -> None:
    issued = await Office(two.there).issue("ann", access.SCOPE_PLAY)
    play = await two.play(principals=["ann", ""])
    playing = two.here.games.PlayGame(metadata=bearer(issued.secret))
    await playing.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))
    assert (await playing.read()).HasField("snapshot")
    await Office(two.there).revoke(issued)
    async with waiting_for("the stream to end"):
        while (message := await ended(playing)) is not None and not message.HasField("closing"):
            pass

    async def is_refused() -> bool:
        call = two.here.games.PlayGame(metadata=bearer(issued.secret))
        await call.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))
        try:
            await call.read()
        except grpc.aio.AioRpcError as error:
            return error.code() is grpc.StatusCode.UNAUTHENTICATED
        finally:
            call.cancel()
        return False

    async with waiting_for("the other node to refuse it"):
        while not await is_refused():
            pass


async def test_a_node_that_looks_a_token_up_while_it_is_revoked_elsewhere_lets_nobody_in(two: Two) -> None:
    office = Office(two.there)
    issued = await office.issue("ann", access.SCOPE_PLAY)
    play = await two.here.play()
    store, known = LateAnswer(two.other), two.other._door._known
    call = two.here.games.GetGame(pb.GetGameRequest(game_id=play.id), metadata=bearer(issued.secret))
    await store.read.wait()
    before = known.times_forgotten
    await office.revoke(issued)
    await until(lambda: known.times_forgotten > before, "the other node to hear of it", every_s=0.01)
    store.told.set()
    assert (await refused(call)).reason == "UNAUTHENTICATED"


async def ended(call: Any) -> Any:
    """Return the next message; None if there is none."""
    try:
        message = await call.read()
    except grpc.aio.AioRpcError:
        return None
    return None if message is grpc.aio.EOF else message


async def test_only_nodes_can_use_the_port_of_the_nodes(two: Two) -> None:
    """Callers without TLS, without a certificate, or with one made from another secret cannot."""
    address, name = two.owner.node_address, (("grpc.ssl_target_name_override", NODE_NAME),)
    stranger = NodeCredentials(bytes(NODE_SECRET_BYTES))
    ours = NodeCredentials(two.other.data.node_secret())
    trusting = grpc.ssl_channel_credentials(ours._trusted)
    for channel in (
        grpc.aio.insecure_channel(address),
        grpc.aio.secure_channel(address, trusting, options=name),
        grpc.aio.secure_channel(address, stranger.of_client(), options=name),
    ):
        async with channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await game_service_pb2_grpc.GameServiceStub(channel).ListGames(pb.ListGamesRequest())
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    async with grpc.aio.secure_channel(address, ours.of_client(), options=name) as channel:
        await game_service_pb2_grpc.GameServiceStub(channel).ListGames(pb.ListGamesRequest())


async def test_a_node_that_stops_ends_what_it_passes_on(two: Two) -> None:
    play = await two.play()
    watching = two.here.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    assert (await watching.read()).HasField("snapshot")
    two.other._calls.drain()
    assert (await refused(watching)).reason == "DRAINING"


async def test_what_is_under_way_at_a_node_that_is_dead_ends(two: Two, postgres: Postgres) -> None:
    """Though it hangs and its connections hold, or says that it lives: its games are another's."""
    await until(lambda: two.other.data.store.nodes.others, "the nodes to see each other", every_s=0.01)
    play = await two.play(principals=["ann", ""])
    watching = two.here.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    assert (await watching.read()).HasField("snapshot")
    token = bearer((await Office(two.here).issue("ann", access.SCOPE_PLAY)).secret)
    hangs, forwarder = LateAnswer(two.owner), two.other._forwarder
    assert forwarder is not None
    asking = two.here.games.GetGame(pb.GetGameRequest(game_id=play.id), metadata=token)
    playing = two.here.games.PlayGame(metadata=token)
    await playing.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id)))

    def are_passed_on() -> bool:
        return (forwarder.streams, sum(peer.under_way for peer in forwarder._peers.values())) == (2, 1)

    await until(are_passed_on, "all calls to be passed on", every_s=0.01)
    nodes = two.owner.data.store.nodes
    assert isinstance(nodes, PostgresNodes)
    postgres.ask(two.owner.data.store._url, f"UPDATE nodes SET dead = true WHERE id = {nodes.node}")  # type: ignore[attr-defined]
    async with waiting_for("the calls to end"):
        for call in (asking, playing.read(), watching.read()):
            found = await refused(call)
            assert (found.reason, found.retry_s) == ("NOT_OWNER", 0.2)
    hangs.told.set()


async def test_who_is_known_by_a_certificate_is_known_to_the_other_node(tmp_path: Path, postgres: Postgres) -> None:
    authority, clients = Authority(tmp_path), Authority(tmp_path, "clients")
    pair, ani = authority.issue("referee"), clients.issue("ani")
    certificates = Certificates(Tls(pair.certificate, pair.key, clients.path))
    await directories(postgres.new(), tmp_path / "owner", tmp_path / "other")
    token = (tmp_path / "owner" / "organiser.token").read_text().strip()
    security = Security(authority.path, ani.certificate, ani.key)
    async with AsyncExitStack() as stack:
        found: list[Client] = []
        for name in ("owner", "other"):
            server = await Server.start(Config(tmp_path / name, certificates=certificates))
            stack.push_async_callback(server.stop, 0)
            channel = open_channel(f"grpcs://{server.address}", token, security)
            found.append(Client(await stack.enter_async_context(channel), token))
        there, here = found
        request = access.IssueTokenRequest(principal="ani", scopes=[access.SCOPE_PLAY], certificate=ani.der)
        await Office(there).stub.IssueToken(request, metadata=bearer(token))
        game = (await there.create(principals=["ani", ""])).game
        playing = here.games.PlayGame()
        await playing.write(pb.PlayGameRequest(enter=pb.Enter(game_id=game.id)))
        named = dict(await playing.initial_metadata())
        assert named["referee-owner"].startswith("grpcs://")
        assert (await playing.read()).HasField("snapshot")
        playing.cancel()


async def test_errors_come_back_as_the_owner_says_them(two: Two) -> None:
    play = await two.play()
    await play.until_play()
    signed = play.move(play.seat_on_turn(), b"")
    call = two.here.games.SubmitIntent(
        pb.SubmitIntentRequest(game_id=play.id, intent=signed.intent, signature=bytes(64)),
        metadata=bearer(token_of(play, play.seat_on_turn())),
    )
    here = await refused(call)
    there = await refused(
        two.there.games.SubmitIntent(
            pb.SubmitIntentRequest(game_id=play.id, intent=signed.intent, signature=bytes(64)),
            metadata=bearer(token_of(play, play.seat_on_turn())),
        )
    )
    assert (here.reason, here.metadata, here.message) == (there.reason, there.metadata, there.message)
    beyond = two.here.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=10_000))
    assert (await refused(beyond.read())).reason == "SEQ_OUT_OF_RANGE"


async def test_whoever_calls_is_charged_by_the_owner_under_his_own_address(two: Two) -> None:
    play = await two.play()
    accounts = two.owner._door._accounts
    account = accounts.at("ipv4:127.0.0.1")
    before_s = account._full_s
    await two.here.games.GetGame(pb.GetGameRequest(game_id=play.id))
    assert account._full_s > before_s
    gateway = (await Office(two.here).issue("pages", access.SCOPE_GATEWAY)).secret
    for address in ("10.1.2.3", "10.1.2.4"):
        named = (("x-referee-gateway", f"Bearer {gateway}"), ("x-referee-for", address))
        await two.here.games.GetGame(pb.GetGameRequest(game_id=play.id), metadata=named)
    assert len(accounts._gateways["pages"].parts) == 2


async def test_who_is_told_that_a_game_is_elsewhere_passes_nothing_on(two: Two) -> None:
    """A node that is wrong about the owner cannot make two nodes send a call to and fro."""
    play = await two.there.play()
    game_id = bytes.fromhex(play.id)
    me = Node(99, "nobody", two.other.node_address)
    nodes = two.owner.data.store.nodes

    async def wrong(_: bytes) -> Node:
        return me

    two.owner.live_games._open.pop(game_id)  # else it knows better
    nodes.elsewhere = wrong  # type: ignore[method-assign, assignment]
    two.other.live_games._open.pop(game_id, None)
    found = await refused(two.here.games.GetGame(pb.GetGameRequest(game_id=play.id)))
    assert found.reason == "NOT_OWNER"
