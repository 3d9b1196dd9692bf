"""The check of a tournament's file by anyone who has it: the audit, the rules, the games behind the results.

``referee.tournament.rules`` judges every act, as the audit replays the log; nothing of the pairing is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, cast

from referee.games.game import InputError
from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import LogError, RulesError
from referee.log.events import Moved
from referee.log.file import regular
from referee.log.intent import game_id
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.log.verdict import Policy, Report, Verdict
from referee.text.notation.outcomes import counted
from referee.text.notation.questions import QueryError, parse
from referee.tournament import trf, trf_acts
from referee.tournament.document import Read, read
from referee.tournament.game_logs import Auditor, LogRead, Where, audit_alone, read_game
from referee.tournament.log import EventLog, event_id
from referee.tournament.rebuild import differences, rebuild
from referee.tournament.rules import TOURNAMENT, State
from referee.tournament.rules.acts import Result
from referee.tournament.rules.scoring import Scores
from referee.tournament.words import signer, told_broken

TRF: Final = ".trf"
PAIRING: Final = 11
STANDINGS: Final = 12
_PAIRING_RULES: Final = ("EVT-P", "EVT-O", "EVT-B", "EVT-K")
_STANDING_RULES: Final = ("EVT-S",)
_GAMES: Final = "*.gamelog"
_DAMAGED: Final = (Verdict.CORRUPT, Verdict.FORK, Verdict.STALE)
_WHOLE: Final = (Verdict.COMPLETE, Verdict.PREFIX, Verdict.UNLOGGED)
_NO_KEY: Final = "no --games-key was given: the referee of the games is not known"
_MOST_BYTES: Final = 16 * 1024 * 1024
"""The largest document that is read."""


@dataclass(frozen=True)
class EventReport:
    """The findings of a check."""

    audit: Report
    broken: str = ""
    """The rule that the first unlawful act breaks, in words."""
    broken_code: int = 0
    """``PAIRING``, ``STANDINGS`` or that of RULES; 0: none."""
    games: tuple[str, ...] = ()
    """Faults of games, a line each."""
    audited: int = 0
    """Results that an audited log of this table gives."""
    unplaced: int = 0
    """Results that an audited log gives which may be any table's."""
    by_sheet: int = 0
    """Results that no log gives."""
    not_found: int = 0
    """Results whose log is not among the games, or that were not asked for."""
    logged: int | None = None
    """Results whose log was found in the public log; None: this was not asked for."""
    unlogged: tuple[str, ...] = ()
    """Games that should be there and are not shown to be, a line each."""
    signed: Mapping[int, int] = field(default_factory=dict)
    """The number of acts that each possible signer has signed, by number in the log; empty: not known."""
    remarks: tuple[str, ...] = field(default=())

    @property
    def exit_code(self) -> int:
        """0 if all holds. A file that is damaged says nothing for sure; that its key is not known hides no rule."""
        damaged = self.audit.decisive is not None and self.audit.decisive.verdict in _DAMAGED
        if self.broken_code and not damaged:
            return self.broken_code
        if self.audit.verdict not in _WHOLE:
            return self.audit.exit_code
        if self.games:
            return int(Verdict.RULES)
        return self.audit.exit_code or int(Verdict.UNLOGGED if self.unlogged else Verdict.COMPLETE)

    @property
    def verdict(self) -> str:
        """The exit code's name."""
        return _named(self.exit_code)

    def lines(self) -> Iterator[str]:
        """Yield what a person reads."""
        where = f" at entry {self._entry}" if self.broken_code and self._entry is not None else ""
        yield f"{self.verdict}{where}"
        if self.broken:
            yield f"  {self.broken}"
        yield from (f"  {finding.layer}: {finding}" for finding in self.audit.findings)
        yield from (f"  {line}" for line in (*self.games, *self.unlogged))
        yield f"{self.audit.entries} entries, {self.audit.signed_entries} under a signed checkpoint"
        sheets = f", {self.by_sheet} by sheet, for which only the organiser vouches" if self.by_sheet else ""
        missing = f", {self.not_found} whose log was not given" if self.not_found else ""
        unplaced = f", {self.unplaced} with one that does not say for which table" if self.unplaced else ""
        logged = f", {self.logged} of which the public log has" if self.logged is not None else ""
        yield f"results: {self.audited} with an audited log{logged}{unplaced}{sheets}{missing}"
        yield from (f"logged: {head}" for head in self.audit.logged)
        if len(self.signed) > 1:
            yield f"acts: {', '.join(f'{acts} by {signer(scribe)}' for scribe, acts in self.signed.items())}"
        yield from (f"comment: {remark}" for remark in (*self.audit.remarks, *self.remarks))

    @property
    def _entry(self) -> int | None:
        return self.audit.decisive.entry if self.audit.decisive else None

    def as_json(self) -> str:
        """Return the same as one document."""
        value = {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "entry": self._entry,
            "broken": self.broken,
            "games": list(self.games),
            "unlogged": list(self.unlogged),
            "results": {
                "audited": self.audited,
                "unplaced": self.unplaced,
                "by_sheet": self.by_sheet,
                "not_found": self.not_found,
                "logged": self.logged,
            },
            "signed": {signer(scribe): acts for scribe, acts in self.signed.items()},
            "audit": json.loads(self.audit.as_json()),
        }
        return json.dumps(value, indent=2) + "\n"


