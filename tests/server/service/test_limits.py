"""Every right that all callers have is limited."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log.intent import SignedIntent
from referee.server.live.refusals import LimitReached
from referee.server.service.limits import STRANGERS_HELD_S, STRANGERS_PART, Account, Accounts, host_of
from referee.v1 import game_service_pb2 as pb
from referee.v1.rules_service_pb2 import ListRulesRequest
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.facts import impatient
from tests.server.service.gateway_token import forwarded
from tests.server.service.limits import SPARSE, let_in, to_the_end
from tests.server.service.player import (
    CODE,
    Client,
    Play,
    against_the_rules,
    bearer,
    connected,
    refusal,
    refused,
    token_of,
)
from tests.server.service.streams import Stream
from tests.sizes import sample_of
from tests.waiting import until


async def test_room_for_so_many_watchers(tmp_path: Path) -> None:
    """At one game and in all; a watcher that leaves makes room."""
    async with running(tmp_path / "data", max_watchers=3, max_watchers_of_game=2) as (_, client):
        one, two = [await client.create(4) for _ in range(2)]
        tokens = [*one.seat_tokens, *two.seat_tokens]
        streams = [watch(client, game, tokens.pop()) for game in (one, one, two)]
        for stream in streams:
            assert (await stream.read()).HasField("snapshot")
        found = await refused(watch(client, one, tokens.pop()))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "watchers of this game"})
        found = await refused(watch(client, two, tokens.pop()))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "watchers"})
        streams[0].cancel()
        await let_in(client, one.game.id)


def watch(client: Client, game: pb.CreateGameResponse, token: str = "", address: str = "") -> Any:
    """A stream of the game; ``address``: that a gateway with this token watches for, who has none."""
    metadata = forwarded(token, address) if address else bearer(token) if token else ()
    return client.games.WatchGame(pb.WatchGameRequest(game_id=game.game.id), metadata=metadata)


class Hall:
    """Callers who take all the places that they get, and keep them."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.streams: list[Any] = []

    async def takes(self, game: pb.CreateGameResponse, token: str = "", address: str = "") -> tuple[int, str]:
        """How many places one caller gets, and why no more."""
        before = len(self.streams)
        while True:
            stream = watch(self.client, game, token, address)
            try:
                await stream.read()
            except grpc.aio.AioRpcError as error:
                return len(self.streams) - before, refusal(error).metadata["limit"]
            self.streams.append(stream)


async def test_no_caller_takes_all_places_of_watchers_and_strangers_leave_half(tmp_path: Path) -> None:
    """Places of one game and of all. After strangers, a token still gets in, also one that a gateway sends."""
    async with running(tmp_path / "data", max_watchers_of_game=20, max_watchers=50) as (server, client):
        game, other, third = [await client.create(4) for _ in range(3)]
        gateway, hall, what = server.gateway_token(), Hall(client), "watchers of this game"
        assert await hall.takes(game) == (2, f"{what} by one caller")
        for number in range(4):
            assert await hall.takes(game, gateway, f"192.0.2.{number}") == (2, f"{what} by one caller")
        assert await hall.takes(game, gateway, "192.0.2.9") == (0, f"{what} without a token")
        for token in (gateway, *game.seat_tokens[:3]):
            assert await hall.takes(game, token) == (2, f"{what} by one caller")
        assert await hall.takes(game, game.seat_tokens[3]) == (2, what), "the last two of twenty"
        assert await hall.takes(other) == (2, f"{what} by one caller")
        assert await hall.takes(third) == (1, "watchers by one caller"), "five in all"


async def test_a_watcher_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    """It does not take its place for ever, though its connection lives; and it gets no sign that it has everything."""
    async with running(tmp_path / "data") as (_, client):
        play, other = await client.play(6), await client.create()
        await play.to_the_end()
    async with running(tmp_path / "data", max_watchers=1) as (server, client):
        # So that little fits between a writer and a reader that does not read.
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, client.organiser, **narrow) as slow:
            stream = slow.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
            assert (await stream.read()).seq == 0
            with impatient(server, write_s=0.01):
                await until(lambda: not server._calls._streams, "it is cut off", every_s=0.01)
            await let_in(client, other.game.id)
            seen = 0
            while isinstance(message := await stream.read(), pb.WatchGameResponse):
                assert not message.HasField("closing")
                seen = message.seq
            assert seen < len(play.entries) - 1


