"""The rules of the table in the log: clocks, forfeits, take-backs, protests, rulings; written, read and audited."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.game import Ending
from referee.log.entry import Clock
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.judge import mover
from referee.log.v1 import log_pb2
from tests.log.arbitration import INCREMENT, RECORDED, Table


class _Refused:
    def __init__(self, code: Code) -> None:
        self.code = code

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> bool:
        assert isinstance(error, LogError), error
        assert error.code is self.code, error
        return True


def test_resigned_seats_are_played_by_the_stand_in_and_placed_last() -> None:
    table = Table()
    table.seat(1, log_pb2.Resign())
    while table.record.phase is Phase.PLAYING:
        table.move()
    end = table.game.end
    assert end.ending == Ending.RULES
    assert end.places[1] == 3
    table.check()


def test_the_last_seat_that_is_left_wins_at_once() -> None:
    table = Table()
    table.seat(1, log_pb2.Resign())
    table.seat(2, log_pb2.Resign())
    end = table.game.end
    assert (end.ending, list(end.scores), list(end.places)) == (Ending.RESIGNED, [], [1, 3, 2])
    table.check()


def test_clocks_are_charged_what_passed_less_network_and_referee() -> None:
    table = Table(clock=INCREMENT)
    (seat,) = table.game.awaited()
    table.move(after=3_000, lag=150, overhead=50)
    assert table.left()[seat] == 10_000 - 2_800 + 1_000
    table.check()


def test_a_flag_falls_only_when_no_network_could_have_been_slower() -> None:
    table = Table(clock=INCREMENT)
    (seat,) = table.game.awaited()
    table.now += 10_200
    with _Refused(Code.NOT_AWAITED):
        table.record.write(log_pb2.Timeout(seat=seat), table.game.clocks.charge(seat, table.now, lag_ms=200))
    assert table.game.clocks.flag_ms(seat) == table.now + 1
    table.now += 1
    table.played.keep(
        table.record.write(log_pb2.Timeout(seat=seat), table.game.clocks.charge(seat, table.now, lag_ms=200))
    )
    table.settle()
    assert table.game.arbitration.out == {seat: Ending.FLAG}
    table.check()


def test_nobody_moves_after_the_time_is_up() -> None:
    table = Table(clock=INCREMENT)
    with _Refused(Code.NOT_AWAITED):
        table.move(after=10_201, lag=200)


def test_strikes_and_penalties_of_illegal_moves() -> None:
    table = Table(clock=INCREMENT, illegal_moves=RECORDED, strikes=2, penalty_ms=3_000)
    (seat,) = table.game.awaited()
    table.move(9, after=1_000)
    assert table.left()[seat] == 6_000
    table.check()
    table.move(9, after=1_000)
    assert table.game.arbitration.out == {seat: Ending.ILLEGAL_MOVES}
    table.check()


def test_a_pause_stops_the_clock_and_all_moves() -> None:
    table = Table(clock=INCREMENT)
    (seat,) = table.game.awaited()
    table.now += 1_000
    table.rule(pause=log_pb2.Pause(), rule_id="")
    assert table.left()[seat] == 9_000
    assert table.game.awaited() == ()
    table.now += 50_000
    table.rule(resume=log_pb2.Resume(), rule_id="")
    table.move(after=500)
    assert table.left()[seat] == 9_500
    table.check()


def test_no_clock_runs_while_the_referee_is_down() -> None:
    table = Table(clock=INCREMENT)
    (seat,) = table.game.awaited()
    alive, table.now = table.now + 2_000, table.now + 90_000
    table.played.keep(table.record.write(log_pb2.Interrupted(alive_ms=alive), Clock(table.now)))
    table.move(after=1_000)
    assert table.left()[seat] == 8_000
    table.check()


def test_a_take_back_needs_everybody_and_stops_at_a_draw() -> None:
    table = Table(take_backs=True, clock=INCREMENT)
    before = table.record.size - 1
    with _Refused(Code.NOT_AWAITED):
        table.seat(0, log_pb2.TakeBack(to_seq=before - 1))
    table.move(after=100)  # a card is turned at once
    with _Refused(Code.NOT_AWAITED):
        table.seat(0, log_pb2.TakeBack(to_seq=before))
    table.check()


def test_a_scribe_corrects_what_scribes_entered_and_nothing_else() -> None:
    table = Table(dealt=False, scribed=(0, 1), seats=3)
    start = table.record.size - 1
    table.draw()
    drawn = table.record.size - 1
    digest = table.game.position.digest()
    table.move(2)
    table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=drawn))
    assert table.game.position.digest() == digest
    with _Refused(Code.NOT_AWAITED):
        table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=drawn + 1))  # taken back itself
    table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=start))
    table.draw()
    table.move(1)
    table.draw()
    table.move(1)
    table.draw()
    table.move(1)  # by seat 2 itself
    with _Refused(Code.NOT_AWAITED):
        table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=start))
    table.check()


def test_a_protest_holds_the_end_until_it_is_ruled_on() -> None:
    table = Table(dealt=False, protest_ms=60_000)
    for _ in range(6):
        table.draw()
        table.move(1)
    assert table.record.phase is Phase.PLAYING
    protest = table.seat(2, log_pb2.Protest(against_seq=table.record.size - 1, rule_id="TOY-2"))
    table.now += 100_000
    assert table.record.due(table.now) is None
    ruling = table.rule(decides=protest, dismiss=log_pb2.Dismiss())
    appeal = table.seat(2, log_pb2.Appeal(against_seq=ruling, rule_id="TOY-2"))
    with _Refused(Code.NOT_AWAITED):
        table.rule(0, decides=appeal, dismiss=log_pb2.Dismiss())
    table.rule(1, decides=appeal, penalty=log_pb2.Penalty(seat=0, points=100))
    table.now += 59_999
    assert table.record.due(table.now) is None
    table.now += 1
    table.settle()
    end = table.game.end
    assert end.scores[0] == 2 - 100
    assert end.places[0] == 3
    table.check()


def test_a_ruling_restores_accepts_skips_reinstates_adjudicates() -> None:
    table = Table(dealt=False)
    start = table.record.size - 1
    table.draw()
    with _Refused(Code.NOT_AWAITED):
        table.rule(accept=log_pb2.Accept(seat=0, move=bytes([1]), rule_ids=["TOY-2"]))
    table.rule(accept=log_pb2.Accept(seat=0, move=bytes([9]), rule_ids=["TOY-2"]))
    assert table.game.position.state.scores[0] == 9
    table.draw()
    table.rule(skip=log_pb2.Skip(seat=1))
    assert table.game.position.state.scores == [9, 1, 0]
    table.check()
    table.rule(forfeit=log_pb2.Forfeit(seat=2, ending=log_pb2.ENDING_CRASHED))
    table.rule(reinstate=log_pb2.Reinstate(seat=2))
    assert not table.game.arbitration.out
    table.rule(restore=log_pb2.Restore(to_seq=start))
    assert table.game.position.state.scores == [0, 0, 0]
    table.check()
    table.rule(adjudicate=log_pb2.Adjudicate(places=[2, 1, 2]))
    assert table.game.end.ending == Ending.ADJUDICATED
    table.check()


def test_void() -> None:
    table = Table()
    table.rule(void=log_pb2.Void())
    assert table.game.end.ending == Ending.VOIDED
    table.check()


def test_who_leaves_is_not_brought_back_by_the_others() -> None:
    """Neither by a proposal that all others had agreed to, nor by a later one; an arbiter's ruling does it."""
    table = Table(dealt=False, take_backs=True)
    table.draw()
    drawn = table.record.size - 1
    digest = table.game.position.digest()
    table.move(1)
    proposal = table.seat(0, log_pb2.TakeBack(to_seq=drawn))
    table.seat(1, log_pb2.Consent(to_seq=proposal))
    table.seat(2, log_pb2.Resign())
    assert table.game.position.digest() == digest
    assert table.game.arbitration.out == {2: Ending.RESIGNED}
    table.move(1)
    agreed = table.seat(1, log_pb2.Consent(to_seq=table.seat(0, log_pb2.TakeBack(to_seq=drawn))))
    assert (table.game.position.digest(), list(table.game.arbitration.out)) == (digest, [2])
    table.check()
    table.move(1)
    table.rule(restore=log_pb2.Restore(to_seq=agreed))
    assert list(table.game.arbitration.out) == [2]
    table.rule(restore=log_pb2.Restore(to_seq=drawn))
    assert not table.game.arbitration.out
    table.check()


