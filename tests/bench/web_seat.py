"""The wait of a person who plays by hand: from the click to the entry on the page, while others watch."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

import grpc
from playwright.async_api import Page, async_playwright

from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import bearer
from tests.bench.crowd import crowd
from tests.bench.measure import Figure, p95
from tests.bench.web_watchers import WATCHERS, served
from tests.web.conftest import BROWSERS

GAMES, WARM_UP = 3, 5
TARGET_MS = 150.0

_ENTER = """() => new Promise((resolve) => {
    const told = document.querySelector(".told");
    const before = told.textContent;
    const since = performance.now();
    performance.clearResourceTimings();
    // It is entered when it is seen.
    new MutationObserver((_, observer) => {
        if (told.textContent === before) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => {
            const alone = performance.getEntriesByType("resource").find(({name}) => name.endsWith("/acts"));
            resolve([performance.now() - since, alone?.duration ?? 0]);
        }));
    }).observe(told, {childList: true, subtree: true, characterData: true});
    document.querySelector(".confirm .primary").click();
})"""
"""Milliseconds from the click until the entry is seen, and of the request alone."""


async def taken(page: Page, address: str, game_id: str, token: str) -> None:
    """Take the only seat of a game."""
    await page.goto("about:blank")
    await page.goto(f"{address}/seat#{game_id}/0/{token}")
    async with page.expect_download():
        await page.get_by_role("button", name="Save the key file").click()
    await page.get_by_role("button", name="Take the seat", exact=True).click()


async def clicks(games: int = GAMES) -> list[tuple[float, float]]:
    """Return what every move of some solo games took, with and without the page."""
    found = list[tuple[float, float]]()
    async with (
        served() as (referee, token, _gateway, address),
        grpc.aio.insecure_channel(referee) as channel,
        async_playwright() as playwright,
    ):
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
        for _ in range(games):
            asked = pb.CreateGameRequest(rules_id="rollwrite", seats=[log_pb2.Seat()])
            made = await pb_grpc.GameServiceStub(channel).CreateGame(asked, metadata=bearer(token))
            await taken(page, address, made.game.id, made.seat_tokens[0])
            async with crowd([], "tests.bench.web_watchers", address, made.game.id, str(WATCHERS)):
                of_game = list[tuple[float, float]]()
                while await _on_turn(page):
                    await page.evaluate("document.querySelector('.all-moves button').click()")
                    await page.locator(".confirm .primary").wait_for()
                    took, alone = await page.evaluate(_ENTER)
                    of_game.append((took, alone))
            found += of_game[WARM_UP:]
        await browser.close()
    return found


async def _on_turn(page: Page) -> bool:
    """Wait for the turn, with its moves in words; return False at the end of the game."""
    await page.locator(".turn-panel.on, .result:not(:empty)").first.wait_for()
    if await page.locator(".result:not(:empty)").count():
        return False
    await page.evaluate("document.querySelector('.turn-panel details').open = true")
    await page.locator(".all-moves button").first.wait_for()
    return True


def figures(games: int = GAMES) -> Iterator[Figure]:
    """One after the other."""
    found = asyncio.run(clicks(games))
    spent, alone = [took for took, _ in found], [request for _, request in found]
    name = f"from the click to the entry on the page, {WATCHERS} browsers watch, p95: ms"
    yield Figure(name, p95(spent), floor=p95(alone), at_most=TARGET_MS)
