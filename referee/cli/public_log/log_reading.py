"""What the commands that read a log share: where it is, whom it trusts, and how a verdict becomes an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from referee.cli.files.audit_lines import GRAVITY
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.errors import LogError
from referee.log.public.folder import open_source
from referee.log.public.tiles import Source
from referee.log.public.web import Web
from referee.log.verdict import Finding, Verdict

Where = Annotated[
    str,
    typer.Argument(
        metavar="URL|DIR", help="The log: its address, or the folder that the referee writes.", show_default=False
    ),
]
PolicyFile = Annotated[
    Path,
    typer.Option(
        "--policy",
        metavar="POLICY",
        help="Which log you trust, and which witnesses: a policy file.",
        show_default=False,
    ),
]

EMPTY: Final = "the log is empty, as no game was opened yet"


@contextmanager
def source(where: str) -> Iterator[Source]:
    """Give the reader of the log. Raise ``Failure``, also for an ``OSError`` inside."""
    try:
        reader = open_source(where)
    except ValueError as error:
        raise Failure(f"{where}: {error}", EXIT_USAGE) from None
    try:
        yield reader
    except OSError as error:
        raise Failure(f"{where}: {error.strerror or error}") from None
    finally:
        if isinstance(reader, Web):
            reader.close()


def verdict(problems: Sequence[LogError]) -> Verdict:
    """Return the gravest; COMPLETE without any."""
    found = {Finding.of(problem).verdict for problem in problems}
    return next((each for each in GRAVITY if each in found), Verdict.COMPLETE)


def headline(found: Verdict) -> str:
    """Return the first line of what a command says."""
    return "HOLDS" if found is Verdict.COMPLETE else found.name
