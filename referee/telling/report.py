"""The report of a game file: the audit, then the whole contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from referee.log import audit as auditor
from referee.log.errors import LogError
from referee.log.events import Refused
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.log.verdict import CertificateReport, Policy, Verdict
from referee.log.verdict import Report as Audit
from referee.telling.game_file import GameFile, Line, told_by
from referee.telling.words import quoted
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.times import moment
from referee.text.report import model, sheet
from referee.text.report.model import Facts, Heading, Report, Row, Seat, Tone, Wrong
from referee.text.words.catalogue import Words, in_language

_MEANINGS = (Verdict.COMPLETE, Verdict.PREFIX, Verdict.UNTRUSTED_KEY)
"""Verdicts that are explained."""
_TONES = {Verdict.COMPLETE: Tone.GOOD, Verdict.PREFIX: Tone.OPEN}


def report(
    stream: BinaryIO,
    verifier: VerifierKey | None,
    heading: Heading | None = None,
    completed: Callable[[Setup], Setup] = lambda setup: setup,
    *,
    named: Callable[[tuple[Seat, ...]], tuple[Seat, ...]] = lambda seats: seats,
    say: Words = IN_ENGLISH,
) -> tuple[Audit, Report]:
    """Return the audit of the file, and the report with it at the top; of a damaged file, only the whole part.

    ``verifier``: the referee's key; without it the report is not vouched for. ``completed``: adds what the log does not
    say of the tournament; ``named``: gives the seats the names that are known. ``say``: the language. Raise
    ``LogError`` if no part is whole, and what ``completed`` and ``named`` raise.
    """
    audit = auditor.audit(stream, Policy(verifier=verifier))
    stream.seek(0)
    game_file = _as_far_as_it_goes(stream, audit.entries, say)
    seats = named(_seats(audit, game_file.record.opened.seats, say))
    if any(names := [seat.name for seat in seats]):
        say = say.naming(names)
        stream.seek(0)
        game_file = _as_far_as_it_goes(stream, audit.entries, say)
    return audit, _of_log(audit, game_file, seats, verifier, heading or Heading(), completed=completed, say=say)


def _as_far_as_it_goes(stream: BinaryIO, entries: int, say: Words) -> GameFile:
    """The game_file before what is wrong; ``entries``: how many are whole. Raise ``LogError`` if there is none."""
    try:
        return GameFile.read(stream, say=say)
    except LogError as error:
        before = entries if error.entry is None else error.entry
        if not before:
            raise
    stream.seek(0)
    return GameFile.read(stream, before - 1, say)


def _of_log(
    audit: Audit,
    game_file: GameFile,
    seats: tuple[Seat, ...],
    verifier: VerifierKey | None,
    heading: Heading,
    *,
    completed: Callable[[Setup], Setup],
    say: Words,
) -> Report:
    told = told_by(game_file)
    setup = told.setup
    rules = setup.rules_id, setup.version
    try:
        scores, no_sheet = told.sheet(final=False, say=say), ""
    except sheet.SheetError as error:
        scores, no_sheet = None, say("log.no_sheet", why=error)
    wrong = [
        Wrong(
            say("wrong.entry", n=told.seq),
            _row(game_file, told, say).words,
            model.broken(*rules, told.broken, say),
            say("wrong.refused" if told.refusal else "wrong.stands"),
        )
        for told in game_file.transcript.entries
        if told.broken
    ]
    meaning = [say(f"log.{audit.verdict.name.lower()}")] if audit.verdict in _MEANINGS else []
    return Report(
        title=model.title(setup, say),
        headline=audit.headed(say),
        tone=_TONES.get(audit.verdict, Tone.BAD),
        verdict=(
            *meaning,
            *(finding.words(say) for finding in audit.findings),
            *_signed(audit, say),
            *([f"{sheet.upper(told.outcome(say))}."] if told.needs_words else []),
        ),
        result=model.standings(told.result, say=say),
        about=_about(completed(setup), audit, game_file, heading, say),
        seats=seats,
        sheet=scores,
        no_sheet=no_sheet,
        rules=model.rules_named(*rules, scores),
        wrong=tuple(wrong),
        rows=tuple(_row(game_file, told, say) for told in game_file.transcript.entries),
        numbered=say("entry"),
        pictures=model.pictures(setup.rules_id, told.state, seats, say),
        hashes=hashes(game_file.record, verifier, say),
        say=say,
    )


def _signed(audit: Audit, say: Words) -> list[str]:
    signed = say("log.signed", entries=audit.entries, signed=audit.signed_entries)
    return [signed, audit.drawn.by(say), *(str(in_language(comment, say)) for comment in audit.comments)]


def _about(setup: Setup, audit: Audit, game_file: GameFile, heading: Heading, say: Words) -> Facts:
    entries = game_file.transcript.entries
    times = [time for told in entries if (time := moment(told.time_ms))]
    # A scribe may enter a game that was played on another day.
    done = "entered" if audit.chance.startswith("declared") else "played"
    more = [(say(f"about.{done}"), say("about.times", first=times[0], last=times[-1]))] if times else []
    if audit.result is not None and audit.is_over:
        more.append((say("about.ending"), say(f"ending.{audit.result.ending.name.lower()}")))
    more.append((say("about.refused"), str(sum(bool(told.refusal) for told in entries))))
    more.append((say("about.rulings"), str(sum(told.is_ruling for told in entries))))
    asked = audit.proofs != CertificateReport()
    proofs = audit.proofs.words(say) if asked else say("about.certificates.none")
    more.append((say("about.certificates"), proofs))
    return model.about(setup, more, heading, say)


def _seats(audit: Audit, opened: Any, say: Words) -> tuple[Seat, ...]:
    seats = []
    for number, terms in enumerate(opened):
        known = next((each for each in audit.seats if each.seat == number), None)
        key = known.key.hex() if known is not None and known.key else ""
        facts = [] if known is None else [(say("seat.key"), f"{known.words(say)} {key}".rstrip())]
        if terms.player:
            facts.append((say("seat.player"), terms.player.hex()))
        seats.append(Seat(number, "", tuple(facts), key))
    return tuple(seats)


def _row(game_file: GameFile, told: Line, say: Words) -> Row:
    words = told.words + (f": {quoted(game_file.texts[told.seq])}" if told.seq in game_file.texts else "")
    mark = say("mark.ruling") if told.is_ruling else ""
    if isinstance(told.event, Refused):
        mark = say("mark.refused", rules=", ".join(told.event.rule_ids))
    if told.taken_back_by is not None:
        mark = say("mark.taken_back")
    return Row(told.seq, moment(told.time_ms), words, mark)


def hashes(record: Record, verifier: VerifierKey | None, say: Words = IN_ENGLISH) -> Facts:
    """Return what holds a report to its log: ids, hashes and keys, by name."""
    facts = [
        (say("hash.game"), record.game_id.hex()),
        (say("hash.entries"), str(record.size)),
        (say("hash.root"), record.root().hex()),
        (say("hash.header"), record.opened.header_hash.hex()),
    ]
    if verifier is not None:
        facts.append((say("hash.verifier"), str(verifier)))
    for role, keys in (("scribe", record.opened.scribe_keys), ("arbiter", record.opened.arbiter_keys)):
        facts += [(say(f"hash.{role}", n=number), key.hex()) for number, key in enumerate(keys)]
    return tuple(facts)
