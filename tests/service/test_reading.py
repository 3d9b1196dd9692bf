"""Lists and pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.games import registry
from referee.log.header import rules_hash
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import rules_service_pb2 as rules_pb
from tests.service.conftest import running
from tests.service.player import Client, Play, bearer, refused


async def test_lists(client: Client) -> None:
    games = [await client.play() for _ in range(7)]
    await games[0].until_play()
    await games[1].steps(2)
    for play in games[5:]:
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    newest_first = [play.id for play in reversed(games)]
    for page_size in (1, 2, 3, 7, 100, 10_000):
        assert await listed(client, page_size=page_size) == newest_first
    for state, expected in (
        (game_pb2.GAME_STATE_JOINING, newest_first[2:5]),
        (game_pb2.GAME_STATE_REVEALING, [games[1].id]),
        (game_pb2.GAME_STATE_PLAYING, [games[0].id]),
        (game_pb2.GAME_STATE_OVER, newest_first[:2]),
    ):
        assert await listed(client, page_size=2, state=state) == expected


async def listed(
    client: Client, page_size: int, state: game_pb2.GameState.ValueType = game_pb2.GAME_STATE_UNSPECIFIED
) -> list[str]:
    found: list[str] = []
    token = ""
    while True:
        request = pb.ListGamesRequest(page_size=page_size, state=state, page_token=token)
        page = await client.games.ListGames(request)
        assert len(page.games) <= min(page_size, 500)
        found += [game.id for game in page.games]
        token = page.next_page_token
        if not token:
            return found


async def test_legal_moves(play: Play) -> None:
    games, course = play.client.games, play.record.game
    await play.steps(6)
    expected = [
        course.position.codec.encode_move(move, course.position.components)
        for move in course.position.state.legal_moves()
    ]
    whole = await games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id))
    assert (whole.seat, whole.size, whole.head) == (play.seat_on_turn(), play.record.size, play.record.head)
    assert list(whole.moves) == expected
    found: list[bytes] = []
    token = ""
    while True:
        page = await games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id, page_size=2, page_token=token))
        found += page.moves
        token = page.next_page_token
        if not token:
            break
    assert found == expected
    other = await play.client.play()
    nothing = await games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=other.id))
    assert not nothing.HasField("seat")
    assert not nothing.moves


async def test_rules(client: Client) -> None:
    listed = (await client.rules.ListRules(rules_pb.ListRulesRequest())).rules
    assert [(r.rules_id, r.rules_version, r.min_seats, r.max_seats, r.declares_components) for r in listed] == [
        ("alhambra", 1, 2, 6, False),
        ("alhambra", 2, 2, 6, False),
        ("kingdomino", 1, 2, 4, True),
        ("rollwrite", 1, 1, 5, True),
    ]
    rules = listed[1]
    assert rules.rules_hash == rules_hash(registry.get("alhambra").catalogue)
    catalogue = (await client.rules.GetCatalogue(rules_pb.GetCatalogueRequest(rules_id="alhambra"))).rules
    assert len(catalogue) == len({rule.id for rule in catalogue}) == len(registry.get("alhambra").catalogue)
    assert all(rule.text and rule.citation and rule.kind and rule.function for rule in catalogue)
    found = await client.rules.GetComponents(rules_pb.GetComponentsRequest(rules_id="alhambra"))
    play = await client.play()
    assert found.components == play.record.opened.tables
    assert len(json.loads(found.json)["tiles"]) == 54
    for call in (
        client.rules.GetCatalogue(rules_pb.GetCatalogueRequest(rules_id="chess")),
        client.rules.GetComponents(rules_pb.GetComponentsRequest(rules_id="alhambra", rules_version=7)),
    ):
        assert (await refused(call)).reason == "UNKNOWN_RULES"


async def test_health_and_reflection(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        health: Any = health_pb2_grpc.HealthStub(client.channel)
        for name in ("", "referee.v1.GameService", "referee.v1.RulesService"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(client.channel)  # type: ignore[arg-type]
        call = reflection.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        names = {service.name for service in (await call.read()).list_services_response.service}
        assert {"referee.v1.GameService", "referee.v1.RulesService", "grpc.health.v1.Health"} <= names
        await call.done_writing()
