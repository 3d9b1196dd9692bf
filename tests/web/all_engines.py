"""The pages in Firefox and WebKit, as well as in Chromium: ``make test-web-all``."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from referee_clients import format_link
from tests.server.service.player import connected
from tests.waiting import MOST_S
from tests.web.engines import ENGINES, Tab, seen
from tests.web.games_api import kingdomino
from tests.web.gateway import reached
from tests.web.hand import audited, bots
from tests.web.serve_web import serving
from tests.web.verify_page import FROZEN, INTACT, KEY, ONE_FILE

SAVED = """
  const buttons = [...document.querySelectorAll(".taking button")];
  const save = buttons.find(({ textContent }) => textContent === "Save the key file");
  if (!save) return false;
  if (!document.querySelector(".taking [role=status]").textContent) save.click();
  const take = document.querySelector(".taking .primary");
  if (!take.disabled) take.click();
  return !take.disabled;"""
"""Save the key file, then take the seat; whether that is done."""
STEP = """
  if (document.querySelector(".result")?.childElementCount) return "over";
  const turn = document.querySelector(".turn-panel.on");
  const list = turn?.querySelector(".all-moves");
  if (!list) return "waits";
  list.closest("details").open = true;
  (turn.querySelector(".confirm .primary") ?? list.querySelector("button"))?.click();
  return "plays";"""
"""The next click on the way to the first move of the list."""
HEADLINE = 'return document.querySelector("#report .judged")?.textContent'


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=ENGINES)
async def tab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tab]:
    async with ENGINES[request.param](tmp_path_factory.mktemp(request.param)) as opened:
        yield opened


async def verify(tab: Tab, address: str, data: bytes) -> None:
    """Have the page check a file, as if somebody had chosen it."""
    await tab.goto(address)
    await tab.run(
        f"""const bytes = Uint8Array.from(atob({json.dumps(b64encode(data).decode())}), (one) => one.charCodeAt(0));
        const chosen = new DataTransfer();
        chosen.items.add(new File([bytes], "game.gamelog"));
        document.getElementById("key").value = {json.dumps(KEY)};
        const field = document.getElementById("file");
        field.files = chosen.files;
        field.dispatchEvent(new Event("change"));"""
    )


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", ["alhambra-2-dealt-3", "kingdomino-1-dealt-4", "rollwrite-1-dealt-5"])
async def test_a_file_is_verified(name: str, single: bool, tab: Tab, gateway: str) -> None:
    address = ONE_FILE if single else f"{gateway}/verify"
    honest = (FROZEN / f"{name}.gamelog").read_bytes()
    await verify(tab, address, honest)
    await seen(tab, HEADLINE, INTACT)
    assert await tab.run("return document.documentElement.scrollWidth <= innerWidth")
    await verify(tab, address, honest[:999] + bytes([honest[999] ^ 1]) + honest[1000:])
    await seen(tab, f"{HEADLINE}?.slice(0, 24)", "Do not trust this record")


async def test_a_game_is_watched(tab: Tab, tmp_path: Path) -> None:
    """The page draws the signed boards, and updates without help."""
    async with serving(tmp_path / "data") as (_, ready):
        token = (tmp_path / "data" / "organiser.token").read_text().strip()
        async with (
            connected(ready["address"], token) as client,
            httpx.AsyncClient(base_url=ready["web"], timeout=MOST_S) as browser,
        ):
            await reached(browser)
            play = await kingdomino(client, 6)
            await tab.goto(f"{ready['web']}g/{play.id}")
            await seen(tab, 'return document.querySelectorAll(".entries li").length', play.record.size)
            await seen(tab, 'return document.querySelectorAll("[role=grid] use").length >= 2', True)
            await seen(tab, 'return document.querySelector("[role=status]").textContent', "Live.")
            await play.steps(4)
            await seen(tab, 'return document.querySelectorAll(".entries li").length', play.record.size)
            await tab.goto("about:blank")


async def test_a_game_is_played_by_hand(tab: Tab, tmp_path: Path) -> None:
    """To its end; the page is loaded again in the middle, and the key is still there."""
    async with serving(tmp_path / "data") as (_, ready):
        token = (tmp_path / "data" / "organiser.token").read_text().strip()
        async with (
            connected(ready["address"], token) as client,
            httpx.AsyncClient(base_url=ready["web"], timeout=MOST_S) as browser,
        ):
            await reached(browser)
            made = await client.create(2, rules_id="kingdomino")
            async with bots(ready["address"], made, 1):
                await tab.goto(format_link(ready["web"].rstrip("/"), made.game.id, 0, made.seat_tokens[0]))
                await seen(tab, SAVED, True)
                await seen(tab, STEP, "plays")
                await tab.goto("about:blank")
                await tab.goto(f"{ready['web']}seat#{made.game.id}/0")
                await seen(tab, STEP, "over")
            await audited(client, made)
            await tab.goto("about:blank")


async def test_a_position_is_judged(tab: Tab, gateway: str) -> None:
    await tab.goto(f"{gateway}/position")
    await seen(tab, 'return document.querySelectorAll("[role=grid]").length > 0', True)
