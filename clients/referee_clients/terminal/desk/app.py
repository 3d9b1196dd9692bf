"""The desk as an application in a terminal: which referee, which folder, which screen. Knows no game."""

from __future__ import annotations

from referee_clients.terminal.desk.desk_screen import DeskScreen
from referee_clients.terminal.desk.folder import Folder, Known
from referee_clients.terminal.desk.opening import Opening
from referee_clients.terminal.desk.place import Place, ReadComponents
from referee_clients.terminal.desk.start import Start
from referee_clients.terminal.desk.terminal import TerminalApp


class DeskApp(TerminalApp[None]):
    """``run_async`` it."""

    TITLE = "Tile Referee: the desk"

    def __init__(
        self, folder: Folder, place: Place, read_components: ReadComponents, *, ascii_only: bool = False
    ) -> None:
        super().__init__()
        self.folder = folder
        self.place = place
        self.read_components = read_components
        self.ascii_only = ascii_only

    def on_mount(self) -> None:
        self.push_screen(Start(self.folder, self.place))

    def on_start_new_game(self) -> None:
        """Show the form for a new game; the game that it opens is entered at once."""
        self.push_screen(Opening(self.folder, self.place, self.read_components), self._opened)

    def on_start_chosen(self, message: Start.Chosen) -> None:
        """Go on with the game."""
        self._enter(message.known)

    def _opened(self, known: Known | None) -> None:
        if known is not None:
            self._enter(known)

    def _enter(self, known: Known) -> None:
        self.push_screen(DeskScreen(self.folder, self.place, known, ascii_only=self.ascii_only))
