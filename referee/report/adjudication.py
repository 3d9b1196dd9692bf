"""A record of a whole game, judged: what happened, what was illegal, and how the arbiter let it go on. Knows no game.

``adjudicate`` reads the text of a game as ``referee.notation.game_text`` does, and does not end at the first move that
the rules forbid: what becomes of it is the arbiter's policy. It signs and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from referee.games.game import Decision, Forced, ForcedPass, State, Violation
from referee.games.results import Contest, Result, Wait
from referee.notation import accepted, contest_text, game_text, headers
from referee.notation.contest_text import Contradiction
from referee.notation.errors import Kind, NotationError, cut
from referee.notation.grammar import grammar, place_of
from referee.notation.headers import Headers, Setup
from referee.notation.outcomes import counted
from referee.notation.scorings import Scorings
from referee.notation.table import Table
from referee.notation.table_acts import TableAct
from referee.report import repair
from referee.report.rulings import LineRuling, Policy, RulingError, check_once
from referee.report.sheet import Told, is_over

PASSED_OVER: Final = "TBL-2"
STANDS: Final = "TBL-7"
REINSTATED: Final = "TBL-18"
"""Rules of the table that rulings rest on."""
_MOST_ADVICE: Final = 3
"""Moves that are proposed for a line that cannot stand."""
_MOST_WORDS: Final = 1000
"""Characters of a ruling that the log has."""


class Step(StrEnum):
    """What became of a line of the record, or was entered beside it."""

    PLAYED = "played"
    REFUSED = "refused"
    """An attempt that changes nothing."""
    STOOD_IN = "stand-in"
    ACCEPTED = "accepted"
    TABLE = "table"
    """An act of the table, not of the game."""
    RESTORED = "restored"
    """A line does not count, as the arbiter ruled."""
    REPLACED = "as ruled"
    """The move that the arbiter put in the place of a line."""
    PENALTY = "penalty"
    """Points off a seat."""


_RULINGS: Final = (Step.STOOD_IN, Step.ACCEPTED, Step.RESTORED, Step.REPLACED, Step.PENALTY)


@dataclass(frozen=True, slots=True)
class Entered:
    """One thing that happened."""

    step: Step
    event: Any
    """None for what is no event of the game."""
    words: str
    """The event as a line of notation, in its position; or what the arbiter ruled."""
    line: int | None
    """Of the record; None for what the record does not have."""
    seat: int | None
    """Whose act it is; None for what was drawn or rolled, and of acts of the table."""
    violations: tuple[Violation, ...] = ()
    """Of what was refused or accepted."""
    points: int = 0
    """Of a penalty."""
    ruling: str = ""
    """What the arbiter ruled about the line, for the log."""

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
    ruling: str = ""
    """What the arbiter ruled about this line alone."""
    follows: int | None = None
    """The line that does not count, to which this one belongs: it is no further illegal move."""
    advice: str = ""
    """What can be ruled, where the adjudication ends as it cannot do what was ruled."""


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
    recorded: Contest = field(default_factory=Contest)
    """What happened beside the moves, as the record tells it; or the result that a ruling gives."""
    entered_after: list[int] = field(default_factory=lambda: [0])
    """How many of ``entered`` there were after each line of the record, which acts of the table name by number."""
    waits: Wait | None = None
    """What the result waits for, where the log would not have it yet."""
    claimed: str | None = None
    """The result that the record states, where it is another one."""
    unreached: tuple[LineRuling, ...] = ()
    """Rulings about lines behind the end of the adjudication."""
    changes: tuple[str, ...] = ()
    """What the rulings made of the result, a sentence each."""

    @property
    def contest(self) -> Contest:
        """What happened beside the moves, with the points that rulings about lines take off."""
        taken = [0] * self.setup.seats
        for entered in self.entered:
            if entered.step is Step.PENALTY and entered.seat is not None:
                taken[entered.seat] += entered.points
        if not any(taken):
            return self.recorded
        before = self.recorded.points_off or (0,) * self.setup.seats
        return replace(self.recorded, points_off=tuple(map(sum, zip(before, taken, strict=True))))

    @property
    def told(self) -> Told:
        """The end of the game as it was adjudicated."""
        return Told(self.setup, self.state, self.contest, self.scored, self.waits)

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
        return any(entered.step in _RULINGS for entered in self.entered)

    @property
    def ended(self) -> bool:
        """Whether the whole record was read, or a ruling gave the result."""
        return self.stopped is None or self.recorded.ruled is not None

    @property
    def acts(self) -> list[TableAct]:
        """The acts of the table in the record."""
        return [entered.event for entered in self.entered if entered.step is Step.TABLE]

    @property
    def is_clean(self) -> bool:
        """Nothing in the record is wrong."""
        return all(illegal.ruled for illegal in self.illegal) and self.claimed is None


def adjudicate(text: str, policy: Policy = Policy.STOP, rulings: Sequence[LineRuling] = ()) -> Adjudication:
    """Return the record, judged: ``rulings`` decide about their lines, ``policy`` about all others.

    Raise ``NotationError`` for a text that is not in the notation, or that can mean several moves; ``RulingError`` for
    a ruling that cannot be applied.
    """
    found = _run(text, policy, rulings)
    found.changes = tuple(_changes(text, found, rulings))
    return found


def list_illegal(text: str) -> Adjudication:
    """Return the record with every illegal line judged on its own, as if those before it had been repaired.

    Raise ``NotationError`` as ``adjudicate`` does.
    """
    return _run(text, Policy.SKIP, (), is_listing=True)


def _run(
    text: str,
    policy: Policy,
    rulings: Sequence[LineRuling],
    *,
    is_listing: bool = False,
    marks_count: bool = True,
) -> Adjudication:
    """``marks_count``: a move that the record marks as accepted stands."""
    found, acts = game_text.parse(text)
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, "a game, from its first event on")
    judge = _Judge(text, found.setup(), policy, acts, rulings, is_listing=is_listing, marks_count=marks_count)
    for index in range(len(acts)):
        judge.read(index)
        if judge.outcome.stopped:
            judge.outcome.unreached = tuple(r for r in rulings if r.line > place_of(acts[index])[0])
            break
    else:
        judge.end(found)
    return judge.outcome


def _changes(text: str, found: Adjudication, rulings: Sequence[LineRuling]) -> Iterator[str]:
    """Yield what the rulings made of the points, as far as that can be computed."""
    result = found.told.result
    if not found.has_rulings or result is None or not result.scores:
        return
    try:
        played = _run(text, Policy.ACCEPT, ())
    except NotationError:
        played = None
    before = played.told.result if played is not None and played.stopped is None else None
    if before is not None and before.scores:
        as_played = f"By the record as played {_score(before)}"
    elif found.claimed is not None:
        as_played = f"By the result that the record states {':'.join(found.claimed.split())}"
    else:
        as_played = "By the record as played the points cannot be computed"
        if played is not None and played.stopped is not None:
            as_played += f" (line {played.stopped.line} cannot stand)"
    yield f"{as_played}; with the rulings {_score(result)}."
    standing = {entered.line for entered in found.entered if entered.step is Step.ACCEPTED}
    if not standing:
        return
    others = [ruling for ruling in rulings if ruling.line not in standing]
    skipped = [LineRuling(line, Policy.SKIP) for line in standing if line is not None]
    try:
        without = _run(text, found.policy, [*others, *skipped], marks_count=False)
    except (NotationError, RulingError):
        without = None
    if without is None or not without.ended or (points := without.told.result) is None or not points.scores:
        where = "" if without is None or without.stopped is None else f" (line {without.stopped.line} does not follow)"
        yield f"Without the moves that stand, the points cannot be computed{where}."
    else:
        yield f"Without the moves that stand it would be {_score(points)}."


def _score(result: Result) -> str:
    return ":".join(map(str, result.scores))


@dataclass(frozen=True, slots=True)
class _Fallen:
    """A move that does not count."""

    seat: int
    line: int
    index: int
    """Of the line among those with moves."""
    event: Any
    """None: it was no move."""
    before: State
    """The position in which it was made."""


class _Judge:
    """Reads one line after the other."""

    def __init__(
        self,
        text: str,
        setup: Setup,
        policy: Policy,
        acts: Sequence[Any],
        rulings: Sequence[LineRuling] = (),
        *,
        is_listing: bool = False,
        marks_count: bool = True,
    ) -> None:
        self._table = Table(setup)
        self.outcome = Adjudication(setup, policy, self._table.state)
        self._lines = text.split("\n")
        self._acts = acts
        self._is_listing = is_listing
        self._marks_count = marks_count
        self._scorings = Scorings(setup.rules_id)
        self._skipped: int | None = None
        """The seat whose last move does not count, and that has not moved again."""
        self._open: list[int] = []
        """Of the illegal lines, those of which it is not yet known what is played instead."""
        self._lost = False
        """The line before was skipped, as something else is awaited."""
        self._fell: _Fallen | None = None
        """The move that does not count, until another seat plays: what belongs to it falls with it."""
        self._rulings = self._checked(rulings)

    def _checked(self, rulings: Sequence[LineRuling]) -> dict[int, LineRuling]:
        check_once(rulings)
        lines = {place_of(act)[0] for act in self._acts if act.data != "by_table"}
        for ruling in rulings:
            if ruling.line not in lines:
                raise RulingError(ruling.at, f"the record has no move in line {ruling.line}", "a line with a move")
            for off in ruling.points_off:
                if off.seat >= self.outcome.setup.seats:
                    expected = f"a seat from 0 to {self.outcome.setup.seats - 1}"
                    raise RulingError(ruling.at, f"this game has no seat {off.seat}", expected)
            if ruling.result is not None and len(ruling.result.places) != self.outcome.setup.seats:
                what = f"points or places of {len(ruling.result.places)} seats"
                raise RulingError(ruling.at, what, f"those of {self.outcome.setup.seats} seats")
        return {ruling.line: ruling for ruling in rulings}

    def read(self, index: int) -> None:
        """Read the next line. Raise ``NotationError``, ``RulingError``."""
        before = self._table.line
        if self._acts[index].data == "by_table":
            self._done(self._acts[index])
        else:
            self.take(index)
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

    def take(self, index: int) -> None:
        """Judge a move, a draw or a pass. Raise ``NotationError``, ``RulingError``."""
        act = self._acts[index]
        event, wrong = self._meant(self.outcome.state, act)
        if wrong is None:
            game_text.check_stand_in(self._table, act, event)
            if (ruling := self._rulings.get(place_of(act)[0])) is not None:
                what = f"nothing is illegal in line {ruling.line} of the record: {self._words(ruling.line)}"
                raise RulingError(ruling.at, what, "an illegal line; --list names them")
            self._resolve("the seat moved again", again=True)
            self._played(act, event)
        elif self._skipped is not None and (moves := self._stand_ins(self._skipped, act)):
            self._stand_in(self._skipped, moves)
            self.take(index)
        elif not self._is_judged(place_of(act)[0], wrong):
            raise wrong
        elif self._is_listing:
            self._repair(index, event, wrong)
        else:
            self._judge(index, event, wrong)

    def _is_judged(self, line: int, wrong: NotationError) -> bool:
        """Whether a line is somebody's move: what is not in the notation is nobody's, unless a ruling says what it is.
        A list has it all the same.

        What a line says of its position, such as coins, may be wrong only because of rulings before it.
        """
        if wrong.kind is Kind.ILLEGAL or line in self._rulings or self._is_listing:
            return True
        return wrong.kind is Kind.SYNTAX and any(each.step is not Step.PLAYED for each in self.outcome.entered)

    def end(self, found: Headers) -> None:
        """End after the last line: the seat skipped last does not move again; then the result."""
        if self._skipped is not None:
            ahead, moves = self.outcome.state.copy(), 0
            while (move := _stand_in(ahead, self._skipped)) is not None:
                ahead.apply(move)
                moves += 1
            self._stand_in(self._skipped, moves)
        try:
            pending = self.outcome.state.pending()
            told = self._table.contest() if self.outcome.acts else None
            self.outcome.recorded = contest_text.read(found, self.outcome.setup.seats, pending, told)
        except Contradiction as error:
            self.outcome.recorded = error.contest
            self.outcome.claimed = error.told

    def _words(self, line: int) -> str:
        return self._lines[line - 1].strip()

    def _meant(self, state: State, act: Any) -> tuple[Any, NotationError | None]:
        """What a line would be in a position, if anything, and what is wrong with it: nothing, if it is marked so."""
        try:
            event = game_text.meant(self.outcome.setup.rules_id, state, act)
        except NotationError as error:
            return None, error
        violations = state.check(event)
        if not violations or (self._marks_count and self._is_ruled(act, violations)):
            return event, None
        return event, NotationError(Kind.ILLEGAL, place_of(act), "", violations=violations)

    def _is_ruled(self, act: Any, violations: tuple[Violation, ...]) -> bool:
        """Return whether the record says that the move stands, and it can."""
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
        if mark is not None and self._marks_count:
            outcome, reason = f"stands as it was played ({STANDS}), as the record says", ""
            if not violations:
                outcome = "is played: it needed no ruling"
                reason = f"the record says that it breaks {', '.join(mark.children)}; it breaks no rule"
            ruled = bool(violations)
            self.outcome.illegal.append(
                Illegal(line, column, seat, self._words(line), violations, reason, outcome, stopped=False, ruled=ruled)
            )
        if self._fell is not None and seat != self._fell.seat:
            self._fell = None
        self._enter(Step.ACCEPTED if violations else Step.PLAYED, event, seat, line, violations)

    # What is played for a seat that was skipped

    def _stand_ins(self, seat: int, act: Any) -> int:
        """How many of its moves it takes until the line can follow; 0: it is another attempt of the same seat."""
        same = game_text.seat_of(act) == seat
        if same and self._is_attempt(self.outcome.state, act):
            return 0
        ahead, moves, attempt = self.outcome.state.copy(), 0, 0
        while (move := _stand_in(ahead, seat)) is not None:
            ahead.apply(move)
            moves += 1
            if self._meant(ahead, act)[1] is None:
                return moves
            if same and not attempt and self._is_attempt(ahead, act):
                attempt = moves
        return attempt if same else moves

    def _is_attempt(self, state: State, act: Any) -> bool:
        """Return whether such a move is awaited of this seat, though not this one."""
        _, wrong = self._meant(state, act)
        return wrong is not None and not _is_out_of_place(wrong)

    def _stand_in(self, seat: int, moves: int) -> None:
        said = []
        ruling = next((found.ruling for index in self._open if (found := self.outcome.illegal[index]).ruling), "")
        line = next((found.line for index in self._open if (found := self.outcome.illegal[index]).ruling), 0)
        told = _of_line(line, ruling) if ruling else ""
        for _ in range(moves):
            move = _stand_in(self.outcome.state, seat)
            said.append(game_text.line(self.outcome.setup.rules_id, self.outcome.state, move))
            step = Step.PLAYED if isinstance(move, ForcedPass) else Step.STOOD_IN
            self._enter(step, move, seat, None, ruling=told)
        self._resolve(f"entered instead ({PASSED_OVER}): {', '.join(said)}")

    def _resolve(self, words: str, *, again: bool = False) -> None:
        """What is played instead of the moves that do not count is known. ``again``: the seat itself played it."""
        for number, index in enumerate(self._open):
            found = self.outcome.illegal[index]
            told = words if again or not number else f"see line {self.outcome.illegal[self._open[0]].line}"
            self.outcome.illegal[index] = replace(found, outcome=f"{found.outcome}; {told}")
            if again and found.ruling:
                self._restore(found)
        self._open.clear()
        self._skipped = None
        self._lost = False

    def _restore(self, found: Illegal) -> None:
        """The arbiter's ruling that a line does not count, where no stand-in's move says so."""
        words = f"line {found.line} does not count"
        told = _of_line(found.line, found.ruling)
        self.outcome.entered.append(Entered(Step.RESTORED, None, words, found.line, found.seat, ruling=told))

    # What becomes of what is illegal

    def _judge(self, index: int, event: Any, wrong: NotationError) -> None:
        act = self._acts[index]
        line, seat = place_of(act)[0], game_text.seat_of(act)
        on_turn = _seat_on_turn(self.outcome.state) == seat is not None
        ruling = self._rulings.get(line)
        if ruling is None and self._fell is not None and self._belongs(self._fell, act, wrong):
            first = self._fell.line
            self._illegal(act, wrong, f"falls with line {first}, to which it belongs", follows=first)
            return
        policy = self.outcome.policy if ruling is None else ruling.policy
        if policy is None and ruling is not None:
            self._replace(index, event, wrong, ruling, on_turn=on_turn)
            return
        ends = self._why_it_ends(policy, seat, event, wrong, on_turn=on_turn, is_ruled=ruling is not None)
        advice = self._advice(index) if ends and policy is not Policy.STOP else ""
        skips = policy is Policy.SKIP
        goes_on = "does not count" if skips else f"stands as it was played ({STANDS})"
        found = self._illegal(act, wrong, ends or goes_on, ruling, stopped=bool(ends), advice=advice)
        if ends:
            self._take_off(ruling)
            if policy is Policy.STOP and ruling is not None and ruling.result is not None:
                self.outcome.recorded = Contest(ruled=ruling.result)
            return
        if not skips:
            told = _of_line(line, found.ruling) if found.ruling else ""
            self._enter(Step.ACCEPTED, event, seat, line, wrong.violations, ruling=told)
        elif on_turn:
            self._open.append(len(self.outcome.illegal) - 1)
            self._skipped = seat
            self._fell = _Fallen(seat or 0, line, index, event, self.outcome.state.copy())
            self._refuse(act, event, wrong)
        elif ruling is None:
            self._lost = True
        else:
            self._restore(found)
        self._take_off(ruling)

    def _replace(self, index: int, event: Any, wrong: NotationError, ruling: LineRuling, *, on_turn: bool) -> None:
        """Another move counts, which the arbiter names."""
        act = self._acts[index]
        move, words = self._ruled_move(act, ruling)
        seat = _seat_on_turn(self.outcome.state)
        found = self._illegal(act, wrong, f"does not count; the arbiter rules {words}", ruling)
        before = self.outcome.state.copy()
        if on_turn:
            self._refuse(act, event, wrong)
        self._resolve("the arbiter ruled on the next attempt", again=True)
        self._restore(found)
        self._enter(Step.REPLACED, move, seat, found.line)
        if seat is not None:
            self._fell = _Fallen(seat, found.line, index, event, before)
        self._take_off(ruling)

    def _ruled_move(self, act: Any, ruling: LineRuling) -> tuple[Any, str]:
        """Return the move that a ruling names, and its line. Raise ``RulingError``."""
        rules_id, state = self.outcome.setup.rules_id, self.outcome.state
        expected = f"a legal move for line {ruling.line}, in the notation of the record"
        try:
            tree: Any = grammar(rules_id).parse(ruling.move, "act")
            if game_text.seat_of(act) is None or game_text.seat_of(tree) is None:
                what = f"line {ruling.line} cannot be replaced: what was drawn or rolled is not ruled on"
                raise RulingError(ruling.at, what, "a ruling on a seat's move")
            if game_text.mark_of(tree) is not None:
                raise RulingError(ruling.at, f"{ruling.move!r} is marked as accepted", expected)
            event = game_text.meant(rules_id, state, tree)
        except NotationError as error:
            told = f"; expected {error.expected}" if error.expected else ""
            raise RulingError(ruling.at, f"{ruling.move!r}: {error.what}{told}", expected) from None
        words = game_text.line(rules_id, state, event)
        if violations := state.check(event):
            broken = ", ".join(accepted.rule_ids(violations))
            raise RulingError(ruling.at, f"{words} is illegal, too: it breaks {broken}", expected)
        return event, words

    def _illegal(
        self,
        act: Any,
        wrong: NotationError,
        outcome: str,
        ruling: LineRuling | None = None,
        *,
        stopped: bool = False,
        follows: int | None = None,
        advice: str = "",
    ) -> Illegal:
        reason = "" if wrong.violations else wrong.what
        if reason and wrong.expected:
            reason += f"; expected {wrong.expected}"
        off = "".join(
            f"; {counted(off.points, 'point')} off seat {off.seat}" for off in (ruling.points_off if ruling else ())
        )
        found = Illegal(
            wrong.line,
            wrong.column,
            game_text.seat_of(act),
            self._words(wrong.line),
            wrong.violations,
            reason,
            outcome + off,
            stopped=stopped,
            ruling="" if ruling is None else str(ruling),
            follows=follows,
            advice=advice,
        )
        self.outcome.illegal.append(found)
        return found

    def _refuse(self, act: Any, event: Any, wrong: NotationError) -> None:
        if event is not None and not isinstance(event, ForcedPass):
            self._enter(Step.REFUSED, event, game_text.seat_of(act), wrong.line, wrong.violations)

    def _take_off(self, ruling: LineRuling | None) -> None:
        for off in ruling.points_off if ruling is not None else ():
            words = f"{counted(off.points, 'point')} off seat {off.seat}"
            told = _of_line(ruling.line, str(ruling)) if ruling is not None else ""
            line = None if ruling is None else ruling.line
            self.outcome.entered.append(
                Entered(Step.PENALTY, None, words, line, off.seat, points=off.points, ruling=told)
            )

    def _why_it_ends(
        self,
        policy: Policy | None,
        seat: int | None,
        event: Any,
        wrong: NotationError,
        *,
        on_turn: bool,
        is_ruled: bool,
    ) -> str:
        """Why the adjudication ends before this line; empty if it does not. ``is_ruled``: about this line alone."""
        if policy is Policy.STOP:
            return "the adjudication ends here"
        if is_over(self.outcome.state) and not (is_ruled and policy is Policy.SKIP):
            return "the adjudication ends here: the game is over"
        if seat is None:
            return "the adjudication ends here: a draw or a roll can be neither skipped nor accepted"
        if policy is Policy.SKIP:
            if not on_turn and self._lost and not is_ruled:
                return "the adjudication ends here: the rest of the record does not follow"
            return ""
        if event is None:
            return "the adjudication ends here: this is not a move that can stand"
        waivable = self.outcome.setup.game.waivable
        fixed = sorted({violation.rule_id for violation in wrong.violations} - waivable)
        if fixed:
            return f"the adjudication ends here: a move that breaks {', '.join(fixed)} cannot stand ({STANDS})"
        return ""

    def _belongs(self, fallen: _Fallen, act: Any, wrong: NotationError) -> bool:
        """Whether a line is what the seat did after the move that does not count, such as placing what it bought."""
        if game_text.seat_of(act) != fallen.seat:
            return False
        if _is_out_of_place(wrong):
            return True
        if fallen.event is not None and not isinstance(fallen.event, ForcedPass):
            ahead = fallen.before.copy()
            try:
                ahead.apply(fallen.event)
            except Exception:  # noqa: BLE001 - no engine has to know what follows from an illegal move
                return False
            return self._meant(ahead, act)[1] is None
        return False

    def _advice(self, index: int) -> str:
        """Return what else can be ruled, where a ruling or a policy leads no further."""
        line, seat = place_of(self._acts[index])[0], game_text.seat_of(self._acts[index])
        if is_over(self.outcome.state) and seat is not None:
            return f"what can be ruled: {line}: skip"
        if seat is not None:
            others = self._others(self.outcome.state, index)
            return f"what can be ruled: {' or '.join([f'{line}: skip', *others])}; each also with points off"
        if self._fell is None:
            return ""
        first = self._fell.line
        others = [*self._others(self._fell.before, self._fell.index), f"{first}: stop, places …"]
        what = f"line {first} does not count, and what was drawn after it does not fit"
        return f"{what}; what can be ruled: {' or '.join(others)}; each also with points off"

    def _others(self, state: State, index: int) -> list[str]:
        """Rulings that replace a line by another move, after which the record goes on."""
        line, seat = place_of(self._acts[index])[0], game_text.seat_of(self._acts[index])
        repairs = repair.moves(self.outcome.setup, state, self._acts, index, self._words(line))
        found = [each for each in repairs if each.seat == seat and each.follow]
        return [f"{line}: {each.words}" for each in found if each.follow == found[0].follow][:_MOST_ADVICE]

    def _repair(self, index: int, event: Any, wrong: NotationError) -> None:
        """Go on as if the line had been right, in the way in which most of the record follows."""
        act, state = self._acts[index], self.outcome.state
        line = place_of(act)[0]
        best = None
        if not is_over(state):
            best = repair.best(self.outcome.setup, state, self._acts, index, words=self._words(line), event=event)
        if best is None and not is_over(state):
            self._illegal(act, wrong, "the list ends here: the rest of the record does not follow", stopped=True)
            return
        self._illegal(act, wrong, best.told if best is not None else "taken as if it were not there: the game is over")
        if best is None or best.event is None:
            return
        is_accepted = best.is_played and bool(state.check(best.event))
        step = Step.ACCEPTED if is_accepted else Step.REPLACED
        at = None if best.is_before else line
        self._enter(step, best.event, best.seat, at, wrong.violations if is_accepted else ())
        if not best.is_played and best.is_before:
            self.take(index)

    def _enter(
        self,
        step: Step,
        event: Any,
        seat: int | None,
        line: int | None,
        violations: tuple[Violation, ...] = (),
        *,
        ruling: str = "",
    ) -> None:
        words = game_text.line(self.outcome.setup.rules_id, self._table.state, event)
        self.outcome.entered.append(Entered(step, event, words, line, seat, violations, ruling=ruling))
        if step is not Step.REFUSED:
            self._table.play(event, is_line=line is not None)
            self._went_on()


def _of_line(line: int, ruling: str) -> str:
    """Return what a ruling says, for the log."""
    return cut(f"line {line} of the record: {ruling}", _MOST_WORDS)


def _is_out_of_place(wrong: NotationError) -> bool:
    """Return whether something else is awaited: another seat, or another kind of move."""
    return all("awaited" in violation.facts for violation in wrong.violations)


def _seat_on_turn(state: State) -> int | None:
    awaited = state.pending()[0]
    return awaited.seat if isinstance(awaited, Decision | Forced) else None


def _stand_in(state: State, seat: int) -> Any:
    """Return what is entered for the seat now; None if nothing of it is awaited."""
    awaited = state.pending()[0]
    if awaited == Forced(seat):
        return ForcedPass(seat)
    return state.stand_in(seat) if isinstance(awaited, Decision) and awaited.seat == seat else None
