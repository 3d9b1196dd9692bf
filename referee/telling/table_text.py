"""The lines of a text about moves, draws and the table: made from a log, and made into messages that others sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, assert_never

from referee.games.game import Ending
from referee.log import events
from referee.log.v1 import log_pb2
from referee.text.notation.table import RULINGS, ActKind, TableAct, plain_words

_STANDS: Final = TableAct(ActKind.STANDS, rule_id=RULINGS[ActKind.STANDS])
"""Says nothing that the mark of the move does not say."""


def happened(entries: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """Return the lines of a whole text; nothing if no act of the table is among them but an abort, which ends all.

    ``entries``: the lines of each, with numbers of entries, as ``Teller`` and ``with_words`` return them.
    """
    text = _Text()
    for told in entries:
        text.add(told)
    acts = [line for line in text.lines if isinstance(line, TableAct) and line.kind is not ActKind.ABORT]
    return tuple(text.lines) if acts else ()


def with_words(told: Sequence[Any], words: str) -> list[Any]:
    """Return the lines of an entry with the words of its act, and without a ruling that then says nothing."""
    lines = list(told)
    if lines and isinstance(lines[0], TableAct):
        lines[0] = replace(lines[0], words=plain_words(words))
    return [line for line in lines if line != _STANDS]


class _Text:
    """Lines with numbers of lines."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self._after: list[int] = []
        """The number of lines after each entry."""

    def add(self, told: Sequence[Any]) -> None:
        """Take the lines of the next entry."""
        for line in told:
            is_slip = isinstance(line, TableAct) and line.kind is ActKind.CORRECT and self._forgets(line.line)
            if not is_slip:
                self.lines.append(self._numbered(line) if isinstance(line, TableAct) else line)
        self._after.append(len(self.lines))

    def _numbered(self, act: TableAct) -> TableAct:
        if act.kind in (ActKind.TAKE_BACK, ActKind.CORRECT, ActKind.RESTORE):
            act = replace(act, line=self._line(act.line))
        elif act.kind in (ActKind.PROTEST, ActKind.APPEAL):
            act = replace(act, line=self._first(act.line))
        return act if act.decides is None else replace(act, decides=self._first(act.decides))

    def _forgets(self, to_seq: int) -> bool:
        """Drop the lines after an entry, if they are slips of the scribe's pen and nothing happened beside them."""
        start = self._after[to_seq]
        if any(isinstance(line, TableAct) for line in self.lines[max(start - 1, 0) :]):
            return False
        del self.lines[start:]
        self._after = [min(count, start) for count in self._after]
        return True

    def _line(self, seq: int) -> int:
        """Return the last line of an entry, or of those before it."""
        return self._after[seq] if seq < len(self._after) else len(self.lines)

    def _first(self, seq: int) -> int:
        """Return the first line of an entry, or the last of those before it."""
        before = self._after[seq - 1] if 0 < seq <= len(self._after) else 0
        return min(before + 1, self._line(seq))


