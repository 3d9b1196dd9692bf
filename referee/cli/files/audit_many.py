"""``referee audit`` of many game files: each in a process that may die, a line each in order, and a summary."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

import referee as program
from referee.cli.shared.bulk import FILE, GRAVITY, Listing, jobs_of, telling
from referee.cli.shared.failure import EXIT_FAILED
from referee.cli.shared.output import write
from referee.console import printable
from referee.log.errors import LogError
from referee.log.file import regular
from referee.log.file_audit import UNREADABLE, Question, audited, unreadable
from referee.log.fork import find_fork, read_side
from referee.log.note import VerifierKey
from referee.log.public.evidence import Demand, audit_with_log, proofs_beside
from referee.log.verdict import Policy, Verdict
from referee.process.bulk.isolation import Limits
from referee.process.bulk.progress import Meter, metered
from referee.process.bulk.results import PROGRAM, Head, Journal, Line, Merged, ResultsError, Shard
from referee.process.bulk.run import Done, place, run
from referee.text.notation.outcomes import counted


@dataclass(frozen=True, slots=True)
class Again:
    """The relation of a file to an earlier one of its game."""

    name: str
    """The name of the earlier one; of several, the longest."""
    more: int
    """Entries that the referee signed for in this file beyond the earlier one's."""
    fork: str = ""
    """The evidence of two histories, if there are two."""
    declared_by: int | None = None
    """The entry in which one of the two histories declares the other one lost."""

    def words(self) -> str:
        """Return it as a person reads it."""
        name = printable(self.name)
        if self.declared_by is not None:
            return f"another history than {name}: {self.fork}; entry {self.declared_by} declares this loss"
        if self.fork:
            return f"another history than {name}: {self.fork}; `referee prove-fork` with both files writes the evidence"
        if not self.more:
            return f"the same game as {name}"
        size = counted(abs(self.more), "entry", "entries")
        return f"the same game as {name}, {size} {'more' if self.more > 0 else 'fewer'}"


@dataclass(frozen=True, slots=True)
class _Earlier:
    name: str
    digest: str


class Games:
    """The longest file of every game so far."""

    def __init__(self, folder: Path, verifier: VerifierKey | None) -> None:
        self._folder = folder
        self._verifier = verifier
        self._longest: dict[str, _Earlier] = {}
        self.not_compared: list[tuple[str, str]] = []
        """Files of one game that are not here, or have changed since they were audited."""

    def compared(self, line: Line) -> Again | None:
        """Return how a file stands to an earlier one of its game, as far as the referee signed for both."""
        if self._verifier is None or not line.get("signed_entries"):
            return None
        one = _Earlier(line[FILE], line["sha256"])
        earlier = self._longest.setdefault(line["game_id"], one)
        if earlier is one:
            return None
        if earlier.digest == one.digest:
            return Again(earlier.name, 0)
        both = [self._read(each) for each in (earlier, one)]
        if None in both:
            self.not_compared.append((earlier.name, one.name))
            return None
        try:
            theirs, ours = (read_side(data or b"", self._verifier) for data in both)
            fork = find_fork(theirs, ours)
        except LogError:  # the file's own verdict says what is wrong with it
            return None
        more = ours.checkpoint.size - theirs.checkpoint.size
        again = Again(earlier.name, more, fork.what, fork.declared_by) if fork else Again(earlier.name, more)
        if again.more > 0 and not again.fork:
            self._longest[line["game_id"]] = one
        return again

    def _read(self, one: _Earlier) -> bytes | None:
        """Return what was audited."""
        try:
            with regular(self._folder / one.name) as stream:
                data = stream.read()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == one.digest else None


