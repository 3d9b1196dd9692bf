"""The report of a game file: what is audited, then everything that it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from referee.log import audit as auditor
from referee.log.errors import LogError
from referee.log.note import VerifierKey
from referee.log.verdict import ProofReport, Verdict
from referee.log.verdict import Report as Audit
from referee.notation.headers import Setup
from referee.report import model, sheet
from referee.report.model import Facts, Report, Row, Seat, Tone, Wrong
from referee.story.story import Story, told_by
from referee.story.words import quoted

_MEANINGS = {
    Verdict.COMPLETE: "A whole game, and everything in it holds.",
    Verdict.PREFIX: "The game goes on, or the file was cut: what is there holds.",
    Verdict.UNTRUSTED_KEY: "Nobody whom you trust vouches for it.",
}
_TONES = {Verdict.COMPLETE: Tone.GOOD, Verdict.PREFIX: Tone.OPEN}


def report(stream: BinaryIO, verifier: VerifierKey | None) -> tuple[Audit, Report]:
    """The audit of the file, and the report with it at the top; of a damaged file as far as before the damage.

    ``verifier``: the referee's key; without it nobody vouches. Raises ``LogError`` if nothing of it is whole.
    """
    audit = auditor.audit(stream, auditor.Policy(verifier=verifier))
    stream.seek(0)
    return audit, _of_log(audit, _as_far_as_it_goes(stream, audit.entries), verifier)


def _as_far_as_it_goes(stream: BinaryIO, entries: int) -> Story:
    """The story before what is wrong; ``entries``: how many are whole. Raises ``LogError`` if there is none."""
    try:
        return Story.read(stream)
    except LogError as error:
        before = entries if error.entry is None else error.entry
        if not before:
            raise
    stream.seek(0)
    return Story.read(stream, before - 1)


def _of_log(audit: Audit, story: Story, verifier: VerifierKey | None) -> Report:
    record = story.record
    assert record is not None  # noqa: S101 - or read would have raised
    told = told_by(story)
    setup = told.setup
    rules = setup.rules_id, setup.version
    seats = _seats(audit, record.opened.seats)
    try:
        scores, no_sheet = told.sheet(final=False), ""
    except sheet.SheetError as error:
        scores, no_sheet = None, f"The points cannot be told item by item: {error}."
    wrong = [
        Wrong(f"entry {entry}", _split(story, entry)[0], model.broken(*rules, violations), _outcome(story, entry))
        for entry, violations in story.broken.items()
    ]
    headline, *verdict = audit.as_text().splitlines()[: 1 + len(audit.findings)]
    meaning = [_MEANINGS[audit.verdict]] if audit.verdict in _MEANINGS else []
    return Report(
        title=model.title(setup),
        headline=headline,
        tone=_TONES.get(audit.verdict, Tone.BAD),
        verdict=(
            *meaning,
            *(line.strip() for line in verdict),
            *_signed(audit),
            *([f"{sheet.upper(told.outcome)}."] if told.waits or not told.contest.is_plain else []),
        ),
        result=model.standings(told.result),
        about=_about(setup, audit, story),
        seats=seats,
        sheet=scores,
        no_sheet=no_sheet,
        rules=model.rules_named(*rules, scores),
        wrong=tuple(wrong),
        rows=tuple(_rows(story)),
        numbered="entry",
        pictures=model.pictures(setup.rules_id, told.state, seats),
        hashes=_hashes(story, verifier),
    )


def _signed(audit: Audit) -> list[str]:
    lines = [f"{audit.entries} entries, {audit.signed_entries} of them under a signed checkpoint."]
    deck = ", recomputed from the committed deck" if audit.deck_checked else ""
    return [*lines, f"Chance: {audit.chance}{deck}.", *audit.remarks]


def _about(setup: Setup, audit: Audit, story: Story) -> Facts:
    times = [clock for clock in map(model.clock, story.times) if clock]
    more = [("played", f"{times[0]} to {times[-1]} UTC")] if times else []
    if audit.ending:
        more.append(("ending", audit.ending.removeprefix("ENDING_").lower().replace("_", " ")))
    more.append(("refused attempts", str(len(story.broken.keys() - set(story.rulings)))))
    more.append(("rulings", str(len(story.rulings))))
    asked = audit.proofs != ProofReport()
    more.append(("certificates", audit.proofs.as_text().removeprefix("proofs: ") if asked else "none are asked for"))
    return model.about(setup, more)


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


def _rows(story: Story) -> Iterator[Row]:
    for entry, time in enumerate(story.times):
        words, mark = _split(story, entry)
        yield Row(entry, model.clock(time), words, mark)


def _split(story: Story, entry: int) -> tuple[str, str]:
    """What happened, and what it is beside a move."""
    words = story.moves[entry] + (f": {quoted(story.texts[entry])}" if entry in story.texts else "")
    if story.is_taken_back(entry):
        return words, "taken back"
    if entry in story.rulings:
        return words, "ruling"
    refused, _, attempt = words.partition(": ")
    return (attempt, refused) if entry in story.broken else (words, "")


def _outcome(story: Story, entry: int) -> str:
    return "stands as it was played (TBL-7)" if entry in story.rulings else "refused: it changes nothing"


def _hashes(story: Story, verifier: VerifierKey | None) -> Facts:
    record = story.record
    assert record is not None  # noqa: S101 - or read would have raised
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
