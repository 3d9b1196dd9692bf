"""The desk of an event that a referee keeps, while somebody else enters something in it, too."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.tournament.file import EventFile, new_seed
from referee.tournament.organiser import enter_players
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import Act, CheckIn, EnterResult, Result, Withdraw
from referee.v1.game_service_pb2 import GetGameRequest
from referee_clients.sdk.tournament import EventKeeper
from referee_clients.terminal.event_desk.screen import EventDeskApp
from referee_clients.terminal.event_desk.views import Preview
from tests.addresses import free_address
from tests.clients.event_desk.event_desk import NAMES, Desk
from tests.server.service.conftest import running
from tests.server.service.player import Client
from tests.waiting import until


def begin(path: Path, server: str, token: str) -> None:
    """All of them are there."""
    seed, commitment = new_seed()
    EventFile.create(path, Terms(commitment=commitment), seed, EventKeeper(server, token))
    with EventFile.opened(path, EventKeeper()) as event, event.entering():
        event.names, numbers = enter_players(event.log, event.names, [("", name) for name in NAMES])
        for number in numbers:
            event.log.enter(CheckIn(number))


@asynccontextmanager
async def desk_of(path: Path) -> AsyncIterator[Desk]:
    opened = EventFile.opened(path, EventKeeper())
    app = EventDeskApp(await asyncio.to_thread(opened.__enter__))
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            yield Desk(app, pilot)
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


@dataclass(frozen=True)
class Shared:
    """An event that a referee keeps, with another organiser."""

    path: Path
    other: Path
    client: Client

    def enter(self, *acts: Act) -> None:
        """Enter acts as the other organiser."""
        with EventFile.opened(self.other, EventKeeper()) as event, event.entering():
            for act in acts:
                event.log.enter(act)


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[Shared]:
    path, other = tmp_path / "a" / "net.eventlog", tmp_path / "b" / "net.eventlog"
    path.parent.mkdir()
    async with running(tmp_path / "data") as (server, client):
        await asyncio.to_thread(begin, path, server.address, client.organiser)
        shutil.copytree(path.parent, other.parent)
        yield Shared(path, other, client)


async def test_results_that_others_enter_come_by_themselves(shared: Shared) -> None:
    """Text typed meanwhile stays."""
    async with desk_of(shared.path) as desk:
        await desk.enter("pair")
        await desk.enter("publish")
        await desk.keys("f3")
        await desk.typing("2 1,2")
        await asyncio.to_thread(shared.enter, EnterResult(1, 1, Result((2, 1, 3, 4))))
        await until(lambda: desk.listed()[0].startswith("1  2 1 3 4"), "the other's result", every_s=0.05)
        assert desk.line == "2 1,2"
        assert (await desk.enter("1 1,2,3,4")).startswith("Not entered: table 1: it has a result, expected a reason")
        assert await desk.enter("2 1,2,3") == "Entered: round 1, table 2: places 1 2 3."
        assert desk.on_disk.rounds[0].undecided == ()
        record = desk.app.event.log.record
    size = (await shared.client.games.GetGame(GetGameRequest(game_id=record.game_id.hex()))).game.size
    assert size == record.size


@pytest.mark.parametrize("key", ["f6", "enter"])
async def test_no_pairing_is_entered_but_the_one_that_was_shown(shared: Shared, key: str) -> None:
    """Somebody else acts while it is shown, and that is known here, or not yet: it is shown anew."""
    async with desk_of(shared.path) as desk:
        await desk.keys("f5")
        await desk.answered()
        for who in (7, 6):
            await desk.shows(Preview)
            assert NAMES[who - 1] in desk.text("pairing")
            await asyncio.to_thread(shared.enter, Withdraw(who))
            if who == 7:
                await until(lambda: desk.state.entrants[7].has_withdrawn, "the other's act", every_s=0.05)
            await desk.keys(key)
            await desk.answered()
            await desk.shows(Preview)
            assert desk.text("title").startswith("Not entered: ")
            assert "in this event meanwhile" in desk.text("title") or "has new entries" in desk.text("title")
            assert not desk.on_disk.rounds
            assert NAMES[who - 1] not in desk.text("pairing")
        shown = desk.text("pairing")
        await desk.keys(key)
        await desk.answered()
        round_ = desk.on_disk.rounds[0]
        assert round_.is_published is (key == "f6")
        assert len(round_.seats) + len(round_.byes) == len(NAMES) - 2
        names = [", ".join(f"{who} {NAMES[who - 1]}" for who in table) for table in round_.tables]
        assert all(table in shown for table in names)


async def test_an_act_waits_for_a_referee_that_is_away_and_a_look_does_not(tmp_path: Path) -> None:
    path, data = tmp_path / "net.eventlog", tmp_path / "data"
    async with AsyncExitStack() as stack:
        async with running(data, listen=free_address()) as (server, client):
            await asyncio.to_thread(begin, path, server.address, client.organiser)
            desk = await stack.enter_async_context(desk_of(path))
        lost = "No connection: the referee gave no answer; last problem: "
        await until(lambda: desk.text("title").startswith(lost), "the desk to say so", every_s=0.05)
        await desk.keys("7", "enter")
        await until(lambda: desk.text("said") == "Waiting for the referee …", "the desk to wait", every_s=0.05)
        async with running(data, listen=server.address):
            assert await desk.answered() == "Entered: 7 Gina withdraws."
            assert desk.on_disk.entrants[7].has_withdrawn
