"""A record of a whole game, judged: what happened, what was illegal, and how the arbiter let it go on. Knows no game.

``adjudicate`` reads the text of a game as ``referee.text.notation.game_text`` does, and does not end at the first move
that the rules forbid: what becomes of it is the arbiter's policy. It signs and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.games.game import Decision, Forced, ForcedPass, State, Violation
from referee.games.results import Result, Wait
from referee.text.notation import game_text, grammar, headers, table
from referee.text.notation.grammar import grammar_of, place_of
from referee.text.notation.headers import Contradiction, Headers, Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.registry import Scorings
from referee.text.notation.table import Due, Table
from referee.text.notation.violations import Kind, NotationError, cut
from referee.text.report import repair
from referee.text.report.record import PASSED_OVER, STANDS, Adjudication, Entered, Illegal, Log, LogOf, Step
from referee.text.report.rulings import LineRuling, Policy, RulingError, by_line, can_be_ruled, in_the_log
from referee.text.report.sheet import is_over
from referee.text.words.catalogue import Words

_MOST_ADVICE: Final = 3
"""Moves that are proposed for a line that cannot stand."""
_MOST_TOLD: Final = 200
"""Characters of an illegal line that are repeated."""


class TooManyIllegal(Exception):
    """A record has more illegal lines than are judged."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the record has more than {most} illegal lines")
        self.most = most


def adjudicate(
    text: str,
    policy: Policy = Policy.STOP,
    rulings: Sequence[LineRuling] = (),
    log_of: LogOf | None = None,
    *,
    most_illegal: int | None = None,
    say: Words = IN_ENGLISH,
) -> Adjudication:
    """Return the record, judged: ``rulings`` decide about their lines, ``policy`` about all others.

    ``log_of``: by which acts of the table are judged; without, each is as the record has it. ``most_illegal``: lines
    that are judged, or all. ``say``: the language of what becomes of them. Raise ``NotationError`` for a text that is
    not in the notation, or that can mean several moves; ``RulingError`` for a ruling that cannot be applied;
    ``TooManyIllegal``.
    """
    found = _run(text, policy, rulings, log_of, advises=True, most_illegal=most_illegal, say=say)
    found.changes = tuple(_changes(text, found, rulings, log_of))
    return found


def list_illegal(text: str, log_of: LogOf | None = None, say: Words = IN_ENGLISH) -> Adjudication:
    """Return the record with every illegal line judged on its own, as if those before it had been repaired.

    Raise ``NotationError`` as ``adjudicate`` does.
    """
    return _run(text, Policy.SKIP, (), log_of, is_listing=True, say=say)


def _run(
    text: str,
    policy: Policy,
    rulings: Sequence[LineRuling],
    log_of: LogOf | None,
    *,
    is_listing: bool = False,
    marks_count: bool = True,
    advises: bool = False,
    most_illegal: int | None = None,
    say: Words = IN_ENGLISH,
) -> Adjudication:
    """``marks_count``: a move that the record marks as accepted stands. ``advises``: say what else can be ruled."""
    found, acts = game_text.parse(text)
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, "a game, from its first event on")
    setup, done = found.setup(), [table.act_of_tree(act) for act in acts if act.data == "by_table"]
    log = log_of(setup, done) if log_of is not None and done else None

    def tried(line: int) -> Adjudication:
        others = [ruling for ruling in rulings if ruling.line != line]
        return _run(text, policy, [*others, LineRuling(line, Policy.SKIP)], log_of, marks_count=marks_count)

    judge = _Judge(
        text,
        setup,
        policy,
        acts,
        rulings,
        log=log,
        is_listing=is_listing,
        marks_count=marks_count,
        tried=tried if advises else None,
        say=say,
    )
    for index in range(len(acts)):
        judge.read(index)
        if most_illegal is not None and len(judge.outcome.illegal) > most_illegal:
            raise TooManyIllegal(most_illegal)
        if judge.outcome.stopped:
            judge.outcome.unreached = tuple(r for r in rulings if r.line > place_of(acts[index])[0])
            break
    else:
        judge.end(found)
    if log is not None and judge.outcome.ended and not is_listing:
        judge.outcome.waits = log.end(judge.outcome)
    if judge.outcome.waits is None and judge.outcome.ended:
        # By the lines an arbiter has to rule, or not. That there is time to protest, the text alone tells.
        told = headers.read_waits(found)
        has_time = told is Wait.PROTESTS and judge.outcome.told.result is not None
        judge.outcome.waits = told if has_time else None
    return judge.outcome


