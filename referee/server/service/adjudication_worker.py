"""The answers of an AdjudicationService worker, from a method and its question. Touches nothing outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any, Final

from referee.games.game import InputError
from referee.log.errors import Code, LogError
from referee.log.note import VerifierKey
from referee.process.frames import BadQuestion
from referee.server.service.messages import rule_message, violation_message
from referee.telling import report
from referee.telling.recorder import adjudicated, rehearse
from referee.text.notation import headers
from referee.text.notation.headers import Setup
from referee.text.notation.violations import NotationError
from referee.text.report import sheet as sheets
from referee.text.report.adjudication import TooManyIllegal
from referee.text.report.model import Seat, of_adjudication, rules_named
from referee.text.report.rulings import (
    Adjudication,
    LineRuling,
    PointsOff,
    Policy,
    RulingError,
    Step,
    check_points,
    given,
)
from referee.text.report.sheet import Sheet, SheetError
from referee.text.report.text import html, text
from referee.v1 import adjudication_service_pb2 as pb

MAX_ANSWER_BYTES: Final = 3 << 20
"""Clients of gRPC take 4 MiB, unless they say otherwise."""
MAX_ILLEGAL: Final = 1000
"""Illegal lines of a record: each is judged, explained and printed, which takes longer than reading it."""

WRITERS: Final = {pb.REPORT_FORMAT_HTML: html, pb.REPORT_FORMAT_TEXT: text}
POLICIES: Final = {
    pb.ON_ILLEGAL_UNSPECIFIED: Policy.STOP,
    pb.ON_ILLEGAL_STOP: Policy.STOP,
    pb.ON_ILLEGAL_SKIP: Policy.SKIP,
    pb.ON_ILLEGAL_ACCEPT_AS_PLAYED: Policy.ACCEPT,
}
_STEPS: Final = {
    Step.PLAYED: pb.EnteredEvent.STEP_PLAYED,
    Step.REFUSED: pb.EnteredEvent.STEP_REFUSED,
    Step.STOOD_IN: pb.EnteredEvent.STEP_STAND_IN,
    Step.DUE: pb.EnteredEvent.STEP_STAND_IN,
    Step.ACCEPTED: pb.EnteredEvent.STEP_ACCEPTED,
    Step.RESTORED: pb.EnteredEvent.STEP_RESTORED,
    Step.REPLACED: pb.EnteredEvent.STEP_REPLACED,
    Step.PENALTY: pb.EnteredEvent.STEP_PENALTY,
    Step.TABLE: pb.EnteredEvent.STEP_TABLE_ACT,
}


def answers(method: str, data: bytes, _: float) -> Iterator[bytes]:
    """Yield the one answer.

    Raise ``BadQuestion`` with the fields of a ``NotationError``; with ``field`` and ``expected``, if a text is in order
    and its points are not; or, if something is too much, with the ``limit``.
    """
    try:
        answer = _METHODS[method](data).SerializeToString()
    except NotationError as error:
        place = {"kind": error.kind, "line": error.line, "column": error.column}
        raise BadQuestion(
            str(error), **place, what=error.what, expected=error.expected, rule_ids=error.rule_ids
        ) from None
    except RulingError as error:
        told = InputError(f"rulings[{error.at - 1}]", error.what, error.expected, sep=";")
        raise BadQuestion(str(told), field=told.field, expected=told.expected) from None
    except SheetError as error:
        told = InputError("text", error.what, error.expected)
        raise BadQuestion(str(told), field=told.field, expected=told.expected) from None
    except TooManyIllegal as error:
        raise BadQuestion(str(error), limit=f"{MAX_ILLEGAL} illegal lines of a record") from None
    if len(answer) > MAX_ANSWER_BYTES:
        limit = f"answers of {MAX_ANSWER_BYTES} bytes (this one has {len(answer)})"
        raise BadQuestion("the answer is too large", limit=limit)
    yield answer


@contextmanager
def _judged() -> Iterator[None]:
    """Refuse a text that no log can hold as a fault of the text."""
    try:
        yield
    except LogError as error:
        told = InputError("text", error.what, error.expected, sep=";")
        raise BadQuestion(str(told), field=told.field, expected=told.expected) from None


def _adjudicate(data: bytes) -> pb.AdjudicateRecordResponse:
    request = pb.AdjudicateRecordRequest.FromString(data)
    rulings = [_ruling(number, ruling) for number, ruling in enumerate(request.rulings, start=1)]
    with _judged():
        found = adjudicated(request.text, POLICIES[request.on_illegal], rulings, most_illegal=MAX_ILLEGAL)
    setup = found.setup
    made = of_adjudication(
        found, [Seat(number, name) for number, name in enumerate(setup.players or [""] * setup.seats)]
    )
    result = found.told.result
    return pb.AdjudicateRecordResponse(
        rules_id=setup.rules_id,
        rules_version=setup.version,
        illegal=_illegal(found),
        entered=_entered(found),
        over=sheets.is_over(found.state),
        result=found.result,
        claimed=found.claimed,
        places=result.places if result else (),
        outcome=found.told.outcome(),
        sheet=_sheet_message(setup, found.told.sheet(final=False)),  # the names are in the reports alone
        reports=[WRITERS[wanted](made) for wanted in request.formats],
        changes=found.changes,
        unreached=[ruling.line for ruling in found.unreached],
    )


def _ruling(at: int, message: pb.LineRuling) -> LineRuling:
    """Raise ``RulingError``."""
    policy = POLICIES[message.on_illegal] if message.on_illegal else None
    if (policy is None) != bool(message.move):
        raise RulingError(at, "the ruling has on_illegal and move, or neither", "one of them")
    points_off = tuple(PointsOff(off.seat, off.points) for off in message.points_off)
    for off in points_off:
        check_points(at, off)
    result = None
    if message.points or message.places:
        if policy is not Policy.STOP:
            raise RulingError(at, "points or places for a game that is not over", "them with ON_ILLEGAL_STOP")
        result = given(at, message.points, message.places)
    return LineRuling(message.line, policy, message.move, points_off, result, at)


def _illegal(found: Adjudication) -> Iterator[pb.IllegalLine]:
    rules = found.setup.rules_id, found.setup.version
    for each in found.illegal:
        yield pb.IllegalLine(
            line=each.line,
            column=each.column,
            seat=each.seat,
            words=each.words,
            violations=[violation_message(violation, *rules) for violation in each.violations],
            reason=each.reason,
            outcome=each.outcome,
            stopped=each.stopped,
            ruled=each.ruled,
            ruling=each.ruling,
            follows=each.follows,
            advice=each.advice,
        )


def _entered(found: Adjudication) -> Iterator[pb.EnteredEvent]:
    for each in found.entered:
        yield pb.EnteredEvent(
            step=_STEPS[each.step], words=each.words, line=each.line, seat=each.seat, rule_ids=each.rule_ids
        )


def _score(data: bytes) -> pb.ScorePositionResponse:
    told = sheets.read(pb.ScorePositionRequest.FromString(data).text)
    if told.game is not None:
        with _judged():
            told = replace(told, waits=rehearse(told.game))
    setup, result = told.setup, told.result
    return pb.ScorePositionResponse(
        rules_id=setup.rules_id,
        rules_version=setup.version,
        over=sheets.is_over(told.state),
        sheet=_sheet_message(setup, told.sheet()),
        result=headers.result_words(result),
        places=result.places if result else (),
        outcome=told.outcome(),
    )


def _sheet_message(setup: Setup, found: Sheet) -> pb.ScoreSheet:
    message = pb.ScoreSheet(remarks=found.remarks)
    for player in found.players:
        items = [
            pb.ScoreSheet.Item(group=i.group, what=i.what, how=i.how, points=i.points, rule_ids=i.rules)
            for i in player.items
        ]
        message.players.add(name=player.name, items=items, total=player.total, place=player.place)
    for tie in found.ties:
        message.ties.add(words=tie.words, rule_ids=tie.rules)
    message.rules.extend(map(rule_message, rules_named(setup.rules_id, setup.version, found)))
    return message


def report_question(wanted: pb.ReportFormat.ValueType, verifier: VerifierKey, file: bytes) -> bytes:
    """Return the question for ``ReportGame``: a worker has no games, and gets the file."""
    return f"{wanted} {verifier}\n".encode() + file


def _report(data: bytes) -> pb.ReportGameResponse:
    head, _, file = data.partition(b"\n")
    wanted, _, verifier = head.decode().partition(" ")
    try:
        audit, made = report.report(BytesIO(file), VerifierKey.parse(verifier))
    except LogError as error:
        if error.code is not Code.UNSUPPORTED:
            raise
        raise BadQuestion("game_id: an event has no report", field="game_id", expected="a game") from None
    return pb.ReportGameResponse(report=WRITERS[pb.ReportFormat.ValueType(int(wanted))](made), size=audit.entries)


_METHODS: Final[dict[str, Any]] = {"AdjudicateRecord": _adjudicate, "ScorePosition": _score, "ReportGame": _report}