@pytest.mark.parametrize("read", sample_of([0, 1], 1))
async def test_a_log_that_is_not_read_is_cut_off(read: int, tmp_path: Path) -> None:
    """From its first message on, or later; and a late reader gets no sign that this was all of it."""
    async with running(tmp_path / "data") as (_, client):
        play, other = await client.play(6), await client.create()
        await play.to_the_end()
    async with running(tmp_path / "data", max_streams=1) as (server, client):
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, client.organiser, **narrow) as slow:
            stream = slow.games.GetLog(pb.GetLogRequest(game_id=play.id))
            await stream.initial_metadata()
            for _ in range(read):
                await stream.read()
            with impatient(server, write_s=0.01):
                await until(lambda: not server._calls._streams, "it is cut off", every_s=0.01)
            await let_in(client, other.game.id)
            assert (await refused(to_the_end(stream))).reason == "DEADLINE"


async def test_a_stream_lasts_until_it_was_read(tmp_path: Path) -> None:
    """Also when all of it was written long ago, and only its reader is missing."""
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await play.until_play()
        await play.steps(40)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        assert len(await client.log(play.id)) < 60 << 10, "it fits into what gRPC would gladly keep"
    async with running(tmp_path / "data", max_streams=1) as (server, client):
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, client.organiser, **narrow) as slow:
            stream = slow.games.GetLog(pb.GetLogRequest(game_id=play.id))
            await stream.initial_metadata()
            other = client.games.GetLog(pb.GetLogRequest(game_id=play.id))
            assert (await refused(other)).metadata == {"limit": "streams"}
            await to_the_end(stream)
            await let_in(client, play.id)


# --- how much one caller may take ------------------------------------------------------------------------------


@pytest.mark.usefixtures("nothing_refills")
async def test_an_account_for_each_caller(tmp_path: Path) -> None:
    """A caller that has used up its own account has used up no other's."""
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        created = await client.create()
        callers = [bearer(created.seat_tokens[0]), bearer(created.seat_tokens[1]), ()]
        for metadata in callers:
            await client.rules.ListRules(ListRulesRequest(), metadata=metadata)
        for metadata in (*callers, bearer(client.organiser)):
            found = await refused(client.rules.ListRules(ListRulesRequest(), metadata=metadata))
            assert (found.reason, found.metadata) == ("LIMIT", {"limit": "requests"})
            assert 0 < found.retry_s <= (1 if metadata else 1 / STRANGERS_PART) / SPARSE
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=created.game.id))
        assert (await refused(stream)).reason == "LIMIT", "opening a stream is a request"