class Teller:
    """Returns the lines of one entry after the other."""

    def __init__(self, most_strikes: int) -> None:
        """``most_strikes``: with which a seat forfeits, 0: none does."""
        self._most_strikes = most_strikes
        self._strikes: dict[int, int] = {}
        self._out: list[frozenset[int]] = []
        """The seats that are out after each entry."""

    def tell(self, event: events.Event) -> tuple[Any, ...]:
        """Return the lines of the next entry: acts of the table with numbers of entries, and the game's own event."""
        out = self._now_out()
        lines = tuple(self._of(event))
        for line in lines:
            if isinstance(line, TableAct):
                match line.kind:
                    case ActKind.RESIGN | ActKind.FORFEIT | ActKind.FELL:
                        out |= {line.seat}
                    case ActKind.REINSTATE:
                        out -= {line.seat}
                    case ActKind.RESTORE:
                        out = self._out[line.line]
        self._out.append(out)
        return lines

    def _now_out(self) -> frozenset[int]:
        return self._out[-1] if self._out else frozenset()

    def _of(self, event: events.Event) -> list[Any]:
        match event:
            case events.Resigned(author, seat):
                return [TableAct(ActKind.RESIGN, _seat(author, seat))]
            case events.TakeBackProposed(author, to_seq, seat):
                return [TableAct(ActKind.TAKE_BACK, _seat(author, seat), to_seq)]
            case events.Consented(author, _, seat):
                return [TableAct(ActKind.AGREE, _seat(author, seat))]
            case events.Protested(author, against, rule_id, seat):
                return [TableAct(ActKind.PROTEST, _seat(author, seat), against, rule_id)]
            case events.Appealed(author, against, rule_id, seat):
                return [TableAct(ActKind.APPEAL, _seat(author, seat), against, rule_id)]
            case events.Corrected(_, to_seq):
                return [TableAct(ActKind.CORRECT, line=to_seq)]
            case events.TimedOut(seat):
                return [TableAct(ActKind.FELL, seat, ending=Ending.FLAG)]
            case events.WasAbsent(seat):
                return [TableAct(ActKind.FELL, seat, ending=Ending.DISCONNECTED)]
            case events.Refused(author):
                return self._strike(author.index, 1) if author.role is events.Role.SEAT else []
            case events.Ended(result) if result.ending is Ending.ABORTED:
                return [TableAct(ActKind.ABORT)]
            case events.Ruled():
                return self._ruled(event)
            case _:
                change = events.change_of(event)
                return [] if change is None else [change]

    def _ruled(self, ruled: events.Ruled) -> list[Any]:
        kind, own = _notated(ruled.ruling)
        rule_id = ruled.rule_id or RULINGS[kind]
        act = TableAct(kind, rule_id=rule_id, decides=ruled.decides, arbiter=ruled.author.index, **own)
        match ruled.ruling:
            case events.Accept(_, move):
                return [act, move]
            case events.Penalty(seat, _, _, strikes) if strikes:
                return [act, *self._strike(seat, strikes)]
        return [act]

    def _strike(self, seat: int, count: int) -> list[Any]:
        self._strikes[seat] = self._strikes.get(seat, 0) + count
        falls = self._most_strikes and self._strikes[seat] >= self._most_strikes and seat not in self._now_out()
        return [TableAct(ActKind.FELL, seat, ending=Ending.ILLEGAL_MOVES)] if falls else []


def usual_rule(ruling: events.Ruling) -> str:
    """Return the rule that a ruling of this kind rests on if it names none; empty if it needs none."""
    kind, _ = _notated(ruling)
    return RULINGS[kind]


def _notated(ruling: events.Ruling) -> tuple[ActKind, dict[str, Any]]:
    match ruling:
        case events.Restore(to_seq):
            return ActKind.RESTORE, {"line": to_seq}
        case events.Adjudicate(result):
            return ActKind.RESULT, {"places": result.places, "points": result.scores}
        case events.Penalty(seat, 0, 0, 0):
            return ActKind.WARN, {"seat": seat}
        case events.Penalty(seat, time_ms, points, strikes):
            return ActKind.PENALTY, {"seat": seat, "number": points, "strikes": strikes, "time_ms": time_ms}
        case events.Forfeit(seat, ending):
            return ActKind.FORFEIT, {"seat": seat, "ending": ending or Ending.ADJUDICATED}
        case events.Reinstate(seat):
            return ActKind.REINSTATE, {"seat": seat}
        case events.Skip(seat):
            return ActKind.SKIP, {"seat": seat}
        case events.Accept():
            return ActKind.STANDS, {}
        case events.Void():
            return ActKind.VOID, {}
        case events.Pause():
            return ActKind.PAUSE, {}
        case events.Adjourn():
            return ActKind.ADJOURN, {}
        case events.Resume():
            return ActKind.RESUME, {}
        case events.Dismiss():
            return ActKind.DISMISS, {}
        case events.SetClock(seat, left_ms):
            return ActKind.CLOCK, {"seat": seat, "time_ms": left_ms}
        case _:
            assert_never(ruling)


def _seat(author: events.Author, seat: int) -> int:
    return author.index if seat == events.UNNAMED else seat


OfScribe: TypeAlias = (
    log_pb2.Resign | log_pb2.TakeBack | log_pb2.Consent | log_pb2.Protest | log_pb2.Appeal | log_pb2.Correct
)


def of_scribe(act: TableAct, seqs: Sequence[int], proposal: int) -> OfScribe:
    """Return the message of an act that a scribe enters; its words are not in it.

    ``seqs``: the entry of each line that the act can name. ``proposal``: the entry of the proposal that seats can agree
    to.
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

    A forfeit without a ruling becomes one: a game that is entered afterwards has no clock that says so.
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
    """Return the entry of a line; for a missing line the next entry, which the log refuses."""
    return seqs[line] if line < len(seqs) else seqs[-1] + 1
