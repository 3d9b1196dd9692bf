"""StatusService: the seat on turn, since when, connected seats; also with many games, and when some cannot be read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from referee.log import intent
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.server.live.opening import token_digest
from referee.server.service.counters import Callers, CallsOf
from referee.server.service.limits import Accounts
from referee.v1 import game_pb2, status_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2 as status_pb
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.facts import of_game, status, under_way
from tests.server.service.gateway_token import forwarded
from tests.server.service.player import (
    SCRIBE,
    Client,
    Play,
    against_the_rules,
    bearer,
    refused,
    seat_key,
    seat_seed,
    token_of,
)
from tests.server.service.streams import Stream
from tests.waiting import waiting_for


async def test_whose_turn_since_when_and_who_is_there(client: Client) -> None:
    play = await client.play(2, principals=["ani", ""])
    await play.catch_up(1)
    game = await of_game(client, play)
    assert (game.rules_id, game.state, game.size) == ("alhambra", game_pb2.GAME_STATE_JOINING, 1)
    assert game.since_ms == decode_entry(play.entries[0]).referee_ms
    assert [(seat.awaited, seat.connected, seat.principal) for seat in game.seats] == [
        (True, False, "ani"),
        (True, False, ""),
    ]
    assert game.watchers == 1
    stream = Stream(play, token_of(play, 1))
    await stream.begin()
    play.stream.cancel()
    game = await of_game(client, play)
    assert [seat.connected for seat in game.seats] == [False, True]
    await stream.answer(play.join(1))
    game = await of_game(client, play)
    assert (game.size, [seat.awaited for seat in game.seats]) == (2, [True, False])
    stream.call.cancel()
    async with waiting_for("the seat to be shown as left"):
        while (await of_game(client, play)).seats[1].connected:
            pass


async def test_what_a_scribe_has_to_do(client: Client) -> None:
    play = await client.play(2, scribed=(0, 1), declaring_scribe_key=SCRIBE.public.raw)
    game = await of_game(client, play)
    assert game.scribe_awaited
    assert not game.scribe_connected
    assert [seat.scribed for seat in game.seats] == [True, True]
    stream = Stream(play, play.created.scribe_token)
    await stream.begin()
    assert (await of_game(client, play)).scribe_connected


async def test_the_server(client: Client) -> None:
    play = await client.play()
    await play.until_play()
    seat = play.seat_on_turn()
    await play.submit(play.move(seat, against_the_rules(play)), token_of(play, seat))
    await refused(play.submit(play.move(seat, b"\xff"), token_of(play, seat)))
    server = (await status(client)).server
    assert (server.acts_accepted, server.acts_refused, server.acts_failed) == (4, 1, 1)
    assert (server.open_games, server.watchers, server.players, server.draining) == (1, 1, 0, False)
    assert 0 < server.commit_median_us <= server.commit_p99_us
    assert 0 < server.started_ms <= server.now_ms


async def test_an_act_that_somebody_was_faster_than_is_counted_apart(client: Client) -> None:
    play = await client.play()
    await play.catch_up(1)
    late = play.join(1)
    await play.act(play.join(0), token_of(play, 0))
    assert (await refused(play.submit(late, token_of(play, 1)))).reason == "STALE_HEAD"
    server = (await status(client)).server
    assert (server.acts_accepted, server.acts_failed, server.acts_overtaken) == (1, 1, 1)


async def test_what_an_arbiter_and_seats_have_to_do(client: Client) -> None:
    """A take-back to agree to, an open protest, a result that waits for protests."""
    arbiter = PrivateKey(bytes([9]) * 32)
    terms = log_pb2.Terms(take_backs=True, protest_ms=3_600_000)
    play = await client.play(2, rules_id="kingdomino", terms=terms, arbiter_keys=[arbiter.public.raw])
    await play.until_play()
    size = 0
    while play.record.size != size + 1:  # what a draw followed cannot be taken back
        size = play.record.size
        await play.step()
    seat = play.seat_on_turn()
    back = log_pb2.TakeBack(to_seq=play.record.size - 2)
    await play.act(intent.act(play.place, Author(Role.SEAT, seat), seat_key(seat), back), token_of(play, seat))
    assert list((await of_game(client, play)).asked_to_consent) == [1 - seat]
    protest = log_pb2.Protest(against_seq=play.record.size - 2, rule_id="TBL-9")
    seq = play.record.size
    await play.act(intent.act(play.place, Author(Role.SEAT, seat), seat_key(seat), protest), token_of(play, seat))
    game = await of_game(client, play)
    assert (list(game.open_disputes), game.until_ms) == ([seq], 0)
    other = await client.play(2, rules_id="kingdomino", terms=terms, arbiter_keys=[arbiter.public.raw])
    await other.steps(10)
    resigned = intent.act(other.place, Author(Role.SEAT, 0), seat_key(0), log_pb2.Resign())
    await other.act(resigned, token_of(other, 0))
    game = await of_game(client, other)
    assert (game.state, game.until_ms) == (game_pb2.GAME_STATE_RESULT_OPEN, other.record.last_ms + terms.protest_ms)


async def test_longest_waits_come_first_a_page_at_a_time(client: Client) -> None:
    plays = [await client.play() for _ in range(5)]
    for play in (plays[2], plays[0]):
        await play.step()
    expected = [game.id for game in (await status(client)).games]
    assert {play.id for play in plays} == set(expected)
    waits = [game.since_ms for game in (await status(client)).games]
    assert waits == sorted(waits)
    found, token = list[str](), ""
    while True:
        page = await status(client, page_size=2, page_token=token)
        assert page.server.open_games == 5
        found += [game.id for game in page.games]
        if not (token := page.next_page_token):
            break
        assert len(page.games) == 2
    assert found == expected


@pytest.mark.parametrize("token", ["?", "1-", "-1-" + "0" * 32, "1-" + "0" * 31, "١-" + "0" * 32])
async def test_a_page_that_is_none(client: Client, token: str) -> None:
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    call = stub.GetStatus(status_pb.GetStatusRequest(page_token=token), metadata=bearer(client.organiser))
    assert (await refused(call)).metadata["field"] == "page_token"


async def test_only_who_may_see_it(play: Play) -> None:
    stub: Any = status_service_pb2_grpc.StatusServiceStub(play.client.channel)
    request = status_pb.GetStatusRequest()
    assert (await refused(stub.GetStatus(request))).reason == "UNAUTHENTICATED"
    assert (await refused(stub.GetStatus(request, metadata=bearer(token_of(play, 0))))).reason == "PERMISSION_DENIED"


async def test_one_game_can_be_asked_for(client: Client) -> None:
    play, other = [await client.play() for _ in range(2)]
    found = await status(client, game_id=play.id)
    assert [game.id for game in found.games] == [play.id]
    assert (found.server.open_games, found.server.node) == (2, ""), "there are no other referees"
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    assert not (await status(client, game_id=play.id)).games, "it is over"
    assert [game.id for game in (await status(client, game_id=other.id)).games] == [other.id]
    assert (await refused(status(client, game_id="ab" * 16))).reason == "UNKNOWN_GAME"
    assert (await refused(status(client, game_id="ab"))).metadata["field"] == "game_id"


async def test_games_that_are_over_are_not_there(client: Client) -> None:
    play = await client.play()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    found = await status(client)
    assert not found.games
    assert found.server.open_games == 0


async def test_a_game_under_way_is_waited_for(tmp_path: Path, engine: Engine) -> None:
    """A status shows what is durable."""
    async with running(tmp_path / "data", busy_s=600.0) as (server, client):
        play = await client.play()
        await play.until_play()
        size = play.record.size
        with engine.held():
            seat = play.seat_on_turn()
            act = asyncio.create_task(play.submit(play.move(seat, play.a_move()), token_of(play, seat)))
            await under_way(server, 1)
            stuck = await of_game(client, play)
            assert (stuck.size, stuck.state, len(stuck.seats)) == (size, game_pb2.GAME_STATE_UNSPECIFIED, 0)
            assert (await status(client)).server.open_games == 1
        await act
        assert (await of_game(client, play)).size > size


async def test_games_set_aside_are_named(tmp_path: Path, engine: Engine) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, other = [await client.play() for _ in range(2)]
    engine.ask("UPDATE entries SET data = ? WHERE game = 1", bytes(1))
    async with running(tmp_path / "data") as (_, client):
        found = await status(client)
        assert [game.id for game in found.games] == [other.id]
        assert [game.id for game in found.set_aside] == [play.id]
        assert found.set_aside[0].why
        assert [game.id for game in (await status(client, game_id=play.id)).set_aside] == [play.id]
        assert not (await status(client, game_id=other.id)).set_aside


# --- callers -----------------------------------------------------------------------------------------------------


async def callers(client: Client, token: str = "", **fields: Any) -> status_pb.GetCallersResponse:
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    request = status_pb.GetCallersRequest(**fields)
    response: status_pb.GetCallersResponse = await stub.GetCallers(request, metadata=bearer(token or client.organiser))
    return response


async def test_who_calls_most_is_named_with_what_was_refused(tmp_path: Path) -> None:
    """The callers: a principal, a game's token, an address, one that a gateway names; most first. No token is shown."""
    async with running(tmp_path) as (server, client):
        play = await client.play()
        get = pb.GetGameRequest(game_id=play.id)
        for metadata, count in (
            ((), 9),
            (forwarded(server.gateway_token(), "192.0.2.7"), 7),
            (forwarded(server.gateway_token(), "2001:db8:1:2::9"), 5),
            (bearer(token_of(play, 0)), 3),
        ):
            for _ in range(count):
                await client.games.GetGame(get, metadata=metadata)
        unknown = pb.GetGameRequest(game_id="ab" * 16)
        for _ in range(6):
            await refused(client.games.GetGame(unknown))
        found = await callers(client)
        counted = {each.name: each for each in found.callers}
        stranger, seat = counted["address 127.0.0.1"], counted[f"token {token_digest(token_of(play, 0)).hex()[:16]}"]
        most = stranger.methods[0]
        assert (most.method, most.calls, most.refused) == ("GetGame", 15, 6)
        assert (seat.calls, seat.refused, seat.methods[0].method) == (3, 0, "GetGame")
        by = [each for name, each in counted.items() if " by " in name]
        assert [(each.name.partition(" by ")[0], each.calls) for each in by] == [
            ("address 192.0.2.7", 7),
            ("network 2001:db8:1:2::/64", 5),
        ]
        assert counted["organiser"].methods
        assert [each.calls for each in found.callers] == sorted((each.calls for each in found.callers), reverse=True)
        assert found.calls == sum(each.calls for each in found.callers)
        assert (found.refused, 0 < found.period_ms <= 60_000) == (6, True)
        assert token_of(play, 0) not in str(found)
        (first,) = (await callers(client, most=1)).callers
        assert first.name == "address 127.0.0.1"


