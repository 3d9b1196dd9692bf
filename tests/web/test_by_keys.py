"""The page for positions by keyboard alone, and its words for people who do not see it."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.position_page import BROKEN, KINGDOM, LEGAL, SHEET, cell, link_of, opened

MOST_STOPS = 60


async def tab_to(page: Page, target: str) -> None:
    """Go on with the tab key until what has the focus fits (CSS)."""
    for _ in range(MOST_STOPS):
        await page.keyboard.press("Tab")
        if await page.evaluate("target => document.activeElement.matches(target)", target):
            return
    raise AssertionError(f"the tab key does not come to {target}")


async def find(page: Page, words: str) -> None:
    """Take the first piece that fits the words."""
    await tab_to(page, ".find")
    await page.keyboard.type(words)
    await page.keyboard.press("Enter")


async def go_to(page: Page, x: int, y: int) -> None:
    """Go to a cell of the board, and choose it. The board is one stop of the tab key."""
    await page.keyboard.press("Home")
    at = await page.evaluate("document.activeElement.dataset.cell")
    here_x, here_y = map(int, at.split(","))
    for key, steps in (("ArrowDown" if y > here_y else "ArrowUp", abs(y - here_y)), ("ArrowRight", x - here_x)):
        for _ in range(steps):
            await page.keyboard.press(key)
    await page.keyboard.press("Enter")


async def alhambra(page: Page) -> None:
    await find(page, "t8")
    await tab_back_to_board(page)
    await go_to(page, 1, 0)
    await find(page, "pavilion 2")
    await tab_back_to_board(page)
    await go_to(page, 0, -1)


async def tab_back_to_board(page: Page) -> None:
    for _ in range(MOST_STOPS):
        await page.keyboard.press("Shift+Tab")
        if await page.evaluate("document.activeElement.matches('[role=gridcell]')"):
            return
    raise AssertionError("no way back to the board")


async def kingdomino(page: Page) -> None:
    await find(page, "48")
    await tab_back_to_board(page)
    await page.keyboard.press("r")
    await go_to(page, 1, 1)
    await go_to(page, 1, 0)


async def rollwrite(page: Page) -> None:
    await tab_to(page, ".dice select")
    await page.keyboard.press("ArrowDown")
    await tab_to(page, "[role=gridcell]")
    await go_to(page, 2, 3)
    await go_to(page, 5, 0)


@pytest.mark.parametrize("game", ["alhambra", "kingdomino", "rollwrite"])
async def test_a_position_by_keys_is_that_by_taps(game: str, browser: Browser, page: Page, gateway: str) -> None:
    await opened(page, gateway, f"#{game}" if game != "rollwrite" else "")
    if game == "alhambra":
        for kind, tile, at in (
            ("tower", "tower 8, walls N E S", (1, 0)),
            ("pavilion", "pavilion 2, walls N E W", (0, -1)),
        ):
            await page.get_by_role("button", name=kind, exact=True).click()
            await page.get_by_role("button", name=tile).click()
            await page.locator(cell(page, *at)).click()
    elif game == "kingdomino":
        await page.get_by_role("button", name="mine", exact=True).click()
        await page.get_by_role("button", name=re.compile("^domino 48:")).click()
        await page.get_by_role("button", name="Turn").click()
        await page.locator(cell(page, 1, 1)).click()
        await page.locator(cell(page, 1, 0)).click()
    else:
        await page.get_by_role("button", name="Roll & Write").click()
        await page.get_by_label("Blue 1", exact=True).select_option("2")
        await page.locator(cell(page, 2, 3)).click()
        await page.locator(cell(page, 5, 0)).click()
    tapped = await link_of(page)

    keys = await browser.new_page(viewport={"width": 1280, "height": 900})
    await opened(keys, gateway)
    await tab_to(keys, ".games button")
    for _ in range(("alhambra", "kingdomino", "rollwrite").index(game)):
        await keys.keyboard.press("Tab")
    await keys.keyboard.press("Enter")
    await {"alhambra": alhambra, "kingdomino": kingdomino, "rollwrite": rollwrite}[game](keys)
    assert await link_of(keys) == tapped
    # And back again.
    await keys.keyboard.press("Control+z")
    assert await link_of(keys) != tapped
    await keys.keyboard.press("Control+y")
    assert await link_of(keys) == tapped
    await keys.context.close()


@pytest.mark.parametrize("link", [LEGAL, BROKEN, KINGDOM, SHEET])
async def test_what_is_said_is_what_is_seen(link: str, page: Page, gateway: str) -> None:
    await opened(page, gateway, link)
    said = page.get_by_role("status")
    await expect(said).to_have_count(1)
    await expect(said).not_to_be_empty()
    words = await said.inner_text()
    seen = await page.locator(".status").inner_text()
    for part in words.split(". "):
        assert part in seen.replace("\n", " "), (words, seen)
    assert ("Not legal" in words) == (await page.locator(".broken").count() > 0)
    # A cell says what it shows.
    for mark, word in (("legal", "may go here"), ("broken", "breaks")):
        for each in await page.locator(f".{mark}").all():
            assert word in (await each.get_attribute("aria-label") or "")


async def test_the_board_is_one_stop_and_keeps_the_focus(page: Page, gateway: str) -> None:
    await opened(page, gateway, "#alhambra;0,-1:pavilion-2-NEW;+tower-8-NES")
    assert await page.locator('[role=grid] [tabindex="0"]').count() == 1
    rows = page.locator("[role=grid] > [role=row]")
    assert await rows.count() == 5
    assert await rows.first.locator("[role=gridcell]").count() == 5
    await page.locator(cell(page, 1, 0)).focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".status .brief")).to_have_text("Longest wall 6")
    await expect(page.locator(":focus")).to_have_attribute("data-cell", "1,0")


async def test_no_colour_is_needed(browser: Browser, gateway: str) -> None:
    """With the colours of the system's own, everything is still distinct by its form."""
    page = await browser.new_page(viewport={"width": 360, "height": 740}, forced_colors="active")
    await opened(page, gateway, "#alhambra;0,-1:pavilion-2-NEW;1,-1:tower-9-NE;+tower-8-NES")
    form = """mark => { const style = getComputedStyle(document.querySelector(mark), "::after");
              return [style.borderTopStyle, parseFloat(style.borderTopWidth) > 0, style.display] }"""
    assert await page.evaluate(form, ".broken") == ["solid", True, "block"]
    await expect(page.locator(".status .judged")).to_contain_text("✗ Not legal")
    await page.goto("about:blank")
    await opened(page, gateway, "#alhambra")
    await page.get_by_role("button", name="pavilion 2").click()
    await expect(page.locator(".legal").first).to_be_visible()
    assert await page.evaluate(form, ".legal") == ["dashed", True, "block"]
    await expect(page.locator(".status .judged")).to_have_text("Nothing is laid yet.")
    await page.context.close()


async def test_nothing_moves_for_those_who_do_not_want_it(browser: Browser, gateway: str) -> None:
    moving = """() => [...document.querySelectorAll("*")].filter((each) => {
        const {transitionDuration, animationName} = getComputedStyle(each);
        return transitionDuration.split(", ").some((time) => parseFloat(time) > 0) || animationName !== "none";
    }).length"""
    page = await browser.new_page(reduced_motion="reduce")
    await opened(page, gateway, LEGAL)
    assert await page.evaluate(moving) == 0
    await page.emulate_media(reduced_motion="no-preference")
    assert await page.evaluate(moving) > 0, "nothing moves at all, so this shows nothing"
    await page.context.close()


async def test_a_page_twice_as_large_is_whole(browser: Browser, gateway: str) -> None:
    """200 % on a laptop of 1280 by 720: half as many pixels each way. The tray leaves room for the board."""
    page = await browser.new_page(viewport={"width": 640, "height": 360}, device_scale_factor=2)
    await opened(page, gateway, LEGAL)
    assert await page.evaluate("document.documentElement.scrollWidth") == 640
    assert await page.locator(".tray").evaluate("each => getComputedStyle(each).position") == "static"
    await page.context.close()
