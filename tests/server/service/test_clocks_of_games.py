"""Clocks as players see them, at a real server: in answers, in streams, and after a kill."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.games.table_rules import VERSION
from referee.log import intent
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.server.service.files import ALIVE_FILE
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import Join
from referee_clients.sdk.arbiter import arbiter
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.player import Player
from referee_clients.status import how_it_stands
from tests.log.games import key
from tests.server.service.arbiter import ARBITERS, RULE, Table
from tests.server.service.clocks import START_MS, timed
from tests.server.service.conftest import running
from tests.server.service.facts import status
from tests.server.service.player import Client, Play, bearer, connected, refused, seat_key, token_of
from tests.server.service.process import serve
from tests.server.service.resend import moved
from tests.server.service.streams import Stream
from tests.virtual_time import VirtualTime
from tests.waiting import until, waiting_for

CLOCK = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=60_000, increment_ms=2_000), lag_ms=400)


async def get(play: Play) -> game_pb2.Game:
    response: pb.GetGameResponse = await play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))
    return response.game


async def in_play(client: Client, **terms: Any) -> Play:
    play = await client.play(terms=log_pb2.Terms(**terms), arbiter_keys=[key("arbiter 0").public.raw])
    await play.until_play()
    return play


async def test_what_is_told_of_clocks(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        time = server.time
        play = await in_play(client, clock=CLOCK)
        seat = play.seat_on_turn()
        game = await get(play)
        assert game.clocks[seat] == game_pb2.SeatClock(left_ms=60_000, running=True, since_ms=START_MS)
        assert game.clocks[1 - seat] == game_pb2.SeatClock(left_ms=60_000)
        time.advance(5_000)
        signed = play.move(seat, play.a_move())
        request = pb.SubmitIntentRequest(
            game_id=play.id, intent=signed.intent, signature=signed.signature, thought_ms=4_700
        )
        call = client.games.SubmitIntent
        answer = await call(request, metadata=bearer(token_of(play, seat)))
        accepted = answer.accepted
        assert (accepted.charged_ms, accepted.lag_ms, accepted.overhead_ms) == (4_700, 300, 0)
        assert await call(request, metadata=bearer(token_of(play, seat))) == answer, "again the same"
        await play.accepted(answer)
        game = await get(play)
        assert game.clocks[seat].left_ms == 60_000 - 4_700 + (2_000 if seat not in game.awaited_seats else 0)


async def test_a_stream_tells_the_time_that_is_left_and_the_flag(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        time = server.time
        play = await in_play(client, clock=CLOCK)
        seat = play.seat_on_turn()
        time.advance(10_000)
        stream = client.games.PlayGame(metadata=bearer(token_of(play, seat)))
        await stream.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id, after_seq=play.record.size - 1)))
        turn = (await stream.read()).turn
        assert (turn.seat, turn.left_ms, turn.size) == (seat, 50_000, play.record.size)
        time.advance(50_000 + 400 + 1)
        async with waiting_for("the flag"):
            message = await stream.read()
        events = [decode_entry(data).WhichOneof("event") for data in message.commit.entries]
        assert events == ["timeout", "end", "disclose"], "of two seats one is left"
        assert (await stream.read()).closing.reason == pb.CLOSING_REASON_GAME_OVER
        game = await get(play)
        assert (game.state, game.result.ending) == (game_pb2.GAME_STATE_OVER, log_pb2.ENDING_FLAG)
        assert [(out.seat, out.ending) for out in game.forfeited] == [(seat, log_pb2.ENDING_FLAG)]


async def test_a_move_after_the_flag_is_answered_with_why(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        time = server.time
        play = await in_play(client, clock=CLOCK)
        seat = play.seat_on_turn()
        signed, token = play.move(seat, play.a_move()), token_of(play, seat)
        time.advance(60_001)
        refusal = await refused(play.submit(signed, token))
        assert refusal.reason == "NOT_AWAITED"
        assert refusal.message == f"the move came too late: player {seat + 1} had run out of time"
        time.advance(400)
        await until(lambda: True, "the loop")
        assert (await refused(play.submit(signed, token))).reason in ("GAME_OVER", "STALE_HEAD")


async def test_suspended_and_disputed_games(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        time = server.time
        play = await in_play(client, clock=CLOCK, protest_ms=60_000)
        seat = play.seat_on_turn()
        move = play.a_move()
        rule = _ruling(play)
        await play.act(*rule(pause=log_pb2.Pause()))
        game = await get(play)
        assert (game.state, list(game.awaited_seats)) == (game_pb2.GAME_STATE_PAUSED, [])
        assert not any(clock.running for clock in game.clocks)
        listed = await client.games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id))
        assert len(listed.moves) == 0
        refusal = await refused(play.submit(play.move(seat, play.a_move()), token_of(play, seat)))
        assert refusal.metadata == {"awaited": "an arbiter, as the game is paused"}
        await play.act(*rule(adjourn=log_pb2.Adjourn()))
        assert (await get(play)).state == game_pb2.GAME_STATE_ADJOURNED
        await play.act(*rule(resume=log_pb2.Resume()))
        assert (await get(play)).state == game_pb2.GAME_STATE_PLAYING
        protest = log_pb2.Protest(against_seq=3, rule_id="TBL-1")
        filed = await play.act(_act(play, Author(Role.SEAT, 0), protest), token_of(play, 0))
        await play.act(_act(play, Author(Role.SEAT, 1), log_pb2.Resign()), token_of(play, 1))
        game = await get(play)
        assert (game.state, list(game.open_disputes)) == (game_pb2.GAME_STATE_RESULT_OPEN, [filed.seq])
        refusal = await refused(play.submit(play.move(0, move), token_of(play, 0)))
        assert refusal.metadata == {"awaited": f"a ruling on entry {filed.seq}"}
        await play.act(*rule(dismiss=log_pb2.Dismiss(), rule_id="TBL-1", decides=filed.seq))
        time.advance(60_000)
        await play.catch_up(play.record.size + 2)
        assert (await get(play)).result.ending == log_pb2.ENDING_RESIGNED


def _act(play: Play, author: Author, message: intent.TableAct) -> intent.SignedIntent:

    return intent.act(
        play.place, author, seat_key(author.index) if author.role is Role.SEAT else key("arbiter 0"), message
    )


def _ruling(play: Play) -> Any:
    def rule(**fields: Any) -> tuple[intent.SignedIntent, str]:
        signed = _act(play, Author(Role.ARBITER, 0), log_pb2.Rule(**fields))
        return signed, play.created.arbiter_token

    return rule


BAD_TERMS = {
    "a clock of no kind": (log_pb2.Terms(clock=log_pb2.ClockTerms()), "terms.clock"),
    "a clock of no time": (log_pb2.Terms(clock=log_pb2.ClockTerms(per_move=log_pb2.PerMove())), "terms.clock"),
    "strikes that nobody counts": (log_pb2.Terms(strikes=3), "terms.illegal_moves"),
    "protests for nobody": (log_pb2.Terms(protest_ms=3), "terms.protest_ms"),
    "later rules": (log_pb2.Terms(table_rules=9), "terms.table_rules"),
}


@pytest.mark.parametrize("what", BAD_TERMS)
async def test_terms_that_cannot_be(client: Client, what: str) -> None:
    terms, field = BAD_TERMS[what]
    refusal = await refused(client.create(terms=terms))
    assert (refusal.reason, refusal.metadata["field"]) == ("INVALID_ARGUMENT", field)
    assert refusal.message.startswith(f"{field}: expected ")


async def test_every_new_game_has_the_rules_of_the_table(client: Client) -> None:
    for terms in (None, log_pb2.Terms(take_backs=True)):
        play = await client.play(terms=terms)
        assert play.record.opened.terms.table_rules == VERSION


async def test_older_rules_of_the_table_are_played_as_they_were(client: Client) -> None:
    play = await client.play(terms=log_pb2.Terms(table_rules=1))
    await play.catch_up(1)
    for seat in (0, 1):
        await play.act(play.join(seat), token_of(play, seat))
    change = log_pb2.Intent(game_id=play.place.game_id, seq=play.place.seq, prev=play.place.prev, seat=0)
    change.change_key.key = seat_key(7).public.raw
    refusal = await refused(play.submit(intent.sign(change, seat_key(0)), token_of(play, 0)))
    assert refusal.reason == "ACT_NOT_OFFERED"


class Slow:
    """Takes a second of the referee's time for each move, and nearly nothing of its own: as if the network took it."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def choose(self, observation: Any, moves: Sequence[Any]) -> Any:
        self._time.block(1_000)
        return moves[0]