class Summary:
    """Prints lines and counts their verdicts."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._found: Counter[str] = Counter()

    def tell(self, line: Line, again: Again | None, *, plain: bool = True) -> None:
        """Print a line. ``plain``: also of a file of which there is nothing to say."""
        verdict = _verdict(line, again)
        self._found[verdict] += 1
        if self._as_json:
            write(_as_json(line, again))
        elif plain or again is not None or verdict != Verdict.COMPLETE.name:
            write(_as_text(line, verdict, again))

    def end(self) -> int:
        """Print how many there are of each verdict; return the exit code, which is that of the gravest."""
        if not self._as_json:
            listed = ", ".join(f"{count} {verdict}" for verdict, count in self._found.most_common())
            write(f"{counted(self._found.total(), 'file')}: {listed}\n")
        if self._found[UNREADABLE]:
            return 1
        return next((int(verdict) for verdict in GRAVITY if self._found[verdict.name]), int(Verdict.COMPLETE))


def _verdict(line: Line, again: Again | None) -> str:
    """Return the graver verdict of the file alone and beside an earlier file of its game."""
    alone = str(line["verdict"])
    if again is None or not again.fork:
        return alone
    beside = Verdict.FORK if again.declared_by is None else Verdict.LOSS
    graver = {verdict.name for verdict in GRAVITY[: GRAVITY.index(beside)]} | {UNREADABLE}
    return alone if alone in graver else beside.name


def _as_text(line: Line, verdict: str, again: Again | None) -> str:
    entries = f", {line['entries']} entries" if "entries" in line else ""
    rest = "; ".join(words for words in (line["problem"], again.words() if again else "") if words)
    return f"{verdict:<13} {printable(line[FILE])}{entries}" + (f": {rest}" if rest else "") + "\n"


def _as_json(line: Line, again: Again | None) -> str:
    more: dict[str, Any] = {}
    if again is not None:
        more["again"] = {
            "file": again.name,
            "more_entries": again.more,
            "fork": again.fork,
            **({} if again.declared_by is None else {"declared_by": again.declared_by}),
        }
        verdict = _verdict(line, again)
        more |= {"verdict": verdict, "exit_code": int(Verdict[verdict])} if verdict != line["verdict"] else {}
    return json.dumps(line | more, separators=(",", ":")) + "\n"


_COMMAND: Final = "audit"
_WHOLE: Final = Shard()
_MEMORY_MIB: Final = 512
_START_S, _S_A_MIB = 20.0, 10.0
"""The most time of an audit (docs/security.md), with a reserve for a busy machine."""
_FILES_A_PROCESS: Final = 4
"""The number of files below which a process does not pay for its start."""
_PROOFS: Final = "proofs"
"""The key of the SHA-256 of the proofs beside the file, in a line with --log-policy."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of an audit of many files."""

    shard: Shard = _WHOLE
    resume: Path | None = None
    jobs: int | None = None
    on: str | None = None
    send: bool = False
    """Send the files to the machines of the cluster."""
    memory_mib: int = _MEMORY_MIB
    seconds: float | None = None
    """The time limit for one file; None: by its size."""
    as_json: bool = False
    demand: Demand | None = None
    """The public log that the files should be in; None: this is not checked."""


