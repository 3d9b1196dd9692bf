"""The page where positions are judged: links to it, and its cells."""

from __future__ import annotations

from urllib.parse import unquote

from playwright.async_api import Page, expect

LEGAL = "#alhambra;0,-1:pavilion-2-NEW;1,0:garden-10-N"


BROKEN = "#alhambra;0,-1:pavilion-2-NEW;1,-1:tower-8-NES"


KINGDOM = "#kingdomino;5;48:1,0,1,1;+44"


SHEET = "#rollwrite;b1,2;y1,6;c3;1,1;2,5"


async def opened(page: Page, gateway: str, link: str = "") -> None:
    """Open the page, and wait for its first verdict."""
    await page.goto(f"{gateway}/position{link}")
    await expect(page.locator("section.verdict > :nth-child(2)")).to_be_attached()


def cell(page: Page, x: int, y: int) -> str:
    return f'[data-cell="{x},{y}"]'


async def link_of(page: Page) -> str:
    hash_: str = await page.evaluate("location.hash")  # what the page knows; page.url comes to know it later
    return unquote(hash_.removeprefix("#"))
