"""Games that are over are read again unasked, in slices, and faults are named."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from io import StringIO
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest

from referee.server.live import scrub as scrub_module
from referee.server.live.archive import Archive
from referee.server.live.history import History
from referee.server.live.scrub import ROWS_AT_ONCE, Scrub
from referee.server.service.files import STORE_FILE
from referee.server.service.server import Server
from referee.server.store.store import StoreFailed
from referee.v1 import game_service_pb2 as pb
from tests.attacks.database import another_header
from tests.server.live.scrub import DAMAGE
from tests.server.service.conftest import running
from tests.server.service.limits import games_that_are_over
from tests.server.service.metrics import scrape
from tests.server.service.player import Client, bearer, refused
from tests.waiting import until


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin when the referee does."""
    monkeypatch.setattr(scrub_module, "START_S", 0.0)


def damage(data: Path, *, header: bool = False) -> None:
    """Every game but the first in its own way, or the header of all."""
    with closing(sqlite3.connect(data / STORE_FILE)) as store, store:
        for number, attack in enumerate([another_header] if header else DAMAGE, start=2):
            attack(store, number, 1)


async def round_is_through(server: Server) -> None:
    await until(lambda: server.scrub.round_ended_ms, "a round to be through", every_s=0.01)


def ids(server: Server) -> set[str]:
    return {game_id.hex() for game_id in server.live_games.aside}


async def test_what_is_damaged_is_named_though_nobody_asks(tmp_path: Path, logged: StringIO) -> None:
    """After a start, and by the referee itself; the others are served."""
    well, *sick = await games_that_are_over(tmp_path / "data", 1 + len(DAMAGE), moves=2)
    damage(tmp_path / "data")
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        await round_is_through(server)
        numbers = await scrape(server.metrics_address)
        assert numbers.of("referee_games_set_aside") == len(sick)
        assert numbers.of("referee_scrub_ended_seconds") > 0
        # The start itself has found some: it compares the last checkpoint of each with the mark.
        assert 0 < numbers.of("referee_scrubbed_games_total") <= len(sick) + 1
        assert ids(server) == set(sick)
        for game in sick:
            assert sum(game in line and "set aside" in line for line in logged.getvalue().splitlines()) == 1
        assert (await refused(client.log(sick[0]))).reason == "SET_ASIDE"
        assert await client.log(well)


async def test_the_header_of_all_is_damaged(tmp_path: Path) -> None:
    games = await games_that_are_over(tmp_path / "data", 2, moves=1)
    damage(tmp_path / "data", header=True)
    async with running(tmp_path / "data") as (server, _):
        await round_is_through(server)
        assert ids(server) == set(games)


async def test_the_next_round_finds_what_happened_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, *sick = await games_that_are_over(tmp_path / "data", 1 + len(DAMAGE), moves=2)
    monkeypatch.setattr(scrub_module, "ROUND_S", 0.0)
    async with running(tmp_path / "data") as (server, _):
        await round_is_through(server)
        assert not server.live_games.aside
        damage(tmp_path / "data")
        await until(lambda: ids(server) == set(sick), "all that are damaged", every_s=0.01)


@pytest.mark.parametrize("first", [1, 3, 5])
async def test_a_round_comes_to_every_game_once(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it begins; games in play are not among them."""
    games = await games_that_are_over(tmp_path / "data", 5, moves=0)
    monkeypatch.setattr(scrub_module, "_GAMES_AT_ONCE", 2)
    monkeypatch.setattr(SystemRandom, "randint", lambda *_: first)
    opened: Counter[str] = Counter()
    open_archive = Archive.open

    async def counted(context: Any, stored: Any, *arguments: Any, **options: Any) -> Archive:
        opened[stored.game_id.hex()] += 1
        return await open_archive(context, stored, *arguments, **options)

    monkeypatch.setattr(Archive, "open", counted)
    async with running(tmp_path / "data") as (server, client):
        await round_is_through(server)
        assert opened == Counter(games)
        await (await client.play()).steps(1)
        scrub = Scrub(server.live_games, rest=0)
        await scrub.round()
        assert scrub.games == len(games)
        assert opened == Counter(games * 2)


async def test_few_rows_are_checked_between_two_acts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it does not rest at all."""
    await games_that_are_over(tmp_path / "data", 3)
    async with running(tmp_path / "data") as (server, _):
        await server.scrub.close()
        counted = RowsOfARound(monkeypatch)
        await Scrub(server.live_games, rest=0).round()
        assert counted.rows > 60
        assert 0 < counted.most <= ROWS_AT_ONCE


class RowsOfARound:
    """Counts the rows that are checked, and how many of them in one round of the event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = self.most = self._now = 0
        check_text = History.check_text

        def counted(history: History, *arguments: Any) -> None:
            if not self._now:
                asyncio.get_running_loop().call_soon(self._next)
            self.rows += 1
            self._now += 1
            self.most = max(self.most, self._now)
            check_text(history, *arguments)

        monkeypatch.setattr(History, "check_text", counted)

    def _next(self) -> None:
        self._now = 0


async def test_it_rests_so_many_times_as_long_as_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock advances by a second at each look."""
    await games_that_are_over(tmp_path / "data", 1)
    async with running(tmp_path / "data") as (server, _):
        await server.scrub.close()
        seconds, rests = iter(range(10_000)), list[float]()
        sleep = asyncio.sleep

        task = asyncio.current_task()

        async def rested(delay: float) -> None:
            if asyncio.current_task() is not task:
                await sleep(delay)
                return
            rests.append(delay)
            await sleep(0)

        monkeypatch.setattr(scrub_module, "monotonic", lambda: next(seconds))
        monkeypatch.setattr(asyncio, "sleep", rested)
        await Scrub(server.live_games).round()
        assert len(rests) > 5
        assert set(rests) == {scrub_module.REST}


async def test_trouble_with_the_store_ends_a_round_and_not_the_scrub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    (game,) = await games_that_are_over(tmp_path / "data", 1)
    monkeypatch.setattr(scrub_module, "_AGAIN_S", 0.0)
    round_ = Scrub.round
    failed: list[str] = []

    async def fails_once(scrub: Scrub) -> None:
        if not failed:
            failed.append("once")
            raise StoreFailed("a hiccup")
        await round_(scrub)

    monkeypatch.setattr(Scrub, "round", fails_once)
    async with running(tmp_path / "data") as (server, client):
        await round_is_through(server)
        assert server.scrub.games == 1
        assert not server.live_games.aside
        assert await client.log(game)
    assert "a hiccup" in logged.getvalue()


async def test_who_plays_meanwhile_notices_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds without an end: games begin, are played to the end and are read, and none is set aside."""
    await games_that_are_over(tmp_path / "data", 2, moves=1)
    monkeypatch.setattr(scrub_module, "ROUND_S", 0.0)
    async with running(tmp_path / "data") as (server, client):
        server.scrub._rest_times = 0
        for seed in range(3):
            await plays(client, seed)
        await round_is_through(server)
        assert not server.live_games.aside


async def plays(client: Client, seed: int) -> None:
    play = await client.play(seed=seed)
    await play.until_play()
    await play.steps(10)
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    assert await client.log(play.id)