@pytest.mark.usefixtures("nothing_refills")
async def test_guessing_tokens_is_limited_by_address(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        for token, reason in (("x" * 43, "UNAUTHENTICATED"), ("y" * 43, "LIMIT"), ("?", "LIMIT"), ("z" * 43, "LIMIT")):
            found = await refused(client.rules.ListRules(ListRulesRequest(), metadata=bearer(token)))
            assert found.reason == reason
        await client.create()


@pytest.mark.usefixtures("nothing_refills")
async def test_whoever_is_awaited_is_judged_always(tmp_path: Path) -> None:
    """With nothing left: what is due now is judged, right or wrong; everything else is not even looked at."""
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        play = await client.play()
        await play.until_play()
        while play.seat_on_turn() != 0:
            await play.step()
        seat, token = 0, token_of(play, 0)
        good = play.move(seat, play.a_move())
        forged = SignedIntent(good.intent, bytes(64), b"")
        assert (await refused(play.submit(forged, token))).reason == "BAD_SIGNATURE", "its one request"
        assert (await refused(play.submit(forged, token))).reason == "BAD_SIGNATURE", "it could have been the right one"
        assert (await play.submit(play.move(seat, against_the_rules(play)), token)).refused.violations
        request, _, _ = play.sent[0]
        for wrong in (
            SignedIntent(b"\xff", good.signature, b""),
            SignedIntent(good.intent + bytes(18_000), good.signature, b""),
            SignedIntent(request.intent, request.signature, b""),
        ):
            found = await refused(play.submit(wrong, token))
            assert (found.reason, found.metadata) == ("LIMIT", {"limit": "requests"})
            assert found.retry_s > 0
        await play.act(good, token)
        stale = play.move(1 - play.seat_on_turn(), b"")
        await refused(play.submit(stale, token_of(play, 1 - play.seat_on_turn())))
        await play.steps(10)


@pytest.mark.usefixtures("nothing_refills")
async def test_a_stream_with_nothing_left_plays_on(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        play = await client.play()
        await play.until_play()
        seat = play.seat_on_turn()
        stream = Stream(play, token_of(play, seat))  # its one request
        await stream.begin()
        good = play.move(seat, play.a_move())
        before = play.sent[0][0]
        again = SignedIntent(before.intent, before.signature, b"")
        for wrong in (again, SignedIntent(b"\xff", good.signature, b"")):
            failure = (await stream.answer(wrong)).answer.failure
            assert failure.reason == pb.ERROR_REASON_LIMIT
            assert failure.code == CODE["LIMIT"].value[0]
            assert failure.retry_ms > 0
        failure = (await stream.answer(SignedIntent(good.intent, bytes(64), b""))).answer.failure
        assert (failure.reason, failure.retry_ms) == (pb.ERROR_REASON_BAD_SIGNATURE, 0)
        assert (await stream.answer(good)).answer.HasField("accepted")


@pytest.mark.usefixtures("nothing_refills")
async def test_acts_that_are_accepted_cost_nothing(tmp_path: Path) -> None:
    """And after a whole game there is as much left as before."""
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        play = await client.play(rules_id="kingdomino")
        await play.to_the_end()
        for seat in (0, 1):
            metadata = bearer(token_of(play, seat))
            await client.rules.ListRules(ListRulesRequest(), metadata=metadata)
            assert (await refused(client.rules.ListRules(ListRulesRequest(), metadata=metadata))).reason == "LIMIT"


@pytest.mark.usefixtures("nothing_refills")
async def test_an_act_without_a_token_costs_its_address(tmp_path: Path) -> None:
    """Without a token the act is refused, but not free; with a token for something else it is the same."""
    async with running(tmp_path / "data", requests_per_s=SPARSE) as (_, client):
        created = await client.create()
        request = pb.SubmitIntentRequest(game_id=created.game.id)
        for metadata, reason in (((), "UNAUTHENTICATED"), (bearer(client.organiser), "LIMIT")):
            assert (await refused(client.games.SubmitIntent(request, metadata=metadata))).reason == reason
            assert (await refused(client.games.SubmitIntent(request, metadata=metadata))).reason == "LIMIT"
        seat = bearer(created.seat_tokens[0])
        assert (await refused(client.games.SubmitIntent(request, metadata=seat))).reason == "INVALID_ARGUMENT"


async def test_who_comes_back_to_a_seat_gets_in(play: Play) -> None:
    """The oldest of its streams makes room: it may be one that was cut, and not even its end is known."""
    seat = play.seat_on_turn()
    streams = [Stream(play, token_of(play, seat)) for _ in range(6)]
    others = [Stream(play, token_of(play, 1 - seat)) for _ in range(4)]
    for stream in (*others, *streams):
        await stream.begin()
    for stream in streams[:2]:
        while not (message := await stream.call.read()).HasField("closing"):
            pass
        assert message.closing.reason == pb.CLOSING_REASON_REPLACED
        assert message.seq == play.record.size - 1
        assert await stream.call.read() is grpc.aio.EOF
    await play.step()
    for stream in (*streams[2:], *others):
        while not (message := await stream.call.read()).HasField("commit"):
            assert not message.HasField("closing")


async def test_so_many_streams(tmp_path: Path) -> None:
    async with running(tmp_path / "data", max_streams=2) as (_, client):
        created = await client.create()
        request = pb.WatchGameRequest(game_id=created.game.id)
        streams = [client.games.WatchGame(request) for _ in range(2)]
        for stream in streams:
            assert (await stream.read()).HasField("snapshot")
        found = await refused(client.games.WatchGame(request))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "streams"})
        mine = client.games.WatchGame(request, metadata=bearer(created.seat_tokens[0]))
        assert (await mine.read()).HasField("snapshot"), "the others' are not mine"
        streams[0].cancel()
        await let_in(client, created.game.id)


@pytest.mark.usefixtures("nothing_refills")
def test_what_an_account_holds() -> None:
    account = Account(requests_per_s=2.0)
    for _ in range(20):
        account.draw()
    with pytest.raises(LimitReached) as reached:
        account.draw()
    assert 0 < reached.value.retry_s <= 0.5
    for _ in range(1000):
        account.charge()
    assert account.exhausted().retry_s <= 0.5, "what was done already makes nobody wait for longer"


@pytest.mark.usefixtures("nothing_refills")
def test_an_address_has_less_than_a_principal() -> None:
    """And an account of its own, whatever principals are called."""
    accounts = Accounts(requests_per_s=10.0)
    stranger, principal = accounts.at("ipv4:192.0.2.1"), accounts.of("ipv4:192.0.2.1")
    assert stranger is not principal
    for account, most in ((stranger, 10 * STRANGERS_PART * STRANGERS_HELD_S), (principal, 100)):
        for _ in range(int(most)):
            account.draw()
        with pytest.raises(LimitReached):
            account.draw()


