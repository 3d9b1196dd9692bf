"""The lines that a text has of a log: its moves and draws, and what was done at the table beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from referee.games.game import Ending
from referee.log.events import (
    UNNAMED,
    Accept,
    Adjourn,
    Adjudicate,
    Appealed,
    Consented,
    Corrected,
    Dismiss,
    Ended,
    Event,
    Forfeit,
    Pause,
    Penalty,
    Protested,
    Refused,
    Reinstate,
    Resigned,
    Restore,
    Resume,
    Ruled,
    SetClock,
    Skip,
    TakeBackProposed,
    TimedOut,
    Void,
    WasAbsent,
    change_of,
)
from referee.log.intent import Author, Role
from referee.notation.table_acts import RULINGS, Kind, TableAct, plain_words


def happened(entries: Iterable[Event], most_strikes: int, words: Mapping[int, str]) -> tuple[Any, ...]:
    """Return the lines of these entries; nothing if no act of the table is among them but an abort, which ends all.

    ``most_strikes``: with which a seat forfeits, 0: none does. ``words``: that go with acts, by entry.
    """
    teller = _Teller(most_strikes)
    for seq, event in enumerate(entries):
        teller.tell(event, plain_words(words.get(seq, "")))
    acts = [line for line in teller.lines if isinstance(line, TableAct) and line.kind is not Kind.ABORT]
    return tuple(teller.lines) if acts else ()


class _Teller:
    def __init__(self, most_strikes: int) -> None:
        self.lines: list[Any] = []
        self._most_strikes = most_strikes
        self._strikes: dict[int, int] = {}
        self._out: frozenset[int] = frozenset()
        self._after: list[tuple[int, frozenset[int]]] = []
        """For each entry how many lines there are, and who is out."""
        self._proposal = 0

    def tell(self, event: Event, words: str) -> None:
        """Take the next entry."""
        self.lines += self._of(event, words)
        for line in self.lines[self._after[-1][0] if self._after else 0 :]:
            if isinstance(line, TableAct) and line.kind in (Kind.RESIGN, Kind.FORFEIT, Kind.FELL):
                self._out |= {line.seat}
        self._after.append((len(self.lines), self._out))

    def _of(self, event: Event, words: str) -> list[Any]:
        match event:
            case Resigned(author, seat):
                return [TableAct(Kind.RESIGN, _seat(author, seat))]
            case TakeBackProposed(author, to_seq, seat):
                return [TableAct(Kind.TAKE_BACK, _seat(author, seat), self._line(to_seq))]
            case Consented(author, _, seat):
                return [TableAct(Kind.AGREE, _seat(author, seat))]
            case Protested(author, against, rule_id, seat):
                return [TableAct(Kind.PROTEST, _seat(author, seat), self._first(against), rule_id, words)]
            case Appealed(author, against, rule_id, seat):
                return [TableAct(Kind.APPEAL, _seat(author, seat), self._first(against), rule_id, words)]
            case Corrected(_, to_seq):
                if self._forgets(to_seq):
                    return []
                return [TableAct(Kind.CORRECT, line=self._line(to_seq))]
            case TimedOut(seat):
                return [TableAct(Kind.FELL, seat, ending=Ending.FLAG)]
            case WasAbsent(seat):
                return [TableAct(Kind.FELL, seat, ending=Ending.DISCONNECTED)]
            case Refused(author):
                return self._strike(author.index, 1) if author.role is Role.SEAT else []
            case Ended(result) if result.ending is Ending.ABORTED:
                return [TableAct(Kind.ABORT)]
            case Ruled():
                return self._ruled(event, words)
            case _:
                change = change_of(event)
                return [] if change is None else [change]

    def _forgets(self, to_seq: int) -> bool:
        """Drop the lines after an entry, if they are slips of the scribe's pen and nothing happened beside them."""
        start = self._after[to_seq][0]
        if any(isinstance(line, TableAct) for line in self.lines[max(start - 1, 0) :]):
            return False
        del self.lines[start:]
        self._after = [(min(count, start), out) for count, out in self._after]
        return True

    def _ruled(self, ruled: Ruled, words: str) -> list[Any]:
        kind, own = self._ruling(ruled)
        rule_id = ruled.rule_id or RULINGS[kind]
        decides = None if ruled.decides is None else self._first(ruled.decides)
        act = TableAct(kind, rule_id=rule_id, words=words, decides=decides, arbiter=ruled.author.index, **own)
        match ruled.ruling:
            case Accept(_, move):
                says = words or decides is not None or act.arbiter or rule_id != RULINGS[kind]
                return [act, move] if says else [move]
            case Restore(to_seq):
                self._out = self._after[to_seq][1]
            case Reinstate(seat):
                self._out -= {seat}
            case Penalty(seat, _, _, strikes) if strikes:
                return [act, *self._strike(seat, strikes)]
        return [act]

    def _ruling(self, ruled: Ruled) -> tuple[Kind, dict[str, Any]]:
        match ruled.ruling:
            case Restore(to_seq):
                return Kind.RESTORE, {"line": self._line(to_seq)}
            case Adjudicate(result):
                return Kind.RESULT, {"places": result.places, "points": result.scores}
            case Penalty(seat, 0, 0, 0):
                return Kind.WARN, {"seat": seat}
            case Penalty(seat, time_ms, points, strikes):
                return Kind.PENALTY, {"seat": seat, "number": points, "strikes": strikes, "time_ms": time_ms}
            case Forfeit(seat, ending):
                return Kind.FORFEIT, {"seat": seat, "ending": ending or Ending.ADJUDICATED}
            case Reinstate(seat):
                return Kind.REINSTATE, {"seat": seat}
            case Skip(seat):
                return Kind.SKIP, {"seat": seat}
            case Accept():
                return Kind.STANDS, {}
            case Void():
                return Kind.VOID, {}
            case Pause():
                return Kind.PAUSE, {}
            case Adjourn():
                return Kind.ADJOURN, {}
            case Resume():
                return Kind.RESUME, {}
            case Dismiss():
                return Kind.DISMISS, {}
            case SetClock(seat, left_ms):
                return Kind.CLOCK, {"seat": seat, "time_ms": left_ms}
            case _:
                assert_never(ruled.ruling)

    def _strike(self, seat: int, count: int) -> list[Any]:
        self._strikes[seat] = self._strikes.get(seat, 0) + count
        falls = self._most_strikes and self._strikes[seat] >= self._most_strikes and seat not in self._out
        return [TableAct(Kind.FELL, seat, ending=Ending.ILLEGAL_MOVES)] if falls else []

    def _line(self, seq: int) -> int:
        """Return the last line of an entry, or of those before it."""
        return self._after[seq][0] if seq < len(self._after) else len(self.lines)

    def _first(self, seq: int) -> int:
        """Return the first line of an entry, or the last of those before it."""
        before = self._after[seq - 1][0] if 0 < seq <= len(self._after) else 0
        return min(before + 1, self._line(seq))


def _seat(author: Author, seat: int) -> int:
    return author.index if seat == UNNAMED else seat
