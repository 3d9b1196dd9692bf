"""The desk as an application in a terminal: which referee, which folder, which screen. Knows no game."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from referee_clients.desk.desk_screen import DeskScreen
from referee_clients.desk.driver import OutputDriver
from referee_clients.desk.folder import Folder, Known
from referee_clients.desk.opening import Opening
from referee_clients.desk.place import Place, ReadComponents
from referee_clients.desk.start import Start


class DeskApp(App[None]):
    """``run_async`` it."""

    TITLE = "Tile Referee: the desk"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - as it is declared above
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Leave", priority=True)]
    CSS = """
    Screen { layout: vertical; }
    Static { width: 1fr; }
    Footer { height: 1; }
    """

    def __init__(
        self, folder: Folder, place: Place, read_components: ReadComponents, *, ascii_only: bool = False
    ) -> None:
        super().__init__(driver_class=OutputDriver)
        self.folder = folder
        self.place = place
        self.read_components = read_components
        self.ascii_only = ascii_only

    def get_key_display(self, binding: Binding) -> str:
        """As on the keyboard and in the guide: ``F1``, ``Ctrl+Q``."""
        return binding.key_display or "+".join(part.capitalize() for part in binding.key.split("+"))

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
