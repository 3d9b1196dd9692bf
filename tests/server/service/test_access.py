"""Tokens of principals: what they admit to, and how they end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from referee.log import intent
from referee.log.events import Author, Role
from referee.server.live.opening import token_digest
from referee.server.service.auth import Unauthenticated
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2, status_service_pb2_grpc
from tests.server.service.access import LateAnswer, Office, closing, with_principal
from tests.server.service.clocks import timed
from tests.server.service.conftest import running
from tests.server.service.player import OTHER_SCRIBE, SCRIBE, Client, bearer, refused, token_of
from tests.server.service.streams import Stream, play_seat


async def follow(client: Client, token: str, games: int) -> dict[str, list[bytes]]:
    """Return the entries that WatchSeat sends of ``games`` games, each to its end."""
    stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token))
    entries: dict[str, list[bytes]] = {}
    first: dict[str, int] = {}
    over: set[str] = set()
    turns = 0
    while len(over) < games:
        message = await stream.read()
        assert isinstance(message, pb.WatchSeatResponse)
        turns += message.HasField("turn")
        if message.update.HasField("snapshot"):
            entries[message.game_id], first[message.game_id] = [], message.update.seq
        entries.get(message.game_id, []).extend(message.update.commit.entries)
        if message.update.HasField("closing"):
            assert message.update.closing.reason == pb.CLOSING_REASON_GAME_OVER
            over.add(message.game_id)
    stream.cancel()
    assert turns >= games
    assert set(first.values()) == {0}, "all of them from their beginning"
    return entries


async def test_one_token_plays_many_games(client: Client) -> None:
    """At whichever seat; the same token hears of every game, also of such as are opened later."""
    token = (await Office(client).issue("ani", access.SCOPE_PLAY)).secret
    first = await with_principal(client, token)
    following = asyncio.create_task(follow(client, token, 3))
    plays = [first, *[await with_principal(client, token, seat) for seat in (1, 0)]]
    logs = await asyncio.gather(*(play_seat(play, seat) for play in plays for seat in (0, 1)))
    heard = await following
    for i, play in enumerate(plays):
        assert logs[2 * i] == logs[2 * i + 1]
        assert heard[play.id] == logs[2 * i][1:]


async def test_a_principals_token_is_for_its_own_seats(client: Client) -> None:
    office = Office(client)
    token = (await office.issue("ani", access.SCOPE_PLAY)).secret
    mine, other = await with_principal(client, token), await client.play(2, principals=["bob", ""])
    for play, reason in ((mine, ""), (other, "PERMISSION_DENIED")):
        await play.catch_up(1)
        if reason:
            assert (await refused(play.submit(play.join(0), token))).reason == reason
        else:
            await play.act(play.join(0), token)
    found = await refused(mine.submit(mine.join(1), token))
    assert found.message == "the token is for seat 0, the intent is by seat 1"
    watcher = (await office.issue("ani", access.SCOPE_AUDIT)).secret
    found = await refused(mine.submit(mine.join(1), watcher))
    assert (found.reason, found.message) == (
        "PERMISSION_DENIED",
        "SubmitIntent needs a token for arbiter or play or scribe",
    )


async def test_arbiters_have_tokens_of_their_own(client: Client) -> None:
    """An act by an arbiter comes with no other; what of it is offered, the table says."""
    key = OTHER_SCRIBE
    play = await client.play(2, arbiter_keys=[key.public.raw])
    await play.until_play()
    ruling = intent.move(play.place, Author(Role.ARBITER, 0), key, play.a_move())
    office = Office(client)
    player, arbiter = [await office.issue("ani", scope) for scope in (access.SCOPE_PLAY, access.SCOPE_ARBITER)]
    found = await refused(play.submit(ruling, player.secret))
    assert (found.reason, found.message) == ("PERMISSION_DENIED", "the token is not for acts by arbiter 0")
    assert (await refused(play.submit(ruling, arbiter.secret))).reason == "NOT_AWAITED"
    found = await refused(play.submit(play.move(play.seat_on_turn(), play.a_move()), arbiter.secret))
    assert found.reason == "PERMISSION_DENIED"


async def test_a_token_for_one_game(client: Client) -> None:
    """The token is for the principal's seat there, or for a seat that it names."""
    office, games = Office(client), [await with_principal(client, "?") for _ in range(2)]
    one = (await office.issue("ani", access.SCOPE_PLAY, game_id=games[0].id)).secret
    seat = (await office.issue("eve", access.SCOPE_PLAY, game_id=games[1].id, seat=0)).secret
    for play in games:
        await play.catch_up(1)
    assert (await refused(games[1].submit(games[1].join(0), one))).reason == "PERMISSION_DENIED"
    assert (await refused(games[0].submit(games[0].join(0), seat))).reason == "PERMISSION_DENIED"
    await games[0].act(games[0].join(0), one)
    await games[1].act(games[1].join(0), seat)
    stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(one))
    assert (await stream.read()).game_id == games[0].id
    other = await with_principal(client, "?")
    await games[0].act(games[0].join(1), token_of(games[0], 1))
    while (message := await stream.read()).update.WhichOneof("item") != "commit":
        assert message.game_id != other.id, "it is not this token's"