async def test_a_bot_says_what_it_thought_and_resigns(tmp_path: Path) -> None:
    async with timed(tmp_path / "data") as (server, client):
        time = server.time
        created = await client.create(rules_id="rollwrite", terms=log_pb2.Terms(clock=CLOCK))
        time.stop()  # what it measures of the loop is not the matter here
        joins = [Join(server.address, created.game.id, seat, token) for seat, token in enumerate(created.seat_tokens)]
        bots = [Player(join, Slow(time)) for join in joins]
        leaving = list[asyncio.Task[None]]()

        def look(ledger: Ledger) -> None:
            if ledger.size > 40 and not leaving:
                leaving.append(asyncio.create_task(bots[1].resign()))

        bots[0]._on_commit = look
        async with waiting_for("the end of the game"):
            results = await asyncio.gather(*(bot.run() for bot in bots))
            await asyncio.gather(*leaving)
        assert {result.ending for result in results} == {"RESIGNED"}
        assert results[0].places == (1, 2)
        moves = [entry for entry in map(decode_entry, results[0].entries) if entry.charged_ms]
        assert len(moves) > 10
        assert any(move.lag_ms == CLOCK.lag_ms for move in moves)
        clock = bots[0].clock
        assert clock is not None
        assert clock == bots[0].ledger.record.game.clocks.seat(0)  # type: ignore[union-attr]