async def test_acts_on_a_stream_count_as_their_senders(client: Client) -> None:
    play = await client.play()
    stream = Stream(play, token_of(play, 0))
    await stream.begin()
    await play.catch_up(1)
    await stream.answer(intent.join(play.place, 0, seat_key(0), seat_seed(0)))
    name = f"token {token_digest(token_of(play, 0)).hex()[:16]}"
    (each,) = (each for each in (await callers(client)).callers if each.name == name)
    assert [(of.method, of.calls, of.refused) for of in each.methods] == [("PlayGame", 2, 0)], "the stream, and an act"


async def test_only_managers_learn_who_calls(client: Client) -> None:
    play = await client.play()
    assert (await refused(callers(client, token_of(play, 0)))).reason == "PERMISSION_DENIED"


def test_who_calls_counts_for_a_minute() -> None:
    clock = [1_000.0]
    counted, ani = Callers(now=lambda: clock[0]), Accounts(1.0, 1).of("ani")
    counted.count(ani, "GetGame")
    clock[0] += 25.0
    counted.count(ani, "GetLog", is_refused=True)
    found, every, period_s = counted.lately()
    assert found == {"ani": {"GetGame": CallsOf(1, 0), "GetLog": CallsOf(1, 1)}}
    assert (every, period_s) == (CallsOf(2, 1), 25.0)
    clock[0] += 30.0
    assert counted.lately()[0] == {"ani": {"GetGame": CallsOf(1, 0), "GetLog": CallsOf(1, 1)}}
    clock[0] += 10.0
    assert counted.lately()[0] == {"ani": {"GetLog": CallsOf(1, 1)}}
    clock[0] += 1_000.0
    assert counted.lately()[:2] == ({}, CallsOf(0, 0))


def test_many_addresses_take_no_memory_and_hide_nobody() -> None:
    """A caller has a new address for each call: frequent callers are still listed, and every call is counted."""
    accounts, counted = Accounts(1.0, 1), Callers(most=50, now=lambda: 1_000.0)
    busy = accounts.of("busy")
    for number in range(5_000):
        counted.count(accounts.at(f"ipv4:198.51.{number // 256}.{number % 256}"), "GetGame", is_refused=True)
        if number % 10 == 0:
            counted.count(busy, "GetLog")
    assert len(counted._calls) <= 101
    found, every, _ = counted.lately()
    assert found["busy"] == {"GetLog": CallsOf(500, 0)}
    assert every == CallsOf(5_500, 5_000)
