"""The streams of players: PlayGame for one game, WatchSeat for all of a principal's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from referee.log.intent import SignedIntent
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import (
    CODE,
    SCRIBE,
    Client,
    Play,
    against_the_rules,
    bearer,
    refused,
    token_of,
)
from tests.server.service.streams import Stream, play_seat


async def test_a_whole_game_of_streams(client: Client) -> None:
    play = await client.play(3)
    logs = await asyncio.gather(*(play_seat(play, seat) for seat in range(3)))
    await play.catch_up((await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size)
    assert play.record.game.end is not None
    assert logs == [play.entries] * 3


async def test_what_is_refused_or_fails_is_answered_and_the_stream_goes_on(play: Play) -> None:
    seat = play.seat_on_turn()
    stream = Stream(play, token_of(play, seat))
    first = await stream.begin()
    assert first.snapshot.game.size == play.record.size
    turn = (await stream.read()).turn
    assert (turn.awaited, turn.seat, turn.size, turn.head) == (pb.AWAITED_MOVE, seat, play.place.seq, play.place.prev)
    assert not turn.moves, "they were not asked for"
    refusal = (await stream.answer(play.move(seat, against_the_rules(play)))).answer.refused
    assert refusal.violations
    assert not refusal.HasField("recorded")
    good = play.move(seat, play.a_move())
    for bad, reason in (
        (SignedIntent(b"\xff", good.signature, b""), "MALFORMED_INTENT"),
        (SignedIntent(good.intent, bytes(64), b""), "BAD_SIGNATURE"),
        (SignedIntent(good.intent, b"", b""), "INVALID_ARGUMENT"),
        (play.move(1 - seat, play.a_move()), "PERMISSION_DENIED"),
    ):
        failure = (await stream.answer(bad)).answer.failure
        assert pb.ErrorReason.Name(failure.reason) == f"ERROR_REASON_{reason}"
        assert failure.code == CODE[reason].value[0]
        assert failure.message
    accepted = await stream.answer(good)
    assert list(accepted.commit.entries)
    again = await stream.answer(good)
    assert again.answer.accepted.checkpoint == accepted.commit.checkpoint, "the first answer again"
    assert not again.HasField("commit")


async def test_going_on_after_a_break(play: Play) -> None:
    """From any seq: what was missed, then what follows; and the act whose answer was lost gets it."""
    await play.steps(10)
    for after_seq in range(-1, play.record.size):
        stream = Stream(play, token_of(play, 0), after_seq=after_seq)
        seen: list[bytes] = []
        await stream.call.write(pb.PlayGameRequest(enter=stream.enter))
        while after_seq + 1 + len(seen) < play.record.size:
            seen += (await stream.read()).commit.entries
        assert seen == play.entries[after_seq + 1 :]
        stream.call.cancel()
    request, token, response = play.sent[-1]
    stream = Stream(play, token, after_seq=play.record.size - 1)
    await stream.call.write(pb.PlayGameRequest(enter=stream.enter))
    answer = (await stream.answer(SignedIntent(request.intent, request.signature, b""))).answer
    assert answer.accepted == response.accepted


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (pb.PlayGameRequest(), "INVALID_ARGUMENT"),
        (pb.PlayGameRequest(act=pb.SignedAct()), "INVALID_ARGUMENT"),
        (pb.PlayGameRequest(enter=pb.Enter(game_id="0" * 32)), "PERMISSION_DENIED"),
        (pb.PlayGameRequest(enter=pb.Enter(game_id="?")), "INVALID_ARGUMENT"),
    ],
    ids=["nothing", "an act", "another game", "no game"],
)
async def test_what_does_not_begin(play: Play, first: pb.PlayGameRequest, reason: str) -> None:
    call = play.client.games.PlayGame(metadata=bearer(token_of(play, 0)))
    await call.write(first)
    assert (await refused(call)).reason == reason


async def test_where_to_go_on_that_does_not_exist(play: Play) -> None:
    for after_seq, reason in ((play.record.size, "SEQ_OUT_OF_RANGE"), (-2, "INVALID_ARGUMENT")):
        stream = Stream(play, token_of(play, 0), after_seq=after_seq)
        await stream.call.write(pb.PlayGameRequest(enter=stream.enter))
        assert (await refused(stream.call)).reason == reason


async def test_what_is_no_act_ends_the_stream(play: Play) -> None:
    stream = Stream(play, token_of(play, play.seat_on_turn()))
    await stream.begin()
    await stream.read()
    await stream.call.write(pb.PlayGameRequest(enter=stream.enter))
    assert (await refused(stream.call)).reason == "INVALID_ARGUMENT"


async def test_who_says_no_more_still_listens(play: Play) -> None:
    stream = Stream(play, token_of(play, 1 - play.seat_on_turn()))
    await stream.begin()
    await stream.call.done_writing()
    assert (await stream.read()).HasField("heartbeat"), "it has everything, and nothing is awaited from it"
    size = play.record.size
    await play.steps(1)
    assert list((await stream.read()).commit.entries) == play.entries[size:]


async def test_draining_ends_every_stream(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(2, principals=["ani", ""])
        await play.catch_up(1)
        stream = Stream(play, play.created.seat_tokens[1])
        await stream.begin()
        assert (await stream.read()).turn.awaited == pb.AWAITED_JOIN
        server.live_games.drain()
        last = await stream.read()
        assert (last.closing.reason, last.seq) == (pb.CLOSING_REASON_DRAINING, 0)


async def test_a_scribe_plays_all_seats_of_a_table(client: Client) -> None:
    play = await client.play(2, scribed=(0, 1), declaring_scribe_key=SCRIBE.public.raw)
    stream = Stream(play, play.created.scribe_token, after_seq=-1)
    message = await stream.begin()
    kinds = set()
    for _ in range(60):
        while not message.HasField("turn"):
            for data in message.commit.entries:
                play.record.read(data)
            message = await stream.read()
        for data in message.commit.entries:
            play.record.read(data)
        kinds.add(message.turn.awaited)
        act = play.next_act()
        assert act is not None
        await stream.act(act[0])
        message = await stream.read()
        assert message.answer.HasField("accepted")
    assert kinds == {pb.AWAITED_MOVE, pb.AWAITED_DECLARE}


async def test_all_games_of_a_seat_on_one_stream(client: Client) -> None:
    """A seat's token is for one game."""
    play = await client.play()
    stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(token_of(play, 0)))
    first = await stream.read()
    assert (first.game_id, first.update.snapshot.game.size) == (play.id, 1)
    turn = await stream.read()
    assert (turn.game_id, turn.turn.awaited) == (play.id, pb.AWAITED_JOIN)
    await play.until_play()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    await play.catch_up(play.record.size + 2)
    seen: list[bytes] = []
    while not (message := await stream.read()).update.HasField("closing"):
        seen += message.update.commit.entries
        assert not message.HasField("turn") or message.turn.size == len(seen) + 1
    assert message.update.closing.reason == pb.CLOSING_REASON_GAME_OVER
    assert message.update.seq == len(play.entries) - 1
    assert seen == play.entries[1:]
    stream.cancel()
    resume = [pb.ResumePoint(game_id=play.id, after_seq=1)]
    stream = client.games.WatchSeat(pb.WatchSeatRequest(resume=resume), metadata=bearer(token_of(play, 0)))
    seen = []
    while not (message := await stream.read()).update.HasField("closing"):
        seen += message.update.commit.entries
    assert seen == play.entries[2:]
