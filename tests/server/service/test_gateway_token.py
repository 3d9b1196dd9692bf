"""A gateway's only right: to name the caller of a call."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hypothesis import given
from hypothesis import strategies as st

from referee.log.v1 import log_pb2
from referee.server.live.refusals import LimitReached
from referee.server.service.auth import FOR, GATEWAY
from referee.server.service.limits import Accounts, host_named, host_of
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from referee.v1.rules_service_pb2 import ListRulesRequest
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.gateway_token import Metadata, forwarded
from tests.server.service.player import Client, bearer, refusal, refused
from tests.waiting import waiting_for

RATE = 1.0
"""Requests a second of one caller; of an address that a gateway names a tenth, and so one request and then a wait."""


def asked(client: Client, metadata: Metadata) -> Any:
    return client.rules.ListRules(ListRulesRequest(), metadata=metadata)


async def until_limited(client: Client, metadata: Metadata) -> None:
    async with waiting_for("nothing is left"):
        while True:
            try:
                await asked(client, metadata)
            except grpc.aio.AioRpcError as error:
                if refusal(error).reason == "LIMIT":
                    return
                raise


async def is_full(client: Client, metadata: Metadata, request: pb.WatchGameRequest) -> bool:
    """Return True if there is no room for another stream."""
    try:
        await client.games.WatchGame(request, metadata=metadata).read()
    except grpc.aio.AioRpcError as error:
        if refusal(error).reason == "LIMIT":
            return True
        raise
    return False


async def gateway_token(client: Client) -> str:
    return (await Office(client).issue("web", access.SCOPE_GATEWAY)).secret


@pytest.mark.usefixtures("nothing_refills")
async def test_whoever_floods_through_a_gateway_floods_himself_alone(tmp_path: Path) -> None:
    """Not his neighbours behind it, nor the gateway, nor others at its address; of IPv6 he is all that has his /64."""
    async with running(tmp_path / "data", requests_per_s=RATE) as (server, client):
        token = server.gateway_token()
        for flood, other in (("192.0.2.1", "192.0.2.2"), ("2001:db8:0:1::1", "2001:db8:0:2::1")):
            await asked(client, forwarded(token, flood))
            for same in (flood, flood if "." in flood else "2001:db8:0:1:ffff::"):
                found = await refused(asked(client, forwarded(token, same)))
                assert (found.reason, found.metadata) == ("LIMIT", {"limit": "requests"})
                assert 0 < found.retry_s <= 10
            await asked(client, forwarded(token, other))
        for metadata in (bearer(token), ()):
            await asked(client, metadata)


@pytest.mark.usefixtures("nothing_refills")
async def test_all_whom_a_gateway_names_together_take_no_more_than_a_few_callers(tmp_path: Path) -> None:
    """And others take nothing from them, nor they from others."""
    async with running(tmp_path / "data", requests_per_s=RATE) as (server, client):
        token = server.gateway_token()
        served, limit = 0, ""
        for number in range(2000):
            try:
                await asked(client, forwarded(token, f"198.51.{number // 256}.{number % 256}"))
                served += 1
            except grpc.aio.AioRpcError as error:
                limit = refusal(error).metadata["limit"]
                if limit != "requests":  # two addresses may have the same account
                    break
        assert limit == "requests by a gateway"
        assert served == 40
        await asked(client, ())
        await asked(client, bearer(client.organiser))
        other = await gateway_token(client)
        await asked(client, forwarded(other, "198.51.0.1"))


async def test_streams_are_counted_for_whom_they_are(tmp_path: Path) -> None:
    async with running(tmp_path / "data", max_streams=10) as (server, client):
        token, game = server.gateway_token(), (await client.create()).game.id
        request = pb.WatchGameRequest(game_id=game)
        first = client.games.WatchGame(request, metadata=forwarded(token, "192.0.2.1"))
        await first.read()
        assert await is_full(client, forwarded(token, "192.0.2.1"), request)
        await client.games.WatchGame(request, metadata=forwarded(token, "192.0.2.2")).read()
        first.cancel()
        async with waiting_for("there is room again"):
            while await is_full(client, forwarded(token, "192.0.2.1"), request):
                pass


@pytest.mark.usefixtures("nothing_refills")
async def test_a_reader_with_a_token_of_his_own_is_charged_as_ever(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=RATE) as (server, client):
        token = server.gateway_token()
        seats = (await client.create()).seat_tokens
        for _ in range(10):
            await asked(client, forwarded(token, "192.0.2.1", seats[0]))
        await until_limited(client, forwarded(token, "192.0.2.2", seats[0]))
        await until_limited(client, bearer(seats[0]))
        # His address has not paid for it.
        await asked(client, forwarded(token, "192.0.2.1"))
        # The guesser pays for a guess, and not the gateway.
        for guess, reason in (("x" * 43, "UNAUTHENTICATED"), ("y" * 43, "LIMIT")):
            assert (await refused(asked(client, forwarded(token, "192.0.2.3", guess)))).reason == reason


async def test_a_readers_token_has_its_rights_through_a_gateway_and_the_gateways_has_none(client: Client) -> None:
    token = await gateway_token(client)
    create = pb.CreateGameRequest(rules_id="alhambra", seats=[log_pb2.Seat(), log_pb2.Seat()])
    through = forwarded(token, "192.0.2.1", client.organiser)
    assert (await client.games.CreateGame(create, metadata=through)).game.id
    for metadata in (bearer(token), forwarded(token, "192.0.2.1"), forwarded(token, "192.0.2.1", token)):
        found = await refused(client.games.CreateGame(create, metadata=metadata))
        assert found.reason in {"PERMISSION_DENIED", "UNAUTHENTICATED"}
        found = await refused(client.games.WatchSeat(pb.WatchSeatRequest(), metadata=metadata))
        assert found.reason in {"PERMISSION_DENIED", "UNAUTHENTICATED"}


async def test_the_name_of_an_address_is_refused_from_anybody_else(client: Client) -> None:
    office, token = Office(client), await gateway_token(client)
    player = (await office.issue("ani", access.SCOPE_PLAY)).secret
    cases: list[tuple[Metadata, str, str]] = [
        (((FOR, "192.0.2.1"),), "PERMISSION_DENIED", FOR),
        ((*bearer(client.organiser), (FOR, "192.0.2.1")), "PERMISSION_DENIED", FOR),
        ((*bearer(token), (FOR, "192.0.2.1")), "PERMISSION_DENIED", FOR),
        (forwarded(player, "192.0.2.1"), "PERMISSION_DENIED", GATEWAY),
        (forwarded(client.organiser, "192.0.2.1", client.organiser), "PERMISSION_DENIED", GATEWAY),
        (forwarded("x" * 43, "192.0.2.1"), "UNAUTHENTICATED", GATEWAY),
        (((GATEWAY, token), (FOR, "192.0.2.1")), "UNAUTHENTICATED", GATEWAY),
        ((*forwarded(token, "192.0.2.1"), (GATEWAY, f"Bearer {token}")), "UNAUTHENTICATED", GATEWAY),
        ((*forwarded(token, "192.0.2.1"), (FOR, "192.0.2.1")), "INVALID_ARGUMENT", FOR),
        (((GATEWAY, f"Bearer {token}"),), "INVALID_ARGUMENT", FOR),
    ]
    for metadata, reason, field in cases:
        found = await refused(asked(client, metadata))
        assert (found.reason, found.metadata["field"]) == (reason, field), metadata
        assert token not in found.message
    health: Any = health_pb2_grpc.HealthStub(client.channel)
    assert (await health.Check(health_pb2.HealthCheckRequest(), metadata=cases[0][0])).status == 1


NO_ADDRESSES = (
    *("", " ", "1", "192.0.2", "256.0.0.1", "010.0.0.1", "192.0.2.1:80", "192.0.2.1/32", "192.0.2.1, 192.0.2.2"),
    *("::/64", "[::1]", "fe80::1%eth0", "2001:db8::1 ", "club.example", "a" * 4000),
)


@pytest.mark.parametrize("address", NO_ADDRESSES)
async def test_what_is_no_address_is_refused(address: str, client: Client) -> None:
    found = await refused(asked(client, forwarded(await gateway_token(client), address)))
    if not address.strip():  # gRPC may leave out what is empty
        assert found.reason in {"INVALID_ARGUMENT", "PERMISSION_DENIED"}
        return
    expected = "one IPv4 or IPv6 address in numbers"
    assert (found.reason, found.metadata["field"], found.metadata["expected"]) == ("INVALID_ARGUMENT", FOR, expected)


async def test_a_gateways_token_is_for_nothing_else_and_ends(client: Client) -> None:
    office = Office(client)
    game = (await client.create()).game.id
    for scopes, fields in (
        ([access.SCOPE_GATEWAY, access.SCOPE_PLAY], {}),
        ([access.SCOPE_GATEWAY], {"game_id": game}),
        ([access.SCOPE_GATEWAY], {"certificate": b"no certificate"}),
    ):
        found = await refused(office.issue("web", *scopes, **fields))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "scopes")
    issued = await office.issue("web", access.SCOPE_GATEWAY)
    await asked(client, forwarded(issued.secret, "192.0.2.1"))
    watching = client.games.WatchGame(pb.WatchGameRequest(game_id=game), metadata=bearer(issued.secret))
    await watching.read()
    await office.revoke(issued)
    assert (await watching.read()).closing.reason == pb.CLOSING_REASON_REVOKED
    found = await refused(asked(client, forwarded(issued.secret, "192.0.2.1")))
    assert (found.reason, found.metadata) == ("UNAUTHENTICATED", {"state": "revoked", "field": GATEWAY})


async def test_a_token_that_was_lent_ends_with_the_referee(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        token = server.gateway_token()
        await asked(client, forwarded(token, "192.0.2.1"))
        assert all(token.principal != "gateway" for token in await Office(client).tokens(all=True))
    async with running(tmp_path / "data") as (_, client):
        found = await refused(asked(client, forwarded(token, "192.0.2.1")))
        assert (found.reason, found.metadata) == ("UNAUTHENTICATED", {"field": GATEWAY})


# --- addresses ---------------------------------------------------------------------------------------------


@given(st.ip_addresses(v=4))
def test_an_address_is_the_same_named_or_calling(address: IPv4Address) -> None:
    mapped = IPv6Address(b"\x00" * 10 + b"\xff\xff" + address.packed)
    assert host_named(str(address)) == host_of(f"ipv4:{address}:1") == host_named(str(mapped))


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_of_ipv6_a_network_is_one(address: IPv6Address, other: int) -> None:
    if address.ipv4_mapped is not None:
        return
    neighbour = IPv6Address(address.packed[:8] + other.to_bytes(8, "big"))
    spelled = {str(address), address.exploded, str(address).upper()}
    if neighbour.ipv4_mapped is None:
        spelled.add(str(neighbour))
    assert {host_named(each) for each in spelled} == {host_of(f"ipv6:%5B{address}%5D:1")}
    beyond = IPv6Address((int(address) + 2**64) % 2**128)
    assert host_named(str(beyond)) != host_named(str(address))


@given(st.text() | st.from_regex(r"\A[0-9a-fA-F:.%\[\]/ ,]*\Z"))
def test_what_is_no_address_is_no_host(text: str) -> None:
    try:
        found = host_named(text)
    except ValueError:
        return
    assert host_named(str(ip_address(text))) == found
    assert text.isascii()
    assert not set(text) & set("%[]/ ,")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.ip_addresses(v=6)), max_size=300))
def test_the_number_of_accounts_is_bounded_and_so_is_what_they_take(calls: list[tuple[str, IPv6Address]]) -> None:
    accounts = Accounts(requests_per_s=0.5)  # all of a gateway: 2 a second, 20 at once
    for _ in range(30):
        for gateway, address in calls:
            account = accounts.named(gateway, host_named(address))
            assert account is accounts.named(gateway, host_named(address))
            for _ in range(2):
                with suppress(LimitReached):
                    account.draw()
    assert len(accounts) <= min(3 * 4096, len(calls))
