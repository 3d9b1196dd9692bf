"""Referees that share games have several addresses: clients use the first that answers, wherever it stands."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.server.service.tls import Certificates, Tls
from referee.v1 import game_service_pb2 as pb
from referee.v1 import rules_service_pb2, rules_service_pb2_grpc
from referee_clients import play_async
from referee_clients.bots import load
from referee_clients.join import parse_join
from referee_clients.sdk.channel import (
    BadAddress,
    Insecure,
    Order,
    Security,
    check,
    open_blocking_channel,
    open_channel,
    split_addresses,
)
from referee_clients.sdk.organiser import organiser
from tests.addresses import NOBODY
from tests.clients.javascript import Node
from tests.clients.javascript import check as check_bot
from tests.clients.referee_process import Referee
from tests.server.service.certificates import Authority
from tests.server.service.conftest import running
from tests.server.service.player import Client


@pytest.fixture
def refusing() -> str:
    """Return an address at which nothing listens."""
    return NOBODY


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield an address at which connections are taken, and nothing is said."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_a_list_says_once_that_it_is_of_tls() -> None:
    assert split_addresses("a:1") == ["a:1"]
    assert split_addresses("a:1,b:2,a:1") == ["a:1", "b:2"]
    assert split_addresses("grpcs://a:1,b:2") == split_addresses("grpcs://a:1,grpcs://b:2")
    assert split_addresses("grpcs://[::1]:1,b:2") == ["grpcs://[::1]:1", "grpcs://b:2"]


@pytest.mark.parametrize("wrong", ["", ",", "a:1,", "a:1, b:2", "a:1,b", "a:1,grpcs://b:2", ",".join(["a:1"] * 17)])
def test_a_list_of_which_one_is_wrong_is_refused(wrong: str) -> None:
    with pytest.raises(BadAddress):
        split_addresses(wrong)


def test_a_token_goes_to_none_of_them_in_the_clear() -> None:
    with pytest.raises(Insecure, match=r"club\.example:2: a token must not be sent there"):
        check("127.0.0.1:1,club.example:2", Security(), "token")
    check("grpcs://127.0.0.1:1,club.example:2", Security(), "token")


@pytest.mark.parametrize("first", ["refusing", "silent"])
async def test_calls_and_streams_take_the_first_that_answers(
    referee: Referee, first: str, request: pytest.FixtureRequest
) -> None:
    addresses = f"{request.getfixturevalue(first)},{referee.address}"
    async with open_channel(addresses, referee.token) as channel:
        there = Client(channel, referee.token)
        game = (await there.create()).game
        assert (await there.games.GetGame(pb.GetGameRequest(game_id=game.id))).game.id == game.id
        chunks = [part.chunk async for part in there.games.GetLog(pb.GetLogRequest(game_id=game.id))]
        assert b"".join(chunks)
        call = there.games.WatchGame(pb.WatchGameRequest(game_id=game.id))
        assert await call.initial_metadata()
        assert (await call.read()).HasField("snapshot")
        assert call.cancel()


async def test_an_error_of_the_first_is_told_when_none_answers(refusing: str) -> None:
    async with open_channel(f"{refusing},{refusing.replace('127.0.0.1', 'localhost')}") as channel:
        with pytest.raises(grpc.aio.AioRpcError, match="Connection refused"):
            await rules_service_pb2_grpc.RulesServiceStub(channel).ListRules(rules_service_pb2.ListRulesRequest())


async def test_calls_that_block_take_the_first_that_answers(referee: Referee, refusing: str) -> None:
    def ask() -> int:
        with open_blocking_channel(f"{refusing},{referee.address}") as channel:
            stub: Any = rules_service_pb2_grpc.RulesServiceStub(channel)
            return len(stub.ListRules(rules_service_pb2.ListRulesRequest()).rules)

    assert await asyncio.to_thread(ask)


async def test_each_has_a_certificate_with_its_own_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    one, other = authority.issue("one", host="localhost"), authority.issue("other", host="elsewhere.example")
    trusting = Security(ca=authority.path)

    async def rules(addresses: str) -> int:
        async with open_channel(addresses, security=trusting) as channel:
            stub = rules_service_pb2_grpc.RulesServiceStub(channel)
            return len((await stub.ListRules(rules_service_pb2.ListRulesRequest())).rules)

    async with running(tmp_path / "b", certificates=Certificates(Tls(other.certificate, other.key))) as (second, _):
        async with running(tmp_path / "a", certificates=Certificates(Tls(one.certificate, one.key))) as (first, _):
            by_name = f"localhost:{first.address.rpartition(':')[2]}"
            assert await rules(f"grpcs://{by_name},{second.address}")
        assert await rules(f"grpcs://{by_name},{second.address}")
        # By a name that its certificate does not have, it is none of them.
        wrong = f"localhost:{second.address.rpartition(':')[2]}"
        with pytest.raises(grpc.aio.AioRpcError):
            await rules(f"grpcs://{by_name},{wrong}")


def test_an_owner_is_tried_first_until_it_fails() -> None:
    order = Order("127.0.0.1:1,127.0.0.1:2", Security(), "token")
    order.prefer("127.0.0.1:3")
    assert str(order) == "127.0.0.1:3,127.0.0.1:1,127.0.0.1:2"
    order.prefer("club.example:4")  # where a token would be read on the way
    order.prefer("grpcs://127.0.0.1:4")
    order.prefer("nonsense")
    assert str(order).startswith("127.0.0.1:3,")
    order.failed("127.0.0.1:3")
    assert str(order) == "127.0.0.1:1,127.0.0.1:2"
    order.failed("127.0.0.1:1")
    assert str(order) == "127.0.0.1:2,127.0.0.1:1"


@pytest.mark.long
async def test_bots_play_by_join_strings_with_several_addresses(
    referee: Referee, refusing: str, tmp_path: Path
) -> None:
    async with organiser(f"{refusing},{referee.address}", referee.token) as organising:
        opened = await organising.open_game("kingdomino", 3)
    joins = [parse_join(f"{join.address}/{join.game_id}/{join.seat}#{join.token}") for join in opened.joins]
    assert {join.address for join in joins} == {f"{refusing},{referee.address}"}
    node = Node(tmp_path)
    bot = await node.bot(joins[0])
    players = [play_async(join, load("greedy", "kingdomino")) for join in joins[1:]]
    await check_bot(referee, opened, bot, await asyncio.gather(*players), tmp_path)
