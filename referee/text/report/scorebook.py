"""The scorebook of a record that is judged, and help with an illegal line: its meanings, the rulings that remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final

from referee.games.game import Decision, Forced, ForcedPass, State, Violation
from referee.text.notation import game_text, grammar, headers
from referee.text.notation.grammar import place_of
from referee.text.notation.headers import Contradiction, Headers, Setup
from referee.text.notation.registry import Scorings
from referee.text.notation.table import Table, TableAct, due_of
from referee.text.notation.violations import Kind, NotationError, cut
from referee.text.report import rulings
from referee.text.report.sheet import is_over
from referee.text.words.catalogue import Words

_MOST_TOLD: Final = 200
"""Characters of an illegal line that are repeated."""


class Transcript:
    """The lines of a record, and the event of each in a position. Nothing changes it."""

    def __init__(self, text: str, acts: Sequence[Any], setup: Setup, *, marks_count: bool) -> None:
        """``marks_count``: a move that the record marks as accepted stands."""
        self._lines = text.split("\n")
        self._setup = setup
        self.acts = acts
        """The lines that are no headers, parsed."""
        self.marks_count = marks_count

    def words(self, line: int) -> str:
        """Return the line."""
        return self._lines[line - 1].strip()

    def told(self, line: int) -> str:
        """Return the line, or how it begins if it is long."""
        return cut(self.words(line), _MOST_TOLD)

    def meant(self, state: State, act: Any) -> tuple[Any, NotationError | None]:
        """Return the event of a line in a position, if any; and its fault, unless it is marked so."""
        try:
            event = game_text.meant(self._setup.rules_id, state, act)
        except NotationError as error:
            return None, error
        violations = state.check(event)
        if not violations or (self.marks_count and self._is_ruled(act, violations)):
            return event, None
        return event, NotationError(Kind.ILLEGAL, place_of(act), "", violations=violations)

    def _is_ruled(self, act: Any, violations: tuple[Violation, ...]) -> bool:
        """Return whether the record says that the move stands, and it can."""
        mark = game_text.mark_of(act)
        broken = grammar.rule_ids(violations)
        if mark is None or tuple(mark.children) != broken:
            return False
        return bool({*broken} <= self._setup.game.waivable)


class Scorebook:
    """The record as entered: the table, the log and the outcome, which agree after each call."""

    def __init__(self, setup: Setup, policy: rulings.Policy, log: rulings.Log | None, say: Words) -> None:
        """``log``: by which acts of the table are judged; None: each is as the record has it."""
        self.table = Table(setup)
        self.outcome = rulings.Adjudication(setup, policy, self.table.state, say)
        self._log = log
        self._say = say
        self._scorings = Scorings(setup.rules_id)

    def check_goes_on(self, words: str, line: int) -> None:
        """Check that moves and draws count now. Raise ``NotationError``."""
        if self._log is not None:
            self._log.check_goes_on(words, line)

    def end_line(self, before: int) -> None:
        """Note that a line of the record has ended. ``before``: the line of the table when it began."""
        if self.table.line == before:
            self.table.leave_out()
        self.outcome.entered_after.append(len(self.outcome.entered))
        if self._log is not None:
            self._log.end_line()

    def end(self, found: Headers) -> None:
        """Note how the game ended, by its headers."""
        try:
            pending = self.outcome.state.pending()
            told = self.table.contest() if self.outcome.acts else None
            self.outcome.recorded = headers.read_contest(found, self.outcome.setup.seats, pending, told)
        except Contradiction as error:
            self.outcome.recorded = error.contest
            self.outcome.claimed = error.told

    def stop(self, ruling: rulings.LineRuling | None) -> None:
        """End before a line, with the result that the arbiter gives, if it is one."""
        self.take_off(ruling)
        told = self.table.contest()
        given = ruling.result if ruling is not None else None
        self.outcome.recorded = replace(told, ruled=given or told.ruled)

    def add(self, entered: rulings.Entered) -> None:
        """Have it in the log and in the outcome. Raise ``NotationError`` for an act that no log has."""
        if self._log is not None:
            self._log.enter(entered)
        self.outcome.entered.append(entered)

    def take(self, done: TableAct) -> None:
        """Have an act of the table, which ``add`` has entered, change the game."""
        self.table.take(done)
        self._went_on()

    def enter(
        self,
        step: rulings.Step,
        event: Any,
        seat: int | None,
        line: int | None,
        violations: tuple[Violation, ...] = (),
        *,
        ruling: str = "",
    ) -> None:
        words = game_text.line(self.outcome.setup.rules_id, self.table.state, event)
        self.add(rulings.Entered(step, event, words, line, seat, violations, ruling=ruling))
        if step is not rulings.Step.REFUSED:
            self.table.play(event, is_line=line is not None)
            self._went_on()

    def enter_due(self, event: Any) -> None:
        """Enter the events that follow without a choice."""
        self.enter(rulings.Step.DUE, event, seat_on_turn(self.outcome.state), None)

    def refuse(self, act: Any, event: Any, wrong: NotationError) -> None:
        if event is not None and not isinstance(event, ForcedPass):
            self.enter(rulings.Step.REFUSED, event, game_text.seat_of(act), wrong.line, wrong.violations)

    def restore(self, found: rulings.Illegal) -> None:
        """The arbiter's ruling that a line does not count, where no stand-in's move says so."""
        words = self._say("restored", n=found.line)
        told = rulings.in_the_log(found.line, found.ruling)
        self.add(rulings.Entered(rulings.Step.RESTORED, None, words, found.line, found.seat, ruling=told))

    def take_off(self, ruling: rulings.LineRuling | None) -> None:
        for off in ruling.points_off if ruling is not None else ():
            words = self._say("points_off", n=off.points, player=off.seat)
            told = rulings.in_the_log(ruling.line, str(ruling)) if ruling is not None else ""
            line = None if ruling is None else ruling.line
            self.add(rulings.Entered(rulings.Step.PENALTY, None, words, line, off.seat, points=off.points, ruling=told))

    def _went_on(self) -> None:
        self.outcome.state = self.table.state
        self._scorings.see(self.table.state)
        self.outcome.scored = self._scorings.states


class SkippedSeat:
    """A seat whose last move does not count, until it is known what is played instead of it."""

    def __init__(self, book: Scorebook, transcript: Transcript, say: Words) -> None:
        self._book = book
        self._outcome = book.outcome
        self._transcript = transcript
        self._say = say
        self.seat: int | None = None
        """None: no move is missing."""
        self._open: list[int] = []
        """The illegal lines whose replacement is not known yet."""
        self.lost = False
        """The line before was skipped, as something else is awaited."""

    def skip(self, seat: int | None) -> None:
        """Skip the illegal line that was noted last, which is a move of the seat on turn."""
        self._open.append(len(self._outcome.illegal) - 1)
        self.seat = seat

    def end(self) -> None:
        """End after the last line: the seat does not move again."""
        if self.seat is not None:
            ahead, moves = self._outcome.state.copy(), 0
            while (move := stand_in(ahead, self.seat)) is not None:
                ahead.apply(move)
                moves += 1
            self.stand_in(self.seat, moves)

    def moves_before(self, seat: int, act: Any) -> int:
        """Return how many moves for the seat it takes until the line can follow; 0: it is its next attempt."""
        same = game_text.seat_of(act) == seat
        if same and self._is_attempt(self._outcome.state, act):
            return 0
        ahead, moves, attempt = self._outcome.state.copy(), 0, 0
        while (move := stand_in(ahead, seat)) is not None:
            ahead.apply(move)
            moves += 1
            if self._transcript.meant(ahead, act)[1] is None:
                return moves
            if same and not attempt and self._is_attempt(ahead, act):
                attempt = moves
        return attempt if same else moves

    def _is_attempt(self, state: State, act: Any) -> bool:
        """Return whether such a move is awaited of this seat, though not this one."""
        _, wrong = self._transcript.meant(state, act)
        return wrong is not None and not is_out_of_place(wrong)

    def stand_in(self, seat: int, moves: int) -> None:
        """Enter this number of moves for the seat."""
        said = []
        ruling = next((found.ruling for index in self._open if (found := self._outcome.illegal[index]).ruling), "")
        line = next((found.line for index in self._open if (found := self._outcome.illegal[index]).ruling), 0)
        told = rulings.in_the_log(line, ruling) if ruling else ""
        for _ in range(moves):
            move = stand_in(self._outcome.state, seat)
            said.append(game_text.line(self._outcome.setup.rules_id, self._outcome.state, move))
            step = rulings.Step.PLAYED if isinstance(move, ForcedPass) else rulings.Step.STOOD_IN
            self._book.enter(step, move, seat, None, ruling=told)
        self.resolve(self._say("became.instead", rule=rulings.PASSED_OVER, moves=", ".join(said)))

    def resolve(self, words: str, *, again: bool = False) -> None:
        """Note what is played instead of the moves that do not count. ``again``: the seat itself played it."""
        for number, index in enumerate(self._open):
            found, first = self._outcome.illegal[index], self._outcome.illegal[self._open[0]]
            told = words if again or not number else self._say("became.see", n=first.line)
            self._outcome.illegal[index] = replace(found, outcome=f"{found.outcome}; {told}")
            if again and found.ruling:
                self._book.restore(found)
        self._open.clear()
        self.seat = None
        self.lost = False


def is_out_of_place(wrong: NotationError) -> bool:
    """Return whether something else is awaited: another seat, or another kind of move."""
    return all("awaited" in violation.facts for violation in wrong.violations)


def seat_on_turn(state: State) -> int | None:
    """Return the seat that is awaited; None: chance is, or the game is over."""
    awaited = state.pending()[0]
    return awaited.seat if isinstance(awaited, Decision | Forced) else None


def stand_in(state: State, seat: int) -> Any:
    """Return what is entered for the seat now; None if nothing of it is awaited."""
    awaited = state.pending()[0]
    if awaited == Forced(seat):
        return ForcedPass(seat)
    return state.stand_in(seat) if isinstance(awaited, Decision) and awaited.seat == seat else None


_AHEAD: Final = 200
"""Lines that are looked at behind the illegal one."""
_MOST_MOVES: Final = 1000
"""Legal moves that are tried for one line."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One way in which the game may have continued."""

    event: Any
    """None: the line is taken as if it were not there."""
    words: str
    seat: int | None
    told: str
    follow: int
    """The number of next lines that can follow."""
    is_played: bool = False
    """The line itself, which breaks rules that allow it to stand."""
    is_before: bool = False
    """The move goes before the line, which then follows."""


