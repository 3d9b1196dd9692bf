"""The page where files are verified, in a real browser: what it says of whole, cut, altered and foreign files."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

from referee.core import is_compiled
from referee.log.file import MAX_FILE_BYTES
from referee.log.note import VerifierKey
from tests.log import hostile
from tests.log.games import SIGNER
from tests.tournament import faults
from tests.tournament.verify_js import written
from tests.web.gateway import Caller
from tests.web.verify_page import FROZEN, GAMES, INTACT, KEY, ONE_FILE, judged, payload, verify


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
        == "Record intact. Its signer is not known: enter the referee's verifier key."
    )
    await page.get_by_label("The referee's verifier key").fill(KEY)
    await page.get_by_label("The referee's verifier key").press("Enter")
    await expect(page.locator("#report .judged")).to_have_text(INTACT)


@pytest.mark.parametrize("single", [False, True])
async def test_one_bit_is_enough(single: bool, page: Page, gateway: str) -> None:
    gateway = ONE_FILE if single else gateway
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


async def test_pinned_seats_are_held_against_the_file(page: Page, gateway: str) -> None:
    data = (FROZEN / f"{GAMES[0]}.gamelog").read_bytes()
    await page.goto(f"{gateway}/verify")
    for keys, said in (
        ("0=" + VerifierKey.parse(KEY).key.hex(), "Do not trust this record yet: "),
        ("0=00", "Nothing was checked: 0=00: expected NUMBER=KEY"),
        ("", INTACT),
    ):
        await page.get_by_label("The referee's verifier key").fill(KEY)
        await page.get_by_label("Keys of players").fill(keys)
        await page.get_by_label("The file of the game or event").set_input_files(payload(data))
        assert (await judged(page)).startswith(said)


@pytest.mark.parametrize("single", [False, True])
async def test_an_event_is_checked_with_its_rules(single: bool, page: Page, gateway: str, tmp_path: Path) -> None:
    address = ONE_FILE if single else gateway
    right = written(tmp_path, 2, 6, rounds=2)
    said = await verify(page, address, right, str(SIGNER.verifier))
    assert said == "Record intact and signed, and the event keeps its rules, as far as this page checks them."
    await expect(page.get_by_label("Report")).to_contain_text("not checked here: that no exchange of two players")
    if is_compiled():
        return  # the fault below is made by a class that no compiled core lets be made
    wrong = faults.PLANTED["a-second-bye"].file(tmp_path)
    said = await verify(page, address, wrong, str(SIGNER.verifier))
    assert said == "Do not trust this event: a pairing breaks its rules, or differs from its description."
    await expect(page.get_by_label("Report")).to_contain_text(
        "had a bye, and somebody at a table had fewer (EVT-B1), entry"
    )


# --- the check in one file -------------------------------------------------------------------------------------------


async def test_the_check_in_one_file_says_the_same_without_a_server(page: Page) -> None:
    assert await verify(page, ONE_FILE, (FROZEN / f"{GAMES[0]}.gamelog").read_bytes()) == INTACT
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    await expect(page.get_by_role("main")).to_have_count(1)
    assert await page.locator("html").get_attribute("lang") == "en"
    tall = await page.locator("input, textarea").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().height)"
    )
    assert min(tall) >= 44


async def test_the_check_in_one_file_can_send_nothing(browser: Browser, gateway: str) -> None:
    """Not even to the gateway that it came from."""
    page = await browser.new_page()
    await page.goto(ONE_FILE)
    refused = await page.evaluate(
        """async (address) => {
          const found = [];
          const keep = ({ effectiveDirective }) => found.push(effectiveDirective);
          document.addEventListener("securitypolicyviolation", keep);
          await fetch(address).catch(() => {});
          const picture = new Image();
          await new Promise((done) => { picture.onerror = done; picture.src = address; });
          return found;
        }""",
        f"{gateway}/static/icon.svg",
    )
    assert set(refused) == {"connect-src", "img-src"}
    await page.close()


# --- files that are made to cost -------------------------------------------------------------------------------------


@pytest.mark.parametrize("single", [False, True])
async def test_a_file_that_is_too_long_is_not_read(single: bool, page: Page, gateway: str, tmp_path: Path) -> None:
    """Its size is looked at: it has no bytes on the disk, and would be none to the browser."""
    path = tmp_path / "game.gamelog"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    said = await verify(page, ONE_FILE if single else gateway, path)
    assert said == "Nothing was checked: game.gamelog has 67108865 bytes; expected at most 67108864."


async def test_a_check_without_end_is_stopped_and_the_page_is_alive(page: Page, gateway: str) -> None:
    async def endless(route: Route) -> None:
        await route.fulfill(content_type="text/javascript", body="self.onmessage = () => { for (;;); };")

    await page.clock.install()
    await page.route("**/static/auditor.mjs", endless)
    await page.goto(f"{gateway}/verify")
    await page.get_by_label("The file of the game or event").set_input_files(payload(b""))
    await expect(page.locator("#report .judged")).to_have_text("Checking game.gamelog…")
    await page.clock.fast_forward(60_000)
    assert await judged(page) == "Nothing is known: the check was stopped after 60 seconds."
    # The next one has a worker of its own.
    await page.unroute("**/static/auditor.mjs")
    assert (await verify(page, gateway, (FROZEN / f"{GAMES[0]}.gamelog").read_bytes())) == INTACT


@pytest.mark.long
@pytest.mark.parametrize("make", [hostile.tiny, hostile.longest, hostile.signatures, hostile.nested])
async def test_a_hostile_file_does_not_stop_the_page(
    make: Callable[[int], bytes], page: Page, gateway: str, tmp_path: Path
) -> None:
    """It answers while the file is checked, and the check comes to an end or is stopped."""
    path = tmp_path / "game.gamelog"
    path.write_bytes(make(MAX_FILE_BYTES))
    await page.goto(f"{gateway}/verify")
    await page.get_by_label("The file of the game or event").set_input_files(path)
    while (said := await page.locator("#report .judged").inner_text()).startswith("Checking "):
        await page.get_by_label("Keys of players").fill("")
    assert not said.startswith(INTACT)
