"""What holds for every page, in both themes, on a phone and on a laptop."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from referee.log.note import VerifierKey
from referee_clients.web.pages import Site as Pages
from tests.sizes import campaign
from tests.web.every_page import LOOKS, THEMES, WIDTHS, Look, Site, is_of, site
from tests.web.test_verify_page import KEY

AXE = Path(__file__).parent / "axe" / "axe.min.js"
AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
SAMPLE, ALL = (("light", 360), ("dark", 1280)), tuple((theme, width) for theme in THEMES for width in WIDTHS)
"""Themes and widths. Hardly anything is wrong in one and in neither of the sample's."""
_AXE = """async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const found = await axe.run(document, {resultTypes: ["violations"], runOnly: {type: "tag", values: tags}});
    return found.violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 120))}`);
}"""
_SMALL = """() => {
    // A link in a sentence is as high as its line, and what a label encloses is as large as the label (WCAG 2.5.8).
    const targets = document.querySelectorAll(
        "button, select, summary, a[href], input:not(label input), label:has(input), [role=gridcell]");
    const inSentence = "p a, li:not(:has(> a:only-child)) a, dd a, .skip, .broken-rules a";
    return [...targets]
        .filter((each) => each.closest("nav") || !each.matches(inSentence))
        .map((each) => [each.getAttribute("aria-label") ?? each.textContent, each.getBoundingClientRect()])
        .filter(([, {width, height}]) => width && (width < 43.99 || height < 43.99))
        .map(([name, {width, height}]) => `${name.trim()}: ${width} by ${height}`);
}"""


def test_every_page_is_looked_at() -> None:
    routes = Pages(VerifierKey.parse(KEY)).routes()
    paths = [route.path for route in routes if not route.path.startswith(("/static/", "/verify.html"))]
    assert [path for path in paths if not any(is_of(look, path) for look in LOOKS)] == [], "missing in LOOKS"


def test_axe_is_what_was_taken_from_its_registry() -> None:
    assert sha256(AXE.read_bytes()).hexdigest() == AXE_SHA256


async def test_axe_finds_what_is_wrong(page: Page, gateway: str) -> None:
    await page.goto(f"{gateway}/rules")
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    assert await page.evaluate(_AXE) == []
    await page.evaluate("document.querySelector('main p').style.color = 'var(--card)'")
    await page.evaluate("document.documentElement.removeAttribute('lang')")
    found = await page.evaluate(_AXE)
    assert [each.partition(":")[0] for each in found] == ["color-contrast", "html-has-lang"]


async def problems(at: Site, look: Look, views: Iterable[tuple[str, int]]) -> list[str]:
    """Everything that is wrong with a page; one load serves all views."""
    page = at.page
    found: list[str] = []

    def add(where: str, all_of: Iterable[str]) -> None:
        found.extend(f"{look.name}, {where}: {each}" for each in all_of)

    await at.open(look)
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    for theme, width in views:
        await at.seen(theme, width)
        add(f"{theme}, {width} px", await page.evaluate(_AXE))
        add(f"{width} px", await page.evaluate(_SMALL))
        if (scrolls := await page.evaluate("document.documentElement.scrollWidth")) > width:
            add(f"{width} px", [f"{scrolls} px wide"])
    # Twice as large on a phone of 720 px is as wide as 360 px; WCAG asks for 320 CSS px (1.4.10).
    await page.set_viewport_size({"width": 320, "height": 256})
    if (scrolls := await page.evaluate("document.documentElement.scrollWidth")) > 320:
        add("320 px", [f"{scrolls} px wide"])
    assert (await page.title()).endswith("Tile Referee")
    assert await page.get_by_role("heading", level=1).count() == 1
    return found


@pytest.mark.parametrize(("looks", "views"), [(LOOKS[::4], SAMPLE), campaign(LOOKS, ALL)], ids=["sample", "all"])
async def test_every_page_can_be_used_by_everybody(
    looks: Iterable[Look], views: Iterable[tuple[str, int]], browser: Browser, tmp_path: Path
) -> None:
    async with site(browser, tmp_path / "data") as at:
        found = [problem for look in looks for problem in await problems(at, look, views)]
    assert found == []


@pytest.mark.long
@pytest.mark.skipif("PICTURES" not in os.environ, reason="make web-pictures takes them")
async def test_pictures_for_people_to_look_at(browser: Browser, tmp_path: Path) -> None:
    """``make web-pictures`` writes them to build/web-pictures."""
    folder = Path("build") / "web-pictures"
    folder.mkdir(parents=True, exist_ok=True)
    async with site(browser, tmp_path / "data") as at:
        for look in LOOKS:
            for width in WIDTHS:
                for theme in THEMES:
                    await at.seen(theme, width)
                    await at.open(look)
                    height = await at.page.evaluate("document.documentElement.scrollHeight")
                    await at.page.set_viewport_size({"width": width, "height": height})
                    await at.page.screenshot(path=folder / f"{look.name}-{width}-{theme}.png")
    assert len(list(folder.glob("*.png"))) >= len(LOOKS) * len(WIDTHS) * len(THEMES)
