"""The console as an application in a terminal."""

from __future__ import annotations

from referee_clients.terminal.console.games import Games
from referee_clients.terminal.console.post import Post
from referee_clients.terminal.desk.terminal import TerminalApp


class ConsoleApp(TerminalApp[None]):
    """``run_async`` it."""

    TITLE = "Tile Referee: the arbiter's console"

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post

    def on_mount(self) -> None:
        self.push_screen(Games(self._post))

    async def on_unmount(self) -> None:
        await self._post.close()
