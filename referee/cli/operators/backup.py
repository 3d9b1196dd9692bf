"""``referee backup``: a copy of a referee that runs."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import Annotated

import typer

from referee.cli.shared.failure import Failure
from referee.server.service.backup import back_up
from referee.server.service.data import DataError
from referee.text.notation.outcomes import counted


def backup(
    out: Annotated[Path, typer.Argument(metavar="COPY", help="The directory to make.", show_default=False)],
    data: Annotated[Path, typer.Option(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    without_keys: Annotated[
        bool,
        typer.Option(
            "--without-keys",
            help="Leave out the signing key, the seal key and the organiser's token, with which anybody could sign as "
            "the referee and read its decks. You need them to restore, so keep them elsewhere.",
        ),
    ] = False,
    marks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Copy a referee's games and keys into a new directory, while the referee runs or when it is stopped.

    The copy is of one moment and signed, so `referee restore` knows when it was made and whether it was changed. All of
    it is made, or nothing. It lacks everything that is played later, so make copies often, for example every hour.
    Games in PostgreSQL are copied with the means of PostgreSQL.

    Exit codes: 0 copied; 1 the directory cannot be read, or the copy not be written; 2 wrong usage.

    Example: `referee backup /backup/club-$(date +%F-%H) --data club`
    """
    try:
        made = back_up(data, out, round(1000 * time()), with_keys=not without_keys, marks=marks, seal_key=seal_key)
    except DataError as error:
        raise Failure(str(error)) from None
    print(f"{out}: copied, with {counted(made.games, 'open game')}: {', '.join(made.files)}")
    if without_keys:
        print("its keys are not in it; referee restore needs them")
