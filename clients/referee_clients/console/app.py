"""The console as an application in a terminal."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from referee_clients.console.games import Games
from referee_clients.console.post import Post


class ConsoleApp(App[None]):
    """``run_async`` it."""

    TITLE = "Tile Referee: the arbiter's console"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - as it is declared above
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Leave", priority=True)]
    CSS = """
    Screen { layout: vertical; }
    Static { width: 1fr; }
    Footer { height: 1; }
    """

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post

    def on_mount(self) -> None:
        self.push_screen(Games(self._post))

    async def on_unmount(self) -> None:
        await self._post.close()
