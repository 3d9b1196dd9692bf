"""Everything that can be wrong with a call other than an act: the status, the reason, and that nothing has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1.rules_service_pb2 import ListRulesRequest
from tests.server.service.player import (
    IDENTITY_POINT,
    SCRIBE,
    SMALL_ORDER_POINT,
    Client,
    Play,
    bearer,
    refused,
    token_of,
)

Call = Callable[[Client, str], Any]


async def test_unknown_and_malformed_games(client: Client) -> None:
    token = bearer(client.organiser)
    calls: list[Call] = [
        lambda c, g: c.games.GetGame(pb.GetGameRequest(game_id=g)),
        lambda c, g: c.games.WatchGame(pb.WatchGameRequest(game_id=g)),
        lambda c, g: c.games.WatchGame(pb.WatchGameRequest(game_id=g, after_seq=0)),
        lambda c, g: c.games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=g)),
        lambda c, g: c.games.GetLog(pb.GetLogRequest(game_id=g)),
        lambda c, g: c.games.AbortGame(pb.AbortGameRequest(game_id=g), metadata=token),
    ]
    for call in calls:
        found = await refused(call(client, "0" * 32))
        assert found.reason == "UNKNOWN_GAME"
        for text in ("", "0" * 31, "0" * 33, "G" * 32, "A" * 32, "0" * 31 + "\n", "é" * 32):
            found = await refused(call(client, text))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "game_id")


async def test_a_token_is_for_one_game(client: Client) -> None:
    one, other = await client.play(), await client.play()
    await one.catch_up(1)
    found = await refused(one.submit(one.join(0), token_of(other, 0)))
    assert found.reason == "PERMISSION_DENIED"


async def test_only_organisers_open_and_abort(client: Client) -> None:
    play = await client.play()
    calls: list[Callable[..., Awaitable[Any]]] = [
        lambda **m: client.games.CreateGame(pb.CreateGameRequest(rules_id="alhambra"), **m),
        lambda **m: client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), **m),
    ]
    for call in calls:
        assert (await refused(call())).reason == "UNAUTHENTICATED"
        assert (await refused(call(metadata=bearer(token_of(play, 0))))).reason == "PERMISSION_DENIED"
    assert len((await client.games.ListGames(pb.ListGamesRequest())).games) == 1


async def test_a_bad_credential_is_an_error_even_where_none_is_needed(client: Client) -> None:
    token = client.organiser
    for value in ("", "Bearer", "Bearer ", f"Basic {token}", token, f"Bearer  {token}", f"Bearer {token} {token}"):
        found = await refused(client.rules.ListRules(ListRulesRequest(), metadata=(("authorization", value),)))
        assert found.reason == "UNAUTHENTICATED"


async def test_two_credentials(client: Client) -> None:
    found = await refused(client.rules.ListRules(ListRulesRequest(), metadata=bearer(client.organiser) * 2))
    assert found.reason == "UNAUTHENTICATED"


SEATS = [log_pb2.Seat(), log_pb2.Seat()]
SCRIBED = log_pb2.Seat(scribed=True)
KEY = SCRIBE.public.raw
CREATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no rules": ({"rules_id": ""}, "UNKNOWN_RULES"),
    "unknown rules": ({"rules_id": "chess"}, "UNKNOWN_RULES"),
    "unknown version": ({"rules_version": 99}, "UNKNOWN_RULES"),
    "no seats": ({"seats": []}, "INVALID_ARGUMENT"),
    "one seat": ({"seats": SEATS[:1]}, "INVALID_ARGUMENT"),
    "seven seats": ({"seats": SEATS[:1] * 7}, "INVALID_ARGUMENT"),
    "far too many seats": ({"seats": SEATS * 300}, "INVALID_ARGUMENT"),
    "options that are none": ({"options": b"\xff"}, "INVALID_ARGUMENT"),
    "an age order of other seats": ({"options": b"\x0a\x02\x00\x05"}, "INVALID_ARGUMENT"),
    "options too long": ({"options": bytes(20_000)}, "INVALID_ARGUMENT"),
    "a weak arbiter": ({"arbiter_keys": [IDENTITY_POINT]}, "WEAK_KEY"),
    "a weak scribe": ({"declaring_scribe_key": SMALL_ORDER_POINT}, "WEAK_KEY"),
    "a scribe twice": ({"declaring_scribe_key": KEY, "scribe_keys": [KEY]}, "INVALID_ARGUMENT"),
    "a short player": ({"seats": [log_pb2.Seat(player=b"me"), log_pb2.Seat()]}, "INVALID_ARGUMENT"),
    "a scribed seat without a scribe": ({"seats": [SCRIBED, log_pb2.Seat()]}, "INVALID_ARGUMENT"),
    "dealt, and nobody to share in it": ({"seats": [SCRIBED] * 2, "scribe_keys": [KEY]}, "INVALID_ARGUMENT"),
    "a policy that does not exist": ({"terms": log_pb2.Terms(illegal_moves=9)}, "INVALID_ARGUMENT"),  # type: ignore[arg-type]
    "components where the version has its own": ({"components": b"\x0a\x05arena"}, "INVALID_ARGUMENT"),
    "components that are none": ({"rules_id": "rollwrite", "components": b"\xff"}, "INVALID_ARGUMENT"),
    "a sheet that cannot be": ({"rules_id": "rollwrite", "components": b"\x0a\x01a"}, "INVALID_ARGUMENT"),
    "a series without an index": ({"series": log_pb2.Series(id=bytes(16))}, "INVALID_ARGUMENT"),
}


async def test_games_that_cannot_be_opened(client: Client) -> None:
    for case, (fields, reason) in CREATIONS.items():
        request = pb.CreateGameRequest(**{"rules_id": "alhambra", "seats": SEATS, **fields})
        found = await refused(client.games.CreateGame(request, metadata=bearer(client.organiser)))
        assert found.reason == reason, case
    assert not (await client.games.ListGames(pb.ListGamesRequest())).games


async def test_watching_from_nowhere(play: Play) -> None:
    size = play.record.size
    for after_seq in (size, size + 1, 2**62):
        found = await refused(play.client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=after_seq)))
        assert (found.reason, found.metadata) == ("SEQ_OUT_OF_RANGE", {"size": str(size)})
    for after_seq in (-2, -(2**63)):
        found = await refused(play.client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=after_seq)))
        assert found.reason == "INVALID_ARGUMENT"


async def test_page_tokens_of_others(play: Play) -> None:
    games = play.client.games
    page = await games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id, page_size=1))
    for token in ("x", "====", "é", page.next_page_token + "x", page.next_page_token[:-4], "Z2FtZXMvMDox"):
        found = await refused(games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id, page_token=token)))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "page_token")
    found = await refused(games.ListGames(pb.ListGamesRequest(page_token=page.next_page_token)))
    assert found.reason == "INVALID_ARGUMENT"
    found = await refused(games.ListGames(pb.ListGamesRequest(state=77)))  # type: ignore[arg-type]
    assert found.metadata["field"] == "state"
    await play.step()
    request = pb.ListLegalMovesRequest(game_id=play.id, page_token=page.next_page_token)
    assert (await refused(games.ListLegalMoves(request))).reason == "INVALID_ARGUMENT", "valid while the head stands"


async def test_bytes_that_are_no_request(client: Client) -> None:
    for method in ("GameService/GetGame", "RulesService/ListRules"):
        call: Any = client.channel.unary_unary(f"/referee.v1.{method}")
        found = await refused(call(b"\xff\xff"))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "request")


async def test_a_request_beyond_all_limits(play: Play) -> None:
    """gRPC itself refuses it, before there is anybody to make an ErrorInfo."""
    request = pb.SubmitIntentRequest(game_id=play.id, intent=bytes(2 << 20))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await play.client.games.SubmitIntent(request, metadata=bearer(token_of(play, 0)))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    await play.step()


async def test_details_stay_small_whatever_is_sent(client: Client) -> None:
    """``refused`` measures them."""
    long = "\U0001f600" * 60_000
    found = await refused(
        client.games.CreateGame(pb.CreateGameRequest(rules_id=long), metadata=bearer(client.organiser))
    )
    assert found.reason == "UNKNOWN_RULES"
    found = await refused(client.games.GetGame(pb.GetGameRequest(game_id=long)))
    assert found.details_bytes < 1000
