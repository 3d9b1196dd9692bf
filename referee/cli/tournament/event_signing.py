"""``referee event sign``: a result that was filled in on a page is entered where the organiser's key is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.shared.acting import Yes, confirm
from referee.cli.shared.event_editing import EventPath, SignedBy, editing
from referee.console import printable
from referee.tournament.saved_result import MOST_BYTES, read_result, result_lines


def sign(
    file: EventPath,
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", help="The result, as the page /event saves it.", show_default=False)
    ],
    yes: Yes = False,
    key: SignedBy = None,
) -> None:
    """Enter a result that was saved on the page of the event.

    The command shows what the bytes say that it is going to sign; nothing else in the file counts.
    """
    with editing(file, key) as event, result.open("rb") as saved:
        act = read_result(saved.read(MOST_BYTES + 1), event.log.record.game_id, event.log.state)
        confirm([*map(printable, result_lines(event.log.state, act, event.names))], sure=yes)
        event.log.enter(act)
    print(f"entered: round {act.round}, table {act.table}")
