"""``referee event desk``: one screen for entrants, check-in, tables, results and standings."""

from __future__ import annotations

import asyncio
import sys

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.tournament import EventPath, SignedBy, opened
from referee_clients.terminal.event_desk.screen import EventDeskApp


def desk(file: EventPath, /, *, key: SignedBy = None) -> None:
    """Run the desk of an event: check-in, pairing, results and standings on one screen, with the keyboard alone.

    F1 shows what can be typed. Each act is on disk when the desk says that it is entered. While the desk is open, no
    other desk or command can enter anything in the event; all can look at it.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("the desk needs a terminal; expected one, or the commands of `referee event`", EXIT_USAGE)
    with opened(file, key) as event:
        asyncio.run(EventDeskApp(event).run_async())
