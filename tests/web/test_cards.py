"""The sheet of cards: phones read every code on it, on paper too, and it loads nothing from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image, ImageFilter
from playwright.async_api import Page, Request

from referee_clients.join import format_join, format_link
from referee_clients.web.cards import Card, sheet

GAME = "0123456789abcdef0123456789abcdef"
LONG = "Marianne von Hohenzollern-Sigmaringen und zu Altona Oberammergau"
NAMES = ("Ada Lovelace", "</li><script>alert(1)</script>", LONG, "Čeněk", "", "Bo", "Gus")


def cards(origin: str) -> list[Card]:
    """More than fit on one sheet of paper; with an empty origin only programs can take the seats."""
    secrets = [f"{seat}{'aZ09-_' * 7}" for seat in range(len(NAMES))]
    made = [
        Card(
            "kingdomino",
            seat,
            format_join("grpcs://club.example:50051", GAME, seat, secret),
            format_link(origin, GAME, seat, secret) if origin else "",
            NAMES[seat],
            7,
            2,
            seat,
        )
        for seat, secret in enumerate(secrets)
    ]
    return [*made[:-1], replace(made[-1], event=None, round=None, table=None)]


def read(picture: Image.Image) -> list[str]:
    """Return what the codes in the picture hold."""
    return sorted(found.text for found in zxingcpp.read_barcodes(picture))


async def shown(page: Page, folder: Path, text: str) -> list[Request]:
    """Open the sheet as its reader does; return what it asked for."""
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - playwright marks what it is given
    (folder / "sheet.html").write_text(text, encoding="utf-8")
    await page.goto((folder / "sheet.html").as_uri())
    return requests


@pytest.mark.parametrize("origin", ["https://club.example", "https://a-rather-long-name.of-a-club.example:8443", ""])
async def test_a_phone_reads_the_codes_from_30_cm(page: Page, tmp_path: Path, origin: str) -> None:
    """In a picture of 96 dots an inch: a phone's video, 1920 dots wide, has 5 a millimetre from there, and this 3.8."""
    made = cards(origin)
    await shown(page, tmp_path, sheet(made))
    await page.set_viewport_size({"width": 800, "height": 1100})
    still = Image.open(BytesIO(await page.screenshot(full_page=True, scale="css"))).convert("L")
    held = still.rotate(7, Image.Resampling.BICUBIC, expand=True, fillcolor=255).filter(ImageFilter.GaussianBlur(0.7))
    expected = sorted(card.link or card.join for card in made)
    assert read(still) == expected
    assert read(held) == expected


async def test_it_runs_nothing_and_asks_nobody(page: Page, tmp_path: Path) -> None:
    """The page's own errors, such as what its policy stops, fail every test of a page."""
    requests = await shown(page, tmp_path, sheet(cards("https://club.example")))
    assert [request.url for request in requests] == [page.url]
    assert await page.locator("script").count() == 0
    assert await page.get_by_role("heading").all_text_contents() == [
        f"Player {seat + 1}: {name}" for seat, name in enumerate(NAMES)
    ]
    assert await page.locator(".where").all_inner_texts() == [
        *(f"Kingdomino · Event 7 · Round 2 · Table {seat}" for seat in range(len(NAMES) - 1)),
        "Kingdomino",
    ]


@pytest.mark.parametrize("width", [360, 1280])
async def test_it_is_seen_whole_on_a_screen(page: Page, tmp_path: Path, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 780})
    await shown(page, tmp_path, sheet(cards("https://club.example")))
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_no_card_is_cut_off_or_split_on_paper(page: Page, tmp_path: Path) -> None:
    """The content of a card lies within it, two cards beside each other; seven are two sheets of paper."""
    await page.set_viewport_size({"width": 800, "height": 1100})
    await shown(page, tmp_path, sheet(cards("https://a-rather-long-name.of-a-club.example:8443")))
    outside = await page.evaluate(
        """() => [...document.querySelectorAll("li")].flatMap((card) => {
          const whole = card.getBoundingClientRect();
          return [...card.children].filter((part) => {
            const { left, right, top, bottom } = part.getBoundingClientRect();
            return left < whole.left || right > whole.right || top < whole.top || bottom > whole.bottom;
          }).map((part) => part.outerHTML);
        })"""
    )
    assert outside == []
    printed = await page.pdf(prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") == 2


def test_a_card_shows_no_token_in_an_error() -> None:
    card = cards("https://club.example")[0]
    assert card.join.partition("#")[2] not in repr(card)
