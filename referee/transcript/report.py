"""The report of a game file: what is audited, then everything that it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

from referee.log import audit as auditor
from referee.log.errors import LogError
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.log.verdict import CertificateReport, Verdict
from referee.log.verdict import Report as Audit
from referee.notation.headers import Setup
from referee.notation.times import moment
from referee.report import model, sheet
from referee.report.model import Facts, Heading, Report, Row, Seat, Tone, Wrong
from referee.transcript.game_file import GameFile, told_by
from referee.transcript.transcript import Line
from referee.transcript.words import quoted

_MEANINGS = {
    Verdict.COMPLETE: "The game is whole, and everything in it holds.",
    Verdict.PREFIX: "The game is not over, or the file was cut. What is there holds.",
    Verdict.UNTRUSTED_KEY: "Not signed by a key you trust.",
}
_TONES = {Verdict.COMPLETE: Tone.GOOD, Verdict.PREFIX: Tone.OPEN}


def report(
    stream: BinaryIO,
    verifier: VerifierKey | None,
    heading: Heading | None = None,
    completed: Callable[[Setup], Setup] = lambda setup: setup,
) -> tuple[Audit, Report]:
    """Return the audit of the file, and the report with it at the top; of a damaged file as far as before the damage.

    ``verifier``: the referee's key; without it nobody vouches. ``completed``: adds what the log does not say of the
    tournament. Raise ``LogError`` if nothing of it is whole, and what ``completed`` raises.
    """
    audit = auditor.audit(stream, auditor.Policy(verifier=verifier))
    stream.seek(0)
    game_file = _as_far_as_it_goes(stream, audit.entries)
    return audit, _of_log(audit, game_file, verifier, heading or Heading(), completed)


def _as_far_as_it_goes(stream: BinaryIO, entries: int) -> GameFile:
    """The game_file before what is wrong; ``entries``: how many are whole. Raise ``LogError`` if there is none."""
    try:
        return GameFile.read(stream)
    except LogError as error:
        before = entries if error.entry is None else error.entry
        if not before:
            raise
    stream.seek(0)
    return GameFile.read(stream, before - 1)


def _of_log(
    audit: Audit,
    game_file: GameFile,
    verifier: VerifierKey | None,
    heading: Heading,
    completed: Callable[[Setup], Setup],
) -> Report:
    record = game_file.record
    told = told_by(game_file)
    setup = told.setup
    rules = setup.rules_id, setup.version
    seats = _seats(audit, record.opened.seats)
    try:
        scores, no_sheet = told.sheet(final=False), ""
    except sheet.SheetError as error:
        scores, no_sheet = None, f"The points cannot be shown item by item: {error}."
    wrong = [
        Wrong(f"entry {told.seq}", _row(game_file, told).words, model.broken(*rules, told.broken), _outcome(told))
        for told in game_file.transcript.entries
        if told.broken
    ]
    meaning = [_MEANINGS[audit.verdict]] if audit.verdict in _MEANINGS else []
    return Report(
        title=model.title(setup),
        headline=audit.headline,
        tone=_TONES.get(audit.verdict, Tone.BAD),
        verdict=(
            *meaning,
            *(f"{finding.layer}: {finding}" for finding in audit.findings),
            *_signed(audit),
            *([f"{sheet.upper(told.outcome)}."] if told.waits or not told.contest.is_plain else []),
        ),
        result=model.standings(told.result),
        about=_about(completed(setup), audit, game_file, heading),
        seats=seats,
        sheet=scores,
        no_sheet=no_sheet,
        rules=model.rules_named(*rules, scores),
        wrong=tuple(wrong),
        rows=tuple(_row(game_file, told) for told in game_file.transcript.entries),
        numbered="entry",
        pictures=model.pictures(setup.rules_id, told.state, seats),
        hashes=hashes(game_file.record, verifier),
    )


def _signed(audit: Audit) -> list[str]:
    lines = [f"{audit.entries} entries, {audit.signed_entries} of them under a signed checkpoint."]
    deck = ", recomputed from the committed deck" if audit.deck_checked else ""
    return [*lines, f"Chance: {audit.chance}{deck}.", *audit.remarks]


def _about(setup: Setup, audit: Audit, game_file: GameFile, heading: Heading) -> Facts:
    entries = game_file.transcript.entries
    times = [time for told in entries if (time := moment(told.time_ms))]
    # What a scribe enters may have been played on another day.
    done = "entered" if audit.chance.startswith("declared") else "played"
    more = [(done, f"{times[0]} to {times[-1]} UTC")] if times else []
    if audit.result is not None and audit.is_over:
        more.append(("ending", audit.result.ending.words))
    more.append(("refused attempts", str(sum(bool(told.refusal) for told in entries))))
    more.append(("rulings", str(sum(told.is_ruling for told in entries))))
    asked = audit.proofs != CertificateReport()
    more.append(("certificates", audit.proofs.as_text().removeprefix("certificates: ") if asked else "not asked for"))
    return model.about(setup, more, heading)


def _seats(audit: Audit, opened: Any) -> tuple[Seat, ...]:
    seats = []
    for number, terms in enumerate(opened):
        facts = [
            ("key", f"{known.standing}{f' {known.key.hex()}' if known.key else ''}")
            for known in audit.seats
            if known.seat == number
        ]
        if terms.player:
            facts.append(("player", terms.player.hex()))
        seats.append(Seat(number, "", tuple(facts)))
    return tuple(seats)


def _row(game_file: GameFile, told: Line) -> Row:
    words = told.words + (f": {quoted(game_file.texts[told.seq])}" if told.seq in game_file.texts else "")
    mark = told.refusal or ("ruling" if told.is_ruling else "")
    if told.taken_back_by is not None:
        mark = "taken back"
    return Row(told.seq, moment(told.time_ms), words, mark)


def _outcome(told: Line) -> str:
    return "refused, without effect" if told.refusal else "stands as it was played (TBL-7)"


def hashes(record: Record, verifier: VerifierKey | None) -> Facts:
    """Return what holds a report to its log: ids, hashes and keys, by name."""
    facts = [
        ("game", record.game_id.hex()),
        ("entries", str(record.size)),
        ("root", record.root().hex()),
        ("header", record.opened.header_hash.hex()),
    ]
    if verifier is not None:
        facts.append(("verifier key", str(verifier)))
    for role, keys in (("scribe", record.opened.scribe_keys), ("arbiter", record.opened.arbiter_keys)):
        facts += [(f"{role} {number}", key.hex()) for number, key in enumerate(keys)]
    return tuple(facts)
