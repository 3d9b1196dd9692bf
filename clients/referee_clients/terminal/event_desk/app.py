"""The desk of an event as an application in a terminal."""

from __future__ import annotations

from referee.tournament.event_file import EventFile
from referee_clients.terminal.desk.terminal import TerminalApp
from referee_clients.terminal.event_desk.screen import EventScreen


class EventDeskApp(TerminalApp[None]):
    """``run_async`` it."""

    TITLE = "Tile Referee: the event's desk"

    def __init__(self, event: EventFile) -> None:
        """``event``: opened, so that nobody else enters anything in it meanwhile."""
        super().__init__()
        self.event = event

    def on_mount(self) -> None:
        self.push_screen(EventScreen(self.event))
