"""SolverService about Kingdomino: proofs, explanations and best kingdoms on a real server; a game with certificates."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path
from typing import Any

from referee.games.kingdomino.dominoes import DOMINOES
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Report, Verdict
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.kingdomino.claims import (
    DiscardClaim,
    Frame,
    Kingdom,
    Placed,
    PlacementClaim,
    domino_message,
    frame_message,
    message_of,
    placed_of,
)
from referee_clients.sdk.solver import Solver
from referee_solver.kingdomino.best_kingdom import points
from tests.server.service.conftest import running
from tests.server.service.player import Play, refused
from tests.server.service.solver import a_game, solving
from tests.waiting import waiting_for

FRAME = Frame(5, (2, 2))
KINGDOM = Kingdom(FRAME, (Placed(DOMINOES[0], (1, 0), (2, 0)),))
LEGAL = PlacementClaim(KINGDOM, Placed(DOMINOES[47], (1, 1), (0, 1)))
ILLEGAL = PlacementClaim(KINGDOM, Placed(DOMINOES[47], (2, 0), (3, 0)))


async def test_the_client(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, _):
        solver = Solver(client.channel, client.organiser)
        assert (await solver.prove("kingdomino", LEGAL)).finding == pb.FINDING_HOLDS
        proof = await solver.prove("kingdomino", ILLEGAL, smt_lib=True)
        assert [violation.rule_id for violation in proof.violations] == ["KDO-16", "KDO-18"]
        assert all(violation.text.startswith(f"{violation.rule_id} at ") for violation in proof.violations)
        assert {file.expected for file in proof.smt_lib} == {"sat", "unsat"}
        assert (await solver.prove("kingdomino", DiscardClaim(KINGDOM, DOMINOES[9]))).finding == pb.FINDING_FAILS
        assert (await solver.prove("kingdomino", LEGAL, rlimit=1)).finding == pb.FINDING_UNDECIDED
        found = [each async for each in solver.best_kingdom(DOMINOES[40:44], FRAME, seconds=60)]
        assert [each.done for each in found] == [False] * (len(found) - 1) + [True]
        assert found[-1].proven
        kingdom = Kingdom(FRAME, tuple(placed_of(each, "kingdom") for each in found[-1].kingdom))
        assert points(kingdom) == found[-1].best


async def test_what_cannot_be_asked(tmp_path: Path) -> None:
    frame, dominoes = frame_message(FRAME), list(map(domino_message, DOMINOES[:3]))
    bad = [
        ("ProveMove", pb.ProveMoveRequest(kingdomino=message_of(DiscardClaim(KINGDOM, DOMINOES[0]))), "kingdom"),
        ("FindBestKingdom", pb.FindBestKingdomRequest(dominoes=dominoes), "frame"),
        ("FindBestKingdom", pb.FindBestKingdomRequest(dominoes=[*dominoes, dominoes[0]], frame=frame), "dominoes"),
    ]
    async with solving(tmp_path) as (server, _, asker):
        for method, request, field in bad:
            found = await refused(asker.ask(method, request))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field), request
        assert (server.workers.started, server.workers.lost) == (1, {})


def moves_of(state: Any) -> list[Any]:
    """Return moves that the seat on turn might try."""
    if state.phase is not Phase.PLACE:
        return [*list(state.legal_moves())[:1], DiscardDomino(1)]
    number = state.due().number
    odd = [((0, 0), (1, 0)), ((2, 2), (2, 1)), ((4, 4), (4, 5)), ((1, 0), (1, 0))]
    wrong = [PlaceDomino(number, left, right) for left, right in odd]
    return [*list(state.legal_moves())[:2], *wrong, DiscardDomino(number), ChooseDomino(number)]


async def test_moves_are_explained_as_they_are_judged(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, asker):
        play = await a_game(client)
        await play.until_play()
        seen = set[tuple[bool, bool]]()
        while len(seen) < 4:
            course = play.record.game
            for move in moves_of(course.position.state):
                request = pb.ExplainMoveRequest(
                    game_id=play.id, move=course.position.codec.encode_move(move, course.position.components)
                )
                found = await asker.ask("ExplainMove", request)
                violations = course.position.state.check(move)
                said = [(each.rule_id, [(c.x, c.y) for c in each.cells]) for each in found.violations]
                assert said == [(each.rule_id, [*each.cells]) for each in violations]
                if found.HasField("proof"):
                    assert found.proof.finding == (pb.FINDING_FAILS if violations else pb.FINDING_HOLDS)
                    proved = [(each.rule_id, [(c.x, c.y) for c in each.cells]) for each in found.proof.violations]
                    assert proved == said
                seen.add((found.HasField("proof"), bool(violations)))
            await play.steps(1)


async def audited(play: Play) -> Report:
    return audit(BytesIO(await play.client.log(play.id)), Policy(VerifierKey.parse(play.created.verifier_key)))


async def test_a_game_whose_terms_ask_for_certificates(tmp_path: Path) -> None:
    """Every domino of it: placed or discarded, and proved."""
    terms = log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_ALL)
    async with running(tmp_path / "data") as (server, client):
        play = await a_game(client, terms=terms)
        await play.to_the_end()
        async with waiting_for("a certificate for every entry"):
            while (report := await audited(play)).proofs.lacking:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (report.verdict, report.proofs.checked) == (Verdict.COMPLETE, 24)
        assert server.prover.settled == {"made": 24}
