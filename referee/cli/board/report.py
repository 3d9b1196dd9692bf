"""``referee report``: a game file on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.board import heading as headings
from referee.cli.shared import output
from referee.cli.shared.arguments import Language, verifier_key, words_in
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.recording import write_new
from referee.console import printable
from referee.log.errors import LogError
from referee.log.frames import MAGIC
from referee.log.verdict import Finding
from referee.telling import report as game_report
from referee.text.report.model import signatures, with_names
from referee.text.report.page import html
from referee.text.report.text import text
from referee.text.words.catalogue import ENGLISH


def report(  # noqa: PLR0917 - typer reads options from the signature
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A game file (.gamelog).")],
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="VKEY", help="The referee's verifier key; without it the signature is not checked."
        ),
    ] = None,
    as_html: Annotated[bool, typer.Option("--html/--text", help="Write a page with pictures, or plain text.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this new file; by default to standard output."),
    ] = None,
    date: headings.Date = "",
    event: headings.Event = "",
    round_: headings.Round = None,
    table: headings.Table = None,
    arbiter: headings.Arbiter = "",
    names: headings.Names = None,
    language: Language = ENGLISH,
) -> None:
    """Write the report of a game: the audit's verdict, then rules, seats, score sheet, refused attempts, entries and
    hashes.

    The report is one file without scripts or links to other files, to print, send or keep. The game file is audited
    first, as by `referee audit`; if it is damaged or wrong, the report covers what comes before the damage.

    Exit codes: those of `referee audit`; 2 wrong usage; 1 the report cannot be written.

    Examples: `referee report game.gamelog --key referee.vkey`, `referee report game.gamelog --key referee.vkey --html
    --out game.html`
    """
    say = words_in(language)
    head, roster = headings.heading(date, event, arbiter), headings.roster(names)
    verifier = None if key is None else verifier_key("--key", key)
    try:
        with file.open("rb") as stream:
            if not stream.read(len(MAGIC)).startswith(MAGIC[:4]):
                raise Failure(
                    f"{file}: not a game file; expected one, or referee adjudicate for the record of a game", EXIT_USAGE
                )
            stream.seek(0)
            audit, made = game_report.report(
                stream, verifier, head, lambda setup: headings.completed(setup, headings.Roster(), round_, table), say
            )
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{file}: {error}", int(Finding.of(error).verdict)) from None
    made = with_names(made, headings.named(made.seats, roster))
    if head:
        made = replace(made, signatures=signatures(made.seats, head, say))
    written = html(made) if as_html else text(made)
    if out is None:
        output.write(written)
    else:
        write_new("--out", out, written.encode())
        print(f"wrote {printable(str(out))}: {audit.headline}")
    raise typer.Exit(audit.exit_code)
