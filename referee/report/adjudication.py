"""A record of a whole game, judged: what happened, what was illegal, and how the arbiter let it go on. Knows no game.

``adjudicate`` reads the text of a game as ``referee.notation.game_text`` does, and does not end at the first move that
the rules forbid: what becomes of it is the arbiter's policy. It signs and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from referee.games.game import Decision, Forced, ForcedPass, State, Violation
from referee.games.results import Contest
from referee.notation import accepted, contest_text, game_text, headers
from referee.notation.contest_text import Contradiction
from referee.notation.errors import Kind, NotationError
from referee.notation.grammar import place_of
from referee.notation.headers import Headers, Setup
from referee.notation.scorings import Scorings
from referee.notation.table import Table
from referee.notation.table_acts import TableAct
from referee.report.sheet import Told, is_over

PASSED_OVER: Final = "TBL-2"
STANDS: Final = "TBL-7"
"""Rules of the table that rulings rest on."""


class Policy(StrEnum):
    """What becomes of an illegal move."""

    STOP = "stop"
    """The adjudication ends before it."""
    SKIP = "skip"
    """It does not count; if the seat does not move again, the stand-in's move is entered (TBL-2)."""
    ACCEPT = "accept-as-played"
    """It stands, if all rules that it breaks allow that (TBL-7); otherwise the adjudication ends before it."""


class Step(StrEnum):
    """What became of a line of the record, or was entered beside it."""

    PLAYED = "played"
    REFUSED = "refused"
    """An attempt that changes nothing."""
    STOOD_IN = "stand-in"
    ACCEPTED = "accepted"
    TABLE = "table"
    """An act of the table, not of the game."""


@dataclass(frozen=True, slots=True)
class Entered:
    """One thing that happened."""

    step: Step
    event: Any
    words: str
    """The event as a line of notation, in its position."""
    line: int | None
    """Of the record; None for what the record does not have."""
    seat: int | None
    """Whose act it is; None for what was drawn or rolled, and of acts of the table."""
    violations: tuple[Violation, ...] = ()
    """Of what was refused or accepted."""

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The rules that it breaks, ascending, without repeats."""
        return accepted.rule_ids(self.violations)


@dataclass(frozen=True, slots=True)
class Illegal:
    """A line of the record that cannot be so."""

    line: int
    column: int
    """Both from 1."""
    seat: int | None
    """None: what was drawn or rolled."""
    words: str
    """As the record has it."""
    violations: tuple[Violation, ...]
    """Empty where no rule of the game is broken, but what is awaited is something else: ``reason`` tells what."""
    reason: str
    outcome: str
    """What became of it, and by which rule of the table."""
    stopped: bool
    """The adjudication ends before it."""
    ruled: bool = False
    """The record itself says that an arbiter let it stand, which is as it should be."""


@dataclass(slots=True)
class Adjudication:
    """The outcome."""

    setup: Setup
    policy: Policy
    state: State
    """After all that was entered."""
    entered: list[Entered] = field(default_factory=list)
    illegal: list[Illegal] = field(default_factory=list)
    """In the order of the record."""
    scored: list[State] = field(default_factory=list)
    """The positions right after each scoring."""
    contest: Contest = field(default_factory=Contest)
    """What happened beside the moves, as the record tells it."""
    entered_after: list[int] = field(default_factory=lambda: [0])
    """How many of ``entered`` there were after each line of the record, which acts of the table name by number."""
    claimed: str | None = None
    """The result that the record states, where it is another one."""

    @property
    def told(self) -> Told:
        """The end of the game as it was adjudicated."""
        return Told(self.setup, self.state, self.contest, self.scored)

    @property
    def result(self) -> str:
        """As the header Result has it: the points by the rules, or how the game ended without any."""
        return contest_text.value(self.told.result)

    @property
    def stopped(self) -> Illegal | None:
        """What the adjudication ended before; None: the whole record was read."""
        return next((found for found in self.illegal if found.stopped), None)

    @property
    def has_rulings(self) -> bool:
        """Whether anything in the game rests on an arbiter's ruling."""
        return any(entered.step in (Step.STOOD_IN, Step.ACCEPTED) for entered in self.entered)

    @property
    def acts(self) -> list[TableAct]:
        """The acts of the table in the record."""
        return [entered.event for entered in self.entered if entered.step is Step.TABLE]

    @property
    def is_clean(self) -> bool:
        """Nothing in the record is wrong."""
        return all(illegal.ruled for illegal in self.illegal) and self.claimed is None


