"""A table's screen in a test: keys go in, what stands on the screen comes out."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from referee_clients.terminal.desk.table import Line
from tests.waiting import until, waiting_for

_A = TypeVar("_A", bound=App[Any])


class Table(Generic[_A]):
    """One application that runs."""

    def __init__(self, app: _A, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def shows(self, screen: type[Any]) -> None:
        await until(lambda: isinstance(self.app.screen, screen), screen.__name__)
        await self.pilot.pause()

    def text(self, name: str) -> str:
        """Return the text of one part of the screen."""
        return str(self.app.screen.query_one(f"#{name}", Static).content)

    @property
    def line(self) -> Line:
        return self.app.screen.query_one(Line)

    def field(self, name: str) -> Any:
        return self.app.screen.query_one(f"#{name}")

    def listed(self) -> list[str]:
        options = self.app.screen.query_one(OptionList)
        return [str(option.prompt) for option in options.options]

    async def is_at(self, entries: int) -> None:
        """Wait until ``entries`` entries are shown."""
        await until(lambda: len(self.entries()) >= entries, f"{entries} entries")
        await self.pilot.pause()

    def entries(self) -> list[str]:
        """Return the lines of the list of entries, without numbers."""
        return [line.split(maxsplit=1)[1] for line in self.text("history").splitlines() if line[:4].strip()]

    async def enter(self, words: str) -> str:
        """Do as ``press_enter``; return the message when the referee has answered."""
        await self.press_enter(words)
        await self.answered()
        return self.text("verdict")

    async def submit(self, words: str, told: str) -> None:
        """Do as ``enter``, without a key and without waiting for the screen: wait for this message."""
        self.line.begin(words)
        await self.line.action_submit()
        await until(lambda: self.text("verdict").startswith(told), told, every_s=0.002)

    async def press_enter(self, words: str) -> None:
        """Type over the line and press Enter."""
        self.line.begin(words)
        await self.pilot.press("enter")

    async def answered(self) -> None:
        async with waiting_for("the referee's answer"):
            for worker in [worker for worker in self.app.workers if worker.name == "enter"]:
                await worker.wait()
        await self.pilot.pause()
