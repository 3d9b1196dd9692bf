"""SolverService: real workers behind a real server, asked by many, cut off, and harmless to games."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from referee.games.alhambra.moves import PlaceTile, RebuildRemove
from referee.games.alhambra.position import Phase
from referee.games.alhambra.tiles import NAMES
from referee.games.game import Cell
from referee.v1 import game_service_pb2 as games_pb
from referee.v1 import solver_service_pb2 as pb
from referee.v1 import solver_service_pb2_grpc as pb_grpc
from referee.wire.certificates.alhambra.claims import (
    DistanceClaim,
    NoPlacementClaim,
    Place,
    Remove,
    StepClaim,
    Swap,
    placed_tiles,
)
from referee_clients.sdk.errors import Denied, Distrust
from referee_clients.sdk.solver import Solver
from referee_solver import requests
from tests.server.service import boaster
from tests.server.service.conftest import running
from tests.server.service.player import Play, bearer, refused, token_of
from tests.server.service.solver import ILLEGAL, LAYOUT, LEGAL, WALL, Asker, lines_of, proving, solving

QUESTIONS: dict[str, list[Any]] = {
    "ProveMove": [
        proving(LEGAL),
        proving(ILLEGAL, smt_lib=True),
        proving(StepClaim(LAYOUT, Remove((1, 0)))),
        proving(StepClaim(LAYOUT, Swap("tower-12", (2, 0)))),
        proving(NoPlacementClaim(LAYOUT, "pavilion-2-NEW")),
        proving(DistanceClaim({}, ("tower-12",), {(1, 0): "tower-12"}, 1)),
    ],
    "FindBestTurn": [
        pb.FindBestTurnRequest(layout=placed_tiles(LAYOUT), reserve=["tower-12"], bought=["garden-8-NW", "tower-9-ES"])
    ],
    "RebuildDistance": [
        pb.RebuildDistanceRequest(
            start=placed_tiles(LAYOUT), reserve=["tower-12"], goal=placed_tiles({(1, 0): "tower-12"})
        )
    ],
    "FindLongestWall": [WALL],
}


def without_words(response: Any) -> Any:
    if isinstance(response, pb.ProveMoveResponse):
        for violation in response.proof.violations:
            assert violation.text.startswith(violation.rule_id)
            violation.ClearField("text")
    return response


# --- answers -------------------------------------------------------------------------------------------------


async def test_answers_are_those_of_the_functions(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, _, asker):
        for method, asked in QUESTIONS.items():
            for request in asked:
                here = list(requests.answers(method, request.SerializeToString(), 600.0))
                call = asker.ask(method, request)
                there = [part async for part in call] if method == "FindLongestWall" else [await call]
                assert [without_words(part).SerializeToString() for part in there] == here, request


async def test_nothing_left_is_no_error(tmp_path: Path) -> None:
    """Neither a budget that runs out nor the referee's own, nor time."""
    budget = pb.Budget(rlimit=1)
    async with solving(tmp_path, solver_rlimit=10) as (_, _, asker):
        for more in (budget, pb.Budget(rlimit=10**12)):
            proof = (await asker.ask("ProveMove", proving(LEGAL, budget=more))).proof
            assert (proof.finding, proof.certificate) == (pb.FINDING_UNDECIDED, b"")
        (best,) = QUESTIONS["FindBestTurn"]
        best.budget.CopyFrom(budget)
        found = await asker.ask("FindBestTurn", best)
        assert (found.proven, len(found.moves) >= 2) == (False, True)
        search = pb.FindLongestWallRequest(tiles=NAMES, budget=budget)
        last = [part async for part in asker.ask("FindLongestWall", search)][-1]
        assert last.done
        assert not last.proven
    (decided,) = requests.answers("ProveMove", proving(LEGAL).SerializeToString(), 0.0)
    assert pb.ProveMoveResponse.FromString(decided).proof.finding == pb.FINDING_UNDECIDED


