"""Clocks of live games, to the millisecond: what is charged, when flags fall, what is not the seat's fault."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Ending
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.server.live import recovery
from referee.server.live.acts import Accepted, Refused
from referee.server.live.game import LiveGame
from referee.server.live.refusals import InDoubt, NotAwaited, StaleHead
from referee.server.store.nodes import Node
from referee.server.store.store import StoreFailed
from tests.server.live.clocked import RECORDED, Clocked

LAG_MS = 300
INCREMENT = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=10_000, increment_ms=500), lag_ms=LAG_MS)
CONTROLS = {
    "per move": (log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=5_000), lag_ms=LAG_MS), 5_000),
    "increment": (INCREMENT, 10_000),
    "delay": (log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=3_000, delay_ms=2_000), lag_ms=LAG_MS), 5_000),
    "correspondence": (
        log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=2), lag_ms=LAG_MS),
        2 * 86_400_000,
    ),
}


@pytest.mark.parametrize("control", CONTROLS)
async def test_a_flag_falls_by_itself_in_its_millisecond(tmp_path: Path, control: str) -> None:
    terms, time_ms = CONTROLS[control]
    game = await Clocked(tmp_path, clock=terms).begin()
    seat, since_ms, size = game.mover, game.record.last_ms, game.table.size
    game.time.advance(time_ms + LAG_MS)
    await game.table.record()
    assert game.table.size == size
    game.time.advance(1)
    timeout = await game.last("timeout")
    assert (timeout.seq, timeout.timeout.seat) == (size, seat)
    assert timeout.referee_ms == since_ms + time_ms + LAG_MS + 1
    assert (timeout.charged_ms, timeout.lag_ms, timeout.overhead_ms) == (time_ms + 1, LAG_MS, 0)
    assert game.game.arbitration.out == {seat: Ending.FLAG}
    assert (await game.entries())[size + 1].WhichOneof("event") == "stand_in"
    await game.check()
    await game.close()


async def test_a_move_in_the_last_millisecond_counts_and_one_after_it_does_not(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    answer = await game.move(after=10_000)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (10_000, 0, 0)
    seat, size = game.mover, game.table.size
    with pytest.raises(NotAwaited, match=f"player {seat + 1} had run out of time"):
        await game.move(after=10_001)
    assert game.table.size == size, "the network may still be to blame, so the flag waits"
    game.time.advance(LAG_MS)
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


async def test_a_late_move_brings_the_flag_down(tmp_path: Path) -> None:
    """The loop was busy for longer than the seat's time and did not look at the table before."""
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat, size = game.mover, game.table.size
    signed = game.a_move()
    game.time.stop()
    game.time.block(10_000 + LAG_MS + 1)
    with pytest.raises(NotAwaited, match=f"player {seat + 1} had run out of time"):
        await game.submit(signed, thought_ms=0)
    timeout = await game.last("timeout")
    assert (timeout.seq, timeout.timeout.seat) == (size, seat)
    await game.check()
    await game.close()


@pytest.mark.parametrize(
    ("thought_ms", "lag_ms"), [(None, 0), (2_000, 0), (1_900, 100), (5_000, 0), (1_000, LAG_MS), (0, LAG_MS)]
)
async def test_the_network_is_allowed_what_the_terms_say_at_most(
    tmp_path: Path, thought_ms: int | None, lag_ms: int
) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat = game.mover
    answer = await game.move(after=2_000, thought_ms=thought_ms)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (2_000 - lag_ms, lag_ms, 0)
    assert game.left(seat) == 10_000 - 2_000 + lag_ms + 500
    await game.check()
    await game.close()


async def test_an_attempt_is_charged_in_full(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT, illegal_moves=RECORDED).begin()
    seat = game.mover
    answer = await game.move(99, after=2_000, thought_ms=1_900)
    assert isinstance(answer, Refused)
    assert answer.recorded is not None
    assert answer.recorded.clock[1:] == (2_000, 0, 0)
    assert game.left(seat) == 8_000
    answer = await game.move(99, after=8_100, thought_ms=7_900)
    assert isinstance(answer, Refused)
    assert answer.recorded is None, "with the network it was in time, but that is not for attempts"
    assert isinstance(await game.move(thought_ms=7_900), Accepted)
    await game.check()
    await game.close()


