"""The two ends of an audit: the policy that it is given, and the report with layers, findings and one verdict.

A report is written as text and as JSON. Knows nothing of how findings are found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from referee.console import printable
from referee.games.game import Fact
from referee.games.results import Contest, Result, Wait
from referee.log.errors import Code, LogError
from referee.log.note import Checkpoint, VerifierKey
from referee.text.notation.options import Plain, words
from referee.text.notation.outcomes import IN_ENGLISH, counted, outcome, players
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import ENGLISH, Phrase, Said, Words, phrase


@dataclass(frozen=True)
class Policy:
    """Whom the caller trusts."""

    verifier: VerifierKey | None = None
    """The referee's. Without it nothing can be COMPLETE."""
    seat_keys: Mapping[int, bytes] = field(default_factory=dict)
    """Public keys of seats, where known from elsewhere."""
    scribe_keys: Mapping[int, bytes] = field(default_factory=dict)
    receipts: tuple[bytes, ...] = ()
    """Signed checkpoints of this game that readers were given."""
    logged: tuple[Checkpoint, ...] = ()
    """Heads that a public log has; those of other games are passed over."""


class Verdict(IntEnum):
    """The one answer; the values are the exit codes."""

    COMPLETE = 0
    PREFIX = 3
    CORRUPT = 4
    UNTRUSTED_KEY = 5
    STALE = 6
    FORK = 7
    RULES = 8
    UNSUPPORTED = 9
    UNDISCLOSED = 10
    UNLOGGED = 13
    """11 and 12 are of events (``referee.tournament.check``)."""
    LOSS = 14


class Layer(StrEnum):
    """The subject of a check, in the order in which the first failure decides."""

    LIMITS = "limits"
    FRAMES = "frames"
    HEADER = "header"
    DECODE = "decode"
    CHAIN = "chain"
    TREE = "tree"
    LOG = "log"
    CHECKPOINT = "checkpoint"
    RECEIPTS = "receipts"
    AUTHORS = "authors"
    DECK = "deck"
    RULES = "rules"
    RESULT = "result"
    PROOFS = "certificates"


_MEANING: dict[Code, tuple[Layer, Verdict]] = {
    Code.LIMIT: (Layer.LIMITS, Verdict.CORRUPT),
    Code.FRAME: (Layer.FRAMES, Verdict.CORRUPT),
    Code.TORN: (Layer.FRAMES, Verdict.PREFIX),
    Code.HEADER: (Layer.HEADER, Verdict.CORRUPT),
    Code.MALFORMED: (Layer.DECODE, Verdict.CORRUPT),
    Code.WRONG_GAME: (Layer.CHAIN, Verdict.CORRUPT),
    Code.STALE_HEAD: (Layer.CHAIN, Verdict.CORRUPT),
    Code.CHECKPOINT: (Layer.TREE, Verdict.CORRUPT),
    Code.NOTE: (Layer.TREE, Verdict.CORRUPT),
    Code.UNLOGGED: (Layer.LOG, Verdict.UNLOGGED),
    Code.NOTE_SIGNATURE: (Layer.CHECKPOINT, Verdict.CORRUPT),
    Code.UNTRUSTED_KEY: (Layer.CHECKPOINT, Verdict.UNTRUSTED_KEY),
    Code.FORK: (Layer.RECEIPTS, Verdict.FORK),
    Code.LOSS: (Layer.RECEIPTS, Verdict.LOSS),
    Code.STALE: (Layer.RECEIPTS, Verdict.STALE),
    Code.KEY: (Layer.AUTHORS, Verdict.CORRUPT),
    Code.AUTHOR: (Layer.AUTHORS, Verdict.CORRUPT),
    Code.AUTHOR_SIGNATURE: (Layer.AUTHORS, Verdict.CORRUPT),
    Code.DECK: (Layer.DECK, Verdict.RULES),
    Code.UNDISCLOSED: (Layer.DECK, Verdict.UNDISCLOSED),
    Code.NOT_AWAITED: (Layer.RULES, Verdict.RULES),
    Code.RULES: (Layer.RULES, Verdict.RULES),
    Code.DIGEST: (Layer.RULES, Verdict.RULES),
    Code.ENGINE: (Layer.RULES, Verdict.UNSUPPORTED),
    Code.UNSUPPORTED: (Layer.RULES, Verdict.UNSUPPORTED),
    Code.RESULT: (Layer.RESULT, Verdict.RULES),
    Code.INCOMPLETE: (Layer.RESULT, Verdict.PREFIX),
    Code.PROOF: (Layer.PROOFS, Verdict.CORRUPT),
    Code.REMARK: (Layer.PROOFS, Verdict.CORRUPT),
    Code.DISPROVED: (Layer.PROOFS, Verdict.RULES),
}
_MOST_NAMED = 10
_SHORTFALLS = (Verdict.LOSS, Verdict.UNDISCLOSED, Verdict.PREFIX, Verdict.UNLOGGED)
"""The shortfalls from the gravest down. Nothing is proven wrong, so any failure outweighs them: a cut must not turn a
forgery into a mere prefix."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The first failure of a layer."""

    layer: Layer
    verdict: Verdict
    code: Code
    what: str
    expected: str
    entry: int | None
    offset: int | None

    @classmethod
    def of(cls, error: LogError, layer: Layer | None = None) -> Finding:
        """Return the finding. ``layer``: where it differs from the code's own."""
        usual, verdict = _MEANING[error.code]
        return cls(layer or usual, verdict, error.code, error.what, error.expected, error.entry, error.offset)

    @property
    def is_shortfall(self) -> bool:
        return self.verdict in _SHORTFALLS

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code.value,
            "verdict": self.verdict.name,
            "what": self.what,
            "expected": self.expected,
            "entry": self.entry,
            "offset": self.offset,
        }

    def words(self, say: Words) -> str:
        """Return the fault in a language: its kind and place, and beside it the English text that says more."""
        if say.language == ENGLISH:
            return f"{self.layer}: {self}"
        places = [say("finding_at.entry", n=self.entry)] if self.entry is not None else []
        places += [say("finding_at.byte", n=self.offset)] if self.offset is not None else []
        return f"{', '.join((say(f'finding.{self.code}'), *places))} {say('original', text=self)}"

    def __str__(self) -> str:
        places = [f"entry {self.entry}"] if self.entry is not None else []
        places += [f"byte {self.offset}"] if self.offset is not None else []
        where = f" at {', '.join(places)}" if places else ""
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{self.code}{where}: {self.what}{expected}"


