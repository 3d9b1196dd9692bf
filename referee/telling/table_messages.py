"""The lines of a text about the table as messages that a scribe or an arbiter signs. Signs nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from referee.games.game import Ending
from referee.log.v1 import log_pb2
from referee.text.notation.table import ActKind, TableAct

OfScribe: TypeAlias = (
    log_pb2.Resign | log_pb2.TakeBack | log_pb2.Consent | log_pb2.Protest | log_pb2.Appeal | log_pb2.Correct
)


def of_scribe(act: TableAct, seqs: Sequence[int], proposal: int) -> OfScribe:
    """Return the message of an act that a scribe enters; its words are not in it.

    ``seqs``: the entry of each line that the act can name. ``proposal``: the entry of what seats can agree to.
    """
    match act.kind:
        case ActKind.RESIGN:
            return log_pb2.Resign(seat=act.seat)
        case ActKind.TAKE_BACK:
            return log_pb2.TakeBack(to_seq=_entry(seqs, act.line), seat=act.seat)
        case ActKind.AGREE:
            return log_pb2.Consent(to_seq=proposal, seat=act.seat)
        case ActKind.PROTEST:
            return log_pb2.Protest(against_seq=_entry(seqs, act.line), rule_id=act.rule_id, seat=act.seat)
        case ActKind.APPEAL:
            return log_pb2.Appeal(against_seq=_entry(seqs, act.line), rule_id=act.rule_id, seat=act.seat)
        case ActKind.CORRECT:
            return log_pb2.Correct(to_seq=_entry(seqs, act.line))
        case _:
            raise ValueError(f"{act.kind} is no act of a scribe")


def ruling(act: TableAct, seqs: Sequence[int]) -> log_pb2.Rule:
    """Return the message of a ruling, complete but for a move that stands and for its words.

    A forfeit without a ruling is one here: who enters a game afterwards has no clock that says so.
    """
    rule = log_pb2.Rule()
    match act.kind:
        case ActKind.WARN | ActKind.PENALTY:
            off = log_pb2.Penalty(seat=act.seat, points=act.number, strikes=act.strikes, time_ms=act.time_ms)
            rule.penalty.CopyFrom(off)
        case ActKind.FORFEIT | ActKind.FELL:
            ending = act.ending or Ending.ADJUDICATED
            rule.forfeit.CopyFrom(log_pb2.Forfeit(seat=act.seat, ending=log_pb2.Ending.ValueType(ending.value)))
        case ActKind.CLOCK:
            rule.set_clock.CopyFrom(log_pb2.SetClock(seat=act.seat, left_ms=act.time_ms))
        case ActKind.REINSTATE:
            rule.reinstate.CopyFrom(log_pb2.Reinstate(seat=act.seat))
        case ActKind.SKIP:
            rule.skip.CopyFrom(log_pb2.Skip(seat=act.seat))
        case ActKind.RESTORE:
            rule.restore.CopyFrom(log_pb2.Restore(to_seq=_entry(seqs, act.line)))
        case ActKind.RESULT:
            rule.adjudicate.CopyFrom(log_pb2.Adjudicate(scores=act.points, places=act.places))
        case ActKind.VOID:
            rule.void.SetInParent()
        case ActKind.PAUSE:
            rule.pause.SetInParent()
        case ActKind.ADJOURN:
            rule.adjourn.SetInParent()
        case ActKind.RESUME:
            rule.resume.SetInParent()
        case ActKind.DISMISS:
            rule.dismiss.SetInParent()
        case _:
            raise ValueError(f"{act.kind} is no ruling")
    return fill(rule, act, seqs)


def fill(rule: log_pb2.Rule, act: TableAct, seqs: Sequence[int]) -> log_pb2.Rule:
    """Add to a ruling the rule that it rests on and the protest that it decides."""
    rule.rule_id = "TBL-34" if act.kind is ActKind.FELL else act.rule_id
    if act.decides is not None:
        rule.decides = _entry(seqs, act.decides)
    return rule


def _entry(seqs: Sequence[int], line: int) -> int:
    """Of a line that is not there the next entry, which the log refuses."""
    return seqs[line] if line < len(seqs) else seqs[-1] + 1