def moves(table: Table, state: State, acts: Sequence[Any], index: int, words: str, *, say: Words) -> list[Repair]:
    """Return the legal moves in place of line ``index`` in this position of ``table``, those first after which most
    lines follow, then the nearest to the written line, ``words``.
    """
    return _sorted(_others(table, state, _moves(acts[index + 1 :]), say), words)


def _moves(acts: Sequence[Any]) -> list[Any]:
    return [act for act in acts if act.data != "by_table"]


def best_repair(table: Table, acts: Sequence[Any], index: int, *, words: str, event: Any, say: Words) -> Repair | None:
    """Return the repair after which most lines follow; None if none leads on.

    ``words``: the written line; ``event``: its event, if it is a move. Of equal ones, in this order: the line stands as
    it was played; another move in its place; the line was not there; a move before it is missing.
    """
    state, waivable = table.state, table.setup.game.waivable
    act, rest = acts[index], _moves(acts[index + 1 :])
    seat = game_text.seat_of(act)
    found: list[Repair] = []
    broken = {*grammar.rule_ids(state.check(event))} if event is not None and seat is not None else set()
    if broken and broken <= waivable:
        after = _after(state, event)
        told = say("taken.played")
        found.append(Repair(event, words, seat, told, _follow(table, after, rest), is_played=True))
    if _seat_on_turn(state) == seat is not None:
        found += moves(table, state, acts, index, words, say=say)[:1]
    left_out = _follow(table, state.copy(), rest)
    found.append(Repair(None, "", seat, say("taken.nothing"), left_out))
    if _seat_on_turn(state) is not None:
        missing = [
            Repair(
                each.event,
                each.words,
                each.seat,
                say("taken.before", move=each.words),
                each.follow - 1,
                is_before=True,
            )
            for each in _sorted(_others(table, state, _moves(acts[index:]), say), words)
            if each.follow
        ]
        found += missing[:1]
    chosen = max(found, key=lambda each: each.follow)
    if chosen.follow or not rest:
        return chosen
    # The next line is illegal as well: it is enough that its seat is on turn there.
    for each in found:
        ahead = state if each.event is None else _after(state, each.event)
        if game_text.seat_of(rest[0]) is not None and _seat_on_turn(ahead) == game_text.seat_of(rest[0]):
            return each
    return None