def test_nobody_goes_to_an_entry_that_is_still_to_come() -> None:
    table = Table(dealt=False, take_backs=True)
    table.draw()
    for entry in (table.record.size, table.record.size + 1000):
        with _Refused(Code.NOT_AWAITED):
            table.seat(0, log_pb2.TakeBack(to_seq=entry))
        with _Refused(Code.NOT_AWAITED):
            table.rule(restore=log_pb2.Restore(to_seq=entry))


def test_proposals_are_counted_while_the_position_stays() -> None:
    table = Table(dealt=False, take_backs=True)
    table.draw()
    drawn = table.record.size - 1
    table.move(1)
    for _ in range(4):
        table.seat(0, log_pb2.TakeBack(to_seq=drawn))
    with _Refused(Code.NOT_AWAITED):
        table.seat(0, log_pb2.TakeBack(to_seq=drawn))
    table.draw()
    drawn = table.record.size - 1
    table.move(1)
    table.seat(0, log_pb2.TakeBack(to_seq=drawn))
    table.check()


def test_time_alone_is_not_taken_back() -> None:
    """Clocks go back with the position, so going back to where it stands would be a way to gain time."""
    table = Table(dealt=False, scribed=(0, 1, 2), take_backs=True, clock=INCREMENT)
    table.draw()
    drawn = table.record.size - 1
    table.now += 5_000
    table.rule(pause=log_pb2.Pause(), rule_id="")
    table.rule(resume=log_pb2.Resume(), rule_id="")
    for act in (log_pb2.Correct(to_seq=drawn), log_pb2.TakeBack(to_seq=drawn, seat=0)):
        with _Refused(Code.NOT_AWAITED):
            table.act(Role.SCRIBE, 0, act)
    table.move(1)
    table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=drawn))
    table.check()