async def test_no_clock_runs_while_a_killed_referee_is_down_or_seats_are_not_back(tmp_path: Path) -> None:
    """Not either if it is stopped again before anybody is back."""
    data, log = tmp_path / "data", tmp_path / "log"
    first = await serve(data, log)
    async with connected(first.address, first.token) as client:
        play = await in_play(client, clock=CLOCK)
        seat = play.seat_on_turn()
        since_ms = (await get(play)).clocks[seat].since_ms
        alive = data / ALIVE_FILE
        noted = alive.stat().st_mtime_ns
        await until(lambda: alive.stat().st_mtime_ns > noted, "that the referee notes that it is alive", every_s=0.05)
        first.process.kill()
        await first.process.wait()
    alive_ms = alive.stat().st_mtime_ns // 1_000_000
    meanwhile = await serve(data, log)
    meanwhile.process.terminate()
    await meanwhile.process.wait()
    again = await serve(data, log)
    async with connected(again.address, again.token) as client:
        play.client, play.stream = client, None
        assert (await get(play)).size == play.record.size
        with pytest.raises(grpc.aio.AioRpcError, match="the head is entry"):
            await play.step()
        await play.catch_up(play.record.size + 1)
        entry = decode_entry(play.entries[-1])
        assert entry.interrupted.alive_ms == max(alive_ms, since_ms)
        assert entry.referee_ms > alive_ms
        game = await get(play)
        assert game.clocks[seat].left_ms == 60_000 - (entry.interrupted.alive_ms - since_ms)
        assert game.clocks[seat].since_ms == entry.referee_ms
        await play.steps(2)
    again.process.terminate()
    await again.process.wait()
    assert alive.stat().st_mtime_ns // 1_000_000 > alive_ms


async def test_after_an_outage_a_ruling_is_entered_at_once_and_everybody_sees_clocks_that_stand(tmp_path: Path) -> None:
    """No player is back. A ruling made in a position still means that position: it did not change."""
    terms = log_pb2.Terms(clock=CLOCK)
    async with running(tmp_path) as (_, client):
        table = await Table.dealt(client, terms=terms)
        play, seat = table.play, table.play.seat_on_turn()
        await play.steps(3)
        seat = play.seat_on_turn()
    async with running(tmp_path) as (server, client):
        moved(play, client)
        standing = (await get(play)).clocks[seat]
        assert (standing.running, standing.left_ms > 0) == (False, True)
        (game,) = (await status(client, game_id=play.id)).games
        assert "so clocks wait until those on turn are back" in how_it_stands(game, 0).plain
        request = pb.WatchGameRequest(game_id=play.id, after_seq=play.record.size - 1)
        heartbeat = (await client.games.WatchGame(request).read()).heartbeat
        assert 0 < heartbeat.stood_ms <= heartbeat.referee_ms
        async with arbiter(server.address, play.id, play.created.arbiter_token) as calls:
            skip = log_pb2.Rule(rule_id=RULE, skip=log_pb2.Skip(seat=seat))
            ruled = await calls.act(play.record.place, Author(Role.ARBITER, 0), ARBITERS[0], skip)
        await play.catch_up(ruled.size)
        kinds = [decode_entry(data).WhichOneof("event") for data in play.entries[-3:]]
        assert "interrupted" in kinds, kinds
        assert (await get(play)).clocks[seat].left_ms >= standing.left_ms - 1_000


async def test_after_an_outage_a_scribe_brings_the_seats_of_a_table_back(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, client):
        play = (await Table.declared(client, terms=log_pb2.Terms(clock=CLOCK))).play
        while not any(clock.running for clock in (await get(play)).clocks):
            await play.steps(1)
    size = play.record.size
    async with running(tmp_path) as (_, client):
        moved(play, client)
        assert not any(clock.running for clock in (await get(play)).clocks)
        stream = Stream(play, play.created.scribe_token)
        await stream.begin()
        game = await get(play)
        assert (game.size, any(clock.running for clock in game.clocks)) == (size + 1, True)
