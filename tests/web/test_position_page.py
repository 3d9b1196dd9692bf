"""The page where positions are judged, in a real browser: by taps, by keys, by link."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect

from referee.text.notation.questions import answer
from tests.web.position_page import BROKEN, KINGDOM, LEGAL, SHEET, cell, link_of, opened


async def test_a_position_is_put_together_by_taps(page: Page, gateway: str) -> None:
    await opened(page, gateway)
    await page.get_by_role("button", name="pavilion 2, walls N E W").click()
    await page.locator(cell(page, 0, -1)).click()
    verdict = page.get_by_role("region", name="Verdict")
    await expect(verdict).to_contain_text("Legal")
    await expect(verdict.locator("dd").first).to_have_text("3")
    await page.get_by_role("button", name="tower", exact=True).click()
    await page.get_by_role("button", name="tower 8, walls N E S").click()
    await page.locator(cell(page, 1, -1)).click()
    await expect(verdict).to_contain_text("Not legal: 2 rules broken")
    await expect(page.locator(cell(page, 1, -1))).to_have_attribute("aria-label", re.compile("breaks ALH-A2, ALH-A4"))
    await expect(verdict.get_by_role("link", name="ALH-A4")).to_have_attribute("href", "/rules/alhambra#ALH-A4")
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW;1,-1:tower-8-NES"
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="Undo").click()
    await expect(verdict).to_contain_text("Legal")


async def test_the_same_by_keys(page: Page, gateway: str) -> None:
    await opened(page, gateway)
    piece = page.get_by_role("button", name="pavilion 2, walls N E W")
    async with page.expect_response("**/api/v1/position"):
        await piece.press("Enter")
    # The grid is one stop of the tab key, whose cells the arrows go through.
    await page.locator('[role="grid"] [tabindex="0"]').focus()
    await expect(page.locator(".legal").first).to_be_visible()
    await page.keyboard.press("n")
    await expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile("may go here"))
    await page.keyboard.press("Home")
    await page.keyboard.press("End")
    await page.locator(cell(page, 0, 0)).press("ArrowUp")
    async with page.expect_response("**/api/v1/position"):
        await page.keyboard.press(" ")
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW"
    await expect(page.locator(":focus")).to_have_attribute("data-cell", "0,-1")


async def test_a_domino_is_laid_half_by_half(page: Page, gateway: str) -> None:
    await opened(page, gateway, "#kingdomino")
    await page.get_by_role("button", name=re.compile("^domino 48:")).click()
    await expect(page.locator(".legal").first).to_be_visible()
    await page.locator(cell(page, 1, 0)).click()
    await page.locator(cell(page, -1, 0)).click()
    await expect(page.get_by_role("status")).to_contain_text("shares a side")
    await expect(page.locator(".note")).to_contain_text("shares a side")
    async with page.expect_response("**/api/v1/position"):
        await page.locator(cell(page, 1, 1)).click()
    assert await link_of(page) == "kingdomino;5;48:1,0,1,1"
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("mine: 1 × 3 = 3")
    await page.locator(cell(page, 1, 1)).click()
    assert await link_of(page) == "kingdomino;5;+48"
    await page.get_by_role("button", name="Turn").click()
    assert await link_of(page) == "kingdomino;5;+48t"
    await page.locator(cell(page, 1, 1)).click()
    await page.locator(cell(page, 1, 0)).click()
    assert await link_of(page) == "kingdomino;5;48:1,0,1,1"


async def test_dominoes_are_laid_in_any_order(page: Page, gateway: str) -> None:
    """A kingdom does not show the order in which its dominoes came."""
    await opened(page, gateway, "#kingdomino;5;24:3,0,3,1;1:1,0,2,0")
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("Not legal: one rule broken")
    await page.goto("about:blank")
    await opened(page, gateway, "#kingdomino;5;19:3,0,4,0;1:1,0,2,0")
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("Legal")


async def test_a_sheet_lists_what_the_seat_can_do(page: Page, gateway: str) -> None:
    await opened(page, gateway, SHEET)
    verdict = page.get_by_role("region", name="Verdict")
    await expect(verdict).to_contain_text("Build: blue 1, yellow 6 (tower)")
    await page.get_by_label("Blue 1", exact=True).select_option("6")
    await expect(verdict).to_contain_text("blue 6")
    await page.locator(cell(page, 0, 0)).click()
    assert await link_of(page) == "rollwrite;b6,2;y1,6;c3;2,5"


@pytest.mark.parametrize("link", [LEGAL, BROKEN, KINGDOM, SHEET])
async def test_a_link_opens_the_same_position(link: str, page: Page, gateway: str) -> None:
    asked: list[bytes] = []
    page.on(
        "request", lambda request: asked.append(request.post_data_buffer or b"") if request.method == "POST" else None
    )
    await opened(page, gateway, link)
    found = await page.get_by_role("region", name="Verdict").inner_text()
    await page.reload()
    await expect(page.get_by_role("region", name="Verdict")).to_have_text(found, use_inner_text=True)
    assert len(asked) == 2
    assert asked[0] == asked[1]
    told = answer(asked[0])
    assert ("Not legal" in found) == (told.get("valid") is False)


UNREAD = (
    "#chess;1",
    "#alhambra;0,0:tower-8-NES",
    "#alhambra;0,1:nothing",
    "#alhambra;+tower-8-NES;+tower-8-NES",
    "#alhambra;0,1:tower-8-NES;0,2:tower-8-NES",
    "#alhambra;99,0:tower-8-NES",
    "#kingdomino;6",
    "#kingdomino;5;49:1,0,1,1",
    "#kingdomino;5;48:1,0",
    "#rollwrite;b7,1;y1,1;c3",
    "#rollwrite;b1,1;y1,1;c3;7,1",
    "#rollwrite;b1",
    "#%3Cimg src=x>",
)


async def test_a_link_that_cannot_be_read_is_said_to_be_one(page: Page, gateway: str) -> None:
    for link in UNREAD:
        await page.goto("about:blank")
        await page.goto(f"{gateway}/position{link}")
        await expect(page.get_by_role("alert"), link).to_contain_text("The position in the link cannot be read")


async def test_a_gateway_that_does_not_answer_loses_nothing(browser: Browser, gateway: str) -> None:
    """Neither one that is away nor one that has no time; both are asked again."""
    page = await browser.new_page()  # not of the fixture: failed requests are what this is about
    await opened(page, gateway, BROKEN)
    verdict = page.get_by_role("region", name="Verdict")

    async def busy(route: Route) -> None:
        refusal = {"reason": "BUSY", "message": "The position was not judged: too many others wait.", "metadata": {}}
        await route.fulfill(status=503, headers={"Retry-After": "1"}, json=refusal)

    await page.context.set_offline(True)
    await page.locator(cell(page, 1, -1)).click()
    await expect(verdict).to_contain_text("the gateway does not answer. Your position is kept in the link.")
    await expect(page.get_by_role("status")).to_contain_text("will try again soon")
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW;+tower-8-NES"
    await page.route("**/api/v1/position", busy)
    await page.context.set_offline(False)
    await expect(verdict).to_contain_text("too many others wait. The page will try again soon.")
    await page.unroute("**/api/v1/position")
    await expect(verdict).to_contain_text("Legal")
    await page.close()


async def test_one_question_at_a_time_and_only_the_newest_counts(page: Page, gateway: str) -> None:
    """The first answer never comes; what was asked in between is not asked any more."""
    await opened(page, gateway, "#alhambra;0,-1:pavilion-2-NEW;+tower-8-NES")
    asked: list[Any] = []

    async def holds(route: Route) -> None:
        asked.append(json.loads(route.request.post_data or "")["layout"])
        if len(asked) > 1:
            await route.continue_()

    await page.route("**/api/v1/position", holds)
    await page.locator(cell(page, 1, -1)).click()
    await expect(page.locator(".status")).to_have_text("Judging…")
    await page.get_by_role("button", name="garden", exact=True).click()
    await page.get_by_role("button", name="garden 10, wall N").click()
    await page.get_by_role("button", name="Clear the board").click()
    await expect(page.locator(".status")).to_have_text("Nothing is laid yet.")
    assert asked == [{"0,-1": "pavilion-2-NEW", "1,-1": "tower-8-NES"}, {}]
    # Earlier verdicts are known.
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="Redo").click()
    await expect(page.locator(".status")).to_have_text("Nothing is laid yet.")
    await page.unroute_all(behavior="ignoreErrors")


@pytest.mark.long
async def test_random_taps_never_break_the_page(page: Page, gateway: str) -> None:
    rng = random.Random(7)
    await opened(page, gateway)
    for step in range(60):
        if step % 20 == 0:
            game = ("Alhambra", "Kingdomino", "Roll & Write")[step // 20]
            await page.get_by_role("button", name=game, exact=True).click()
        targets = page.locator(
            "main [role=gridcell], main .piece, main .kinds button, main .buttons button:not(:disabled)"
        )
        names = await targets.evaluate_all(
            "all => all.map(each => each.getAttribute('aria-label') ?? each.textContent)"
        )
        chosen = rng.randrange(len(names))
        if names[chosen] in ("Print", "Copy the link", "Alhambra", "Kingdomino", "Roll & Write"):
            continue
        await targets.nth(chosen).dispatch_event("click")
    await page.wait_for_load_state("networkidle")
    await expect(page.get_by_role("region", name="Verdict")).not_to_contain_text("Not judged")
    before = await link_of(page)
    await page.reload()
    assert await link_of(page) == before
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_paper_is_light_and_has_the_way_back(page: Page, gateway: str) -> None:
    await page.emulate_media(color_scheme="dark")
    await opened(page, gateway, BROKEN)
    await page.emulate_media(media="print", color_scheme="dark")
    colour = "each => getComputedStyle(each).color"
    assert await page.locator("body").evaluate(colour) == "rgb(0, 0, 0)"
    behind = await page.locator(".cell.empty").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert behind == "rgb(239, 230, 210)"
    await expect(page.locator(".printed")).to_have_text(await page.evaluate("location.href"))
    for hidden in (".tray", ".tools", "header"):
        await expect(page.locator(hidden)).to_be_hidden()


async def test_tiles_of_nobody_are_not_judged(page: Page, gateway: str) -> None:
    """The neutral player's tiles lie nowhere."""
    await opened(page, gateway, "#alhambra;0,-1:pavilion-2-NEW|1,0:garden-10-N|5,5:tower-10-W;neutral")
    await page.get_by_role("button", name="Neutral player").click()
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("tower 1")
    await expect(page.get_by_role("region", name="Verdict")).not_to_contain_text("egal")
    await expect(page.locator(".broken")).to_have_count(0)