def test_clocks_go_back_to_what_they_were_after_that_entry() -> None:
    """Also where the position stayed: an attempt, a pause, a referee that was down."""
    table = Table(dealt=False, scribed=(0, 1, 2), clock=INCREMENT, illegal_moves=RECORDED)
    table.draw()
    marks = []
    table.move(9, after=1_000)
    marks.append((table.record.size - 1, table.left()))
    table.now += 1_000
    table.rule(pause=log_pb2.Pause(), rule_id="")
    marks.append((table.record.size - 1, table.left()))
    table.rule(resume=log_pb2.Resume(), rule_id="")
    table.now += 5_000
    table.played.keep(table.record.write(log_pb2.Interrupted(alive_ms=table.now - 4_000), Clock(table.now)))
    marks.append((table.record.size - 1, table.left()))
    assert [left[0] for _, left in marks] == [9_000, 8_000, 7_000]
    table.move(1, after=500)
    for seq, left in reversed(marks):
        table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=seq))
        assert table.left() == left
        table.move(1)
        table.check()


def test_a_stand_in_earns_its_seat_no_time() -> None:
    table = Table(dealt=False, clock=INCREMENT)
    table.seat(0, log_pb2.Resign())
    table.draw()
    assert table.game.position.state.scores[0] == 1, "it has moved"
    assert table.left()[0] == 10_000
    table.check()


def test_one_seat_has_no_take_backs_with_a_clock() -> None:
    Table(dealt=False, seats=1, take_backs=True)
    with _Refused(Code.MALFORMED):
        Table(dealt=False, seats=1, take_backs=True, clock=INCREMENT)


def test_a_game_that_nobody_rules_on_can_be_given_up() -> None:
    table = Table(dealt=False)
    for _ in range(5):
        table.draw()
        table.move(1)
    table.draw()
    table.seat(0, log_pb2.Protest(against_seq=0, rule_id="TBL-1"))
    table.move(1)
    with _Refused(Code.RESULT):
        table.record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED), Clock(table.now))
    table.played.keep(table.record.write(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED), Clock(table.now)))
    assert table.game.end.ending == Ending.ABORTED
    table.check()


def test_a_warning_is_no_strike() -> None:
    table = Table(illegal_moves=RECORDED, strikes=1)
    (seat,) = table.game.awaited()
    table.move(9)
    table.rule(reinstate=log_pb2.Reinstate(seat=seat))
    table.rule(penalty=log_pb2.Penalty(seat=seat))
    assert not table.game.arbitration.out
    table.check()


def test_a_clock_that_an_arbiter_set_stays_set_when_moves_are_taken_back() -> None:
    table = Table(dealt=False, take_backs=True, clock=INCREMENT)
    table.draw()
    table.rule(set_clock=log_pb2.SetClock(seat=0, left_ms=77_000))
    ruled = table.rule(penalty=log_pb2.Penalty(seat=1, time_ms=4_000))
    table.move(1, after=5_000)
    table.rule(restore=log_pb2.Restore(to_seq=ruled))
    assert table.left() == [77_000, 6_000, 10_000]
    table.check()


def test_a_scribed_seat_is_never_absent() -> None:
    table = Table(dealt=False, scribed=(0,), absence_ms=1_000)
    table.draw()
    table.now += 5_000
    absent = log_pb2.Absent(seat=0, since_ms=table.now - 4_000)
    with _Refused(Code.NOT_AWAITED):
        table.record.write(absent, Clock(table.now))


def test_clocks_run_from_the_first_entry_where_nobody_joins() -> None:
    """All seats are scribed, and a game may begin with a decision: TBL-15 holds for entry 1, too."""
    table = Table(dealt=False, scribed=(0, 1, 2), clock=INCREMENT)
    table.now -= 1
    with _Refused(Code.NOT_AWAITED):
        table.draw()
    table.now += 1
    assert table.game.last_ms == table.now
    table.draw()
    table.move(after=1_000)
    assert table.left() == [10_000, 10_000, 10_000]
    table.check()


def test_a_scribe_is_told_what_comes_before_a_move() -> None:
    table = Table(dealt=False, scribed=(0, 1, 2), seats=3, protest_ms=60_000)
    said = set()
    for _ in range(6):
        try:
            mover(table.game, Author(Role.SCRIBE, 0))
            table.move()
        except LogError as error:
            said.add(error.what)
            table.draw()
    assert said == {"scribe 0 cannot enter a move: no player is on turn: a draw or a roll comes first"}
    table.rule(void=log_pb2.Void())
    with pytest.raises(LogError, match="the game has come to its end"):
        mover(table.game, Author(Role.SCRIBE, 0))
