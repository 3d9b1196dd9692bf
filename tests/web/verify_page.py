"""The page where files are verified: its address, its files, its headline."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import FilePayload, Page, expect

FROZEN = Path(__file__).parent.parent / "frozen"


KEY = (FROZEN / "referee.vkey").read_text().strip()


GAMES = ("alhambra-2-dealt-3", "kingdomino-1-dealt-4", "rollwrite-1-dealt-5")


ONE_FILE = (FROZEN.parent.parent / "clients" / "verify-js" / "index.html").as_uri()


INTACT = "Record intact and signed. Not checked here: the rules, whether chance is the deck's, what certificates prove."


def payload(data: bytes, name: str = "game.gamelog") -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


async def verify(page: Page, address: str, data: bytes | Path, key: str = KEY) -> str:
    """Return the report's headline. ``address``: of the gateway, or of the check in one file."""
    await page.goto(address if address == ONE_FILE else f"{address}/verify")
    await page.get_by_label("The referee's verifier key").fill(key)
    await page.get_by_label("The file of the game or event").set_input_files(
        data if isinstance(data, Path) else payload(data)
    )
    return await judged(page)


async def judged(page: Page) -> str:
    headline = page.locator("#report .judged")
    await expect(headline).not_to_have_text(re.compile("^Checking "))
    return await headline.inner_text()
