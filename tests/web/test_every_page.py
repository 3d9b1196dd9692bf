"""Properties of every page, in both themes, on a phone and on a laptop."""

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
from tests.web.every_page import _AXE, AXE, LOOKS, THEMES, WIDTHS, Look, is_of, problems, site
from tests.web.verify_page import KEY

AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
SAMPLE, ALL = (("light", 360), ("dark", 1280)), tuple((theme, width) for theme in THEMES for width in WIDTHS)
"""Themes and widths. Hardly anything is wrong in one and in neither of the sample's."""


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
