"""The desk in a test: keys go in, what stands on the screen comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.widgets import Select

from referee.cli.board.desk import _components
from referee.log.names import Person
from referee.text.notation import headers
from referee.text.notation.headers import Setup
from referee.text.notation.options import options_of
from referee.wire.registry import codec
from referee_clients.sdk.channel import Security
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk.app import DeskApp, Opening, Start
from referee_clients.terminal.desk.folder import Folder, Place
from referee_clients.terminal.desk.table import TableScreen
from tests.clients.desk.table import Table
from tests.clients.referee_process import Referee
from tests.waiting import until


class Desk(Table[DeskApp]):
    """One that runs."""

    async def open_game(self, setup: Setup, names: str = "") -> None:
        """With the form, as a scribe fills it in."""
        await self.games(1)
        await self.pilot.press("home", "enter")
        await self.shows(Opening)
        self.app.screen.query_one("#Game", Select).value = setup.rules_id
        await until(lambda: self.app.screen.query("#" + _last_option(setup)), "the options of the game")
        values = dict(line.strip('[]"').split(' "') for line in headers.write(setup))
        for name, value in values.items():
            if name not in ("Game", "Version"):
                self.field(name).value = value
        self.field("names").value = names
        await self.pilot.press("f2")
        await self.shows(TableScreen)
        await self.is_at(1)

    async def has_game(self, setup: Setup, names: str = "") -> None:
        """Opened without the form, which takes a while, and with an arbiter."""
        folder, place, wire = self.app.folder, self.app.place, codec(setup.rules_id, setup.version)
        arbiter = folder.arbiter(make=True)
        assert arbiter is not None
        async with organiser(place.address, place.token, place.security) as there:
            table = await there.open_table(
                setup.rules_id,
                setup.seats,
                folder.key.public.raw,
                options=wire.encode_options(setup.options),
                components=wire.encode_components(setup.components),
                arbiters=[arbiter.public.raw],
            )
        people = {seat: Person(name, bytes(16)) for seat, name in enumerate(names.split(", ")) if name}
        known = folder.add(table, setup.rules_id, place.server, people)
        await self.games(1)
        self.app.screen.post_message(Start.Chosen(known))
        await self.shows(TableScreen)
        await self.is_at(1)

    async def goes_on(self, lines: Sequence[str]) -> None:
        """Enter what is right, without looking at the screen in between."""
        for seq, words in enumerate(lines, start=len(self.entries())):
            await self.submit(words, f"Accepted as entry {seq}: ")
        await self.pilot.pause()

    async def games(self, at_least: int) -> list[str]:
        """Return the games of the first screen, once they are listed."""
        await until(lambda: len(self.listed()) >= at_least, f"{at_least} options")
        await self.pilot.pause()
        return self.listed()


@asynccontextmanager
async def running(referee: Referee, folder: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Desk]:
    """Yield a desk at this referee, on its first screen."""
    place = Place(referee.address, referee.token, Security(), "there")
    app = DeskApp(Folder(folder), place, _components)
    async with app.run_test(size=size) as pilot:
        yield Desk(app, pilot)


def _last_option(setup: Setup) -> str:
    return list(options_of(type(setup.options)))[-1]
