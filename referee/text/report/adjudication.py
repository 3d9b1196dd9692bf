"""A record of a whole game, judged: its events, its illegal lines, and the arbiter's rulings on them. Knows no game.

``adjudicate`` reads the text of a game as ``referee.text.notation.game_text`` does, and does not end at the first move
that the rules forbid: the arbiter's policy decides about it. It signs and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from referee.games.game import ForcedPass
from referee.games.results import Result, Wait
from referee.text.notation import game_text, grammar, headers, table
from referee.text.notation.grammar import grammar_of, place_of
from referee.text.notation.headers import Headers, Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.table import Due
from referee.text.notation.violations import Kind, NotationError, cut
from referee.text.report import scorebook
from referee.text.report.rulings import (
    PASSED_OVER,
    STANDS,
    Adjudication,
    Entered,
    Illegal,
    LineRuling,
    Log,
    LogOf,
    Policy,
    RulingError,
    Step,
    by_line,
    can_be_ruled,
    in_the_log,
)
from referee.text.report.sheet import is_over
from referee.text.words.catalogue import Words


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
    that are judged, or all. ``say``: the language of the outcomes. Raise ``NotationError`` for a text that is not in
    the notation, or that can mean several moves; ``RulingError`` for a ruling that cannot be applied;
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
    setup = found.setup()
    say = say.naming([given or own for given, own in zip_longest(say.names, setup.players, fillvalue="")])
    done = [table.act_of_tree(act) for act in acts if act.data == "by_table"]
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
        """``tried``: the outcome of skipping a line; None: no advice is asked for."""
        self._book = scorebook.Scorebook(setup, policy, log, say)
        self.outcome = self._book.outcome
        self._transcript = scorebook.Transcript(text, acts, setup, marks_count=marks_count)
        self._skipped = scorebook.SkippedSeat(self._book, self._transcript, say)
        self._advice = scorebook.Advice(self._transcript, self._book, tried, say)
        self._say = say
        self._is_listing = is_listing
        self._fell: scorebook.Fallen | None = None
        """The move that does not count, until another seat plays: lines that belong to it fall with it."""
        self._rulings = by_line(rulings, {place_of(act)[0] for act in acts}, setup.seats)

    def read(self, index: int) -> None:
        """Read the next line. Raise ``NotationError``, ``RulingError``."""
        before, act = self._book.table.line, self._transcript.acts[index]
        if act.data == "by_table":
            self._done(index)
        elif (wrong := self._refused(place_of(act)[0])) is not None:
            self._judge_beside(index, wrong)
        else:
            self.take(index)
        self._book.end_line(before)

    def _done(self, index: int) -> None:
        """An act of the table."""
        act = self._transcript.acts[index]
        line = place_of(act)[0]
        try:
            game_text.check_words(act, self._transcript.acts[index + 1 :])
            done = game_text.table_act(self._book.table, act)
            self._book.add(Entered(Step.TABLE, done, str(done), line, None))
        except NotationError as wrong:
            if wrong.kind is not Kind.ILLEGAL:
                raise
            self._judge_beside(index, wrong)
            return
        self._check_unruled(line)
        self._book.take(done)

    def _refused(self, line: int) -> NotationError | None:
        """The reason why no move and no draw counts now: the game is paused, or has a result."""
        try:
            self._book.check_goes_on(self._transcript.told(line), line)
        except NotationError as wrong:
            return wrong
        return None

    def take(self, index: int) -> None:
        """Judge a move, a draw or a pass. Raise ``NotationError``, ``RulingError``."""
        act = self._transcript.acts[index]
        line = place_of(act)[0]
        for move in game_text.left_out(self._book.table, act):
            self._book.enter_due(move)
        event, wrong = self._transcript.meant(self.outcome.state, act)
        due = self._book.table.due()
        if due is not None and event != due.event and self._is_judged(line, wrong):
            self._judge_beside(index, wrong or game_text.no_stand_in(self._book.table, act, event, due), due)
        elif wrong is None:
            self._check_unruled(line)
            self._skipped.resolve(self._say("became.moved_again"), again=True)
            self._played(act, event)
        elif (seat := self._skipped.seat) is not None and (moves := self._skipped.moves_before(seat, act)):
            self._skipped.stand_in(seat, moves)
            self.take(index)
        elif not self._is_judged(line, wrong):
            raise wrong
        elif self._is_listing:
            self._repair(index, event, wrong)
        else:
            self._judge(index, event, wrong)

    def _check_unruled(self, line: int) -> None:
        if (ruling := self._rulings.get(line)) is not None:
            what = f"nothing is illegal in line {line} of the record: {self._transcript.told(line)}"
            raise RulingError(ruling.at, what, "an illegal line; --list names them")

    def _is_judged(self, line: int, wrong: NotationError | None) -> bool:
        """Return whether a line is a seat's move: a line that is not in the notation is not, unless a ruling says what
        it is. A list has it all the same.

        A line's statements on its position, such as coins, may be wrong only because of rulings before it.
        """
        if wrong is None or wrong.kind is Kind.ILLEGAL or line in self._rulings or self._is_listing:
            return True
        return wrong.kind is Kind.SYNTAX and any(each.step is not Step.PLAYED for each in self.outcome.entered)

    def end(self, found: Headers) -> None:
        """End after the last line: the seat skipped last does not move again; then the result."""
        if self._skipped.seat is not None and self._refused(place_of(self._transcript.acts[-1])[0]) is not None:
            self._skipped.resolve(self._say("became.not_missing"))
        self._skipped.end()
        if found.text(headers.RESULT) != headers.RUNNING:
            for event in self._book.table.to_the_end():
                self._book.enter_due(event)
        self._book.end(found)

    def _played(self, act: Any, event: Any) -> None:
        """The line counts: it is legal, or the record says who let it stand."""
        line, column = place_of(act)
        seat, mark = game_text.seat_of(act), game_text.mark_of(act)
        violations = self.outcome.state.check(event)
        if mark is not None and self._transcript.marks_count:
            outcome, reason = self._say("became.stands.record", rule=STANDS), ""
            if not violations:
                outcome = self._say("became.no_ruling")
                reason = self._say("reason.breaks_none", rules=", ".join(mark.children))
            told, ruled = self._transcript.told(line), bool(violations)
            self.outcome.illegal.append(
                Illegal(line, column, seat, told, violations, reason, outcome, stopped=False, ruled=ruled)
            )
        if self._fell is not None and seat != self._fell.seat:
            self._fell = None
        self._book.enter(Step.ACCEPTED if violations else Step.PLAYED, event, seat, line, violations)

    # The treatment of illegal lines

    def _judge(self, index: int, event: Any, wrong: NotationError) -> None:
        act = self._transcript.acts[index]
        line, seat = place_of(act)[0], game_text.seat_of(act)
        on_turn = scorebook.seat_on_turn(self.outcome.state) == seat is not None
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
        advice = self._advice.about(index, self._fell) if ends and (policy is not Policy.STOP or is_cut_off) else ""
        skips = policy is Policy.SKIP
        goes_on = self._say("became.not_counted") if skips else self._say("became.stands", rule=STANDS)
        found = self._illegal(act, wrong, ends or goes_on, ruling, stopped=bool(ends), advice=advice)
        if ends:
            self._book.stop(ruling)
            return
        if not skips:
            told = in_the_log(line, found.ruling) if found.ruling else ""
            self._book.enter(Step.ACCEPTED, event, seat, line, wrong.violations, ruling=told)
        elif on_turn:
            self._skipped.skip(seat)
            self._fell = scorebook.Fallen(seat or 0, line, index, event, self.outcome.state.copy())
            self._book.refuse(act, event, wrong)
        elif ruling is None:
            self._skipped.lost = True
        else:
            self._book.restore(found)
        self._book.take_off(ruling)

    def _judge_beside(self, index: int, wrong: NotationError, due: Due | None = None) -> None:
        """Judge a line that is impossible under any rules of the game: without it no seat's move is missing.

        ``due``: the stand-in's move in its place, as the seat makes none.
        """
        act, line = self._transcript.acts[index], place_of(self._transcript.acts[index])[0]
        ruling = self._rulings.get(line)
        policy = self.outcome.policy if ruling is None else ruling.policy
        entered = "" if due is None else game_text.line(self.outcome.setup.rules_id, self._book.table.state, due.event)
        if policy is None and ruling is not None:
            what = f"line {line} cannot be replaced by {cut(ruling.move)!r}: {wrong.what}"
            raise RulingError(ruling.at, what, f"{line}: skip, or {line}: stop")
        if policy is not Policy.SKIP:
            stands = policy is Policy.ACCEPT
            ends = self._say("ends.nothing" if stands else "ends")
            skips = [f"{line}: skip"] if stands and self._advice.can_skip(line) else []
            advice = can_be_ruled(line, skips, self._say) if stands else ""
            self._illegal(act, wrong, ends, ruling, stopped=True, advice=advice)
            self._book.stop(ruling)
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
                    self._book.restore(found)
                    self._book.take_off(ruling)
                except NotationError:
                    what = f"line {line} comes after the end of the game, when an arbiter no longer rules"
                    raise RulingError(ruling.at, what, "no ruling about it") from None
        if due is not None:
            self._book.enter(Step.DUE, due.event, due.seat, None)

    def _replace(self, index: int, event: Any, wrong: NotationError, ruling: LineRuling, *, on_turn: bool) -> None:
        """Another move counts, which the arbiter names."""
        act = self._transcript.acts[index]
        move, words = self._ruled_move(act, ruling)
        seat = scorebook.seat_on_turn(self.outcome.state)
        found = self._illegal(act, wrong, self._say("became.replaced", move=words), ruling)
        before = self.outcome.state.copy()
        if on_turn:
            self._book.refuse(act, event, wrong)
        self._skipped.resolve(self._say("became.next_attempt"), again=True)
        self._book.restore(found)
        self._book.enter(Step.REPLACED, move, seat, found.line)
        if seat is not None:
            self._fell = scorebook.Fallen(seat, found.line, index, event, before)
        self._book.take_off(ruling)

    def _ruled_move(self, act: Any, ruling: LineRuling) -> tuple[Any, str]:
        """Return the move that a ruling names, and its line. Raise ``RulingError``."""
        rules_id, state = self.outcome.setup.rules_id, self.outcome.state
        expected = f"a legal move for line {ruling.line}, in the notation of the record"
        try:
            tree: Any = grammar_of(rules_id).parse(ruling.move, "act")
            if tree.data == "by_table":
                what = f"{ruling.move!r} is no move, and a line is replaced by another move"
                raise RulingError(ruling.at, what, f"{expected}; other events go into the record itself")
            if game_text.seat_of(act) is None or game_text.seat_of(tree) is None:
                what = f"line {ruling.line} cannot be replaced: an arbiter does not rule on a draw or a roll"
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
        off = "".join(f"; {self._say('points_off', n=off.points, player=off.seat)}" for off in taken)
        found = Illegal(
            wrong.line,
            wrong.column,
            game_text.seat_of(act),
            self._transcript.told(wrong.line),
            wrong.violations,
            reason,
            outcome + off,
            stopped=stopped,
            ruling="" if ruling is None else str(ruling),
            follows=follows,
            advice=advice or self._advice.newer_rules(act, wrong),
        )
        self.outcome.illegal.append(found)
        return found

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
            if not on_turn and self._skipped.lost and not is_ruled:
                return self._say("ends.rest")
            return ""
        if event is None:
            return self._say("ends.no_move")
        waivable = self.outcome.setup.game.waivable
        fixed = sorted({violation.rule_id for violation in wrong.violations} - waivable)
        if fixed:
            return self._say("ends.breaks", rules=", ".join(fixed), rule=STANDS)
        return ""

    def _belongs(self, fallen: scorebook.Fallen, act: Any, wrong: NotationError) -> bool:
        """Return whether a line follows the seat's move that does not count, such as placing the tile that it
        bought."""
        if game_text.seat_of(act) != fallen.seat:
            return False
        if scorebook.is_out_of_place(wrong):
            return True
        if fallen.event is not None and not isinstance(fallen.event, ForcedPass):
            ahead = fallen.before.copy()
            try:
                ahead.apply(fallen.event)
            except Exception:  # noqa: BLE001 - no engine has to know what follows from an illegal move
                return False
            return self._transcript.meant(ahead, act)[1] is None
        return False

    def _repair(self, index: int, event: Any, wrong: NotationError) -> None:
        """Go on as if the line had been right, in the way in which most of the record follows."""
        act, state = self._transcript.acts[index], self.outcome.state
        line = place_of(act)[0]
        best = None
        if not is_over(state):
            best = scorebook.best_repair(
                self._book.table,
                self._transcript.acts,
                index,
                words=self._transcript.words(line),
                event=event,
                say=self._say,
            )
        if best is None and not is_over(state):
            self._illegal(act, wrong, self._say("ends.list"), stopped=True)
            return
        self._illegal(act, wrong, best.told if best is not None else self._say("taken.over"))
        if best is None or best.event is None:
            return
        is_accepted = best.is_played and bool(state.check(best.event))
        step = Step.ACCEPTED if is_accepted else Step.REPLACED
        at = None if best.is_before else line
        self._book.enter(step, best.event, best.seat, at, wrong.violations if is_accepted else ())
        if not best.is_played and best.is_before:
            self.take(index)
