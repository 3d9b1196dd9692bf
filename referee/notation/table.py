"""A game of which a text tells also what was done beside its moves: the position and the contest, line by line.

What a text needs to be read, and no more: who may do what and when is the log's to judge. Knows no game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.games.game import Decision, Ending, State
from referee.games.results import Contest, Result
from referee.notation.headers import Setup
from referee.notation.table_acts import Kind, TableAct


class TableError(Exception):
    """An act that cannot be: ``what`` is wrong, and what was ``expected``."""

    def __init__(self, what: str, expected: str) -> None:
        super().__init__(what, expected)
        self.what = what
        self.expected = expected


@dataclass(slots=True)
class _Proposal:
    line: int
    to: int
    agreed: set[int]


@dataclass(slots=True)
class _Moment:
    """After one line."""

    events: tuple[Any, ...]
    """None of an act of the table; more than one where a stand-in moved as well."""
    out: Mapping[int, Ending]
    counts: bool = True


@dataclass(slots=True)
class Table:
    """One game from its beginning."""

    setup: Setup
    state: State = field(init=False)
    out: Mapping[int, Ending] = field(default_factory=dict)
    points_off: list[int] = field(init=False)
    ruled: Result | None = None
    disputes: dict[int, bool] = field(default_factory=dict)
    """By their lines: whether a protest or an appeal is open."""
    _proposal: _Proposal | None = None
    _skipped: int | None = None
    _moments: list[_Moment] = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.setup.start()
        self.points_off = [0] * self.setup.seats
        self._moments = [_Moment((), {})]

    @property
    def line(self) -> int:
        """The number of the last line; 0: there is none yet."""
        return len(self._moments) - 1

    @property
    def proposal(self) -> int | None:
        """The line of the proposal that seats can agree to."""
        return self._proposal.line if self._proposal is not None else None

    def events(self) -> tuple[Any, ...]:
        """Return what led to the position, without what was taken back."""
        return tuple(event for moment in self._moments if moment.counts for event in moment.events)

    def contest(self) -> Contest:
        """Return what all this makes of the result."""
        contest = Contest(self.out, tuple(self.points_off) if any(self.points_off) else (), self.ruled)
        return contest.settled(self.setup.seats, self.state.pending())

    def result(self) -> Result | None:
        """Return what the game has come to."""
        contest = Contest(self.out, tuple(self.points_off) if any(self.points_off) else (), self.ruled)
        return contest.result(self.setup.seats, self.state.pending())

    def stand_in(self) -> Any:
        """Return the move that has to come now for a seat that makes none (TBL-2); None: its own move is awaited."""
        awaited = self.state.pending()[0]
        if isinstance(awaited, Decision) and (awaited.seat in self.out or awaited.seat == self._skipped):
            return self.state.stand_in(awaited.seat)
        return None

    def play(self, event: Any, *, is_line: bool = True) -> None:
        """Take an event of the game, which can happen or which an arbiter let stand.

        ``is_line``: it has a line of its own; otherwise it belongs to the last.
        """
        self.state.apply(event)
        self._proposal = self._skipped = None
        if is_line:
            self._moments.append(_Moment((event,), self.out))
        else:
            self._moments[-1].events += (event,)

    def leave_out(self) -> None:
        """Take a line that does not count."""
        self._moments.append(_Moment((), self.out))

    def take(self, act: TableAct) -> None:
        """Take an act of the table. Raise ``TableError``."""
        self._check(act)
        number, out = self.line + 1, self.out
        match act.kind:
            case Kind.RESIGN:
                self._forfeit(act.seat, Ending.RESIGNED)
            case Kind.FELL | Kind.FORFEIT:
                self._forfeit(act.seat, act.ending or Ending.ADJUDICATED)
            case Kind.REINSTATE:
                self.out = {seat: ending for seat, ending in self.out.items() if seat != act.seat}
            case Kind.TAKE_BACK:
                self._proposal = _Proposal(number, act.line, {act.seat})
            case Kind.AGREE if self._proposal is not None:
                self._proposal.agreed.add(act.seat)
            case Kind.PROTEST | Kind.APPEAL:
                self.disputes[number] = True
            case Kind.CORRECT:
                self._go_back(act.line)
            case Kind.RESTORE:
                self._go_back(act.line)
                self.out, self.ruled = self._moments[act.line].out, None
            case Kind.PENALTY:
                self.points_off[act.seat] += act.number
            case Kind.SKIP:
                self._skipped = act.seat
            case Kind.RESULT:
                self.ruled = Result(Ending.ADJUDICATED, act.points, act.places)
            case Kind.VOID:
                self.ruled = Result(Ending.VOIDED)
            case Kind.ABORT:
                self.ruled = Result(Ending.ABORTED)
        if act.decides is not None:
            self.disputes[act.decides] = False
        proposal = self._proposal
        changed = act.kind in (Kind.TAKE_BACK, Kind.AGREE) or len(self.out) > len(out)
        agreed = proposal is not None and proposal.agreed >= set(range(self.setup.seats)) - set(self.out)
        if proposal is not None and agreed and changed and act.kind is not Kind.RESTORE:
            self._go_back(proposal.to)
        self._moments.append(_Moment((), self.out))

    def _forfeit(self, seat: int, ending: Ending) -> None:
        self.out = {**self.out, seat: ending}

    def _go_back(self, to: int) -> None:
        for moment in self._moments[to + 1 :]:
            moment.counts = False
        self.state = self.setup.start()
        for event in self.events():
            self.state.apply(event)
        self._proposal = self._skipped = None

    def _check(self, act: TableAct) -> None:
        seats = self.setup.seats
        if act.seat >= seats:
            raise TableError(f"there is no seat {act.seat}", f"a seat from 0 to {seats - 1}")
        if act.kind in (Kind.RESIGN, Kind.TAKE_BACK, Kind.AGREE, Kind.FELL, Kind.FORFEIT) and act.seat in self.out:
            raise TableError(f"seat {act.seat} has already forfeited", "a seat that still plays")
        if act.kind in (Kind.RESIGN, Kind.TAKE_BACK, Kind.AGREE) and self.result() is not None:
            raise TableError("the game has come to its end", "a protest, or an act of the arbiter")
        if act.kind is Kind.ABORT and self.result() is not None and not any(self.disputes.values()):
            raise TableError("the game has come to its end", "an abort before that, or while a protest is open")
        if act.kind is Kind.REINSTATE and act.seat not in self.out:
            raise TableError(f"seat {act.seat} has not forfeited", "a seat that has")
        if act.kind is Kind.AGREE and self._proposal is None:
            raise TableError("nobody proposes to take moves back", f"{act.seat}: back to …")
        if act.kind in (Kind.TAKE_BACK, Kind.CORRECT, Kind.RESTORE):
            self._check_line(act.line)
        if act.kind in (Kind.PROTEST, Kind.APPEAL) and act.line > self.line:
            raise TableError(f"line {act.line} is not there yet", f"a line from 0 to {self.line}")
        if act.decides is not None and not self.disputes.get(act.decides):
            raise TableError(f"line {act.decides} is no open protest", "the line of one that is open")
        if act.kind is Kind.RESULT:
            self._check_result(act)
        if act.kind is Kind.SKIP:
            awaited = self.state.pending()[0]
            if not isinstance(awaited, Decision) or awaited.seat != act.seat:
                raise TableError(f"seat {act.seat} is not on turn", "the seat on turn")

    def _check_line(self, line: int) -> None:
        if line > self.line:
            raise TableError(f"line {line} is not there yet", f"a line from 0 to {self.line}")
        gone = any(not moment.counts for moment in self._moments[line : line + 1])
        if gone:
            raise TableError(f"line {line} was taken back", "a line that counts")

    def _check_result(self, act: TableAct) -> None:
        seats, places = self.setup.seats, act.places
        well = all(place == 1 + sum(other < place for other in places) for place in places)
        if len(places) != seats or len(act.points) not in (0, seats) or not well:
            expected = f"{seats} places (1 for the best, for others one more than the seats before them)"
            raise TableError(f"a result of {len(places)} places", f"{expected}, and {seats} points or none")