class _Audits:
    """One run: files may be done in any order, and are printed in that of the names."""

    def __init__(self, listing: Listing, policy: Policy, options: Options) -> None:
        self._folder = listing.folder
        self._names = [name for name in listing.names if options.shard.has(name)]
        self._policy = policy
        self._options = options
        self._games = Games(listing.folder, policy.verifier)
        self._summary = Summary(as_json=options.as_json)
        self._next = 0
        """The number of printed files."""
        self._early: dict[str, Line] = {}
        """The lines that are done before their turn."""

    def run(self, listing: Listing) -> int:
        """Audit and print all; return the exit code. Raise ``BulkError``."""
        options = self._options
        jobs = jobs_of(options.jobs, len(self._names), _FILES_A_PROCESS)
        what = {"command": _COMMAND, "key": str(self._policy.verifier)}
        if options.demand is not None:
            what["log"] = sha256(repr(options.demand).encode()).hexdigest()
        mine, whole = len(self._names), len(listing.names)
        head = Head(what, FILE, program.__version__, options.shard, mine, whole, listing.digest)
        with ExitStack() as stack:
            journal = stack.enter_context(Journal(options.resume, head)) if options.resume else None
            where = stack.enter_context(place(options.on, jobs))
            meter = stack.enter_context(metered(len(self._names), FILE))
            run(
                where,
                audited,
                self._questions(journal, meter),
                partial(self._take, journal, meter),
                total=len(self._names),
                limits=self._limits,
            )
        return self._summary.end()

    def _questions(self, journal: Journal | None, meter: Meter) -> Iterator[Question]:
        """Yield the files of which there is no line; the lines of the others are taken at once."""
        for name in self._names:
            question = self._question(name)
            if journal is not None and (line := journal.done(name, partial(self._is_of, question))) is not None:
                meter.add(before=True)
                self._tell(line)
            else:
                yield replace(question, data=self._data(self._folder / name))

    def _question(self, name: str) -> Question:
        path = self._folder / name
        question = Question(name, str(path.absolute()), self._policy)
        if (demand := self._options.demand) is None:
            return question
        # The proof is read here, as it is small and the file may be sent elsewhere.
        proofs = proofs_beside(path)
        about = {_PROOFS: [sha256(proof).hexdigest() for proof in proofs]}
        return replace(question, auditor=partial(audit_with_log, demand=demand, proofs=proofs), about=about)

    def _is_of(self, question: Question, line: Line) -> bool:
        """Return whether file and proof are still those that an old line is about."""
        return line.get(_PROOFS) == question.about.get(_PROOFS) and line.get("sha256") == self._digest(question.name)

    def _data(self, path: Path) -> bytes | None:
        if not self._options.send:
            return None
        try:
            with regular(path) as stream:
                return stream.read()
        except OSError:
            return None  # the audit there finds that the file cannot be read

    def _digest(self, name: str) -> str:
        try:
            with regular(self._folder / name) as stream:
                return file_digest(stream, "sha256").hexdigest()
        except OSError:
            return ""

    def _limits(self, question: Question) -> Limits:
        if (seconds := self._options.seconds) is None:
            with suppress(OSError):
                seconds = _START_S + _S_A_MIB * os.stat(question.path).st_size / (1 << 20)  # noqa: PTH116 - as above
        return Limits(self._options.memory_mib, seconds or _START_S)

    def _take(self, journal: Journal | None, meter: Meter, done: Done[Question, Line]) -> None:
        line: Line = {FILE: done.task.name, PROGRAM: program.__version__, **done.task.about}
        if done.lost is not None:
            line |= unreadable(f"not audited, tried twice: {done.lost.words}", done.lost.why)
        line |= done.result or {}
        if journal is not None:
            journal.write(line)
        meter.add(lost=line["verdict"] == UNREADABLE)
        self._tell(line)

    def _tell(self, line: Line) -> None:
        self._early[line[FILE]] = line
        while self._next < len(self._names) and (due := self._early.pop(self._names[self._next], None)) is not None:
            self._next += 1
            self._summary.tell(due, self._games.compared(due))


def audit_all(listing: Listing, policy: Policy, options: Options) -> int:
    """Audit the files and print a line for each; return the exit code. Raise ``BulkError``."""
    return _Audits(listing, policy, options).run(listing)


def merge(paths: Sequence[Path], folder: Path, key: VerifierKey | None, *, as_json: bool) -> int:
    """Print what the runs of several shards come to; return the exit code. Raise ``Failure``.

    ``folder``: where files of one game are compared.
    """
    with telling(FILE), Merged(paths) as merged:
        return _merge(merged, folder, key, as_json=as_json)


def _merge(merged: Merged, folder: Path, key: VerifierKey | None, *, as_json: bool) -> int:
    if merged.head.what.get("command") != _COMMAND:
        raise ResultsError("these are not results of `referee audit`; expected files that its --resume has written")
    try:
        verifier = VerifierKey.parse(str(merged.head.what.get("key")))
    except LogError as error:
        raise ResultsError(f"the key in the head of the results: {error}") from None
    if key not in (None, verifier):
        raise ResultsError(f"--key: the files were audited with {verifier}; expected the same key, or none")
    games, summary = Games(folder, verifier), Summary(as_json=as_json)
    for line in merged.lines():
        summary.tell(line, games.compared(line), plain=False)
    code = summary.end()
    problems = [*merged.problems(), *_not_compared(games)]
    for problem in problems:
        print(f"referee: {printable(problem)}", file=sys.stderr)
    return EXIT_FAILED if problems else code


def _not_compared(games: Games) -> Iterator[str]:
    if games.not_compared:
        one, other = games.not_compared[0]
        what = f"{counted(len(games.not_compared), 'pair')} of files of one game, such as {one} and {other}"
        yield f"not compared: {what}; expected them below --folder, as they were audited"