async def test_revoked_at_once(client: Client) -> None:
    """Calls, acts and every open stream; the principal's other token is as good as before."""
    office = Office(client)
    issued, other = [await office.issue("ani", access.SCOPE_PLAY) for _ in range(2)]
    play = await with_principal(client, issued.secret)
    await play.until_play()
    mine = Stream(play, issued.secret)
    await mine.begin()
    watching = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id), metadata=bearer(issued.secret))
    seats = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(issued.secret))
    idle = client.games.PlayGame(metadata=bearer(issued.secret))
    untouched = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id), metadata=bearer(other.secret))
    for stream in (watching, seats, untouched):
        await stream.read()

    revoked = await office.revoke(issued)
    assert revoked.revoked_ms > 0
    assert (await closing(mine.call)).reason == pb.CLOSING_REASON_REVOKED
    assert (await closing(watching)).reason == pb.CLOSING_REASON_REVOKED
    assert (await closing(seats)).reason == pb.CLOSING_REASON_REVOKED
    found = await refused(idle)
    assert (found.reason, found.message) == ("UNAUTHENTICATED", "the token was revoked")
    assert found.metadata == {"state": "revoked"}
    for call in (
        play.submit(play.move(play.seat_on_turn(), play.a_move()), issued.secret),
        client.games.GetGame(pb.GetGameRequest(game_id=play.id), metadata=bearer(issued.secret)),
        client.games.WatchGame(pb.WatchGameRequest(game_id=play.id), metadata=bearer(issued.secret)),
    ):
        found = await refused(call)
        assert (found.reason, found.message) == ("UNAUTHENTICATED", "the token was revoked")
        assert found.metadata == {"state": "revoked"}
    play.created.seat_tokens[0] = other.secret
    await play.steps(4)
    assert (await untouched.read()).HasField("commit")
    assert (await office.revoke(issued)).revoked_ms == revoked.revoked_ms, "the first time counts"


@pytest.mark.parametrize("is_of_nodes", [False, True])
async def test_a_token_that_is_revoked_while_it_is_looked_up_admits_nobody(tmp_path: Path, is_of_nodes: bool) -> None:
    """Neither a client, nor a call that another node passes on: what the store said before counts no more."""
    async with running(tmp_path / "data") as (server, client):
        office = Office(client)
        issued = await office.issue("ani", access.SCOPE_PLAY)
        door = server._door.of_nodes() if is_of_nodes else server._door
        store = LateAnswer(server)
        asking = asyncio.create_task(door._look_up(token_digest(issued.secret), "token"))
        await store.read.wait()
        await office.revoke(issued)
        store.told.set()
        found = await asking
        with pytest.raises(Unauthenticated, match="the token was revoked"):
            found.check_valid(0)
        call = client.games.GetGame(pb.GetGameRequest(), metadata=bearer(issued.secret))
        assert (await refused(call)).message == "the token was revoked"