async def test_the_time_of_the_commit_that_gives_the_turn_is_the_referees(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    game.store.takes_ms = 400
    await game.move(after=1_000)
    game.store.takes_ms = 0
    seat = game.mover
    assert game.table.left_ms(seat) == 10_000
    answer = await game.move(after=700, thought_ms=650)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (650, 50, 400)
    await game.check()
    # A flag waits as long.
    game.store.takes_ms = 400
    await game.move()
    game.store.takes_ms = 0
    size = game.table.size
    game.time.advance(game.left(game.mover) + LAG_MS)
    assert (await game.table.record()).size == size
    game.time.advance(1)
    assert (await game.last("timeout")).overhead_ms == 400
    await game.check()
    await game.close()


async def test_what_the_loop_was_late_is_not_charged(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    game.time.advance(1_000)
    game.time.block(800)
    answer = await game.submit(game.a_move())
    assert isinstance(answer, Accepted)
    assert answer.clock.charged_ms + answer.clock.overhead_ms == 1_800
    assert 780 <= answer.clock.overhead_ms <= 800, "what was before the next tick is not known"
    game.time.advance(19)  # with the tick that shows that it was late, and before the next one
    answer = await game.move()
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (0, 0, 19), "never more than has passed"
    game.time.advance(100)
    answer = await game.submit(game.a_move())
    assert isinstance(answer, Accepted)
    assert answer.clock.overhead_ms == 0, "it is on time again"
    await game.check()
    await game.close()


async def test_a_late_loop_looks_at_what_came_in_before_a_flag_falls(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    signed = game.a_move()
    game.time.advance(9_900)
    game.time.block(LAG_MS + 500)
    game.time.advance(0)  # the alarm rings late
    answer = await game.submit(signed)
    assert isinstance(answer, Accepted)
    size = game.table.size
    seat = game.mover
    game.time.advance(9_900)
    game.time.block(LAG_MS + 500)
    game.time.advance(0)
    assert game.table.size == size
    game.time.advance(1_020)  # nothing had come in, and what the loop was late is given
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


async def test_no_flag_falls_by_time_in_which_the_process_stood_still(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat = game.mover
    game.time.advance(1_000)
    game.time.block(3_600_000)
    game.time.advance(9_000)
    await game.table.record()
    assert game.game.arbitration.out == {}
    game.time.advance(LAG_MS + 1)
    flag = await game.last("timeout")
    assert (flag.timeout.seat, flag.overhead_ms // 1_000) == (seat, 3_599), "all but the tick before"
    await game.check()
    await game.close()


async def test_a_move_that_came_before_the_flag_and_is_judged_after_the_alarm_counts(tmp_path: Path) -> None:
    """It waits for a commit that is under way, and the alarm rings as soon as that is through."""
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat = game.mover
    game.time.advance(9_999)
    game.store.takes_ms, game.store.rings_at_once = 2_000, True
    other = (seat + 1) % 3
    proposal = asyncio.create_task(game.act(Role.SEAT, other, log_pb2.Protest(against_seq=0, rule_id="TBL-1")))
    await asyncio.sleep(0)
    assert game.table.peek() is None, "under way"
    answer = await game.submit(game.a_move())  # in the place after the proposal
    assert isinstance(await proposal, Accepted)
    assert isinstance(answer, Accepted)
    assert answer.clock.charged_ms == 9_999
    assert game.game.arbitration.out == {}
    await game.check()
    await game.close()


async def test_what_did_not_become_durable_costs_no_time(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    game.time.advance(1_000)
    signed = game.a_move()
    game.store.fails, game.store.takes_ms = True, 5_000
    with pytest.raises(StoreFailed):
        await game.submit(signed)
    game.store.fails, game.store.takes_ms = False, 0
    game.time.advance(200)
    answer = await game.submit(signed)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (1_200, 0, 5_000)
    await game.check()
    await game.close()


async def test_of_acts_that_fail_together_the_time_is_given_once(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat = game.mover
    game.time.advance(1_000)
    signed = game.a_move()
    game.store.fails, game.store.takes_ms = True, 1_000
    failed = await asyncio.gather(*(game.submit(signed) for _ in range(8)), return_exceptions=True)
    assert {type(failure) for failure in failed} == {StoreFailed}
    game.store.fails, game.store.takes_ms = False, 0
    await game.table.record()
    assert game.table.left_ms(seat) == 9_000
    game.time.advance(9_000 + LAG_MS)
    await game.table.record()
    assert not game.game.arbitration.out
    game.time.advance(1)
    flag = await game.last("timeout")
    assert (flag.charged_ms, flag.lag_ms, flag.overhead_ms) == (10_001, LAG_MS, 8_000)
    await game.check()
    await game.close()


async def test_the_commit_of_anothers_act_costs_no_time(tmp_path: Path) -> None:
    """A move for the place that the other act took has to be signed again, when that is through."""
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat = game.mover
    game.store.takes_ms, game.store.loop_is_free = 5_000, True
    game.time.advance(1_000)
    await game.act(Role.SEAT, (seat + 1) % 3, log_pb2.Protest(against_seq=0, rule_id="TBL-1"))
    assert game.table.left_ms(seat) == 9_000
    await game.act(Role.SEAT, seat, log_pb2.Protest(against_seq=0, rule_id="TBL-1"))
    assert game.table.left_ms(seat) == 4_000, "an act of its own does"
    game.store.takes_ms = 0
    answer = await game.move(after=500)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (6_500, 0, 5_000)
    await game.check()
    await game.close()


async def test_what_is_due_and_cannot_be_entered_is_tried_again(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat, size = game.mover, game.table.size
    game.store.fails = True
    game.time.advance(10_000 + LAG_MS + 1)
    assert (await game.table.record()).size == size
    game.store.fails = False
    game.time.advance(999)
    assert (await game.table.record()).size == size, "not at once"
    game.time.advance(1)
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


# --- absence, suspension, the end, down time ------------------------------------------------------------------


async def test_who_is_awaited_and_has_no_stream_open_for_too_long_is_out(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, absence_ms=60_000).begin()
    seat, size = game.mover, game.table.size
    me = Author(Role.SEAT, seat)
    game.table.came(me)
    game.time.advance(500_000)
    assert (await game.table.record()).size == size
    game.table.came(me)
    game.table.left(me)
    game.time.advance(500_000)
    assert (await game.table.record()).size == size, "one of two streams is enough"
    game.table.left(me)
    left_ms = game.time.now_ms()
    game.time.advance(59_999)
    assert (await game.table.record()).size == size
    game.time.advance(1)
    absent = await game.last("absent")
    assert (absent.absent.seat, absent.absent.since_ms) == (seat, left_ms)
    assert game.game.arbitration.out == {seat: Ending.DISCONNECTED}
    await game.check()
    # The next one has all the time from when it was awaited.
    awaited_ms = game.record.last_ms
    game.time.advance(59_999)
    await game.move()
    game.time.advance(60_000)
    absent = await game.last("absent")
    assert absent.absent.since_ms == awaited_ms + 59_999
    await game.check()
    await game.close()


async def test_who_acts_is_there(tmp_path: Path) -> None:
    """A stream is not needed for that: acts go one by one as well."""
    game = await Clocked(tmp_path, absence_ms=60_000, illegal_moves=RECORDED).begin()
    seat = game.mover
    await game.move(99, after=50_000)
    acted_ms, size = game.time.now_ms(), game.table.size
    game.time.advance(59_999)
    assert (await game.table.record()).size == size
    game.time.advance(1)
    absent = (await game.last("absent")).absent
    assert (absent.seat, absent.since_ms) == (seat, acted_ms)
    await game.check()
    await game.close()


async def test_nothing_runs_while_the_game_is_paused(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT, absence_ms=30_000).begin()
    seat = game.mover
    game.time.advance(4_000)
    await game.rule(pause=log_pb2.Pause(), rule_id="")
    size = game.table.size
    game.time.advance(86_400_000)
    assert (await game.table.record()).size == size
    await game.rule(resume=log_pb2.Resume(), rule_id="")
    assert game.left(seat) == 6_000
    game.time.advance(6_000 + LAG_MS + 1)
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


async def test_a_result_waits_for_protests_and_no_longer(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, turns=3, protest_ms=60_000).begin()
    while game.game.awaited():
        await game.move(after=1_000)
    over_ms, size = game.record.last_ms, game.table.size
    game.time.advance(59_999)
    assert (await game.table.record()).size == size
    game.time.advance(1)
    end = await game.last("end")
    assert (end.end.ending, end.referee_ms) == (log_pb2.ENDING_RULES, over_ms + 60_000)
    assert game.table.is_closed
    await game.check()
    await game.close()


async def test_a_result_by_ruling_before_play_waits_no_longer_either(tmp_path: Path) -> None:
    game = Clocked(tmp_path, protest_ms=60_000)
    await game.open()
    await game.rule(void=log_pb2.Void())
    size = game.table.size
    await game.restart(alive_ms=game.time.now_ms(), down_ms=1_000)
    game.time.advance(58_999)
    assert (await game.table.record()).size == size, "no referee is missed before play"
    game.time.advance(1)
    assert (await game.last("end")).end.ending == log_pb2.ENDING_VOIDED
    await game.check()
    await game.close()


async def test_a_result_that_waits_is_not_thrown_away(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, seats=2, protest_ms=60_000).begin()
    await game.act(Role.SEAT, 0, log_pb2.Resign())
    with pytest.raises(NotAwaited, match="has come to its end"):
        await game.table.abort()
    assert not game.table.ledger.is_stale
    game.time.advance(60_000)
    assert (await game.last("end")).end.ending == log_pb2.ENDING_RESIGNED
    await game.close()


async def test_a_result_that_waited_while_the_referee_was_down_waits_anew(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, turns=3, protest_ms=60_000).begin()
    while game.game.awaited():
        await game.move()
    await game.restart(alive_ms=game.time.now_ms(), down_ms=600_000)
    game.time.advance(59_999)
    size = (await game.table.record()).size
    assert game.table.size == size
    game.time.advance(1)
    assert (await game.last("end")).end.ending == log_pb2.ENDING_RULES
    await game.check()
    await game.close()


@pytest.mark.parametrize("alive", [-1, 0, 3_000, 500_000])
async def test_the_time_that_the_referee_was_down_is_nobodys(tmp_path: Path, alive: int) -> None:
    """``alive``: when it was seen last, after the last entry; what cannot be is taken for the nearest that can."""
    game = await Clocked(tmp_path, clock=INCREMENT, absence_ms=30_000).begin()
    seat = game.mover
    game.time.advance(3_000)
    alive_ms = game.record.last_ms + alive
    down_ms = 100_000
    await game.restart(alive_ms=alive_ms, down_ms=down_ms)
    entry = await game.last("interrupted")
    used_ms = min(max(alive, 0), 10_000) if alive < 100_000 else 10_000
    assert entry.interrupted.alive_ms == min(max(alive_ms, entry.referee_ms - 103_000), entry.referee_ms)
    assert game.left(seat) == 10_000 - used_ms
    await game.check()
    if used_ms < 10_000:
        answer = await game.move(after=1_000)
        assert isinstance(answer, Accepted)
        assert answer.clock[1:] == (1_000, 0, 0)
    await game.check()
    await game.close()


GRACE_MS = 60_000


async def after_an_outage(path: Path, **terms: Any) -> tuple[Clocked, int, int]:
    """Return a game whose referee was away for ten minutes, the seat on turn, and what that had left before."""
    game = await Clocked(path, clock=INCREMENT, grace_ms=GRACE_MS, **terms).begin()
    game.time.advance(1_000)
    seat = game.mover
    left_ms = game.table.left_ms(seat)
    assert left_ms == 9_000
    await game.restart(alive_ms=game.time.now_ms(), down_ms=600_000)
    return game, seat, left_ms


async def test_after_an_outage_a_clock_waits_until_its_seat_is_back(tmp_path: Path) -> None:
    game, seat, left_ms = await after_an_outage(tmp_path)
    size, alive_ms = game.table.size, game.time.now_ms() - 600_000
    for passed_ms, who in ((30_000, (seat + 1) % 3), (1_000, (seat + 2) % 3)):
        game.time.advance(passed_ms)
        await game.table.back(Author(Role.SEAT, who))
    assert (game.table.size, game.table.left_ms(seat), bool(game.table.stood_ms)) == (size, left_ms, True)
    await game.table.back(Author(Role.SEAT, seat))
    entry = await game.last("interrupted")
    assert (entry.seq, entry.interrupted.alive_ms, entry.referee_ms) == (size, alive_ms, game.time.now_ms())
    assert (game.left(seat), bool(game.table.stood_ms)) == (left_ms, False)
    answer = await game.move(after=500, thought_ms=500)
    assert isinstance(answer, Accepted)
    assert answer.clock.charged_ms == 500
    await game.check()
    await game.close()


async def test_it_waits_no_longer_than_the_grace(tmp_path: Path) -> None:
    game, seat, left_ms = await after_an_outage(tmp_path)
    size = game.table.size
    game.time.advance(GRACE_MS - 1)
    await game.table.record()
    assert (game.table.size, game.table.left_ms(seat)) == (size, left_ms)
    game.time.advance(1)
    entry = await game.last("interrupted")
    assert (entry.seq, game.left(seat)) == (size, left_ms)
    game.time.advance(left_ms + LAG_MS + 1)
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


async def test_another_seat_does_not_start_the_clock_of_one_that_is_away(tmp_path: Path) -> None:
    """Its act counts once it has seen the entry about the outage, soon after that, and has the time of that entry."""
    game, seat, left_ms = await after_an_outage(tmp_path, take_backs=True)
    other = (seat + 1) % 3
    late = 0
    for waits_ms in (0, 3_000, 1_000):
        game.time.advance(waits_ms)
        await game.table.record()
        try:
            await game.act(Role.SEAT, other, log_pb2.Resign())
        except StaleHead:
            late += 1
    assert (late, game.game.arbitration.out) == (2, {other: Ending.RESIGNED})
    game.time.advance(20_000)
    await game.table.back(Author(Role.SEAT, seat))
    assert game.left(seat) == left_ms
    await game.check()
    await game.close()


async def test_nothing_falls_due_in_a_game_that_is_found_in_doubt_when_it_is_read_back(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    game.store.marks.doubt({game.record.game_id: game.record.last_ms})  # a command beside the referee did
    game.store.fails = True
    with pytest.raises(StoreFailed):
        await game.move()
    game.store.fails = False
    with pytest.raises(InDoubt):
        await game.move()
    size = game.table.size
    game.time.advance(30_000)
    await game.table.record()
    assert game.table.size == size
    await game.close()


async def test_a_seat_that_is_back_when_it_gets_the_turn_has_no_time_for_free(tmp_path: Path) -> None:
    """Another seat has the turn when the clocks run again, and acts without a stream, right after an entry about it."""
    game, seat, _ = await after_an_outage(tmp_path, take_backs=True)
    following = (seat + 1) % 3
    for _ in range(2):
        try:
            await game.act(Role.SEAT, following, log_pb2.TakeBack(to_seq=game.record.size - 1))
        except (StaleHead, NotAwaited):
            await game.table.record()
    waits = [bool(game.table.stood_ms)]
    game.time.advance(500)
    await game.table.record()
    await game.submit(game.a_move())
    assert [*waits, bool(game.table.stood_ms)] == [True, False]
    while game.mover == seat:
        await game.move(after=100)
    mover = game.mover
    left_ms = game.left(mover)
    game.time.advance(3_000)
    assert game.table.left_ms(mover) == left_ms - 3_000
    await game.check()
    await game.close()


async def test_an_act_that_nobody_signed_ends_no_wait(tmp_path: Path) -> None:
    game, _, _ = await after_an_outage(tmp_path)
    size, move = game.table.size, game.a_move()
    with pytest.raises(LogError):
        await game.submit(move._replace(signature=bytes(64)))
    assert (game.table.size, bool(game.table.stood_ms)) == (size, True)
    with pytest.raises(StaleHead):
        await game.submit(move)
    assert (game.table.size, bool(game.table.stood_ms)) == (size + 1, False)
    await game.close()


async def test_a_clock_that_cannot_be_said_to_go_on_waits_on(tmp_path: Path) -> None:
    game, seat, left_ms = await after_an_outage(tmp_path)
    game.store.fails = True
    with pytest.raises(StoreFailed):
        await game.table.back(Author(Role.SEAT, seat))
    game.store.fails = False
    game.time.advance(20_000)
    await game.table.record()
    assert (game.table.left_ms(seat), bool(game.table.stood_ms)) == (left_ms, True)
    await game.table.back(Author(Role.SEAT, seat))
    assert game.left(seat) == left_ms
    await game.check()
    await game.close()


async def test_a_game_that_is_handed_over_meanwhile_says_since_when_nobody_could_act(tmp_path: Path) -> None:
    """The next referee counts from the hand-over, as the seats could act before it."""
    game, seat, left_ms = await after_an_outage(tmp_path)
    game.time.advance(10_000)
    await game.table.leave(Node(2, "another", "there:1"))
    await game.take_up(game.time.now_ms())
    await game.table.back(Author(Role.SEAT, seat))
    assert game.left(seat) == left_ms
    await game.check()
    await game.close()


async def test_what_passed_since_the_last_entry_that_is_not_lost_is_nobodys(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    seat, game_id = game.mover, game.record.game_id
    await game.close()
    shutil.copy(tmp_path / "toy.db", tmp_path / "old.db")
    lost = Clocked(tmp_path, clock=INCREMENT)
    lost.table = await LiveGame.load(lost.context, game_id)
    await lost.move(after=1_000)
    await lost.close()
    shutil.copy(tmp_path / "old.db", tmp_path / "toy.db")
    back = Clocked(tmp_path, clock=INCREMENT)
    back.time.advance(3_600_000)
    await recovery.go_on(back.context, game_id, end=False)
    back.table = await LiveGame.load(back.context, game_id)
    assert (back.mover, back.left(seat)) == (seat, 10_000)
    await back.restart(alive_ms=back.time.now_ms() - 60_000, down_ms=60_000)
    assert back.left(seat) == 10_000
    await back.check()
    await back.close()


async def test_in_doubt_nothing_is_entered_however_long_it_takes(tmp_path: Path) -> None:
    """No flag falls, and no start is noted as an interruption. When the organiser has decided, clocks run."""
    terms: dict[str, Any] = {"clock": INCREMENT, "absence_ms": 60_000}
    game = await Clocked(tmp_path, **terms).begin()
    seat, size = game.mover, game.table.size
    game.store.marks.doubt({game.record.game_id: game.record.last_ms})
    for _ in range(2):
        await game.restart(alive_ms=game.time.now_ms(), down_ms=3_600_000)
        game.time.advance(3_600_000)
        with pytest.raises(InDoubt, match="restored from a copy of 2023-11-14 22:13:2"):
            await game.move()
        with pytest.raises(InDoubt):
            await game.table.abort()
        assert (game.table.size, game.left(seat)) == (size, 10_000)
    done = await recovery.go_on(game.context, game.record.game_id, end=False)
    assert (done.size, done.ended, done.copied_ms) == (size + 2, False, game.record.last_ms)
    await game.take_up(game.time.now_ms())
    assert (game.mover, game.left(seat)) == (seat, 10_000), "the time of the doubt is not the seat's"
    game.time.advance(10_000 + LAG_MS + 1)
    assert (await game.last("timeout")).timeout.seat == seat
    await game.check()
    await game.close()


async def test_a_game_in_which_no_time_matters_is_not_interrupted(tmp_path: Path) -> None:
    game = await Clocked(tmp_path).begin()
    place = game.record.place
    await game.restart(alive_ms=0, down_ms=1_000)
    assert game.record.place == place, "an act that was on its way is still for this head"
    await game.close()


async def test_nothing_falls_due_before_players_can_come(tmp_path: Path) -> None:
    """A start takes its time."""
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    game.table.rest()
    size = game.table.size
    game.time.advance(60_000)
    assert (await game.table.record()).size == size
    game.table.serve()
    answer = await game.move(after=2_000)
    assert isinstance(answer, Accepted)
    assert answer.clock[1:] == (2_000, 0, 60_000)
    await game.check()
    await game.close()


async def test_acts_that_a_game_does_not_have_change_nothing(tmp_path: Path) -> None:
    game = await Clocked(tmp_path, clock=INCREMENT).begin()
    place = game.record.place
    acts: list[Any] = [log_pb2.TakeBack(to_seq=place.seq - 1), log_pb2.Consent(to_seq=place.seq - 1)]
    for act in acts:
        with pytest.raises((NotAwaited, LogError)):
            await game.act(Role.SEAT, 0, act)
    assert game.record.place == place
    await game.close()
