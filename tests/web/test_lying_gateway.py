"""A gateway that lies, before a real browser: each lie stops the page, which says why and shows nothing of it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from referee.text.words.catalogue import load
from tests.log.verify_js import why_not
from tests.waiting import until
from tests.web.feed import LIES, gateway, lies_in_a_log, place
from tests.web.liar import Liar, lying

STOPPED = "Stopped: the server sent something that the referee did not sign."
SIZE = 20


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gate() -> AsyncIterator[Liar]:
    if why := why_not():
        pytest.skip(why)
    async with lying(gateway("alhambra")) as liar:
        yield liar


@pytest.fixture
def liar(gate: Liar) -> Liar:
    gate.at(SIZE)
    return gate


async def watched(page: Page, liar: Liar) -> None:
    """The page follows the game, and believes what it was shown so far."""
    await page.goto(f"{liar.address}/g/{liar.id}")
    await expect(page.get_by_role("status").first).to_have_text("Live.")
    await expect(page.locator(".entries li")).to_have_count(liar.size)
    await until(lambda: liar.watchers, "the page's stream", every_s=0.01)


async def stopped(page: Page, reason: str, size: int) -> None:
    """Check that the page has stopped for this reason, and shows only true boards and entries: ``size`` of them."""
    await expect(page.get_by_role("status").first).to_have_text(STOPPED)
    await expect(page.get_by_role("alert").first).to_contain_text(reason)
    await expect(page.locator(".entries li")).to_have_count(size)
    if not size:
        await expect(page.get_by_role("grid")).to_have_count(0)


def some(names: Any, sample: str) -> list[Any]:
    """All of them; only one of them in ``make test``."""
    return [name if name == sample else pytest.param(name, marks=pytest.mark.long) for name in names]


IN_COMMITS = (
    "the position before",
    "the position after",
    "positions swapped",
    "another seat on turn",
    "an entry left out between",
    "the last entry left out",
    "the time altered, in the last",
    "an entry twice",
    "an entry added",
    "an entry of another game",
    "a checkpoint of another key",
    "a checkpoint with a wrong signature",
    "an old checkpoint",
    "another history goes on",
    "an old checkpoint of another history",
)


@pytest.mark.parametrize("name", some(IN_COMMITS, "the position before"))
async def test_a_lie_about_what_happens(name: str, page: Page, liar: Liar) -> None:
    """The boards stay as they were, and the truth comes too late."""
    lie, reason, _ = LIES[name]
    honest, n = liar.honest, place()
    liar.at(n)
    await watched(page, liar)
    before = await page.locator("#app [role=grid]").evaluate_all("all => all.map((each) => each.innerHTML)")
    commit = honest.commit(n, n + 3)
    lie(honest, n, commit)
    liar.commit(commit, n + 2)
    await stopped(page, reason, n)
    liar.commit(honest.commit(n, n + 3), n + 2)
    await expect(page.locator(".entries li")).to_have_count(n)
    assert before == await page.locator("#app [role=grid]").evaluate_all("all => all.map((each) => each.innerHTML)")


IN_LOGS = (
    "cut in an entry",
    "cut before its checkpoint",
    "an entry left out",
    "the last entry left out",
    "entries swapped",
    "an old checkpoint",
    "a checkpoint of another key",
    "a checkpoint of another history",
    "a bit",
    "nothing",
    "a position of before",
    "too few positions",
    "a whole game of another key",
)


@pytest.mark.parametrize("name", some(IN_LOGS, "a checkpoint of another key"))
async def test_a_lie_about_what_has_happened(name: str, page: Page, liar: Liar) -> None:
    step, reason, _ = lies_in_a_log(SIZE)[name]
    liar.log = b64decode(step["open"])
    if step["positions"] is not None:
        liar.positions = list(map(b64decode, step["positions"]))
    await page.goto(f"{liar.address}/g/{liar.id}")
    await stopped(page, reason, 0)


async def test_why_a_board_stopped_is_told_in_the_language(page: Page, liar: Liar) -> None:
    """The page shows the kind of the fault and the finding, with the verifier's own words beside it."""
    liar.positions = liar.positions[:3]
    w = load("web", "hu")
    kind = load("report", "hu")("finding.DIGEST")
    found = f"{w('found.positions', value=3)}, {w('found.entries', value=SIZE)}"
    await page.goto(f"{liar.address}/g/{liar.id}?lang=hu")
    told = page.get_by_role("alert").locator("p")
    await expect(page.get_by_role("status").first).to_have_text(w("watch.lie"))
    await expect(told.first).to_have_text(w("watch.lie_why", code="DIGEST", place="", message=f"{kind} ({found})"))
    await expect(told.and_(page.locator("[lang=en]"))).to_have_text(f"3 positions of {SIZE} entries")
