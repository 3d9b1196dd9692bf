"""``referee report``: a game file on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import output
from referee.cli.arguments import verifier_key
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.recorder import write_new
from referee.log.errors import LogError
from referee.log.frames import MAGIC
from referee.log.verdict import Finding
from referee.report.page import html
from referee.report.text import text
from referee.transcript import report as game_report


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A game file (.gamelog).")],
    key: Annotated[
        str | None, typer.Option("--key", metavar="VKEY", help="The referee's verifier key; without it nobody vouches.")
    ] = None,
    as_html: Annotated[bool, typer.Option("--html/--text", help="A page with pictures, or plain text.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to; a new file. Without it standard output.")
    ] = None,
) -> None:
    """The report of a game: the audit's verdict, then rules, seats, score sheet, refused attempts, every entry, hashes.

    It is one file without scripts or references to others, to be printed, sent or kept. The file is audited first, as
    `referee audit` does it; of a file that is damaged or wrong the report has what is before the damage.

    Exit codes: those of `referee audit`; 2 wrong usage; 1 the report cannot be written.

    Examples: `referee report game.gamelog --key referee.vkey`,
    `referee report game.gamelog --key referee.vkey --html --out game.html`
    """
    verifier = None if key is None else verifier_key("--key", key)
    try:
        with file.open("rb") as stream:
            if not stream.read(len(MAGIC)).startswith(MAGIC[:4]):
                raise Failure(f"{file}: not a game file; of a record referee adjudicate makes a report", EXIT_USAGE)
            stream.seek(0)
            audit, made = game_report.report(stream, verifier)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{file}: {error}", int(Finding.of(error).verdict)) from None
    written = html(made) if as_html else text(made)
    if out is None:
        output.write(written)
    else:
        write_new("--out", out, written.encode())
    raise typer.Exit(audit.exit_code)