@dataclass(frozen=True, slots=True)
class SeatStanding:
    """The way in which the key of a seat is known."""

    seat: int
    how: tuple[Said, ...]
    """Parts of one text."""
    key: bytes | None
    """The one that the caller knows from elsewhere, or else the newest."""

    @property
    def standing(self) -> str:
        """``pinned``, ``self-declared``, ``scribed``, ``not joined`` or ``pinned, never joined``."""
        return self.words(IN_ENGLISH)

    def words(self, say: Words) -> str:
        """Return how it is known, in a language."""
        return "".join(part.by(say) for part in self.how)


@dataclass(frozen=True, slots=True)
class CertificateReport:
    """The results of the certificates of a file."""

    policy: str = "NONE"
    """``NONE``, ``REFUSALS`` or ``ALL``: for which entries the terms of the game ask for them."""
    checked: int = 0
    """The number that prove the referee's verdict on their entries."""
    failed: int = 0
    """The number that prove nothing, or the opposite."""
    not_compared: int = 0
    """The number for entries whose position is not known, as the game could not be followed so far."""
    wanted: int = 0
    """The number that the terms ask for, as far as the game could be followed."""
    lacking: tuple[int, ...] = ()
    """Entries that lack one that the terms ask for, as far as the game could be followed."""

    def as_json(self) -> dict[str, Any]:
        return {
            "terms": self.policy,
            "checked": self.checked,
            "failed": self.failed,
            "not_compared": self.not_compared,
            "wanted": self.wanted,
            "lacking": list(self.lacking),
        }

    def as_text(self) -> str:
        return f"certificates: {self.words(IN_ENGLISH)}"

    def words(self, say: Words) -> str:
        """Return the results in a language."""
        return self.said.by(say)

    @property
    def said(self) -> Said:
        """The results in words."""
        failed = Said("certificates.failed", {"n": self.failed}) if self.failed else ""
        in_all = Said("certificates.in_all", {"policy": self.policy, "n": self.wanted})
        asked = in_all if self.wanted else self.policy
        return Said("certificates", {"n": self.checked, "failed": failed, "asked": asked})

    def comments(self) -> Iterator[Phrase]:
        """Yield oddities that are not wrong, and the remedies."""
        if self.failed:
            yield phrase(
                "certificates are not signed, and no entry depends on them: `referee reprove FILE` renews them"
            )
        if self.lacking:
            shown, more = ", ".join(map(str, self.lacking[:_MOST_NAMED])), len(self.lacking) - _MOST_NAMED
            entries = phrase("{entries} and {n} more", entries=shown, n=more) if more > 0 else shown
            yield phrase("the terms ask for certificates; missing for entry {entries}", entries=entries)
        if self.not_compared:
            what = "{n} certificates belong to entries whose position is not known"
            yield phrase(what, n=self.not_compared)