BAD: list[tuple[str, Any, str]] = [
    ("ProveMove", pb.ProveMoveRequest(), "claim"),
    ("ProveMove", proving(StepClaim({(0, 0): "tower-12"}, Remove((0, 0)))), "layout"),
    ("ProveMove", proving(StepClaim({(1, 0): "tower-12"}, Place("tower-12", (0, 1)))), "layout"),
    ("ProveMove", proving(StepClaim({(7, 0): "tower-12"}, Place("tower-11", (0, 1)))), "layout"),
    ("FindBestTurn", pb.FindBestTurnRequest(bought=["tower-12", "tower-12"]), "layout"),
    ("FindLongestWall", pb.FindLongestWallRequest(tiles=["tower-12", "tower-12"]), "tile tower-12"),
    ("RebuildDistance", pb.RebuildDistanceRequest(goal=placed_tiles({(5, 5): "tower-12"})), "goal"),
    ("ExplainMove", pb.ExplainMoveRequest(game_id="12"), "game_id"),
]


async def test_what_cannot_be_asked(tmp_path: Path) -> None:
    async with solving(tmp_path) as (server, client, asker):
        for method, request, field in BAD:
            found = await refused(asker.ask(method, request))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field), request
            assert "\n" not in found.message
        raw: Any = client.channel.unary_unary("/referee.v1.SolverService/ProveMove")
        assert (await refused(raw(b"\xff", metadata=bearer(client.organiser)))).reason == "INVALID_ARGUMENT"
        assert (server.workers.started, server.workers.lost) == (1, {}), "all of it was told by one worker"


async def test_who_may_ask(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, _):
        play = await client.play()
        assert (
            await Asker(client, token_of(play, 0)).ask("ProveMove", proving(LEGAL))
        ).proof.finding == pb.FINDING_HOLDS
        nobody: Any = pb_grpc.SolverServiceStub(client.channel)
        for method in ("ProveMove", "ExplainMove", "FindBestTurn", "FindLongestWall", "RebuildDistance"):
            request = QUESTIONS[method][0] if method in QUESTIONS else pb.ExplainMoveRequest(game_id=play.id)
            assert (await refused(getattr(nobody, method)(request))).reason == "UNAUTHENTICATED"


# --- explanations --------------------------------------------------------------------------------------------


def moves_of(play: Play) -> list[Any]:
    """Return moves that the seat on turn might try: tiles and cells of all sorts."""
    state: Any = play.record.game.position.state
    cells: list[Cell] = [(x, y) for x in range(-2, 3) for y in range(-2, 3)][::2]
    found: list[Any] = list(state.legal_moves())[:6]
    if state.phase is Phase.PLACE:
        return [*found, *(PlaceTile(tile, cell) for tile in range(0, 54, 9) for cell in cells[:4])]
    return [*found, *(RebuildRemove(cell) for cell in cells)]


async def test_moves_are_explained_as_they_are_judged(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, asker):
        play = await client.play(2, seed=3)
        await play.until_play()
        seen = set[tuple[bool, bool]]()
        while len(seen) < 4:
            course = play.record.game
            for move in moves_of(play):
                request = pb.ExplainMoveRequest(
                    game_id=play.id, move=course.position.codec.encode_move(move, course.position.components)
                )
                found = await asker.ask("ExplainMove", request)
                assert found.size == play.record.size
                violations = course.position.state.check(move)
                said = [(each.rule_id, tuple((c.x, c.y) for c in each.cells), each.text) for each in found.violations]
                assert [(rule, cells) for rule, cells, _ in said] == [(v.rule_id, v.cells) for v in violations]
                if found.HasField("proof"):
                    assert found.proof.finding == (pb.FINDING_FAILS if violations else pb.FINDING_HOLDS)
                    proved = {(each.rule_id, each.text) for each in found.proof.violations}
                    assert proved == {(rule, text) for rule, _, text in said}
                    assert found.proof.certificate
                else:
                    assert not any(v.rule_id.startswith("ALH-A") for v in violations)
                seen.add((found.HasField("proof"), bool(violations)))
            await play.steps(1)


