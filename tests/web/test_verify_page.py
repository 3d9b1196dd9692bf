"""The page where files are verified, in a real browser: what it says of whole, cut, altered and foreign files."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.async_api import FilePayload, Page, Request, expect

from tests.web.test_gateway import Caller

FROZEN = Path(__file__).parent.parent / "frozen"
KEY = (FROZEN / "referee.vkey").read_text().strip()
GAMES = ("alhambra-2-dealt-3", "kingdomino-1-dealt-4", "rollwrite-1-dealt-5")
INTACT = "Record intact and signed. Rules: not checked here."


def payload(data: bytes, name: str = "game.gamelog") -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


async def verify(page: Page, gateway: str, data: bytes, key: str = KEY) -> str:
    """Return the report's headline."""
    await page.goto(f"{gateway}/verify")
    await page.get_by_label("The referee's verifier key").fill(key)
    await page.get_by_label("The game's file").set_input_files(payload(data))
    headline = page.locator("#report .judged")
    await expect(headline).not_to_have_text("Checking game.gamelog…")
    return await headline.inner_text()


@pytest.mark.parametrize("name", [GAMES[0], *(pytest.param(name, marks=pytest.mark.long) for name in GAMES[1:])])
async def test_a_whole_game_is_intact_and_its_rules_are_not_checked(name: str, page: Page, gateway: str) -> None:
    """And nothing of it leaves the page."""
    sent: list[str] = []

    def keep(request: Request) -> None:
        if request.method != "GET":
            sent.append(request.url)

    page.on("request", keep)
    assert await verify(page, gateway, (FROZEN / f"{name}.gamelog").read_bytes()) == INTACT
    entries = json.loads((FROZEN / f"{name}.json").read_text())["entries"]
    await expect(page.get_by_label("Report")).to_contain_text(
        f"{entries} entries, of which a signed checkpoint covers {entries}"
    )
    assert sent == []


async def test_without_a_key_it_says_what_is_missing(page: Page, gateway: str) -> None:
    data = (FROZEN / f"{GAMES[0]}.gamelog").read_bytes()
    assert (
        await verify(page, gateway, data, "")
        == "Record intact. Who signed it is not known: enter the referee's verifier key."
    )
    await page.get_by_label("The referee's verifier key").fill(KEY)
    await page.get_by_label("The referee's verifier key").press("Enter")
    await expect(page.locator("#report .judged")).to_have_text(INTACT)


async def test_one_bit_is_enough(page: Page, gateway: str) -> None:
    data = bytearray((FROZEN / f"{GAMES[1]}.gamelog").read_bytes())
    data[len(data) // 2] ^= 1
    assert (await verify(page, gateway, bytes(data))).startswith("Do not trust this record")


async def test_half_a_file_is_half_a_record(page: Page, gateway: str) -> None:
    data = (FROZEN / f"{GAMES[1]}.gamelog").read_bytes()
    said = await verify(page, gateway, data[: len(data) // 2])
    assert said.startswith("The record breaks off after ")


async def test_an_empty_file_is_no_signed_record(page: Page, gateway: str) -> None:
    assert (await verify(page, gateway, b"")).startswith("Nothing was checked: no entry")


@pytest.mark.parametrize("data", [b"\x00" * 1000, b"<img src=x onerror=alert(1)>" * 40])
async def test_what_is_no_file_of_a_game_is_none(data: bytes, page: Page, gateway: str) -> None:
    assert (await verify(page, gateway, data)).startswith("Do not trust this record")


async def test_a_key_that_is_none_is_said_to_be_none(page: Page, gateway: str) -> None:
    said = await verify(page, gateway, (FROZEN / f"{GAMES[0]}.gamelog").read_bytes(), "<b>key</b>")
    assert said.startswith("Nothing was checked: ")


async def test_the_check_in_one_file_is_the_one_that_is_in_the_repository(page: Page, gateway: str) -> None:
    got = Caller(gateway)("GET", "/verify.html")
    assert got.body == (FROZEN.parent.parent / "clients" / "verify-js" / "index.html").read_bytes()
    assert got.headers["content-disposition"].startswith("attachment;")
    await page.goto(f"{gateway}/verify")
    await expect(page.locator(".hash")).to_have_text(f"SHA-256 {sha256(got.body).hexdigest()}")


async def test_a_page_without_cryptography_says_so(page: Page, gateway: str) -> None:
    await page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined });")
    said = await verify(page, gateway, (FROZEN / f"{GAMES[0]}.gamelog").read_bytes())
    assert said.startswith("Nothing was checked: over plain HTTP")