def check_event(
    path: Path, policy: Policy, games: Path | None, games_policy: Policy, auditor: Auditor | None = None
) -> EventReport:
    """Check a file, and with ``games`` the logs below that folder. Raise ``InputError``, ``OSError``.

    ``auditor``: looks for each file in the public log as well.
    """
    report = (auditor or audit_alone)(path, policy)
    if report.rules is not None and report.rules[0] != TOURNAMENT.rules_id:
        raise InputError(str(path), f"a game of {report.rules[0]}", "an event's file")
    state, broken, signed = _replayed(path)
    if broken is not None:
        return EventReport(report, told_broken(broken.violations), _code_of(broken.rule_ids))
    if state is None:
        return EventReport(report)
    found = _Games(state, report.game_id or b"", {} if games is None else _indexed(games), games_policy)
    found.compare(auditor or audit_alone)
    return EventReport(
        report,
        games=tuple(found.wrong),
        audited=found.audited,
        unplaced=found.unplaced,
        by_sheet=found.by_sheet,
        not_found=found.not_found,
        logged=None if auditor is None or games is None else found.logged,
        unlogged=tuple(found.unlogged),
        signed=signed,
        remarks=(_NO_KEY,) if found.audited + found.unplaced and games_policy.verifier is None else (),
    )


def check_document(path: Path, encoding: str = trf.ENCODING) -> DocumentReport:
    """Check an event.json or a TRF, of this program or another. Raise ``InputError``, ``OSError``.

    ``encoding``: of a TRF.
    """
    if path.suffix.lower() == TRF:
        return _check_trf(path, encoding)
    said = read_json(path)
    log = EventLog.new(said.terms, PrivateKey.generate())
    try:
        rebuild(log, said)
    except RulesError as error:
        return DocumentReport(_code_of(error.rule_ids), (told_broken(error.violations),))
    wrong = tuple(differences(log.state, said))
    return DocumentReport(STANDINGS if wrong else 0, wrong, len(log.state.rounds))


def _check_trf(path: Path, encoding: str) -> DocumentReport:
    report = read_report(path, encoding)
    with _about(path):
        said = trf_acts.acts(report, sha256(path.read_bytes()).digest())
    log = EventLog.new(said.terms, PrivateKey.generate())
    remarks = tuple(trf_acts.meetings_again(report))
    try:
        rebuild(log, said)
    except RulesError as error:
        return DocumentReport(_code_of(error.rule_ids), (told_broken(error.violations),), remarks=remarks)
    wrong = tuple(trf_acts.disagreements(report, Scores(log.state, log.state.rounds).points))
    return DocumentReport(STANDINGS if wrong else 0, wrong, len(log.state.rounds), remarks)


def read_document(path: Path, seed: bytes, encoding: str = trf.ENCODING) -> Read:
    """Return what an event.json or a TRF says. ``seed``: for the lots of a TRF. Raise ``InputError``, ``OSError``."""
    if path.suffix.lower() != TRF:
        return read_json(path)
    report = read_report(path, encoding)
    with _about(path):
        return trf_acts.acts(report, seed)


def read_report(path: Path, encoding: str) -> trf.TrfReport:
    """Return what a TRF says. Raise ``InputError``, ``OSError``."""
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(str(path), "too large", f"at most {_MOST_BYTES} bytes")
    with _about(path):
        return trf.parsed(path.read_bytes(), encoding)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error.field}", error.what, error.expected) from None


