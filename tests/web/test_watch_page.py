"""A game that is watched and replayed, in a real browser, from a real referee through a real gateway."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from referee.service.server import Server
from referee_clients.web.replay import positions_of_file
from tests.clients.referee_process import Referee
from tests.service.conftest import running
from tests.service.player import Client, connected
from tests.web.gateway import reached
from tests.web.test_games_api import kingdomino
from tests.web.test_verify_page import FROZEN, KEY
from tests.web.words import address_in


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Server, Client]]:
    async with running(tmp_path / "data") as both:
        yield both


@asynccontextmanager
async def pages(page: Page, address: str, key: str) -> AsyncIterator[str]:
    """The address of `referee web` that shows this referee's games."""
    words = ("web", "--listen", "127.0.0.1:0", "--server", address, "--key", key)
    command = (sys.executable, "-c", "from referee.cli import main; main()", *words)
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    assert process.stdout is not None
    try:
        address = address_in((await process.stdout.readline()).decode())
        async with httpx.AsyncClient(base_url=address) as browser:
            await reached(browser)
        yield address
    finally:
        await page.goto("about:blank")  # a page that is still open would complain that nobody is there
        process.terminate()
        assert await process.wait() == 0


async def test_a_page_follows_a_game(served: tuple[Server, Client], page: Page) -> None:
    server, client = served
    key = (await client.create()).verifier_key
    play = await kingdomino(client, 4)
    async with pages(page, server.address, key) as address:
        await page.goto(address)
        await page.get_by_role("link", name=f"Kingdomino, game {play.id[:8]}").tap()
        entries, status = page.locator(".entries li"), page.get_by_role("status")
        await expect(entries).to_have_count(play.record.size)
        await expect(status).to_have_text("Live.")
        await expect(page.get_by_role("grid")).to_have_count(2)
        await play.steps(4)
        await expect(entries).to_have_count(play.record.size)
        # Who looks at an earlier entry stays there, and has a link to it.
        await page.get_by_role("button", name="One entry back").tap()
        shown = play.record.size - 2
        assert page.url.endswith(f"/g/{play.id}#e={shown}")
        await expect(status).to_have_text("You are looking at an earlier entry. The game goes on.")
        await play.steps(2)
        await expect(entries).to_have_count(play.record.size)
        current = page.locator(".entries [aria-current]")
        assert await current.get_attribute("href") == f"#e={shown}"
        said = await current.inner_text()
        await page.reload()
        await expect(page.locator(".entries [aria-current]")).to_have_text(said)
        await page.get_by_role("button", name="First entry").press("Enter")
        await page.keyboard.press("ArrowRight")
        assert page.url.endswith("#e=1")
        await page.get_by_role("button", name="Last entry").tap()
        await expect(status).to_have_text("Live.")
        assert page.url.endswith(f"/g/{play.id}")


async def altered(route: Route) -> None:
    """The last bit is another one."""
    response = await route.fetch()
    body = bytearray(await response.body())
    body[-1] ^= 1
    await route.fulfill(response=response, body=bytes(body))


async def another_key(route: Route) -> None:
    await route.fulfill(json={"verifier_key": KEY})


async def nothing(route: Route) -> None:
    await route.fulfill(body=b"")


@pytest.mark.parametrize(
    ("path", "lie"),
    [
        ("**/positions?**", altered),
        pytest.param("**/positions?**", nothing, marks=pytest.mark.long),
        ("**/log", altered),
        pytest.param("**/log", nothing, marks=pytest.mark.long),
        pytest.param("**/key", another_key, marks=pytest.mark.long),
    ],
)
async def test_what_the_referee_did_not_sign_is_not_drawn(
    path: str, lie: Any, served: tuple[Server, Client], page: Page
) -> None:
    server, client = served
    key = (await client.create()).verifier_key
    play = await kingdomino(client, 4)
    async with pages(page, server.address, key) as address:
        await page.route(path, lie)
        await page.goto(f"{address}/g/{play.id}")
        await expect(page.get_by_role("status")).to_have_text(
            "Stopped: what the server sent is not what the referee signed."
        )
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(page.get_by_role("grid")).to_have_count(0)


async def test_a_key_that_changes_stops_the_page(served: tuple[Server, Client], page: Page) -> None:
    server, client = served
    key = (await client.create()).verifier_key
    play = await kingdomino(client, 2)
    async with pages(page, server.address, key) as address:
        await page.goto(f"{address}/g/{play.id}")
        await expect(page.get_by_role("status")).to_have_text("Live.")
        await page.route("**/key", another_key)
        await page.reload()
        await expect(page.get_by_role("alert")).to_contain_text("another verifier key")


async def test_a_page_goes_on_when_the_referee_was_killed(tmp_path: Path, page: Page) -> None:
    referee = Referee(tmp_path / "data")
    await asyncio.to_thread(referee.start)
    try:
        async with connected(referee.address, referee.token) as client:
            key = (await client.create()).verifier_key
            play = await kingdomino(client, 3)
            async with pages(page, referee.address, key) as address:
                await page.goto(f"{address}/g/{play.id}")
                entries = page.locator(".entries li")
                await expect(entries).to_have_count(play.record.size)
                await asyncio.to_thread(referee.stop)
                await asyncio.to_thread(referee.start)
                play.stream = None
                async with connected(referee.address, referee.token) as play.client:
                    await play.steps(3)
                    await expect(entries).to_have_count(play.record.size)
                    await expect(page.get_by_role("status")).to_have_text("Live.")
    finally:
        await asyncio.to_thread(referee.stop)


READ = """async ([log, positions, key]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const [{ Feed }, { entryWords }, { GAMES }, { decodeBody }] = await Promise.all(
    ["feed", "entry_words", "verify/schema", "verify/wire"].map((name) => import(`/static/${name}.mjs`)));
  const feed = new Feed({ verifierKey: key });
  await feed.open(bytes(log), positions.map(bytes));
  const { rules_id: id, rules_version: version, tables, seats } = feed.gameOpen;
  const rules = GAMES[id][version];
  const module = await import(`/static/games/${id}.mjs`);
  const components = await (await fetch("/static/components.json")).json();
  const game = module[id](decodeBody(rules.tables, tables), components[id]);
  return feed.entries.map((entry, n) => {
    const position = feed.positionAt(n);
    const boards = seats.map((_, seat) => {
      const { cells, cell } = game.board(position, seat);
      const facts = game.ofSeat(position, seat).flat().join(" ");
      return cells.map((each) => cell(...each.split(",").map(Number)).label).join("; ") + facts;
    });
    const { who, what } = entryWords(entry, rules, game);
    return [who, what, ...boards, game.ofTable(position).flat().join(" ")];
  });
}"""


LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("alhambra", "rollwrite")]


@pytest.mark.parametrize("rules", ["kingdomino", *LONG])
async def test_every_entry_of_every_frozen_game_has_words_and_boards(rules: str, page: Page, gateway: str) -> None:
    await page.goto(f"{gateway}/rules")
    read = 0
    for path in sorted(FROZEN.glob(f"{rules}-*.gamelog")):
        with path.open("rb") as stream:
            positions = [b64encode(each).decode() for each in positions_of_file(stream)]
        if not positions:
            continue
        found = await page.evaluate(READ, [b64encode(path.read_bytes()).decode(), positions, KEY])
        assert len(found) == len(positions)
        for words in found:
            assert words[1], path.name
            for said in words:
                assert "undefined" not in said
                assert "NaN" not in said
                assert "{" not in said
        read += 1
    assert read > 5
