"""Waits of a reader of the pages, in a real browser, from a gateway in a process of its own on this machine."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from playwright.async_api import Page, async_playwright

from referee.games.alhambra.tiles import NAMES
from tests.bench import web_seat, web_watchers
from tests.bench.acts import REFEREE
from tests.bench.measure import Figure, p95
from tests.web.conftest import BROWSERS
from tests.web.words import address_in

TAPS, WARM_UP = 200, 20
TARGET_MS = 100.0

_TAP = """([x, y]) => new Promise((resolve) => {
    const status = document.querySelector(".status");
    const since = performance.now();
    // A verdict is there when it is painted.
    new MutationObserver((_, observer) => {
        if (!status.querySelector(".good, .bad")) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - since)));
    }).observe(status, {childList: true, subtree: true});
    document.querySelector(`[data-cell="${x},${y}"]`).click();
})"""
"""Milliseconds from a tap on the cell until the verdict is seen."""

_ASK = """async (question) => {
    const since = performance.now();
    const answer = await fetch("/api/v1/position", {
        method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(question)});
    await answer.json();
    return performance.now() - since;
}"""
"""Milliseconds of the question alone."""


@asynccontextmanager
async def page(*words: str) -> AsyncIterator[tuple[Page, str]]:
    """Yield a phone's browser, and the address of a gateway that is started with these words."""
    command = (REFEREE, "web", "--listen", "127.0.0.1:0", *words)
    gateway = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert gateway.stdout is not None
    try:
        address = address_in((await gateway.stdout.readline()).decode())
        path = next(filter(None, map(shutil.which, BROWSERS)))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            yield await browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True), address
            await browser.close()
    finally:
        gateway.terminate()
        await gateway.wait()


def boards(count: int) -> Iterator[list[tuple[str, tuple[int, int]]]]:
    """Yield ``count`` boards of 20 tiles, legal or not, no two alike."""
    rng = random.Random(7)
    cells = [(x, y) for x in range(-2, 3) for y in range(-2, 3) if (x, y) != (0, 0)]
    for _ in range(count):
        yield list(zip(rng.sample(NAMES, 20), rng.sample(cells, 20), strict=True))


async def tap_to_verdict(taps: int = TAPS, warm_up: int = WARM_UP) -> tuple[list[float], list[float]]:
    """Return the milliseconds of taps that lay a twentieth tile, and of the questions alone about such boards."""
    spent, alone = [], []
    async with page() as (own, address):
        await own.goto(f"{address}/position")
        for board in boards(taps + warm_up):
            *laid, (tile, cell) = board
            words = ";".join(f"{x},{y}:{name}" for name, (x, y) in laid)
            await own.goto(f"{address}/position#alhambra;{words};+{tile}")
            await own.locator(".status .good, .status .bad").wait_for()
            spent.append(await own.evaluate(_TAP, list(cell)))
            # Another board, as the worker knows the last ones.
            layout = {f"{x},{y}": name for name, (x, y) in reversed(laid)}
            alone.append(await own.evaluate(_ASK, {"game": "alhambra", "layout": layout, "tile": tile}))
    return spent[warm_up:], alone[warm_up:]


def figures(taps: int = TAPS) -> Iterator[Figure]:
    """One after the other: each has the machine for itself."""
    spent, alone = asyncio.run(tap_to_verdict(taps))
    yield Figure("tap to verdict, 20 tiles, p95: ms", p95(spent), floor=p95(alone), at_most=TARGET_MS)
    yield from web_watchers.figures()
    yield from web_seat.figures()
