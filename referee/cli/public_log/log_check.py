"""``referee log check``: the whole of a log recomputed."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from referee.cli.public_log.log_reading import EMPTY, PolicyFile, Where, headline, source, verdict
from referee.cli.shared.log_policy import log_policy
from referee.cli.shared.output import write
from referee.console import printable
from referee.log.errors import Code, LogError
from referee.log.note import MAX_COSIGNED_BYTES
from referee.log.public.check import check_log
from referee.log.public.checkpoint import demand_quorum, open_log_checkpoint
from referee.log.public.folder import CHECKPOINT
from referee.log.public.policy import LogPolicy
from referee.log.public.tiles import Source
from referee.text.notation.outcomes import counted


def check(where: Where, policy: PolicyFile) -> None:
    """Recompute a whole log from its leaves, and name every file that was altered.

    Every bundle is hashed, every tile compared with what is below it, and the root with the one that the log signed.
    Use `referee log watch` to follow a log: it reads only what is new.

    Exit codes: 0 HOLDS; 4 CORRUPT: a file was altered, or is missing; 5 UNTRUSTED_KEY: not signed by a log of the
    policy, or without its quorum; 1 the log cannot be read; 2 wrong usage.

    Example: `referee log check https://club.example/log --policy club.policy`
    """
    trusted = log_policy("--policy", policy)
    problems, lines = list[LogError](), list[str]()
    try:
        with source(where) as reader:
            lines.append(_checked(reader, trusted, problems))
    except LogError as error:
        problems.append(error)
    code = verdict(problems)
    write("".join(f"{printable(line)}\n" for line in [headline(code), *(f"  {each}" for each in problems), *lines]))
    raise typer.Exit(int(code))


def _checked(reader: Source, trusted: LogPolicy, problems: list[LogError]) -> str:
    """Return what was compared, in a line; note what is wrong. Raise ``LogError``, ``OSError``."""
    note = reader.read(CHECKPOINT, MAX_COSIGNED_BYTES)
    if note is None:
        raise LogError(Code.NOTE, "there is no checkpoint", "a log, whose newest checkpoint is at /checkpoint")
    witnessed = open_log_checkpoint(note, trusted)
    try:
        demand_quorum(witnessed, trusted)
    except LogError as error:
        problems.append(error)
    head = witnessed.head
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("check", total=head.size)
        found = check_log(reader, head, lambda done: progress.update(task, completed=done))
    problems += found.faults
    cosigned = f"cosigned by {', '.join(witnessed.cosigned) or 'nobody'}"
    if not head.size:
        return f"{head.origin}: {EMPTY}, {cosigned}"
    leaves, tiles = counted(head.size, "leaf", "leaves"), counted(found.tiles, "tile")
    return f"{head.origin}: {leaves} and {tiles} compared, {cosigned}"
