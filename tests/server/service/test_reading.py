"""Lists and pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.games import registry
from referee.log.header import rules_hash
from referee.server.live import game_list
from referee.server.service.game_service import MOST_LISTED
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import rules_service_pb2 as rules_pb
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, bearer, refused


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
        assert len(page.games) <= min(page_size, MOST_LISTED)
        found += [game.id for game in page.games]
        token = page.next_page_token
        if not token:
            return found


async def test_lists_by_what_a_game_was_opened_with(tmp_path: Path) -> None:
    """Each filter and all pairs of them, running and over, page by page, against a filter over the whole list."""
    occasions: list[dict[str, int]] = [
        {},
        {"event_id": 7},
        {"event_id": 7, "round": 0},
        {"event_id": 7, "round": 0, "table": 2},
        {"event_id": 7, "round": 1, "table": 2},
        {"event_id": (1 << 64) - 2, "round": (1 << 32) - 1, "table": 0},
        {"round": 1},
    ]
    async with running(tmp_path / "data") as (_, client):
        for number, occasion in enumerate(occasions):
            play = await client.play(principals=["ani", ""] if number % 2 else [], **occasion)
            if number in (1, 3):
                await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    async with running(tmp_path / "data") as (_, client):
        everything = await every_game(client)
        assert [of(game) for game in everything] == occasions[::-1]
        times = [game.opened_ms for game in everything]
        assert times == sorted(times, reverse=True)
        assert {(game.outcome, game.ended_ms >= game.opened_ms) for game in everything} == {
            ("", False),
            ("no result: the organiser aborted the game", True),
        }
        asked: list[dict[str, Any]] = [
            *occasions[1:],
            *({"event_id": 7, "round": round_, "state": state} for round_ in (0, 1) for state in (1, 4)),
            {"principal": "ani"},
            {"principal": "ani", "event_id": 7},
            {"principal": "nobody"},
            {"id_prefix": everything[2].id[:8]},
            {"id_prefix": everything[2].id, "event_id": 8},
            *({"opened_from_ms": ms, "principal": who} for ms in times for who in ("", "ani")),
            *({"opened_until_ms": ms, "event_id": 7} for ms in times),
            {"opened_from_ms": times[4], "opened_until_ms": times[1]},
        ]
        for words in asked:
            assert await every_game(client, **words) == [game for game in everything if fits(game, words)], words


async def every_game(client: Client, **words: Any) -> list[game_pb2.Game]:
    """Return an organiser's list of games, read two at a time."""
    found: list[game_pb2.Game] = []
    request = pb.ListGamesRequest(page_size=2, **words)
    while True:
        page = await client.games.ListGames(request, metadata=bearer(client.organiser))
        found += page.games
        request.page_token = page.next_page_token
        if not request.page_token:
            return found


def of(game: game_pb2.Game) -> dict[str, int]:
    return {name: getattr(game, name) for name in ("event_id", "round", "table") if game.HasField(name)}


def fits(game: game_pb2.Game, words: dict[str, Any]) -> bool:
    found: dict[str, Any] = {**of(game), "state": game.state}
    return all(
        {
            "principal": value == "" or value in [seat.principal for seat in game.seats],
            "id_prefix": game.id.startswith(str(value)),
            "opened_from_ms": "ms" in name and game.opened_ms >= value,
            "opened_until_ms": "ms" in name and game.opened_ms < value,
        }.get(name, found.get(name) == value)
        for name, value in words.items()
    )


async def test_who_plays_is_not_told_to_strangers(client: Client) -> None:
    play = await client.play(principals=["ani", ""])
    (game,) = (await client.games.ListGames(pb.ListGamesRequest())).games
    assert [seat.principal for seat in game.seats] == ["", ""]
    for token in ("", play.created.seat_tokens[1]):
        denied = await refused(
            client.games.ListGames(pb.ListGamesRequest(principal="ani"), metadata=bearer(token)[: bool(token)])
        )
        assert denied.reason == "PERMISSION_DENIED"
    for request, field in (
        (pb.ListGamesRequest(id_prefix="0123456"), "id_prefix"),
        (pb.ListGamesRequest(principal="A"), "principal"),
    ):
        wrong = await refused(client.games.ListGames(request))
        assert (wrong.reason, wrong.metadata["field"]) == ("INVALID_ARGUMENT", field)


async def test_a_list_looks_at_a_bounded_number_of_games(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds for every filter; the rest is on later pages, which may be empty."""
    monkeypatch.setattr(game_list, "MOST_LOOKED_AT", 2)
    first = await client.play(event_id=7, round=1)
    for _ in range(4):
        await client.play(event_id=7)
    request, pages = pb.ListGamesRequest(event_id=7, round=1), []
    while True:
        page = await client.games.ListGames(request)
        pages.append([game.id for game in page.games])
        request.page_token = page.next_page_token
        if not request.page_token:
            break
    assert pages == [[], [], [first.id]]
    other = pb.ListGamesRequest(
        event_id=7, page_token=(await client.games.ListGames(pb.ListGamesRequest(event_id=7, round=1))).next_page_token
    )
    assert (await refused(client.games.ListGames(other))).metadata["field"] == "page_token"


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
