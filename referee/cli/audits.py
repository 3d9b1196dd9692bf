"""Many game files audited: a line each, as they come, and a summary."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from referee.cli.output import write
from referee.log.audit import Policy, audit
from referee.log.errors import printable
from referee.log.verdict import Report, Verdict
from referee.notation.outcomes import counted

SUFFIX = ".gamelog"
UNREADABLE = "UNREADABLE"
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

    @property
    def verdict(self) -> str:
        return UNREADABLE if self.report is None else self.report.verdict.name


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
    return Audited(path, report, str(report.decisive or ""))


def audit_all(paths: Sequence[Path], policy: Policy) -> Iterator[Audited]:
    """Audit all, in the order of the paths, in as many processes as there are processors."""
    processes = min(os.cpu_count() or 1, len(paths) // _FILES_A_PROCESS)
    if processes < 2:
        yield from (audit_file(path, policy) for path in paths)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(audit_file, policy=policy), paths, chunksize=_FILES_A_PROCESS)


def tell(folder: Path, paths: Sequence[Path], policy: Policy, *, as_json: bool) -> int:
    """Print them, with a progress bar where somebody looks; the exit code is that of the gravest verdict."""
    console = Console(stderr=True)
    found: Counter[str] = Counter()
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        for one in progress.track(audit_all(paths, policy), total=len(paths), description="audit"):
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
    return f"{one.verdict:<13} {name}{entries}" + (f": {one.problem}" if one.problem else "") + "\n"


def _as_json(one: Audited, folder: Path) -> str:
    report = json.loads(one.report.as_json()) if one.report else {"verdict": UNREADABLE, "problem": one.problem}
    return json.dumps({"file": str(one.path.relative_to(folder)), **report}, separators=(",", ":")) + "\n"