async def test_expired(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        issued = await Office(client).issue("ani", access.SCOPE_PLAY, lifetime_ms=3000)
        assert issued.token.expires_ms == issued.token.issued_ms + 3000
        play = await with_principal(client, issued.secret)
        stream = Stream(play, issued.secret)
        await stream.begin()
        server.time.advance(3000)
        assert (await closing(stream.call)).reason == pb.CLOSING_REASON_REVOKED
        call = client.games.GetGame(pb.GetGameRequest(game_id=play.id), metadata=bearer(issued.secret))
        found = await refused(call)
        assert (found.reason, found.message) == ("UNAUTHENTICATED", "the token has expired")
        assert found.metadata == {"state": "expired"}


async def test_revocation_is_for_good(tmp_path: Path) -> None:
    """Also after a restart, which knows nothing but the store; and what was issued is good then, too."""
    async with running(tmp_path / "data") as (_, client):
        office = Office(client)
        kept, gone = [await office.issue("ani", access.SCOPE_AUDIT) for _ in range(2)]
        await office.revoke(gone)
    async with running(tmp_path / "data") as (_, client):
        status: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
        request = status_service_pb2.GetStatusRequest()
        assert (await status.GetStatus(request, metadata=bearer(kept.secret))).server.version
        assert (await refused(status.GetStatus(request, metadata=bearer(gone.secret)))).reason == "UNAUTHENTICATED"
        token = (await Office(client).issue("bob", access.SCOPE_PLAY)).secret
        found = await refused(status.GetStatus(request, metadata=bearer(token)))
        assert found.message == "GetStatus needs a token for admin or arbiter or audit or organise"


async def test_lists(client: Client) -> None:
    """Newest first, page by page; revoked ones and those of games only if asked."""
    office = Office(client)
    issued = [await office.issue(f"p{i % 2}", access.SCOPE_PLAY, access.SCOPE_SCRIBE) for i in range(5)]
    await client.create()
    await office.revoke(issued[2])
    tokens = [response.token for response in issued]
    organiser = (await office.tokens())[-1]
    assert organiser.principal == "organiser"
    assert list(organiser.scopes) == [access.SCOPE_ORGANISE, access.SCOPE_AUDIT, access.SCOPE_ADMIN]
    assert await office.tokens() == [tokens[4], tokens[3], tokens[1], tokens[0], organiser]
    assert await office.tokens(principal="p1") == [tokens[3], tokens[1]]
    every = await office.tokens(all=True)
    assert len(every) == 8
    assert [token.principal for token in every[:2]] == ["", ""]
    assert every[4].revoked_ms > 0
    request = access.ListTokensRequest(page_size=1)
    page = await office.stub.ListTokens(request, metadata=office.metadata)
    other = access.ListTokensRequest(page_token=page.next_page_token, all=True)
    found = await refused(office.stub.ListTokens(other, metadata=office.metadata))
    assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "page_token")


async def test_what_cannot_be_issued(client: Client) -> None:
    office, play = Office(client), await client.play(2, scribed=(1,), scribe_keys=[SCRIBE.public.raw])
    play_ = [access.SCOPE_PLAY]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scopes": play_}, "principal"),
        ({"principal": "Ani", "scopes": play_}, "principal"),
        ({"principal": "a" * 65, "scopes": play_}, "principal"),
        ({"principal": "ani"}, "scopes"),
        ({"principal": "ani", "scopes": [access.SCOPE_PLAY, access.SCOPE_UNSPECIFIED]}, "scopes[1]"),
        ({"principal": "ani", "scopes": [99]}, "scopes[0]"),
        ({"principal": "ani", "scopes": play_, "seat": 0}, "seat"),
        ({"principal": "ani", "scopes": play_, "game_id": "?"}, "game_id"),
        ({"principal": "ani", "scopes": play_, "game_id": play.id, "seat": 1}, "seat"),
        ({"principal": "ani", "scopes": play_, "game_id": play.id, "seat": 2}, "seat"),
        ({"principal": "ani", "scopes": [access.SCOPE_SCRIBE], "game_id": play.id, "seat": 0}, "scopes"),
        ({"principal": "ani", "scopes": play_, "lifetime_ms": 2**63}, "lifetime_ms"),
        ({"principal": "ani", "scopes": play_, "certificate": b"no certificate"}, "certificate"),
        ({"principal": "ani", "scopes": play_, "certificate": bytes(20_000)}, "certificate"),
    ]
    for fields, field in cases:
        found = await refused(office.stub.IssueToken(access.IssueTokenRequest(**fields), metadata=office.metadata))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field), fields
    request = access.IssueTokenRequest(principal="ani", scopes=play_, game_id="0" * 32)
    assert (await refused(office.stub.IssueToken(request, metadata=office.metadata))).reason == "UNKNOWN_GAME"
    assert [token.principal for token in await office.tokens()] == ["organiser"], "nothing was issued"
    for wrong in ("", "0" * 15, "A" * 16, "0" * 16):
        call = office.stub.RevokeToken(access.RevokeTokenRequest(id=wrong), metadata=office.metadata)
        assert (await refused(call)).metadata["field"] == "id"


async def test_an_admin_can_revoke_itself(client: Client) -> None:
    """The answer names it, and the admin's next call is refused."""
    office = Office(client)
    issued = await office.issue("root", access.SCOPE_ADMIN)
    office.metadata = bearer(issued.secret)
    assert (await office.revoke(issued)).revoked_ms > 0
    assert (await refused(office.stub.ListTokens(access.ListTokensRequest(), metadata=office.metadata))).reason == (
        "UNAUTHENTICATED"
    )
