"""Whole games over gRPC, and what their logs prove."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import Any

import pytest

from referee.games import kingdomino, registry, rollwrite
from referee.games.kingdomino.options import Frame
from referee.games.rollwrite.options import Solo
from referee.log.audit import audit
from referee.log.codec import end_message
from referee.log.entry import decode_entry
from referee.log.file import entries
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import OTHER_SCRIBE, SCRIBE, Client, bearer, seat_key
from tests.server.service.whole_games import SHORT, options
from tests.sizes import sample_of

RECORDED = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
SCRIBES = [SCRIBE.public.raw, OTHER_SCRIBE.public.raw]
DECLARING = SCRIBE.public.raw


DUEL = options(kingdomino.Options(Frame.RELATIVE, mighty_duel=True))
ORDER = options(kingdomino.Options(declared_order=(1, 2, 0), wider_offer=True))
AGAINST = options(rollwrite.Options(virtual_players=3, solo=Solo.AGAINST))
KINDS: dict[str, tuple[int, dict[str, Any]]] = {
    "alhambra: dealt, 2 seats": (2, {}),
    "alhambra: dealt, 3 seats, attempts recorded": (3, {"terms": RECORDED}),
    "alhambra: dealt, 6 seats": (6, {}),
    "alhambra: declared, 3 seats": (3, {"declaring_scribe_key": DECLARING}),
    "alhambra: declared, 2 seats, both scribed, stalled": (
        2,
        {"declaring_scribe_key": DECLARING, "scribed": (0, 1), "options": SHORT},
    ),
    "alhambra: dealt, 2 seats, one scribed": (2, {"scribe_keys": SCRIBES, "scribed": (1,)}),
    "kingdomino: dealt, 4 seats, attempts recorded": (4, {"terms": RECORDED}),
    "kingdomino: dealt, a mighty duel, one scribed": (2, {"scribe_keys": SCRIBES, "scribed": (0,), "options": DUEL}),
    "kingdomino: declared, 3 seats": (3, {"declaring_scribe_key": DECLARING, "options": ORDER}),
    "kingdomino: declared, 2 seats, both scribed": (2, {"declaring_scribe_key": DECLARING, "scribed": (0, 1)}),
    "rollwrite: dealt, 1 seat": (1, {}),
    "rollwrite: dealt, 5 seats, attempts recorded": (5, {"terms": RECORDED}),
    "rollwrite: dealt, 3 seats, one scribed": (3, {"scribe_keys": SCRIBES, "scribed": (2,)}),
    "rollwrite: declared, 1 seat against three": (1, {"declaring_scribe_key": DECLARING, "options": AGAINST}),
    "rollwrite: declared, 2 seats, both scribed": (2, {"declaring_scribe_key": DECLARING, "scribed": (0, 1)}),
}


@pytest.mark.parametrize("kind", sample_of([*KINDS], 4))
async def test_a_whole_game_audits_complete(client: Client, kind: str) -> None:
    seats, fields = KINDS[kind]
    play = await client.play(seats, rules_id=kind.partition(":")[0], **fields)
    await play.to_the_end()
    game: game_pb2.Game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
    assert game.state == game_pb2.GAME_STATE_OVER
    assert play.record.game.end is not None
    assert game.result == end_message(play.record.game.end)
    stalled = "stalled" in kind
    assert game.result.ending == (log_pb2.ENDING_STALLED if stalled else log_pb2.ENDING_RULES)
    assert (game.size, game.head) == (play.record.size, play.record.head)
    policy = Policy(
        VerifierKey.parse(play.created.verifier_key),
        {seat: seat_key(seat).public.raw for seat in play.seats},
        receipts=tuple(response.accepted.checkpoint for _, _, response in play.sent),
    )
    report = audit(BytesIO(await client.log(play.id)), policy)
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.deck_checked == play.record.game.deal.is_dealt


def test_every_game_is_played() -> None:
    assert {kind.partition(":")[0] for kind in KINDS} == set(registry.names())


@pytest.mark.parametrize("rules_id", registry.names())
async def test_a_running_game_audits_as_a_prefix(client: Client, rules_id: str) -> None:
    play = await client.play(rules_id=rules_id)
    for _ in range(12):
        await play.step()
        report = audit(BytesIO(await client.log(play.id)), Policy(VerifierKey.parse(play.created.verifier_key)))
        assert report.verdict is Verdict.PREFIX, report.as_text()
        assert report.signed_entries == report.entries == play.record.size


@pytest.mark.parametrize("rules_id", registry.names())
async def test_what_a_seat_may_not_do_is_answered_and_recorded(client: Client, rules_id: str) -> None:
    """A move that somebody made before: well-formed, and against the rules by now."""
    play = await client.play(rules_id=rules_id, terms=RECORDED)
    await play.until_play()
    made: list[Any] = []
    attempts = 0
    while attempts < 3:
        course = play.record.game
        wrong = next((move for move in made if course.position.state.check(move)), None)
        if wrong is not None:
            seat, data = play.seat_on_turn(), course.position.codec.encode_move(wrong, course.position.components)
            response = await play.submit(play.move(seat, data), play.created.seat_tokens[seat])
            broken = [violation.rule_id for violation in response.refused.violations]
            assert broken == [violation.rule_id for violation in course.position.state.check(wrong)]
            await play.catch_up(response.refused.recorded.size)
            attempts += 1
        made += course.position.state.legal_moves()
        await play.step()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    data = await client.log(play.id)
    assert [decode_entry(entry).WhichOneof("event") for entry in entries(BytesIO(data))].count("refused") == attempts
    report = audit(BytesIO(data), Policy(VerifierKey.parse(play.created.verifier_key)))
    assert report.verdict is Verdict.COMPLETE, report.as_text()


@pytest.mark.parametrize("rules_id", registry.names())
async def test_an_aborted_game_opens_its_seed(client: Client, rules_id: str) -> None:
    for steps in (0, 3, 9):
        play = await client.play(rules_id=rules_id)
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
