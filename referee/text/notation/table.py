"""A game of which a text tells also what was done beside its moves: the position and the contest, line by line.

What a text needs to be read, and no more: who may do what and when is the log's to judge. Knows no game.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from referee.games.game import Decision, Ending, Forced, ForcedPass, Over, State
from referee.games.results import Contest, Result
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.table_acts import Kind, TableAct
from referee.text.words.catalogue import Said

_EVERY: Final = 16
"""Events between two positions that are kept, so that going back costs little."""


class TableError(Exception):
    """An act that cannot be: ``what`` is wrong, and what was ``expected``."""

    def __init__(self, what: Said, expected: Said) -> None:
        super().__init__(what.by(IN_ENGLISH), expected.by(IN_ENGLISH))
        self.what = what
        self.expected = expected


class Due(NamedTuple):
    """What has to come next, as a seat makes no move itself (TBL-2)."""

    seat: int
    event: Any
    """The stand-in's move, or a pass."""


def due_of(state: State, out: Collection[int]) -> Due | None:
    """Return what is entered in this position, if one of the seats ``out`` is on turn, which make no moves."""
    awaited = state.pending()[0]
    if not isinstance(awaited, Decision | Forced) or awaited.seat not in out:
        return None
    is_forced = isinstance(awaited, Forced)
    return Due(awaited.seat, ForcedPass(awaited.seat) if is_forced else state.stand_in(awaited.seat))


@dataclass(slots=True)
class _Proposal:
    to: int
    agreed: set[int]


