"""How long a reader waits for the whole audit of a file in a real browser: Python, the rules, every signature.

Needs Pyodide: ``make web-rules``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, fields
from statistics import median

from playwright.async_api import Page, expect

from tests.bench.measure import Figure
from tests.bench.web import page
from tests.web.in_browser import PYODIDE, lacking
from tests.web.verify_page import FROZEN, INTACT, KEY, judged, payload

RUNS = 3
FIRST_MOST_S, AGAIN_MOST_S = 10.0, 3.0
GAMES = {"alhambra-1-dealt-2-attempts": 317, "alhambra-2-dealt-2-attempts": 379}
"""And their entries. Checked one after the other: a file that was seen would say nothing of the next."""


@dataclass(frozen=True, slots=True)
class Audited:
    """Seconds from the click to the verdict."""

    first: float
    """The seconds of a browser that was never here."""
    again: float
    """The seconds of the next file, on the same page."""
    next_day: float
    """The seconds of a page that is opened anew, in a browser that was here before."""


_CLICKED = """async () => {
    const report = document.getElementById("rules-report");
    const since = performance.now();
    document.getElementById("rules-check").click();
    return await new Promise((resolve) => {
        const look = () => {
            if (!report.querySelector(".good, .bad")) return;
            observer.disconnect();
            resolve([(performance.now() - since) / 1000, report.innerText]);
        };
        const observer = new MutationObserver(look);
        observer.observe(report, {childList: true, subtree: true});
        look();
    });
}"""


async def _chosen(page: Page, name: str) -> None:
    """Have the signatures of a file checked, which takes no Python."""
    data = (FROZEN / f"{name}.gamelog").read_bytes()
    await page.get_by_label("The file of the game or event").set_input_files(payload(data, name))
    assert await judged(page) == INTACT
    await expect(page.locator("#rules-check")).to_be_enabled()


async def _opened(page: Page, address: str) -> None:
    await page.goto(f"{address}/verify")
    await page.get_by_label("The referee's verifier key").fill(KEY)


async def _checked(page: Page, name: str) -> float:
    """Return the seconds from the click to the verdict, which has to be the best one, and of this file."""
    await _chosen(page, name)
    spent, said = await page.evaluate(_CLICKED)
    assert "every rule was kept" in said, said
    assert f"{GAMES[name]} entries" in said, said
    return float(spent)


async def audited() -> Audited:
    """Take each once, from a gateway in a process of its own."""
    async with page("--pyodide", str(PYODIDE)) as (reader, address):
        one, other = GAMES
        await _opened(reader, address)
        first, again = await _checked(reader, one), await _checked(reader, other)
        await reader.goto("about:blank")
        await _opened(reader, address)
        next_day = await _checked(reader, one)
    return Audited(first, again, next_day)


def figures(runs: int = RUNS) -> Iterator[Figure]:
    """Medians. Raise ``SystemExit`` where there is no Pyodide."""
    if why := lacking():
        raise SystemExit(f"browser-audit {why}")
    found = [asyncio.run(audited()) for _ in range(runs)]
    one, other = GAMES.values()
    first, again, next_day = (median(getattr(each, field.name) for each in found) for field in fields(Audited))
    yield Figure(f"the first file, {one} entries, and Python before it: s", first, at_most=FIRST_MOST_S)
    yield Figure(f"the next file, {other} entries: s", again, at_most=AGAIN_MOST_S)
    yield Figure(f"the first file, in a browser that was here before, {one} entries: s", next_day)
