"""The desk of a tournament, driven by keys."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from referee.tournament.file import EventFile, new_seed
from referee.tournament.rules import State, Terms
from referee_clients.terminal.event_desk.screen import EventDeskApp, EventScreen, Prompt
from tests.cli.inside import referee
from tests.waiting import until, waiting_for

NAMES = ["Anna", "Ben", "Cara", "Dan", "Eva", "Finn", "Gina"]


class Desk:
    """One that runs."""

    def __init__(self, app: EventDeskApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def state(self) -> State:
        return self.app.event.log.state

    @property
    def on_disk(self) -> State:
        """Return the state that other readers of the file see."""
        return EventFile.read_only(self.app.event.path).log.state

    def text(self, name: str) -> str:
        return str(self.app.screen.query_one(f"#{name}", Static).content)

    @property
    def line(self) -> str:
        return self.app.screen.query_one(Prompt).value

    def listed(self) -> list[str]:
        return [str(option.prompt).strip() for option in self.app.screen.query_one(OptionList).options]

    def chosen(self) -> str:
        options = self.app.screen.query_one(OptionList)
        assert options.highlighted is not None
        return self.listed()[options.highlighted]

    async def keys(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def typing(self, text: str) -> str:
        """Type over what stands in the line; return what it means."""
        await self.keys("escape", *["space" if letter == " " else letter for letter in text])
        return self.text("meaning")

    async def enter(self, text: str = "") -> str:
        """Type and press Enter; return what is said of it."""
        if text:
            self.app.screen.query_one(Prompt).begin(text)
            await self.pilot.pause()
        await self.pilot.press("enter")
        return await self.answered()

    async def answered(self) -> str:
        async with waiting_for("the desk"):
            while busy := [worker for worker in self.app.workers if worker.name == "enter" and not worker.is_finished]:
                await asyncio.gather(*(worker.wait() for worker in busy))
        await self.pilot.pause()
        return self.text("said") if isinstance(self.app.screen, EventScreen) else ""

    async def shows(self, screen: type[Any]) -> None:
        await until(lambda: isinstance(self.app.screen, screen), screen.__name__)
        await self.pilot.pause()


def make(folder: Path, **terms: Any) -> Path:
    path = folder / "spring.eventlog"
    seed, commitment = new_seed()
    EventFile.create(path, Terms(commitment=commitment, **{"rounds": 2, **terms}), seed)
    assert referee("event", "enter", path, *NAMES).returncode == 0
    return path