def _changes(text: str, found: Adjudication, rulings: Sequence[LineRuling], log_of: LogOf | None) -> Iterator[str]:
    """Yield what the rulings made of the points, as far as that can be computed."""
    result = found.told.result
    if not found.has_rulings or result is None or not result.scores:
        return
    try:
        played = _run(text, Policy.ACCEPT, (), log_of)
    except NotationError:
        played = None
    before = played.told.result if played is not None and played.stopped is None else None
    say, now = found.say, _score(result)
    if before is not None and before.scores:
        yield say("change.played", before=_score(before), now=now)
    elif found.claimed is not None:
        yield say("change.stated", before=":".join(found.claimed.split()), now=now)
    elif played is not None and played.stopped is not None:
        yield say("change.unknown.line", line=played.stopped.line, now=now)
    else:
        yield say("change.unknown", now=now)
    standing = {entered.line for entered in found.entered if entered.step is Step.ACCEPTED}
    if not standing:
        return
    others = [ruling for ruling in rulings if ruling.line not in standing]
    skipped = [LineRuling(line, Policy.SKIP) for line in standing if line is not None]
    try:
        without = _run(text, found.policy, [*others, *skipped], log_of, marks_count=False)
    except (NotationError, RulingError):
        without = None
    if without is None or not without.ended or (points := without.told.result) is None or not points.scores:
        if without is None or without.stopped is None:
            yield say("change.without.unknown")
        else:
            yield say("change.without.unknown.line", line=without.stopped.line)
    else:
        yield say("change.without", points=_score(points))


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
        rulings: Sequence[LineRuling],
        *,
        log: Log | None,
        is_listing: bool,
        marks_count: bool,
        tried: Callable[[int], Adjudication] | None,
        say: Words,
    ) -> None:
        """``tried``: what comes of skipping a line; None: nobody wants advice."""
        self._table = Table(setup)
        self._log = log
        self.outcome = Adjudication(setup, policy, self._table.state, say)
        self._say = say
        self._lines = text.split("\n")
        self._acts = acts
        self._is_listing = is_listing
        self._marks_count = marks_count
        self._tried = tried
        self._scorings = Scorings(setup.rules_id)
        self._skipped: int | None = None
        """The seat whose last move does not count, and that has not moved again."""
        self._open: list[int] = []
        """Of the illegal lines, those of which it is not yet known what is played instead."""
        self._lost = False
        """The line before was skipped, as something else is awaited."""
        self._fell: _Fallen | None = None
        """The move that does not count, until another seat plays: what belongs to it falls with it."""
        self._rulings = by_line(rulings, {place_of(act)[0] for act in acts}, setup.seats)

    def read(self, index: int) -> None:
        """Read the next line. Raise ``NotationError``, ``RulingError``."""
        before, act = self._table.line, self._acts[index]
        if act.data == "by_table":
            self._done(index)
        elif (wrong := self._refused(place_of(act)[0])) is not None:
            self._judge_beside(index, wrong)
        else:
            self.take(index)
        if self._table.line == before:
            self._table.leave_out()
        self.outcome.entered_after.append(len(self.outcome.entered))
        if self._log is not None:
            self._log.end_line()

    def _done(self, index: int) -> None:
        """An act of the table."""
        act = self._acts[index]
        line = place_of(act)[0]
        try:
            game_text.check_words(act, self._acts[index + 1 :])
            done = game_text.table_act(self._table, act)
            self._add(Entered(Step.TABLE, done, str(done), line, None))
        except NotationError as wrong:
            if wrong.kind is not Kind.ILLEGAL:
                raise
            self._judge_beside(index, wrong)
            return
        self._check_unruled(line)
        self._table.take(done)
        self._went_on()

    def _refused(self, line: int) -> NotationError | None:
        """Why no move and no draw counts now, whichever it is: the game is paused, or has come to its end."""
        try:
            if self._log is not None:
                self._log.check_goes_on(self._told(line), line)
        except NotationError as wrong:
            return wrong
        return None

    def _add(self, entered: Entered) -> None:
        """Have it in the log and in the outcome. Raise ``NotationError`` for what no log has."""
        if self._log is not None:
            self._log.enter(entered)
        self.outcome.entered.append(entered)

    def _went_on(self) -> None:
        self.outcome.state = self._table.state
        self._scorings.see(self._table.state)
        self.outcome.scored = self._scorings.states

    def take(self, index: int) -> None:
        """Judge a move, a draw or a pass. Raise ``NotationError``, ``RulingError``."""
        act = self._acts[index]
        line = place_of(act)[0]
        for move in game_text.left_out(self._table, act):
            self._enter(Step.DUE, move, _seat_on_turn(self.outcome.state), None)
        event, wrong = self._meant(self.outcome.state, act)
        due = self._table.due()
        if due is not None and event != due.event and self._is_judged(line, wrong):
            self._judge_beside(index, wrong or game_text.no_stand_in(self._table, act, event, due), due)
        elif wrong is None:
            self._check_unruled(line)
            self._resolve(self._say("became.moved_again"), again=True)
            self._played(act, event)
        elif self._skipped is not None and (moves := self._stand_ins(self._skipped, act)):
            self._stand_in(self._skipped, moves)
            self.take(index)
        elif not self._is_judged(line, wrong):
            raise wrong
        elif self._is_listing:
            self._repair(index, event, wrong)
        else:
            self._judge(index, event, wrong)

    def _check_unruled(self, line: int) -> None:
        if (ruling := self._rulings.get(line)) is not None:
            what = f"nothing is illegal in line {line} of the record: {self._told(line)}"
            raise RulingError(ruling.at, what, "an illegal line; --list names them")

    def _is_judged(self, line: int, wrong: NotationError | None) -> bool:
        """Whether a line is somebody's move: what is not in the notation is nobody's, unless a ruling says what it is.
        A list has it all the same.

        What a line says of its position, such as coins, may be wrong only because of rulings before it.
        """
        if wrong is None or wrong.kind is Kind.ILLEGAL or line in self._rulings or self._is_listing:
            return True
        return wrong.kind is Kind.SYNTAX and any(each.step is not Step.PLAYED for each in self.outcome.entered)

    def end(self, found: Headers) -> None:
        """End after the last line: the seat skipped last does not move again; then the result."""
        if self._skipped is not None and self._refused(place_of(self._acts[-1])[0]) is not None:
            self._resolve(self._say("became.not_missing"))
        if self._skipped is not None:
            ahead, moves = self.outcome.state.copy(), 0
            while (move := _stand_in(ahead, self._skipped)) is not None:
                ahead.apply(move)
                moves += 1
            self._stand_in(self._skipped, moves)
        if found.text(headers.RESULT) != headers.RUNNING:
            for event in self._table.to_the_end():
                self._enter(Step.DUE, event, _seat_on_turn(self.outcome.state), None)
        try:
            pending = self.outcome.state.pending()
            told = self._table.contest() if self.outcome.acts else None
            self.outcome.recorded = headers.read_contest(found, self.outcome.setup.seats, pending, told)
        except Contradiction as error:
            self.outcome.recorded = error.contest
            self.outcome.claimed = error.told

    def _words(self, line: int) -> str:
        return self._lines[line - 1].strip()

    def _told(self, line: int) -> str:
        return cut(self._words(line), _MOST_TOLD)

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
        broken = grammar.rule_ids(violations)
        if mark is None or tuple(mark.children) != broken:
            return False
        return bool({*broken} <= self.outcome.setup.game.waivable)

    def _played(self, act: Any, event: Any) -> None:
        """The line counts: it is legal, or the record says who let it stand."""
        line, column = place_of(act)
        seat, mark = game_text.seat_of(act), game_text.mark_of(act)
        violations = self.outcome.state.check(event)
        if mark is not None and self._marks_count:
            outcome, reason = self._say("became.stands.record", rule=STANDS), ""
            if not violations:
                outcome = self._say("became.no_ruling")
                reason = self._say("reason.breaks_none", rules=", ".join(mark.children))
            ruled = bool(violations)
            self.outcome.illegal.append(
                Illegal(line, column, seat, self._told(line), violations, reason, outcome, stopped=False, ruled=ruled)
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
        told = in_the_log(line, ruling) if ruling else ""
        for _ in range(moves):
            move = _stand_in(self.outcome.state, seat)
            said.append(game_text.line(self.outcome.setup.rules_id, self.outcome.state, move))
            step = Step.PLAYED if isinstance(move, ForcedPass) else Step.STOOD_IN
            self._enter(step, move, seat, None, ruling=told)
        self._resolve(self._say("became.instead", rule=PASSED_OVER, moves=", ".join(said)))

    def _resolve(self, words: str, *, again: bool = False) -> None:
        """What is played instead of the moves that do not count is known. ``again``: the seat itself played it."""
        for number, index in enumerate(self._open):
            found = self.outcome.illegal[index]
            told = words if again or not number else self._say("became.see", n=self.outcome.illegal[self._open[0]].line)
            self.outcome.illegal[index] = replace(found, outcome=f"{found.outcome}; {told}")
            if again and found.ruling:
                self._restore(found)
        self._open.clear()
        self._skipped = None
        self._lost = False

    def _restore(self, found: Illegal) -> None:
        """The arbiter's ruling that a line does not count, where no stand-in's move says so."""
        words = self._say("restored", n=found.line)
        told = in_the_log(found.line, found.ruling)
        self._add(Entered(Step.RESTORED, None, words, found.line, found.seat, ruling=told))

    # What becomes of what is illegal

    def _judge(self, index: int, event: Any, wrong: NotationError) -> None:
        act = self._acts[index]
        line, seat = place_of(act)[0], game_text.seat_of(act)
        on_turn = _seat_on_turn(self.outcome.state) == seat is not None
        ruling = self._rulings.get(line)
        if ruling is None and self._fell is not None and self._belongs(self._fell, act, wrong):
            first = self._fell.line
            self._illegal(act, wrong, self._say("became.falls", n=first), follows=first)
            return
        policy = self.outcome.policy if ruling is None else ruling.policy
        if policy is None and ruling is not None:
            self._replace(index, event, wrong, ruling, on_turn=on_turn)
            return
        ends = self._why_it_ends(policy, seat, event, wrong, on_turn=on_turn, is_ruled=ruling is not None)
        is_cut_off = seat is None and ruling is None and self._fell is not None
        advice = self._advice(index) if ends and (policy is not Policy.STOP or is_cut_off) else ""
        skips = policy is Policy.SKIP
        goes_on = self._say("became.not_counted") if skips else self._say("became.stands", rule=STANDS)
        found = self._illegal(act, wrong, ends or goes_on, ruling, stopped=bool(ends), advice=advice)
        if ends:
            self._stop(ruling)
            return
        if not skips:
            told = in_the_log(line, found.ruling) if found.ruling else ""
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

    def _stop(self, ruling: LineRuling | None) -> None:
        """End before a line, with the result that the arbiter gives, if it is one."""
        self._take_off(ruling)
        told = self._table.contest()
        given = ruling.result if ruling is not None else None
        self.outcome.recorded = replace(told, ruled=given or told.ruled)

    def _judge_beside(self, index: int, wrong: NotationError, due: Due | None = None) -> None:
        """A line that cannot be, whatever the rules of the game say: nobody's move is missing without it.

        ``due``: the stand-in's move in its place, as the seat makes none.
        """
        act, line = self._acts[index], place_of(self._acts[index])[0]
        ruling = self._rulings.get(line)
        policy = self.outcome.policy if ruling is None else ruling.policy
        entered = "" if due is None else game_text.line(self.outcome.setup.rules_id, self._table.state, due.event)
        if policy is None and ruling is not None:
            what = f"line {line} cannot be replaced by {cut(ruling.move)!r}: {wrong.what}"
            raise RulingError(ruling.at, what, f"{line}: skip, or {line}: stop")
        if policy is not Policy.SKIP:
            stands = policy is Policy.ACCEPT
            ends = self._say("ends.nothing" if stands else "ends")
            skips = [f"{line}: skip"] if stands and self._can_skip(line) else []
            advice = can_be_ruled(line, skips, self._say) if stands else ""
            self._illegal(act, wrong, ends, ruling, stopped=True, advice=advice)
            self._stop(ruling)
            return
        if self._is_listing:
            self._illegal(act, wrong, self._say("taken.as", move=entered) if entered else self._say("taken.nothing"))
        else:
            told = self._say("became.not_counted")
            if entered:
                told += "; " + self._say("became.instead", rule=PASSED_OVER, moves=entered)
            found = self._illegal(act, wrong, told, ruling)
            if ruling is not None:
                try:
                    self._restore(found)
                    self._take_off(ruling)
                except NotationError:
                    what = f"line {line} comes after the end of the game, when an arbiter no longer rules"
                    raise RulingError(ruling.at, what, "no ruling about it") from None
        if due is not None:
            self._enter(Step.DUE, due.event, due.seat, None)

    def _replace(self, index: int, event: Any, wrong: NotationError, ruling: LineRuling, *, on_turn: bool) -> None:
        """Another move counts, which the arbiter names."""
        act = self._acts[index]
        move, words = self._ruled_move(act, ruling)
        seat = _seat_on_turn(self.outcome.state)
        found = self._illegal(act, wrong, self._say("became.replaced", move=words), ruling)
        before = self.outcome.state.copy()
        if on_turn:
            self._refuse(act, event, wrong)
        self._resolve(self._say("became.next_attempt"), again=True)
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
            tree: Any = grammar_of(rules_id).parse(ruling.move, "act")
            if tree.data == "by_table":
                what = f"{ruling.move!r} is no move, and a line is replaced by another move"
                raise RulingError(ruling.at, what, f"{expected}; what else happened goes into the record itself")
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
            broken = ", ".join(grammar.rule_ids(violations))
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
        reason = "" if wrong.violations else wrong.why(self._say)
        taken = ruling.points_off if ruling else ()
        off = "".join(f"; {self._say('points_off', n=off.points, seat=off.seat)}" for off in taken)
        found = Illegal(
            wrong.line,
            wrong.column,
            game_text.seat_of(act),
            self._told(wrong.line),
            wrong.violations,
            reason,
            outcome + off,
            stopped=stopped,
            ruling="" if ruling is None else str(ruling),
            follows=follows,
            advice=advice or self._newer_rules(act, wrong),
        )
        self.outcome.illegal.append(found)
        return found

    def _newer_rules(self, act: Any, wrong: NotationError) -> str:
        """Return that the newest rules allow the first illegal line; where more happened, nothing is known of them."""
        if not wrong.violations or self.outcome.illegal or self.outcome.acts or game_text.mark_of(act) is not None:
            return ""
        event, _ = self._meant(self.outcome.state, act)
        events = (entered.event for entered in self.outcome.entered)
        header = game_text.allowed_by(self.outcome.setup, events, event)
        return self._say("advice.header", header=header) if header else ""

    def _refuse(self, act: Any, event: Any, wrong: NotationError) -> None:
        if event is not None and not isinstance(event, ForcedPass):
            self._enter(Step.REFUSED, event, game_text.seat_of(act), wrong.line, wrong.violations)

    def _take_off(self, ruling: LineRuling | None) -> None:
        for off in ruling.points_off if ruling is not None else ():
            words = self._say("points_off", n=off.points, seat=off.seat)
            told = in_the_log(ruling.line, str(ruling)) if ruling is not None else ""
            line = None if ruling is None else ruling.line
            self._add(Entered(Step.PENALTY, None, words, line, off.seat, points=off.points, ruling=told))

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
            return self._say("ends")
        if is_over(self.outcome.state) and not (is_ruled and policy is Policy.SKIP):
            return self._say("ends.over")
        if seat is None:
            return self._say("ends.draw")
        if policy is Policy.SKIP:
            if not on_turn and self._lost and not is_ruled:
                return self._say("ends.rest")
            return ""
        if event is None:
            return self._say("ends.no_move")
        waivable = self.outcome.setup.game.waivable
        fixed = sorted({violation.rule_id for violation in wrong.violations} - waivable)
        if fixed:
            return self._say("ends.breaks", rules=", ".join(fixed), rule=STANDS)
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
        if self._tried is None:
            return ""
        line, seat = place_of(self._acts[index])[0], game_text.seat_of(self._acts[index])
        if seat is not None:
            others = [] if is_over(self.outcome.state) else self._others(self.outcome.state, index)
            return can_be_ruled(line, [f"{line}: skip", *others] if self._can_skip(line) else others, self._say)
        if self._fell is None:
            return ""
        first = self._fell.line
        advice = can_be_ruled(first, self._others(self._fell.before, self._fell.index), self._say)
        return f"{self._say('advice.draw', n=first)}; {advice}"

    def _can_skip(self, line: int) -> bool:
        """Return whether the record goes on without the line: it does not come to a draw that does not fit."""
        try:
            stopped = self._tried(line).stopped if self._tried is not None else None
        except (NotationError, RulingError):
            return False
        draws = {place_of(act)[0] for act in self._acts if act.data == "by_chance"}
        return stopped is None or stopped.line not in draws

    def _others(self, state: State, index: int) -> list[str]:
        """Rulings that replace a line by another move, after which the record goes on."""
        line, seat = place_of(self._acts[index])[0], game_text.seat_of(self._acts[index])
        repairs = repair.moves(self._table, state, self._acts, index, self._words(line), say=self._say)
        found = [each for each in repairs if each.seat == seat and each.follow]
        return [f"{line}: {each.words}" for each in found if each.follow == found[0].follow][:_MOST_ADVICE]

    def _repair(self, index: int, event: Any, wrong: NotationError) -> None:
        """Go on as if the line had been right, in the way in which most of the record follows."""
        act, state = self._acts[index], self.outcome.state
        line = place_of(act)[0]
        best = None
        if not is_over(state):
            best = repair.best(self._table, self._acts, index, words=self._words(line), event=event, say=self._say)
        if best is None and not is_over(state):
            self._illegal(act, wrong, self._say("ends.list"), stopped=True)
            return
        self._illegal(act, wrong, best.told if best is not None else self._say("taken.over"))
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
        self._add(Entered(step, event, words, line, seat, violations, ruling=ruling))
        if step is not Step.REFUSED:
            self._table.play(event, is_line=line is not None)
            self._went_on()


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