async def test_what_cannot_be_explained(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, asker):
        play = await client.play()
        request = pb.ExplainMoveRequest(game_id=play.id)
        found = await refused(asker.ask("ExplainMove", request))
        assert (found.reason, found.metadata["awaited"]) == ("NOT_AWAITED", "join by player 1, join by player 2")
        await play.until_play()
        assert (await refused(asker.ask("ExplainMove", request))).reason == "MALFORMED_MOVE"
        nowhere = pb.ExplainMoveRequest(game_id="0" * 32)
        assert (await refused(asker.ask("ExplainMove", nowhere))).reason == "UNKNOWN_GAME"
        await client.games.AbortGame(games_pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        assert (await refused(asker.ask("ExplainMove", request))).reason == "GAME_OVER"


async def test_a_disagreement_is_an_incident(tmp_path: Path, logged: StringIO) -> None:
    async with running(tmp_path / "data") as (server, client):
        server.workers._module = "tests.server.service.liar"
        play = await client.play()
        await play.until_play()
        course = play.record.game
        move = course.position.codec.encode_move(RebuildRemove((1, 0)), course.position.components)
        found = await refused(Asker(client).ask("ExplainMove", pb.ExplainMoveRequest(game_id=play.id, move=move)))
        assert (found.reason, set(found.metadata)) == ("INTERNAL", {"incident"})
        with pytest.raises(Distrust, match="does not prove its answer"):
            await Solver(client.channel, client.organiser).prove("alhambra", LEGAL)
    (line,) = [line for line in lines_of(logged) if line["event"] == "engine and solver disagree"]
    assert (line["level"], line["game"], line["move"]) == ("error", play.id, move.hex())
    assert line["what"] == "the referee judged it illegal (ALH-D1), but it is proved illegal (ALH-A2, ALH-A4)"
    assert line["claim"]
    assert "incident" in {line["event"] for line in lines_of(logged)}


async def test_what_a_certificate_does_not_say_is_not_believed(tmp_path: Path) -> None:
    """The right certificate beside other rules; a finding without a certificate."""
    async with running(tmp_path / "data") as (server, client):
        server.workers._module = "tests.server.service.boaster"
        play = await client.play()
        await play.until_play()
        course = play.record.game
        move = course.position.codec.encode_move(RebuildRemove((1, 0)), course.position.components)
        solver = Solver(client.channel, client.organiser)
        for rlimit in (boaster.OTHER_RULES, boaster.NO_CERTIFICATE):
            with pytest.raises(Distrust):
                await solver.prove("alhambra", ILLEGAL, rlimit=rlimit)
            with pytest.raises(Distrust):
                await solver.explain("alhambra", play.id, move, rlimit=rlimit)
        assert (await solver.prove("alhambra", ILLEGAL)).violations


# --- the client ----------------------------------------------------------------------------------------------


async def test_the_client(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, _):
        solver = Solver(client.channel, client.organiser)
        assert (await solver.prove("alhambra", LEGAL)).finding == pb.FINDING_HOLDS
        proof = await solver.prove("alhambra", ILLEGAL, smt_lib=True)
        assert proof.finding == pb.FINDING_FAILS
        assert {file.expected for file in proof.smt_lib} <= {"sat", "unsat"}
        assert (await solver.prove("alhambra", LEGAL, rlimit=1)).finding == pb.FINDING_UNDECIDED
        turn = await solver.best_turn(LAYOUT, ["tower-12"], ["garden-8-NW"])
        assert turn.proven
        walls = [wall async for wall in solver.longest_wall(list(WALL.tiles), seconds=60)]
        assert [wall.done for wall in walls] == [False] * (len(walls) - 1) + [True]
        assert walls[-1].proven
        way = await solver.distance({}, ["tower-12"], {(1, 0): "tower-12"})
        assert (len(way.moves), way.proven) == (1, True)
        play = await client.play()
        await play.until_play()
        explained = await solver.explain("alhambra", play.id, play.a_move())
        assert not explained.violations
        with pytest.raises(Denied, match="UNKNOWN_GAME"):
            await solver.explain("alhambra", "0" * 32, b"")
