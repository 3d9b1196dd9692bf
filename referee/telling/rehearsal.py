"""The acts beside the moves that a text tells, judged by the rules of the log, which is written and not kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from referee.games.results import Wait
from referee.log.errors import Code, LogError
from referee.log.keys import PrivateKey
from referee.telling.recorder import Recorder, about
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.table import ActKind, TableAct
from referee.text.report.adjudication import adjudicate, list_illegal
from referee.text.report.record import PASSED_OVER, REINSTATED, STANDS, Adjudication, Entered, Step
from referee.text.report.rulings import LineRuling, Policy
from referee.text.words.catalogue import Words


def rehearse(game: GameText) -> Wait | None:
    """Judge what a text has beside its moves; return what its result waits for, if it does.

    Texts without acts of the table are not judged: reading them has judged them. Raise ``NotationError`` for a line
    that no log has, ``LogError`` for other things, such as a ruling that is awaited where no dispute is open.
    """
    acts = [each for each in game.happened if isinstance(each, TableAct)]
    return _waiting(game.waits, _judged(game, acts) if acts else None)


def _waiting(told: Wait | None, judged: Wait | None) -> Wait | None:
    """Return for what a result waits. ``told``: by the text, which alone knows of time that is left to protest."""
    if told not in (None, judged, Wait.PROTESTS) or (told and judged not in (None, told)):
        what = "the header Waits says what the lines below it do not"
        raise LogError(Code.NOT_AWAITED, what, "what the result waits for by its protests, appeals and rulings")
    return judged or told


def _judged(game: GameText, acts: Sequence[TableAct]) -> Wait | None:
    recorder = _begun(game.setup, acts)
    recorder.lines(replace(game, happened=tuple(map(_without_time, game.happened))))
    return recorder.record.game.result_waits


def adjudicated(
    text: str,
    policy: Policy = Policy.STOP,
    rulings: Sequence[LineRuling] = (),
    *,
    most_illegal: int | None = None,
    say: Words = IN_ENGLISH,
) -> Adjudication:
    """Return the record, judged by the rules of the game and of the table.

    Raise what ``referee.text.report.adjudication.adjudicate`` raises, and ``LogError`` for an end that no log has.
    """
    return adjudicate(text, policy, rulings, _Rehearsal, most_illegal=most_illegal, say=say)


def listed(text: str, say: Words = IN_ENGLISH) -> Adjudication:
    """Return the record with every illegal line judged on its own. Raise ``NotationError``."""
    return list_illegal(text, _Rehearsal, say)


class _Rehearsal:
    """The log of a record as it grows, which is not kept."""

    def __init__(self, setup: Setup, acts: Sequence[TableAct]) -> None:
        self._recorder = _begun(setup, acts)

    def check_goes_on(self, words: str, line: int) -> None:
        with about(words, line):
            self._recorder.check_goes_on()

    def enter(self, entered: Entered) -> None:
        with about(entered.words, entered.line or 0):
            _record(self._recorder, replace(entered, event=_without_time(entered.event)))

    def end_line(self) -> None:
        self._recorder.end_line()

    def end(self, found: Adjudication) -> Wait | None:
        self._recorder.end(found.contest)
        return self._recorder.record.game.result_waits


def recorded(
    found: Adjudication, scribe: PrivateKey, arbiters: Sequence[PrivateKey], players: Sequence[bytes] = ()
) -> Recorder:
    """Return the log of all that was entered. Raise ``LogError``, ``NotationError``."""
    recorder = Recorder(found.setup, scribe, arbiters, players, has_table_acts=bool(found.acts))
    ends = Counter(found.entered_after[1:])
    for number in range(len(found.entered) + 1):
        for _ in range(ends[number]):
            recorder.end_line()
        for entered in found.entered[number : number + 1]:
            with about(entered.words, entered.line or 0):
                _record(recorder, entered)
    if found.ended:
        recorder.end(found.contest)
    return recorder


def _record(recorder: Recorder, entered: Entered) -> None:
    words, seat = entered.ruling, entered.seat
    match entered.step:
        case Step.RESTORED:
            recorder.restore(REINSTATED, words)
        case Step.REFUSED:
            recorder.refuse(entered.event)
        case Step.STOOD_IN if seat is not None:
            recorder.skip(seat, entered.event, PASSED_OVER, words)
        case Step.PENALTY if seat is not None:
            recorder.take_off(seat, entered.points, words)
        case _:
            if words:
                recorder.enter(TableAct(ActKind.STANDS, rule_id=STANDS, words=words))
            recorder.enter(entered.event)


def _without_time(line: Any) -> Any:
    """Return an act of the table without what needs a clock, which the log that is not kept does not have."""
    if not isinstance(line, TableAct) or not line.needs_clock:
        return line
    return replace(line, kind=ActKind.PENALTY if line.number or line.strikes else ActKind.WARN, time_ms=0)


def _begun(setup: Setup, acts: Sequence[TableAct]) -> Recorder:
    """Begin a log with keys for the arbiters of the game, of these acts, and of rulings on illegal moves."""
    count = max(setup.arbiters or 0, 1 + max(act.arbiter for act in acts))
    scribe, *arbiters = (PrivateKey.generate() for _ in range(1 + count))
    return Recorder(setup, scribe, arbiters, has_table_acts=True)