def test_accounts_of_who_is_quiet_are_let_go() -> None:
    accounts = Accounts(requests_per_s=1e9)
    busy = accounts.of("busy")
    with busy.stream():
        for i in range(100_000):
            accounts.of(str(i)).draw()
        assert len(accounts._accounts) < 10_000
        assert accounts.of("busy") is busy


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:192.0.2.1:50051", "ipv4:192.0.2.1"),
        ("ipv6:%5B2001:db8::1%5D:50051", "ipv6:20010db800000000"),
        ("ipv6:[2001:db8::2]:50052", "ipv6:20010db800000000"),
        ("ipv6:%5Bfe80::1%25eth0%5D:50051", "ipv6:fe80000000000000"),
        ("ipv6:%5B::ffff:192.0.2.1%5D:50051", "ipv4:192.0.2.1"),
        ("unix:", "unix:"),
    ],
)
def test_whom_an_address_stands_for(peer: str, host: str) -> None:
    assert host_of(peer) == host


async def test_so_many_connections(tmp_path: Path) -> None:
    """A connection beyond the limit is closed at once; the others play on, and one that ends makes room."""
    async with running(tmp_path / "data", max_connections=3) as (server, client):
        play = await client.play()
        held, beyond = (
            [await greeted(server.address) for _ in range(2)],
            [await greeted(server.address) for _ in range(5)],
        )
        for reader, _ in held:
            assert len(await reader.read(9)) == 9
        for reader, _ in beyond:
            assert await reader.read(9) == b""
        await play.steps(6)
        for _, writer in (*held, *beyond):
            writer.transport.abort()
        async with connected(server.address, client.organiser) as other:
            await other.games.ListGames(pb.ListGamesRequest(), wait_for_ready=True)


async def greeted(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection that says no more than that it speaks HTTP/2."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    return reader, writer


# --- how large, and how long -----------------------------------------------------------------------------------


async def test_messages_of_so_many_bytes(play: Play) -> None:
    """We refuse them with a reason; gRPC refuses messages beyond its own limit."""
    client, token = play.client, bearer(token_of(play, 0))
    request = pb.CreateGameRequest(rules_id="x" * (1 << 20))
    found = await refused(client.games.CreateGame(request, metadata=bearer(client.organiser)))
    assert (found.reason, found.metadata) == ("LIMIT", {"limit": "messages of 1048576 bytes"})
    act = pb.SubmitIntentRequest(game_id=play.id, intent=bytes(20 << 10))
    found = await refused(client.games.SubmitIntent(act, metadata=token))
    assert (found.reason, found.metadata) == ("LIMIT", {"limit": "messages of 20480 bytes"})
    act.intent = bytes(17 << 10)
    assert (await refused(client.games.SubmitIntent(act, metadata=token))).reason == "MALFORMED_INTENT"
    stream = Stream(play, token_of(play, 0))
    await stream.begin()
    await stream.call.write(pb.PlayGameRequest(act=pb.SignedAct(intent=bytes(20 << 10))))
    assert (await refused(to_the_end(stream.call))).reason == "LIMIT"
    await play.steps(2)


async def test_a_call_takes_so_long(tmp_path: Path, engine: Engine) -> None:
    """Then it is answered; the act that it brought becomes durable all the same, and sent again gets its answer."""
    data = tmp_path / "data"
    async with running(data, busy_s=600.0) as (server, client):
        play = await client.play()
        await play.until_play()
        act = play.next_act()
        assert act is not None
        with engine.held():
            with impatient(server, call_s=0.1):
                found = await refused(play.submit(*act))
            assert found.reason == "DEADLINE"
            request = pb.GetGameRequest(game_id=play.id)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.games.GetGame(request, timeout=0.05)
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            assert not caught.value.trailing_metadata(), "the client's own deadline: nobody had to tell it"
        size = play.record.size
        await play.catch_up(size + 1)
        assert (await play.accepted(await play.submit(*act))).seq == size
        silent = client.games.PlayGame(metadata=bearer(token_of(play, 0)))
        with impatient(server, call_s=0.1):
            assert (await refused(silent)).reason == "DEADLINE", "who opens a stream and says nothing"
        await play.steps(3)


async def test_where_waiting_helps_it_is_said(tmp_path: Path, engine: Engine) -> None:
    data = tmp_path / "data"
    async with running(data, busy_s=0.01) as (server, client):
        play = await client.play()
        await play.until_play()
        stream = Stream(play, token_of(play, play.seat_on_turn()))
        await stream.begin()
        act = play.next_act()
        assert act is not None
        with engine.held():
            found = await refused(play.submit(*act))
            assert (found.reason, found.retry_s) == ("STORE_FAILED", 1.0)
            failure = (await stream.answer(act[0])).answer.failure
            assert (failure.reason, failure.retry_ms) == (pb.ERROR_REASON_STORE_FAILED, 1000)
        await play.act(*act)
        server.live_games.drain()
        found = await refused(client.create())
        assert (found.reason, found.retry_s) == ("DRAINING", 1.0)