def _others(table: Table, state: State, rest: Sequence[Any], say: Words) -> Iterator[Repair]:
    """Yield every legal move of the seat on turn, with how many lines follow it."""
    awaited = state.pending()[0]
    events: Iterator[Any] = iter(())
    if isinstance(awaited, Forced):
        events = iter((ForcedPass(awaited.seat),))
    elif isinstance(awaited, Decision):
        events = islice(state.legal_moves(), _MOST_MOVES)
    for event in events:
        words = game_text.line(table.setup.rules_id, state, event)
        follow = _follow(table, _after(state, event), rest)
        yield Repair(event, words, _seat_on_turn(state), say("taken.as", move=words), follow)


def _sorted(repairs: Iterator[Repair], words: str) -> list[Repair]:
    near = SequenceMatcher(b=words, autojunk=False)

    def nearness(found: Repair) -> tuple[int, float]:
        near.set_seq1(found.words)
        return -found.follow, -near.ratio()

    return sorted(repairs, key=nearness)


def _follow(table: Table, state: State, rest: Sequence[Any]) -> int:
    """Return how many lines can follow in this position, which changes."""
    for number, act in enumerate(rest[:_AHEAD]):
        while (due := due_of(state, table.out)) is not None and due.seat != game_text.seat_of(act):
            state.apply(due.event)
        try:
            event = game_text.meant(table.setup.rules_id, state, act)
        except NotationError:
            return number
        if violations := state.check(event):
            mark = game_text.mark_of(act)
            if mark is None or tuple(mark.children) != grammar.rule_ids(violations):
                return number
            if not {*grammar.rule_ids(violations)} <= table.setup.game.waivable:
                return number
        state.apply(event)
    return min(len(rest), _AHEAD)


