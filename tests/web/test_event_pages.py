"""The printed pages of an event, as Chromium prints them on A4, with long names."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image
from playwright.async_api import Page, ViewportSize

from referee.tournament.file import EventFile
from referee.tournament.input import scanned
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.pages import pages
from referee.tournament.rules import Terms
from referee.tournament.rules.position import commitment
from referee.tournament.simulate import Chances, Simulation

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Bartholomew Alexander Rindfleischetikettierungsüberwachungsaufgabenübertragung"
A4_PX = ViewportSize(width=794, height=1123)
MARGINS_PX = 91
"""Left and right together: 24 mm."""


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> tuple[EventLog, Names]:
    """33 with names as long as can be; three rounds and the final."""
    secret = random.Random(3).randbytes(32)
    terms = Terms(rounds=3, commitment=commitment(secret), late_until=3, cut=4, cut_size=4, cut_advance=1)
    made = EventFile.create(tmp_path_factory.mktemp("event") / "spring.eventlog", terms, secret)
    Simulation(made.log, secret, 33, replace(Chances(), absent=0.03, no_show=0.03), 1).run()
    names = Names({})
    for number in made.log.state.entrants:
        names = names.with_unproved(number, f"{number} {LONG}"[:80])
    return made.log, names


@pytest.mark.long
async def test_pages_fit_on_a4(page: Page, event: tuple[EventLog, Names], tmp_path: Path) -> None:
    made = pages(*event, "The club's spring championship")
    await page.emulate_media(media="print")
    for name, text in made.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("standings", "crosstable", "round-2-tables", "round-2-names", "round-2-why", "round-2-slips"):
        await page.goto((tmp_path / f"{name}.html").as_uri())
        pdf = await page.pdf(prefer_css_page_size=True)
        boxes = set(re.findall(rb"/MediaBox \[0 0 (\d+)[\d.]* (\d+)", pdf))
        assert boxes == ({(b"841", b"594")} if name == "crosstable" else {(b"594", b"841")}), name
        paper = A4_PX["height"] if name == "crosstable" else A4_PX["width"]
        await page.set_viewport_size({"width": paper - MARGINS_PX, "height": 700})
        assert await page.evaluate("document.documentElement.scrollWidth") == paper - MARGINS_PX, name


@pytest.mark.parametrize("web", [pytest.param("", marks=pytest.mark.long), "https://club.example/play/"])
async def test_the_codes_on_slips_lead_to_their_tables(
    page: Page, event: tuple[EventLog, Names], web: str, tmp_path: Path
) -> None:
    log, names = event
    path = tmp_path / "slips.html"
    path.write_text(pages(log, names, "spring", web)["round-2-slips.html"], encoding="utf-8")
    await page.set_viewport_size(A4_PX)
    await page.goto(path.as_uri())
    picture = Image.open(BytesIO(await page.screenshot(full_page=True)))
    found = [code.text for code in zxingcpp.read_barcodes(picture)]
    tables = len(log.state.rounds[1].tables)
    assert sorted(filter(None, map(scanned, found))) == [(log.event_id, 2, number) for number in range(1, tables + 1)]
    assert all(text.startswith(web.rstrip("/") or str(log.event_id)) for text in found)