@dataclass(slots=True)
class Table:
    """One game from its beginning. Lines count from 1; 0 is the beginning."""

    setup: Setup
    state: State = field(init=False)
    out: Mapping[int, Ending] = field(default_factory=dict)
    points_off: list[int] = field(init=False)
    ruled: Result | None = None
    overruled: Result | None = None
    _proposal: _Proposal | None = None
    _skipped: int | None = None
    _is_suspended: bool = False
    _played: list[tuple[int, Any]] = field(default_factory=list)
    """What led to the position: each event with its line, or with the line that it came before."""
    _kept: list[tuple[int, State]] = field(init=False)
    """Positions, each with the number of events before it."""
    _out: list[Mapping[int, Ending]] = field(default_factory=lambda: [{}])
    """Who was out after each line."""
    _gone: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of what was taken back, ascending."""

    def __post_init__(self) -> None:
        self.state = self.setup.start()
        self.points_off = [0] * self.setup.seats
        self._kept = [(0, self.state.copy())]

    @property
    def line(self) -> int:
        """The number of the last line; 0: there is none yet."""
        return len(self._out) - 1

    def events(self) -> tuple[Any, ...]:
        """Return what led to the position, without what was taken back."""
        return tuple(event for _, event in self._played)

    def contest(self) -> Contest:
        """Return what all this makes of the result."""
        contest = Contest(self.out, tuple(self.points_off) if any(self.points_off) else (), self.ruled, self.overruled)
        return contest.settled(self.setup.seats, self.state.pending())

    def due(self) -> Due | None:
        """Return what is entered now for a seat that makes no move (TBL-2); None: the next line says what happened."""
        return self._due(self.state, self._skipped)

    def to_the_end(self) -> list[Any]:
        """Return what is due until the rules end the game; nothing if it does not come to that without more lines."""
        ahead, skipped, events = self.state.copy(), self._skipped, []
        while (due := self._due(ahead, skipped)) is not None:
            ahead.apply(due.event)
            events.append(due.event)
            skipped = None
        return events if isinstance(ahead.pending()[0], Over) else []

    def _due(self, state: State, skipped: int | None) -> Due | None:
        due = due_of(state, self.out if skipped is None else {*self.out, skipped})
        if (
            due is None
            or self._is_suspended
            or Contest(self.out, ruled=self.ruled).result(self.setup.seats, state.pending()) is not None
        ):
            return None
        return due

    def play(self, event: Any, *, is_line: bool = True) -> None:
        """Take an event of the game, which can happen or which an arbiter let stand.

        ``is_line``: it has a line of its own; otherwise it comes before the next.
        """
        self.state.apply(event)
        self._proposal = self._skipped = None
        self._played.append((self.line + 1, event))
        if len(self._played) - self._kept[-1][0] >= _EVERY:
            self._kept.append((len(self._played), self.state.copy()))
        if is_line:
            self.leave_out()

    def leave_out(self) -> None:
        """Take a line that does not count."""
        self._out.append(self.out)

    def check(self, act: TableAct) -> None:
        """Raise ``TableError`` if there is no such seat, or no such line to go back to."""
        seats, line = self.setup.seats, act.line
        if act.seat >= seats:
            raise TableError(
                Said("line.no_seat", {"seat": act.seat}), Said("line.no_seat.expected", {"last": seats - 1})
            )
        if line > self.line:
            raise TableError(Said("line.not_yet", {"line": line}), Said("line.not_yet.expected", {"last": self.line}))
        at = bisect_right(self._gone, (line, self.line)) - 1
        if act.kind in (Kind.TAKE_BACK, Kind.CORRECT, Kind.RESTORE) and at >= 0 and line <= self._gone[at][1]:
            raise TableError(Said("line.gone", {"line": line}), Said("line.gone.expected"))

    def take(self, act: TableAct) -> None:
        """Take an act of the table. Raise ``TableError`` as ``check``."""
        self.check(act)
        out = self.out
        if act.kind in (Kind.RESULT, Kind.VOID):
            self.overruled = self.ruled
        match act.kind:
            case Kind.RESIGN | Kind.FELL | Kind.FORFEIT:
                ending = Ending.RESIGNED if act.kind is Kind.RESIGN else act.ending or Ending.ADJUDICATED
                self.out = {**self.out, act.seat: ending}
            case Kind.REINSTATE:
                self.out = {seat: ending for seat, ending in self.out.items() if seat != act.seat}
            case Kind.TAKE_BACK:
                self._proposal = _Proposal(act.line, {act.seat})
            case Kind.AGREE if self._proposal is not None:
                self._proposal.agreed.add(act.seat)
            case Kind.CORRECT:
                self._go_back(act.line)
            case Kind.RESTORE:
                self._go_back(act.line)
                self.out, self.ruled, self.overruled = self._out[act.line], None, None
            case Kind.PENALTY:
                self.points_off[act.seat] += act.number
            case Kind.SKIP:
                self._skipped = act.seat
            case Kind.RESULT:
                self.ruled = Result(Ending.ADJUDICATED, act.points, act.places)
            case Kind.VOID:
                self.ruled = Result(Ending.VOIDED)
            case Kind.PAUSE | Kind.ADJOURN | Kind.RESUME:
                self._is_suspended = act.kind is not Kind.RESUME
            case Kind.ABORT:
                self.ruled = Result(Ending.ABORTED)
        changed = act.kind in (Kind.TAKE_BACK, Kind.AGREE) or len(self.out) > len(out)
        if self._proposal is not None and changed and act.kind is not Kind.RESTORE:
            # Whoever had not agreed may have left with this line.
            still = set(range(self.setup.seats)) - set(self.out)
            if self._proposal.agreed >= still:
                self._go_back(self._proposal.to)
        self.leave_out()

    def _go_back(self, to: int) -> None:
        """Back to what was after line ``to``, from the line that comes now."""
        while self._played and self._played[-1][0] > to:
            self._played.pop()
        while self._kept[-1][0] > len(self._played):
            self._kept.pop()
        count, state = self._kept[-1]
        self.state = state.copy()
        for _, event in self._played[count:]:
            self.state.apply(event)
        while self._gone and self._gone[-1][0] > to:
            self._gone.pop()
        if to < self.line:
            self._gone.append((to + 1, self.line))
        self._proposal = self._skipped = None