@dataclass(frozen=True, slots=True)
class LoggedHead:
    """A head of the file that a public log has, and the witnesses who have seen it there."""

    size: int
    """Entries of the file that it is of."""
    origin: str
    """The log."""
    index: int
    """The index of its entry in the log."""
    cosigned: Mapping[str, int]
    """The times when witnesses signed, in seconds since the Epoch, by the policy's names."""
    quorum_s: int | None
    """The time when a quorum of them had signed; None if the policy asks for none."""

    def __str__(self) -> str:
        where = f"{counted(self.size, 'entry', 'entries')} as entry {self.index} of {self.origin}"
        if not self.cosigned:
            return f"{where}, cosigned by no witness"
        since = f", by a quorum at {moment_utc(1000 * self.quorum_s)}" if self.quorum_s is not None else ""
        return f"{where}, cosigned by {', '.join(self.cosigned)}{since}"

    def as_json(self) -> dict[str, Any]:
        return {
            "size": self.size,
            "origin": self.origin,
            "index": self.index,
            "cosigned": dict(self.cosigned),
            "quorum_s": self.quorum_s,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an audit. COMPLETE if there are no findings."""

    findings: tuple[Finding, ...]
    """The first of each layer, in the order of layers."""
    entries: int
    """Whole entries that the file holds."""
    signed_entries: int
    """Entries that a checkpoint with a good signature covers."""
    head: Checkpoint | None
    """The file's last checkpoint, if its signature and its root are right."""
    checked: dict[Layer, int]
    """The entries looked at, by layer that goes entry by entry; for the rules, the entries accepted."""
    game_id: bytes | None
    rules: tuple[str, int] | None
    options: Mapping[str, Plain]
    """The options that differ from the defaults: games under other options are not the same game."""
    chance: str
    """``dealt``, ``declared`` or ``unknown``."""
    deck_checked: bool
    """Every chance event was recomputed from the committed deck."""
    seats: tuple[SeatStanding, ...]
    course: Mapping[str, Fact]
    """The progress of the file's event; empty: the file is of a game."""
    result: Result | None
    """The game's result, entered or not; None: the game is not over, or could not be followed so far."""
    contest: Contest
    """The effect on it of resignations, flags, penalties and rulings."""
    is_over: bool
    """The result is entered."""
    waits: Wait | None
    """The reason why it is not entered yet, if there is one."""
    proofs: CertificateReport
    comments: tuple[str | Phrase, ...]
    """Oddities that are not wrong. Comments by the rules of the game or its components are in English alone."""
    logged: tuple[LoggedHead, ...] = ()
    """Heads of the file that the public log has, as far as proofs show; the longest first."""

    @property
    def is_logged(self) -> bool:
        """True if a proof shows that the public log has the file's last head."""
        return self.head is not None and any(each.size == self.head.size for each in self.logged)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The comments in English."""
        return tuple(map(str, self.comments))

    @property
    def drawn(self) -> Said:
        """The source of draws and rolls."""
        key = f"log.chance{'.deck' if self.deck_checked else ''}"
        return Said(key, {"chance": Said(f"chance.{self.chance}")})

    @property
    def ending(self) -> str:
        """The ending, such as ``ENDING_RESIGNED``; empty as long as no end is entered."""
        return self.result.ending.log_name if self.result is not None and self.is_over else ""

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by seat, of an end that is entered and gives some."""
        return self.result.scores if self.result is not None and self.is_over else ()

    @property
    def places(self) -> tuple[int, ...]:
        """Place by seat, of an end that is entered and gives some."""
        return self.result.places if self.result is not None and self.is_over else ()

    @property
    def outcome(self) -> str:
        """The winner and the reason, in words."""
        return outcome(self.result, self.contest, waits=self.waits)

    @property
    def decisive(self) -> Finding | None:
        """The finding that makes the verdict: the first failure, else the first shortfall."""
        failures = [f for f in self.findings if not f.is_shortfall]
        shortfalls = [f for verdict in _SHORTFALLS for f in self.findings if f.verdict is verdict]
        return next(iter([*failures, *shortfalls]), None)

    @property
    def verdict(self) -> Verdict:
        decisive = self.decisive
        return Verdict.COMPLETE if decisive is None else decisive.verdict

    @property
    def exit_code(self) -> int:
        return int(self.verdict)

    def as_json(self) -> str:
        decisive = self.decisive
        found = {finding.layer: finding for finding in self.findings}
        layers = [
            {
                "layer": layer.value,
                "entries_checked": self.checked.get(layer),
                "finding": found[layer].as_json() if layer in found else None,
            }
            for layer in Layer
        ]
        value = {
            "verdict": self.verdict.name,
            "exit_code": self.exit_code,
            "entry": decisive.entry if decisive else None,
            "offset": decisive.offset if decisive else None,
            "entries": self.entries,
            "signed_entries": self.signed_entries,
            "game_id": self.game_id.hex() if self.game_id else None,
            "rules": {"id": self.rules[0], "version": self.rules[1]} if self.rules else None,
            "options": dict(self.options),
            "chance": self.chance,
            "deck_checked": self.deck_checked,
            "seats": [
                {"seat": s.seat, "standing": s.standing, "key": s.key.hex() if s.key else None} for s in self.seats
            ],
            "event": dict(self.course) or None,
            "result": self._result(),
            "ending": self.ending,
            "scores": list(self.scores),
            "places": list(self.places),
            "certificates": self.proofs.as_json(),
            "logged": [head.as_json() for head in self.logged],
            "layers": layers,
            "comments": list(self.remarks),
        }
        return json.dumps(value, indent=2, default=str)

    def as_text(self) -> str:
        lines = [self.headline]
        lines += [f"  {finding.layer}: {finding}" for finding in self.findings]
        if self.game_id and self.rules:
            what = (
                f"event {self.game_id.hex()}, rules" if self.course else f"game {self.game_id.hex()}, {self.rules[0]}"
            )
            lines.append(f"{what} version {self.rules[1]}")
        if self.options:
            lines.append(f"options: {words(self.options)}")
        lines.append(f"{self.entries} entries, {self.signed_entries} under a signed checkpoint")
        lines += self._of_event() if self.course else self._of_seats()
        if self.result is not None:
            lines.append(f"result: {self.outcome}")
        if self.result is not None and self.is_over:
            scores = f", scores {list(self.scores)}" if self.scores else ""
            places = f", places {list(self.places)}" if self.places else ""
            lines.append(f"ending: {self.result.ending.words}{scores}{places}")
        if self.proofs != CertificateReport():
            lines.append(self.proofs.as_text())
        lines += [f"logged: {head}" for head in self.logged]
        lines += [f"comment: {remark}" for remark in self.remarks]
        return "".join(f"{printable(line)}\n" for line in lines)

    def _of_event(self) -> Iterator[str]:
        yield ", ".join(f"{what.replace('_', ' ')}: {found}" for what, found in self.course.items())
        yield "`referee event check FILE --games DIR` compares the results with the logs of the games"

    def _of_seats(self) -> Iterator[str]:
        deck = ", recomputed from the committed deck" if self.deck_checked else ""
        yield f"chance: {self.chance}{deck}"
        for seat in self.seats:
            key = f" {seat.key.hex()}" if seat.key else ""
            yield f"{players([seat.seat])}: {seat.standing}{key}"

    def _result(self) -> dict[str, Any] | None:
        if self.result is None:
            return None
        return {
            "ending": self.result.ending.name,
            "winners": list(self.result.winners),
            "scores": list(self.result.scores),
            "places": list(self.result.places),
            "entered": self.is_over,
            "waits": self.waits is not None,
            "outcome": self.outcome,
        }

    @property
    def headline(self) -> str:
        """The verdict, and where the file is wrong."""
        return self.headed(IN_ENGLISH)

    def headed(self, say: Words) -> str:
        """Return the same in a language."""
        verdict = say(f"verdict.is.{self.verdict.name}", n=self.entries)
        entry = None if self.decisive is None or self.verdict is Verdict.PREFIX else self.decisive.entry
        return verdict if entry is None else say("verdict.at", verdict=verdict, n=entry)