def adjudicate(text: str, policy: Policy = Policy.STOP) -> Adjudication:
    """Raises ``NotationError`` for a text that is not in the notation, or that can mean several moves."""
    found, acts = game_text.parse(text)
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, "a game, from its first event on")
    judge = _Judge(text, found.setup(), policy)
    for act in acts:
        judge.read(act)
        if judge.outcome.stopped:
            break
    else:
        judge.end(found)
    return judge.outcome


class _Judge:
    """Reads one line after the other."""

    def __init__(self, text: str, setup: Setup, policy: Policy) -> None:
        self._table = Table(setup)
        self.outcome = Adjudication(setup, policy, self._table.state)
        self._lines = text.split("\n")
        self._scorings = Scorings(setup.rules_id)
        self._skipped: int | None = None
        """The seat whose last move does not count, and that has not moved again."""
        self._open: list[int] = []
        """Of the illegal lines, those of which it is not yet known what is played instead."""
        self._lost = False
        """The line before was skipped, as something else is awaited."""

    def read(self, act: Any) -> None:
        """The next line. Raises ``NotationError``."""
        before = self._table.line
        if act.data == "by_table":
            self._done(act)
        else:
            self.take(act)
        if self._table.line == before:
            self._table.leave_out()
        self.outcome.entered_after.append(len(self.outcome.entered))

    def _done(self, act: Any) -> None:
        """An act of the table."""
        done = game_text.take(self._table, act)
        self.outcome.entered.append(Entered(Step.TABLE, done, str(done), place_of(act)[0], None))
        self._went_on()

    def _went_on(self) -> None:
        self.outcome.state = self._table.state
        self._scorings.see(self._table.state)
        self.outcome.scored = self._scorings.states

    def take(self, act: Any) -> None:
        """A move, a draw or a pass. Raises ``NotationError``."""
        event, wrong = self._meant(self.outcome.state, act)
        if wrong is None:
            game_text.check_stand_in(self._table, act, event)
            self._resolve("the seat moved again")
            self._played(act, event)
        elif self._skipped is not None and (moves := self._stand_ins(self._skipped, act)):
            self._stand_in(self._skipped, moves)
            self.take(act)
        elif wrong.kind is not Kind.ILLEGAL:
            raise wrong
        else:
            self._judge(act, event, wrong)

    def end(self, found: Headers) -> None:
        """After the last line: who was skipped last does not move again; then the result."""
        if self._skipped is not None:
            ahead, moves = self.outcome.state.copy(), 0
            while (move := _stand_in(ahead, self._skipped)) is not None:
                ahead.apply(move)
                moves += 1
            self._stand_in(self._skipped, moves)
        try:
            pending = self.outcome.state.pending()
            told = self._table.contest() if self.outcome.acts else None
            self.outcome.contest = contest_text.read(found, self.outcome.setup.seats, pending, told)
        except Contradiction as error:
            self.outcome.contest = error.contest
            self.outcome.claimed = error.told

    def _meant(self, state: State, act: Any) -> tuple[Any, NotationError | None]:
        """What a line would be in a position, if anything, and what is wrong with it: nothing, if it is marked so."""
        try:
            event = game_text.meant(self.outcome.setup.rules_id, state, act)
        except NotationError as error:
            return None, error
        violations = state.check(event)
        if not violations or self._is_ruled(act, violations):
            return event, None
        return event, NotationError(Kind.ILLEGAL, place_of(act), "", violations=violations)

    def _is_ruled(self, act: Any, violations: tuple[Violation, ...]) -> bool:
        """Whether the record says that the move stands, and it can."""
        mark = game_text.mark_of(act)
        broken = accepted.rule_ids(violations)
        if mark is None or tuple(mark.children) != broken:
            return False
        return bool({*broken} <= self.outcome.setup.game.waivable)

    def _played(self, act: Any, event: Any) -> None:
        """The line counts: it is legal, or the record says who let it stand."""
        line, column = place_of(act)
        seat, mark = game_text.seat_of(act), game_text.mark_of(act)
        violations = self.outcome.state.check(event)
        if mark is not None:
            outcome, reason = f"stands as it was played ({STANDS}), as the record says", ""
            if not violations:
                outcome = "is played: it needed no ruling"
                reason = f"the record says that it breaks {', '.join(mark.children)}; it breaks no rule"
            words = self._lines[line - 1].strip()
            ruled = bool(violations)
            self.outcome.illegal.append(
                Illegal(line, column, seat, words, violations, reason, outcome, stopped=False, ruled=ruled)
            )
        self._enter(Step.ACCEPTED if violations else Step.PLAYED, event, seat, line, violations)

    # What is played for a seat that was skipped

    def _stand_ins(self, seat: int, act: Any) -> int:
        """How many of its moves it takes until the line can follow; 0: it is another attempt of the same seat."""
        ahead, moves = self.outcome.state.copy(), 0
        while (move := _stand_in(ahead, seat)) is not None:
            ahead.apply(move)
            moves += 1
            if self._meant(ahead, act)[1] is None:
                return moves
        return 0 if game_text.seat_of(act) == seat else moves

    def _stand_in(self, seat: int, moves: int) -> None:
        said = []
        for _ in range(moves):
            move = _stand_in(self.outcome.state, seat)
            said.append(game_text.line(self.outcome.setup.rules_id, self.outcome.state, move))
            self._enter(Step.PLAYED if isinstance(move, ForcedPass) else Step.STOOD_IN, move, seat, None)
        self._resolve(f"entered instead ({PASSED_OVER}): {', '.join(said)}")

    def _resolve(self, words: str) -> None:
        """What is played instead of the moves that do not count is known."""
        for index in self._open:
            found = self.outcome.illegal[index]
            self.outcome.illegal[index] = replace(found, outcome=f"{found.outcome}; {words}")
        self._open.clear()
        self._skipped = None
        self._lost = False

    # What becomes of what is illegal

    def _judge(self, act: Any, event: Any, wrong: NotationError) -> None:
        seat = game_text.seat_of(act)
        on_turn = _seat_on_turn(self.outcome.state) == seat is not None
        ends = self._why_it_ends(seat, event, wrong, on_turn=on_turn)
        skips = self.outcome.policy is Policy.SKIP
        goes_on = "does not count" if skips else f"stands as it was played ({STANDS})"
        reason = "" if wrong.violations else wrong.what
        if reason and wrong.expected:
            reason += f"; expected {wrong.expected}"
        words = self._lines[wrong.line - 1].strip()
        outcome = ends or goes_on
        self.outcome.illegal.append(
            Illegal(wrong.line, wrong.column, seat, words, wrong.violations, reason, outcome, stopped=bool(ends))
        )
        if ends:
            return
        if not skips:
            self._enter(Step.ACCEPTED, event, seat, wrong.line, wrong.violations)
        elif on_turn:
            self._open.append(len(self.outcome.illegal) - 1)
            self._skipped = seat
            if event is not None and not isinstance(event, ForcedPass):
                self._enter(Step.REFUSED, event, seat, wrong.line, wrong.violations)
        else:
            self._lost = True

    def _why_it_ends(self, seat: int | None, event: Any, wrong: NotationError, *, on_turn: bool) -> str:
        """Why the adjudication ends before this line; empty if it does not."""
        policy = self.outcome.policy
        if policy is Policy.STOP:
            return "the adjudication ends here"
        if is_over(self.outcome.state):
            return "the adjudication ends here: the game is over"
        if seat is None:
            return "the adjudication ends here: a draw or a roll can be neither skipped nor accepted"
        if policy is Policy.SKIP:
            if not on_turn and self._lost:
                return "the adjudication ends here: the rest of the record does not follow"
            return ""
        if event is None:
            return "the adjudication ends here: this is not a move that can stand"
        waivable = self.outcome.setup.game.waivable
        fixed = sorted({violation.rule_id for violation in wrong.violations} - waivable)
        if fixed:
            return f"the adjudication ends here: a move that breaks {', '.join(fixed)} cannot stand ({STANDS})"
        return ""

    def _enter(
        self, step: Step, event: Any, seat: int | None, line: int | None, violations: tuple[Violation, ...] = ()
    ) -> None:
        words = game_text.line(self.outcome.setup.rules_id, self._table.state, event)
        self.outcome.entered.append(Entered(step, event, words, line, seat, violations))
        if step is not Step.REFUSED:
            self._table.play(event, is_line=line is not None)
            self._went_on()


def _seat_on_turn(state: State) -> int | None:
    awaited = state.pending()[0]
    return awaited.seat if isinstance(awaited, Decision | Forced) else None


def _stand_in(state: State, seat: int) -> Any:
    """What is entered for the seat now; None if nothing of it is awaited."""
    awaited = state.pending()[0]
    if awaited == Forced(seat):
        return ForcedPass(seat)
    return state.stand_in(seat) if isinstance(awaited, Decision) and awaited.seat == seat else None
