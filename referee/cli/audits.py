"""Many game files audited: a line each, as they come, and a summary."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from referee.cli.output import write
from referee.console import printable
from referee.log.audit import Policy, audit
from referee.log.errors import LogError
from referee.log.fork import find_fork, read_side
from referee.log.note import VerifierKey
from referee.log.verdict import Report, Verdict
from referee.notation.outcomes import counted

SUFFIX = ".gamelog"
UNREADABLE = "UNREADABLE"
_TOO_LITTLE = "not audited: the process ended before it was done, as a rule for want of memory; audit this file alone"
_FILES_A_PROCESS = 4
"""For fewer a process does not pay for its start."""
GRAVITY = (
    Verdict.FORK,
    Verdict.RULES,
    Verdict.CORRUPT,
    Verdict.UNTRUSTED_KEY,
    Verdict.STALE,
    Verdict.UNDISCLOSED,
    Verdict.UNSUPPORTED,
    Verdict.PREFIX,
)
"""Of several verdicts the first of these decides the exit code."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What became of one file."""

    path: Path
    report: Report | None
    """None: it could not be read."""
    problem: str = ""
    """Why not, or what decides the verdict; empty if all is well."""
    again: Again | None = None
    """If an earlier file is of the same game."""

    @property
    def verdict(self) -> str:
        if self.again is not None and self.again.fork:
            return Verdict.FORK.name
        return UNREADABLE if self.report is None else self.report.verdict.name


@dataclass(frozen=True, slots=True)
class Again:
    """How a file stands to an earlier one of its game."""

    path: Path
    """The earlier one; of several, the longest."""
    more: int
    """Entries that the referee signed for in this file beyond the earlier one's."""
    fork: str = ""
    """What shows two histories, if there are two."""

    def words(self, name: str) -> str:
        """Return it as a person reads it. ``name``: of the earlier file."""
        if self.fork:
            return f"another history than {name}: {self.fork}; `referee prove-fork` with both files writes the evidence"
        if not self.more:
            return f"the same game as {name}"
        size = counted(abs(self.more), "entry", "entries")
        return f"the same game as {name}, {size} {'more' if self.more > 0 else 'fewer'}"


def files_below(folder: Path) -> list[Path]:
    """Return every game file, at any depth, in the order of their names."""
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def audit_file(path: Path, policy: Policy) -> Audited:
    """Audit one file; nothing that it holds raises."""
    try:
        with path.open("rb") as stream:
            report = audit(stream, policy)
    except OSError as error:
        return Audited(path, None, str(error.strerror))
    except MemoryError:
        return Audited(path, None, _TOO_LITTLE)
    return Audited(path, report, str(report.decisive or ""))


def audit_all(paths: Sequence[Path], policy: Policy) -> Iterator[Audited]:
    """Audit all, in the order of the paths, in as many processes as there are processors.

    A process that ends (too little memory, a crash) costs the file that it audited, and no other.
    """
    processes = max(1, min(os.cpu_count() or 1, len(paths) // _FILES_A_PROCESS))
    one = partial(audit_file, policy=policy)
    done = 0
    while done < len(paths):
        try:
            with _pool(processes) as pool:
                for audited in pool.map(one, paths[done:], chunksize=_FILES_A_PROCESS):
                    yield audited
                    done += 1
        except BrokenProcessPool:
            # It was one of the files that were under way.
            suspects = paths[done : done + processes * _FILES_A_PROCESS]
            yield from _one_at_a_time(suspects, policy)
            done += len(suspects)


def _one_at_a_time(paths: Sequence[Path], policy: Policy) -> Iterator[Audited]:
    waiting = deque(paths)
    while waiting:
        with _pool(1) as pool:
            try:
                while waiting:
                    yield pool.submit(audit_file, waiting[0], policy).result()
                    waiting.popleft()
            except BrokenProcessPool:
                yield Audited(waiting.popleft(), None, _TOO_LITTLE)


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


class _Games:
    """The longest file of every game so far."""

    def __init__(self, verifier: VerifierKey | None) -> None:
        self._verifier = verifier
        self._paths: dict[bytes, Path] = {}

    def compared(self, one: Audited) -> Audited:
        """Return the same with how it stands to an earlier file of its game, as far as the referee signed for both."""
        if self._verifier is None or one.report is None or not one.report.signed_entries:
            return one
        game_id = one.report.game_id or b""
        earlier = self._paths.setdefault(game_id, one.path)
        if earlier == one.path:
            return one
        try:
            theirs, ours = (read_side(path.read_bytes(), self._verifier) for path in (earlier, one.path))
            fork = find_fork(theirs, ours)
        except (LogError, OSError):  # the file's own verdict says what is wrong with it
            return one
        again = Again(earlier, ours.checkpoint.size - theirs.checkpoint.size, fork.what if fork is not None else "")
        if again.more > 0 and not again.fork:
            self._paths[game_id] = one.path
        return replace(one, again=again)


def tell(folder: Path, paths: Sequence[Path], policy: Policy, *, as_json: bool) -> int:
    """Print them, with a progress bar where somebody looks; the exit code is that of the gravest verdict."""
    console = Console(stderr=True)
    found: Counter[str] = Counter()
    games = _Games(policy.verifier)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        for each in progress.track(audit_all(paths, policy), total=len(paths), description="audit"):
            one = games.compared(each)
            found[one.verdict] += 1
            write(_as_json(one, folder) if as_json else _as_text(one, folder))
    if not as_json:
        listed = ", ".join(f"{count} {verdict}" for verdict, count in found.most_common())
        write(f"{counted(len(paths), 'file')}: {listed}\n")
    if found[UNREADABLE]:
        return 1
    return next((int(verdict) for verdict in GRAVITY if found[verdict.name]), int(Verdict.COMPLETE))


def _as_text(one: Audited, folder: Path) -> str:
    name = printable(str(one.path.relative_to(folder)))
    entries = f", {one.report.entries} entries" if one.report else ""
    again = one.again.words(printable(str(one.again.path.relative_to(folder)))) if one.again else ""
    rest = "; ".join(words for words in (one.problem, again) if words)
    return f"{one.verdict:<13} {name}{entries}" + (f": {rest}" if rest else "") + "\n"


def _as_json(one: Audited, folder: Path) -> str:
    report = json.loads(one.report.as_json()) if one.report else {"verdict": UNREADABLE, "problem": one.problem}
    if one.again is not None:
        earlier = str(one.again.path.relative_to(folder))
        report |= {"again": {"file": earlier, "more_entries": one.again.more, "fork": one.again.fork}}
        report |= {"verdict": Verdict.FORK.name, "exit_code": int(Verdict.FORK)} if one.again.fork else {}
    return json.dumps({"file": str(one.path.relative_to(folder)), **report}, separators=(",", ":")) + "\n"
