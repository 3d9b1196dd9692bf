"""``referee migrate``: the games of a referee into another database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.server.service.data import DataError, move_data
from referee.server.service.files import STORE_FILE, check_address


def migrate(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="ADDRESS",
            help="An empty PostgreSQL database, such as postgresql://referee@db.example/club; the password comes from "
            "~/.pgpass or a service file.",
        ),
    ],
    data: Annotated[Path, typer.Option(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    marks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Move the games of a stopped referee from its file into a PostgreSQL database.

    All of it is moved or nothing: games, texts, tokens. DIR remembers the address, and `referee serve --data DIR` goes
    on from there. The keys, the organiser's token and the marks stay in DIR, which is needed as before. The file
    referee.db stays as it was; remove it when everything runs. A move that was stopped can be repeated.

    Exit codes: 0 moved; 1 the directory or the database cannot be used; 2 wrong usage.

    Example: `referee migrate --data club --to postgresql://referee@db.example/club`
    """
    try:
        check_address(to)
    except ValueError as error:
        raise Failure(f"--to: {error}", EXIT_USAGE) from None
    try:
        count = move_data(data, to, marks=marks, seal_key=seal_key)
    except DataError as error:
        raise Failure(str(error)) from None
    print(f"{'one game' if count == 1 else f'{count} games'} moved to {to}")
    print(f"{data / STORE_FILE} is no longer used")
