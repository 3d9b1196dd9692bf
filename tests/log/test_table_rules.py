"""Every rule of the table that forbids something is broken here, and the refusal names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.games.game import Kind
from referee.games.table_rules import CATALOGUE
from referee.log import intent
from referee.log.codec import end_message, read_entry
from referee.log.entry import Clock
from referee.log.errors import LogError, RulesError
from referee.log.events import Author, Role
from referee.log.judge import judge
from referee.log.v1 import log_pb2
from tests.log import toy
from tests.log.arbitration import INCREMENT, RECORDED, Table
from tests.log.games import key
from tests.log.opening import Opening

PAUSE, RESUME = log_pb2.Pause(), log_pb2.Resume()


def drawn(**terms: Any) -> Table:
    """Return a declared game, one card turned over: seat 0 is awaited."""
    table = Table(dealt=False, **terms)
    table.draw()
    return table


def timed(charged: int, lag: int = 0, overhead: int = 0, *, after: int, count: int = 1) -> None:
    """A move that is accounted for in this way."""
    table = Table(clock=INCREMENT, illegal_moves=RECORDED)
    table.now += after
    (seat,) = table.game.awaited()
    data = table.game.position.codec.encode_move(toy.Take(count), table.game.position.components)
    signed = intent.move(table.record.place, Author(Role.SEAT, seat), key(f"seat {seat}"), data)
    clock = Clock(table.now, charged, lag, overhead)
    try:
        table.record.admit(signed, clock)
    except RulesError as error:
        table.record.refuse(signed, error, clock)


def flag(charged: int, lag: int, *, after: int) -> None:
    table = Table(clock=INCREMENT)
    table.now += after
    (seat,) = table.game.awaited()
    table.record.write(log_pb2.Timeout(seat=seat), Clock(table.now, charged, lag))


def entered(table: Table, event: Any, **times: int) -> None:
    table.record.write(event, Clock(table.now, **times))


def unaccounted() -> None:
    table = drawn(clock=INCREMENT)
    table.now += 10
    signed = intent.act(table.record.place, Author(Role.SEAT, 0), key("seat 0"), log_pb2.Resign())
    table.record.admit(signed, Clock(table.now, charged_ms=10))


def refused_without_terms() -> None:
    table = drawn()
    data = table.game.position.codec.encode_move(toy.Take(9), table.game.position.components)
    signed = intent.move(table.record.place, Author(Role.SEAT, 0), key("seat 0"), data)
    entry = log_pb2.Entry(refused=log_pb2.Refused(intent=signed.intent, rule_ids=["TOY-2"]))
    event = read_entry(entry, "refused", log_pb2.Intent.FromString(signed.intent), table.game.position)
    judge(table.game, event, table.record.size, Clock(table.now))


def ended(**terms: Any) -> Table:
    """The rules have ended the game, and there is time to protest."""
    table = Table(dealt=False, protest_ms=1_000, **terms)
    for _ in range(6):
        table.draw()
        table.move(1)
    return table


def held_by_a_protest() -> None:
    table = ended()
    table.seat(0, log_pb2.Protest(against_seq=1, rule_id="TBL-1"))
    table.now += 1_000
    entered(table, end_message(table.game.reached()))


def disputed(appeal_by: int, judge: int) -> None:
    table = drawn()
    protest = table.seat(1, log_pb2.Protest(against_seq=1, rule_id="TBL-1"))
    ruling = table.rule(decides=protest, dismiss=log_pb2.Dismiss())
    appeal = table.seat(appeal_by, log_pb2.Appeal(against_seq=ruling, rule_id="TBL-1"))
    table.rule(judge, decides=appeal, dismiss=log_pb2.Dismiss())
    table.seat(appeal_by, log_pb2.Appeal(against_seq=ruling, rule_id="TBL-1"))


def corrected_by_a_seats_move() -> None:
    table = drawn()
    before = table.record.size - 1
    table.move(1)
    table.act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=before))


def resigned(**acts: Any) -> Table:
    table = drawn(**acts)
    table.seat(1, log_pb2.Resign())
    return table


def nothing_ended() -> None:
    entered(drawn(), log_pb2.GameEnd(ending=log_pb2.ENDING_FLAG))


def often(times: int, message: intent.TableAct, **terms: Any) -> None:
    table = drawn(**terms)
    for _ in range(times):
        table.seat(0, message)


def proposed_too_often() -> None:
    table = drawn(take_backs=True)
    table.move()
    for _ in range(5):
        table.seat(0, log_pb2.TakeBack(to_seq=4))


def ruled(*rulings: dict[str, Any]) -> None:
    table = drawn()
    for ruling in rulings:
        table.rule(**ruling)


def paused_move() -> None:
    table = drawn()
    table.rule(pause=PAUSE)
    data = table.game.position.codec.encode_move(toy.Take(1), table.game.position.components)
    signed = intent.move(table.record.place, Author(Role.SEAT, 0), key("seat 0"), data)
    table.record.admit(signed, Clock(table.now))


def back_without_a_key() -> None:
    opening = Opening().absent(0).join(1, 2)
    opening.rule(reinstate=log_pb2.Reinstate(seat=0))


def begun(**kind: Any) -> Opening:
    """In play."""
    opening = Opening(**kind)
    return opening.join(*opening.game.missing()).reveal(*opening.game.missing())


def changed_too_often() -> None:
    opening = begun()
    for number in range(17):
        opening.change(0, key(f"new {number}"))


ARBITER = (Role.ARBITER, 0)
BROKEN: list[tuple[str, Callable[[], object]]] = [
    ("TBL-2", lambda: entered(drawn(), log_pb2.StandIn(seat=0, move=bytes([1])))),
    ("TBL-7", lambda: drawn().rule(accept=log_pb2.Accept(seat=0, move=bytes([1])))),
    ("TBL-7", lambda: drawn().rule(accept=log_pb2.Accept(seat=0, move=bytes([0]), rule_ids=["TOY-3"]))),
    ("TBL-7", lambda: drawn().rule(accept=log_pb2.Accept(seat=0, move=bytes([9]), rule_ids=["TOY-1", "TOY-2"]))),
    ("TBL-10", lambda: timed(1_001, after=1_000)),
    ("TBL-10", unaccounted),
    ("TBL-11", lambda: timed(799, 201, after=1_000)),
    ("TBL-11", lambda: timed(999, 1, after=1_000, count=9)),
    ("TBL-11", lambda: flag(11_000, 0, after=11_000)),
    ("TBL-12", lambda: timed(10_001, 0, 9, after=10_010)),
    ("TBL-13", lambda: flag(10_000, 200, after=10_200)),
    ("TBL-13", lambda: entered(drawn(), log_pb2.Timeout(seat=0))),
    ("TBL-13", lambda: entered(drawn(clock=INCREMENT), log_pb2.Timeout(seat=1))),
    ("TBL-15", lambda: timed(0, after=-1)),
    ("TBL-16", lambda: entered(drawn(), log_pb2.Interrupted(alive_ms=1))),
    ("TBL-16", lambda: entered(drawn(), log_pb2.Interrupted(alive_ms=1 << 50))),
    ("TBL-17", lambda: entered(drawn(), log_pb2.Absent(seat=0))),
    ("TBL-17", lambda: entered(drawn(absence_ms=5), log_pb2.Absent(seat=1))),
    ("TBL-17", lambda: entered(table := drawn(absence_ms=5), log_pb2.Absent(seat=0, since_ms=table.now - 4))),
    ("TBL-17", lambda: entered(drawn(absence_ms=5, scribed=(0,)), log_pb2.Absent(seat=0))),
    ("TBL-18", refused_without_terms),
    ("TBL-20", lambda: drawn().seat(0, log_pb2.Resign(seat=1))),
    ("TBL-20", lambda: drawn().act(*ARBITER, log_pb2.Resign())),
    ("TBL-20", lambda: drawn(scribed=(1,)).act(Role.SCRIBE, 0, log_pb2.Resign(seat=2))),
    ("TBL-20", lambda: resigned().seat(1, log_pb2.Resign())),
    ("TBL-21", lambda: ended().seat(0, log_pb2.Resign())),
    ("TBL-22", lambda: (table := drawn()).rule(restore=log_pb2.Restore(to_seq=table.record.size))),
    ("TBL-22", lambda: drawn().rule(restore=log_pb2.Restore(to_seq=0))),
    ("TBL-23", lambda: (table := drawn(take_backs=True)).seat(0, log_pb2.TakeBack(to_seq=table.record.size - 2))),
    ("TBL-23", lambda: (table := Table()).rule(restore=log_pb2.Restore(to_seq=table.record.size - 2))),
    ("TBL-24", lambda: (table := drawn()).seat(0, log_pb2.TakeBack(to_seq=table.record.size - 1))),
    ("TBL-24", lambda: drawn(take_backs=True).seat(0, log_pb2.Consent(to_seq=1))),
    ("TBL-24", proposed_too_often),
    ("TBL-22", lambda: (table := drawn(take_backs=True)).seat(0, log_pb2.TakeBack(to_seq=table.record.size - 1))),
    ("TBL-25", corrected_by_a_seats_move),
    ("TBL-25", lambda: Table(scribed=(0,)).act(Role.SCRIBE, 0, log_pb2.Correct(to_seq=6))),
    ("TBL-27", lambda: drawn().seat(0, log_pb2.Protest(against_seq=99, rule_id="TBL-1"))),
    ("TBL-27", lambda: often(17, log_pb2.Protest(rule_id="TBL-1"))),
    ("TBL-28", lambda: drawn().seat(0, log_pb2.Appeal(against_seq=1, rule_id="TBL-1"))),
    ("TBL-28", lambda: disputed(0, 1)),
    ("TBL-29", held_by_a_protest),
    ("TBL-29", lambda: entered(table := ended(), end_message(table.game.reached()))),
    ("TBL-30", lambda: drawn().act(Role.SEAT, 0, log_pb2.Rule(rule_id="TBL-1", void=log_pb2.Void()))),
    ("TBL-30", lambda: drawn().rule(rule_id="TBL-99", void=log_pb2.Void())),
    ("TBL-30", lambda: drawn().rule(rule_id="", void=log_pb2.Void())),
    ("TBL-30", lambda: drawn().rule(skip=log_pb2.Skip())),
    ("TBL-31", lambda: disputed(0, 0)),
    ("TBL-31", lambda: drawn().rule(dismiss=log_pb2.Dismiss())),
    ("TBL-31", lambda: drawn().rule(decides=1, dismiss=log_pb2.Dismiss())),
    ("TBL-32", lambda: ruled({"pause": PAUSE}, {"pause": PAUSE})),
    ("TBL-32", paused_move),
    ("TBL-32", lambda: drawn().rule(resume=RESUME)),
    ("TBL-33", lambda: drawn().rule(set_clock=log_pb2.SetClock(seat=0))),
    ("TBL-33", lambda: drawn().rule(penalty=log_pb2.Penalty(seat=0, time_ms=1))),
    ("TBL-33", lambda: drawn().rule(penalty=log_pb2.Penalty(seat=0, points=1_001))),
    ("TBL-33", lambda: drawn().rule(penalty=log_pb2.Penalty(seat=0, strikes=1_001))),
    ("TBL-34", lambda: drawn().rule(forfeit=log_pb2.Forfeit(seat=0, ending=log_pb2.ENDING_VOIDED))),
    ("TBL-34", lambda: drawn().rule(reinstate=log_pb2.Reinstate(seat=0))),
    ("TBL-34", lambda: resigned().rule(forfeit=log_pb2.Forfeit(seat=1, ending=log_pb2.ENDING_FLAG))),
    ("TBL-35", lambda: drawn().rule(skip=log_pb2.Skip(seat=1))),
    ("TBL-35", lambda: drawn().rule(accept=log_pb2.Accept(seat=1, move=bytes([9]), rule_ids=["TOY-2"]))),
    ("TBL-35", lambda: ruled({"pause": PAUSE}, {"skip": log_pb2.Skip(seat=0)})),
    ("TBL-36", lambda: drawn().rule(adjudicate=log_pb2.Adjudicate(places=[1, 2]))),
    ("TBL-36", lambda: drawn().rule(adjudicate=log_pb2.Adjudicate(places=[1, 3, 3]))),
    ("TBL-36", lambda: drawn().rule(adjudicate=log_pb2.Adjudicate(places=[1, 2, 3], scores=[1]))),
    ("TBL-37", nothing_ended),
    ("TBL-30", lambda: Opening(table_rules=1).rule(forfeit=log_pb2.Forfeit(seat=0, ending=log_pb2.ENDING_FLAG))),
    ("TBL-30", lambda: Opening().rule(penalty=log_pb2.Penalty(seat=0, points=1))),
    ("TBL-30", lambda: drawn().rule(rule_id="TBL-38", void=log_pb2.Void())),
    ("TBL-38", lambda: Opening(table_rules=1).absent(0)),
    ("TBL-38", lambda: Opening(absence_ms=0).absent(0)),
    ("TBL-38", lambda: Opening(scribed=(0,)).absent(0)),
    ("TBL-17", lambda: Opening().absent(0, after=999)),
    ("TBL-38", lambda: Opening().absent(0, since=-1)),
    ("TBL-38", lambda: Opening().join(0).absent(0)),
    ("TBL-38", lambda: Opening().absent(0).join(0)),
    ("TBL-38", lambda: Opening(protest_ms=9).join(0, 1, 2).absent(1).reveal(1)),
    ("TBL-38", back_without_a_key),
    ("TBL-40", lambda: begun().change(0, key("seat 1"))),
    ("TBL-40", lambda: begun().change(0, key("seat 0"))),
    ("TBL-40", lambda: begun().change(0, key("new"), by=Author(Role.SEAT, 0), named=0)),
    ("TBL-40", lambda: Opening().join(0, 1, 2).change(0, key("new"))),
    ("TBL-40", lambda: begun(scribed=(0,)).change(0, key("new"), by=Author(Role.ARBITER, 0), named=0)),
    ("TBL-40", lambda: begun(scribed=(0,)).change(0, key("new"), by=Author(Role.SCRIBE, 0))),
    ("TBL-40", changed_too_often),
]
"""Rule, and an act or event against it."""


@pytest.mark.parametrize(("rule_id", "break_it"), BROKEN, ids=[f"{each[0]}-{i}" for i, each in enumerate(BROKEN)])
def test_the_refusal_names_the_rule(rule_id: str, break_it: Callable[[], object]) -> None:
    with pytest.raises(LogError) as found:
        break_it()
    assert found.value.what.endswith(f" ({rule_id})"), found.value
    assert found.value.expected


def test_every_constraint_is_broken() -> None:
    constraints = {rule.id for rule in CATALOGUE if rule.kind is Kind.CONSTRAINT}
    assert constraints <= {rule_id for rule_id, _ in BROKEN}
