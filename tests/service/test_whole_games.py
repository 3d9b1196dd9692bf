"""Whole games over gRPC, and what their logs prove."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import Any

import pytest

from referee.games.alhambra import Options
from referee.log.audit import Policy, audit
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import codec
from tests.service.player import OTHER_SCRIBE, SCRIBE, Client, bearer, seat_key

SHORT = codec("alhambra", 1).encode_options(Options(max_turns=30))
KINDS: dict[str, tuple[int, dict[str, Any]]] = {
    "dealt, 2 seats": (2, {}),
    "dealt, 3 seats, attempts recorded": (
        3,
        {"terms": log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)},
    ),
    "dealt, 6 seats": (6, {}),
    "declared, 3 seats": (3, {"declaring_scribe_key": SCRIBE.public.raw}),
    "declared, 2 seats, both scribed": (
        2,
        {"declaring_scribe_key": SCRIBE.public.raw, "scribed": (0, 1), "options": SHORT},
    ),
    "dealt, 2 seats, one scribed": (
        2,
        {"scribe_keys": [SCRIBE.public.raw, OTHER_SCRIBE.public.raw], "scribed": (1,)},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_game_audits_complete(client: Client, kind: str) -> None:
    seats, fields = KINDS[kind]
    play = await client.play(seats, **fields)
    await play.to_the_end()
    game: game_pb2.Game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
    assert game.state == game_pb2.GAME_STATE_OVER
    assert game.result == play.record.course.end
    stalled = "options" in fields
    assert game.result.ending == (log_pb2.ENDING_STALLED if stalled else log_pb2.ENDING_RULES)
    assert (game.size, game.head) == (play.record.size, play.record.head)
    policy = Policy(
        VerifierKey.parse(play.created.verifier_key),
        {seat: seat_key(seat).public.raw for seat in play.seats},
        receipts=tuple(response.accepted.checkpoint for _, _, response in play.sent),
    )
    report = audit(BytesIO(await client.log(play.id)), policy)
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.deck_checked == play.record.course.dealt


async def test_a_running_game_audits_as_a_prefix(client: Client) -> None:
    play = await client.play()
    for _ in range(12):
        await play.step()
        report = audit(BytesIO(await client.log(play.id)), Policy(VerifierKey.parse(play.created.verifier_key)))
        assert report.verdict is Verdict.PREFIX, report.as_text()
        assert report.signed_entries == report.entries == play.record.size


async def test_an_aborted_game_opens_its_seed(client: Client) -> None:
    for steps in (0, 3, 9):
        play = await client.play()
        await play.steps(steps)
        request = pb.AbortGameRequest(game_id=play.id)
        response = await client.games.AbortGame(request, metadata=bearer(client.organiser))
        assert response.game.result.ending == log_pb2.ENDING_ABORTED
        report = audit(BytesIO(await client.log(play.id)), Policy(VerifierKey.parse(play.created.verifier_key)))
        assert (report.verdict, report.ending) == (Verdict.COMPLETE, "ENDING_ABORTED"), report.as_text()


async def test_seats_join_in_any_order_and_at_once(client: Client) -> None:
    """Joins that were signed for one head: one is entered, the others learn of the new head and sign again."""
    play = await client.play(4)
    await play.catch_up(1)
    left = [3, 1, 0, 2]
    while left:
        acts = [play.submit(play.join(seat), play.created.seat_tokens[seat]) for seat in left]
        answers = await asyncio.gather(*acts, return_exceptions=True)
        done = [seat for seat, answer in zip(left, answers, strict=True) if isinstance(answer, pb.SubmitIntentResponse)]
        assert len(done) == 1
        left.remove(done[0])
        await play.catch_up(play.record.size + 1)
    await play.until_play()