def _after(state: State, event: Any) -> State:
    after = state.copy()
    after.apply(event)
    return after


def _seat_on_turn(state: State) -> int | None:
    awaited = state.pending()[0]
    return awaited.seat if isinstance(awaited, Decision | Forced) else None


_MOST_ADVICE: Final = 3
"""Moves that are proposed for a line that cannot stand."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A move that does not count."""

    seat: int
    line: int
    index: int
    """The line's index among those with moves."""
    event: Any
    """None: it was no move."""
    before: State
    """The position in which it was made."""


class Advice:
    """Tries other rulings, and says which ones let the record continue. It enters nothing."""

    def __init__(
        self, transcript: Transcript, book: Scorebook, tried: Callable[[int], rulings.Adjudication] | None, say: Words
    ) -> None:
        """``tried``: the outcome of skipping a line; None: no advice is asked for."""
        self._transcript = transcript
        self._table = book.table
        self._outcome = book.outcome
        self._tried = tried
        self._say = say

    def about(self, index: int, fell: Fallen | None) -> str:
        """Return what else can be ruled about the line; about ``fell``, which does not count, if it is a draw."""
        if self._tried is None:
            return ""
        act = self._transcript.acts[index]
        line, seat = place_of(act)[0], game_text.seat_of(act)
        if seat is not None:
            others = [] if is_over(self._outcome.state) else self._others(self._outcome.state, index)
            return rulings.can_be_ruled(line, [f"{line}: skip", *others] if self.can_skip(line) else others, self._say)
        if fell is None:
            return ""
        first = fell.line
        advice = rulings.can_be_ruled(first, self._others(fell.before, fell.index), self._say)
        return f"{self._say('advice.draw', n=first)}; {advice}"

    def can_skip(self, line: int) -> bool:
        """Return whether the record continues without the line: it does not come to a draw that does not fit."""
        try:
            stopped = self._tried(line).stopped if self._tried is not None else None
        except (NotationError, rulings.RulingError):
            return False
        draws = {place_of(act)[0] for act in self._transcript.acts if act.data == "by_chance"}
        return stopped is None or stopped.line not in draws

    def _others(self, state: State, index: int) -> list[str]:
        """Return rulings that replace a line by another move, after which the record continues."""
        acts = self._transcript.acts
        line, seat = place_of(acts[index])[0], game_text.seat_of(acts[index])
        repairs = moves(self._table, state, acts, index, self._transcript.words(line), say=self._say)
        found = [each for each in repairs if each.seat == seat and each.follow]
        return [f"{line}: {each.words}" for each in found if each.follow == found[0].follow][:_MOST_ADVICE]

    def newer_rules(self, act: Any, wrong: NotationError) -> str:
        """Return that the newest rules allow the first illegal line; where more happened, nothing is known of them."""
        if not wrong.violations or self._outcome.illegal or self._outcome.acts or game_text.mark_of(act) is not None:
            return ""
        event, _ = self._transcript.meant(self._outcome.state, act)
        events = (entered.event for entered in self._outcome.entered)
        header = game_text.allowed_by(self._outcome.setup, events, event)
        return self._say("advice.header", header=header) if header else ""