def read_json(path: Path) -> Read:
    """Return what an event.json says. Raise ``InputError``, ``OSError``."""
    try:
        with _about(path):
            return read(parse(path.read_bytes(), _MOST_BYTES))
    except QueryError as error:
        raise InputError(str(path), str(error)) from None


@dataclass(frozen=True)
class DocumentReport:
    """The findings of a document's check. A document is not signed: only the rules can be checked."""

    exit_code: int
    wrong: tuple[str, ...]
    rounds: int = 0
    remarks: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what a person reads."""
        yield _named(self.exit_code)
        yield from (f"  {line}" for line in self.wrong)
        yield from (f"comment: {remark}" for remark in self.remarks)
        yield f"{counted(self.rounds, 'round')} checked; a document is not signed: its author is not known"

    def as_json(self) -> str:
        """Return the same as one document."""
        value = {"verdict": _named(self.exit_code), "exit_code": self.exit_code, "broken": list(self.wrong)}
        value |= {"comments": list(self.remarks)} if self.remarks else {}
        return json.dumps(value, indent=2) + "\n"


def _named(code: int) -> str:
    return {PAIRING: "PAIRING", STANDINGS: "STANDINGS"}.get(code) or Verdict(code).name


def _code_of(ids: Sequence[str]) -> int:
    """Return the exit code for these rules of events: faults of a pairing come first."""
    if any(each.startswith(_PAIRING_RULES) for each in ids):
        return PAIRING
    return STANDINGS if any(each.startswith(_STANDING_RULES) for each in ids) else int(Verdict.RULES)


def _replayed(path: Path) -> tuple[State | None, RulesError | None, Mapping[int, int]]:
    """Return the event as far as it can be followed, what stops it, if that is a rule of events, and who signed."""
    record: Record | None = None
    signed: dict[int, int] = {}
    try:
        with path.open("rb") as stream:
            for data in file.entries(stream):
                if record is None:
                    record = Record(decode_entry(data).open)
                    signed = dict.fromkeys(range(len(record.opened.scribe_keys)), 0)
                if isinstance(event := record.reread(data).event, Moved):
                    signed[event.author.index] += 1
    except RulesError as error:
        return None, error, signed
    except LogError:
        pass  # the audit tells it
    return (None if record is None else cast("State", record.game.position.state)), None, signed


def _indexed(folder: Path) -> Mapping[bytes, Path]:
    """Return the game files below the folder, by the game's id. Files that have none are passed over."""
    found: dict[bytes, Path] = {}
    for path in sorted(folder.rglob(_GAMES)):
        try:
            with regular(path) as stream:
                data = decode_entry(next(file.entries(stream), b"")).open
        except (LogError, OSError):
            continue
        found.setdefault(game_id(data), path)
    return found


class _Games:
    """Every result against the log of its game (EVT-G1, EVT-G2)."""

    def __init__(self, state: State, event: bytes, paths: Mapping[bytes, Path], policy: Policy) -> None:
        self.wrong: list[str] = []
        self.unlogged: list[str] = []
        self.audited = self.unplaced = self.by_sheet = self.not_found = self.logged = 0
        self._state = state
        self._event = event
        self._paths = paths
        self._policy = policy

    def compare(self, auditor: Auditor) -> None:
        """Look at every result."""
        for round_ in self._state.rounds:
            for number, result in sorted(round_.results.items()):
                if result.log is None:
                    self.by_sheet += bool(result.places)
                elif (path := self._paths.get(result.log.game_id)) is None:
                    self.not_found += 1
                else:
                    where = Where(event_id(self._event), round_.number, number)
                    read = read_game(path, self._policy, self._state, where, auditor)
                    wrong = [*self._compare(read, result)]
                    table = f"round {round_.number}, table {number}: {path.name}"
                    self.wrong += [f"{table}: {what}" for what in wrong]
                    self.unlogged += [f"{table}: {read.unlogged}"] if read.unlogged else []
                    self.logged += read.is_logged and not wrong
                    self.audited += read.is_placed and not wrong
                    self.unplaced += not read.is_placed and not wrong

    @staticmethod
    def _compare(read: LogRead, result: Result) -> Iterable[str]:
        yield from read.wrong
        if (found := read.result) is None:
            return
        if found.log != result.log:
            yield "the log has another size or root than the result names (EVT-G2)"
        for name in ("places", "scores", "forfeited"):
            if getattr(found, name) != getattr(result, name):
                yield f"{name} {getattr(result, name)} entered, {getattr(found, name)} in the log (EVT-G2)"
