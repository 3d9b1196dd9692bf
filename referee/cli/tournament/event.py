"""``referee event``: a tournament, from entrants to final standings. Its commands are in modules ``event_*``."""

from __future__ import annotations

import typer

from referee.cli.tournament import (
    event_desk,
    event_documents,
    event_looking,
    event_opening,
    event_register,
    event_rounds,
    event_running,
    event_signing,
    event_simulating,
)

event = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@event.callback()
def _event() -> None:
    """Run a tournament at tables of two to six: enter, pair, publish, take results, standings.

    An event is one file, `NAME.eventlog`, a signed log of everything that the organiser did: anyone can check pairings
    and standings with `referee event check`. Keys, the seed and names lie beside it, in the folder `NAME.private`, for
    you alone. An event that was begun with `new --server` is kept by a referee; the file is a copy.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 8 the rules of events forbid it (docs/rules/event.md), and nothing was
    entered. `check` has further ones.
    """


for _commands in (
    event_register.COMMANDS,
    event_rounds.COMMANDS,
    event_opening.COMMANDS,
    event_desk.COMMANDS,
    event_looking.COMMANDS,
    event_documents.COMMANDS,
    event_running.COMMANDS,
    event_signing.COMMANDS,
    event_simulating.COMMANDS,
):
    for _name, _command in _commands.items():
        event.command(_name)(_command)
