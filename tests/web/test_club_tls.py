"""The page about a hall without internet: commands of the club's own authority, and what Chromium makes of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Error, async_playwright, expect

from referee_clients.join import parse_join
from tests.docs.shell import ENVIRONMENT, ROOT
from tests.waiting import MOST_S
from tests.web.conftest import chromium_path, tool
from tests.web.hand import Hand
from tests.web.words import address_in

PAGE = (ROOT / "docs" / "operate" / "hall.md").read_text(encoding="utf-8")
SECTIONS = PAGE.partition("## An authority of the club")[2]
COMMANDS = re.findall(r"^ {4,}(\S.*)$", SECTIONS.replace("\\\n", " "), re.MULTILINE)
"""The commands in their order; a line and its continuation are one."""
INSTALL = COMMANDS[-2:]
"""On a player's Linux."""
SIGNED = COMMANDS[1:5]
"""The commands that make a certificate of the authority."""
BY_NUMBER, BY_NAME = "https://192.168.1.20:8443", "https://club.example:8443"
PLAIN, BANK = "http://192.168.1.20:8080", "https://bank.example"
THIEF = "--tls-cert thief.crt --tls-key thief.key"


@dataclass(frozen=True)
class Hall:
    """A club's machine."""

    folder: Path
    told: str
    """By the commands before the referee is started, and after that."""
    rules: str
    """For Chromium: which port of this machine each address leads to."""


def run(commands: list[str], folder: Path, **more: str) -> str:
    """Run commands one after the other, as in one terminal; return what they print."""
    script = "\n".join(["set -e", *commands])
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, env={**ENVIRONMENT, **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@contextmanager
def started(command: str, folder: Path) -> Iterator[str]:
    """Run a command that serves until the block ends; yield the first line that it prints."""
    with (
        (folder / "log").open("ab") as log,
        subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Yield one whose organiser did what the page says; beside it, pages over plain HTTP and those of a thief."""
    tool("openssl", package="openssl")
    tool("certutil", package="libnss3-tools")
    folder = tmp_path_factory.mktemp("hall")
    (serve,) = (command for command in COMMANDS if command.startswith("referee serve "))
    at = COMMANDS.index(serve)
    told = run(COMMANDS[:at], folder)
    with ExitStack() as stack:
        serve = serve.replace("--web 0.0.0.0:8443", "--web 127.0.0.1:0")
        ready = json.loads(stack.enter_context(started(f"{serve} --listen 127.0.0.1:0 --json", folder)))
        assert [lack["key"] for lack in ready["web_lacks"]] == ["authority"]
        told += run(COMMANDS[at + 1 : -len(INSTALL)], folder)

        run([each.replace("referee.", "thief.").replace("club.example", "bank.example") for each in SIGNED], folder)
        pages = "referee web --listen 127.0.0.1:0"
        thief = address_in(stack.enter_context(started(f"{pages} --origin {BANK} {THIEF}", folder)))
        plain = address_in(stack.enter_context(started(pages, folder)))
        leads = {BY_NUMBER: ready["web"], BY_NAME: ready["web"], BANK: thief, PLAIN: plain}
        rules = [f"MAP {urlsplit(origin).netloc} {urlsplit(to).netloc}" for origin, to in leads.items()]
        yield Hall(folder, told, ",".join(rules))


@asynccontextmanager
async def chromium(hall: Hall, home: Path) -> AsyncIterator[Browser]:
    """Yield the browser of a person in the hall, with this home."""
    path = chromium_path()
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", f"--host-resolver-rules={hall.rules}"],
            env={**os.environ, "HOME": str(home)},
            timeout=1000 * MOST_S,
        )
        yield launched
        await launched.close()


async def keys_at(browser: Browser, address: str) -> tuple[bool, bool]:
    """Return whether a page there is secure, and whether it is given keys. Raise what the browser shows instead."""
    page = await browser.new_page()
    page.set_default_timeout(1000 * MOST_S)
    try:
        await page.goto(f"{address}/about")
        secure, keys = await page.evaluate("[isSecureContext, 'crypto' in globalThis && crypto.subtle !== undefined]")
        return secure, keys
    finally:
        await page.close()


async def refused(browser: Browser, address: str) -> str:
    """Return why the browser refuses the page."""
    with pytest.raises(Error) as caught:
        await keys_at(browser, address)
    found = re.search(r"net::(\w+)", caught.value.message)
    assert found is not None, caught.value.message
    return found[1]


async def test_without_the_authority_the_browser_refuses_the_pages(hall: Hall, tmp_path: Path) -> None:
    async with chromium(hall, tmp_path) as browser:
        for address in (BY_NUMBER, BY_NAME, BANK):
            assert await refused(browser, address) == "ERR_CERT_AUTHORITY_INVALID"


@pytest.mark.long
async def test_with_the_authority_a_player_has_keys_and_takes_a_seat(hall: Hall, tmp_path: Path) -> None:
    run(INSTALL, hall.folder, HOME=str(tmp_path))
    async with chromium(hall, tmp_path) as browser:
        assert await keys_at(browser, BY_NUMBER) == (True, True)
        assert await keys_at(browser, BY_NAME) == (True, True)
        assert await keys_at(browser, PLAIN) == (False, False)
        assert await refused(browser, BANK) == "ERR_CERT_INVALID", "the authority is for the club's names alone"

        joins = [parse_join(line) for line in lines_of(hall, "")]
        links = lines_of(hall, "link ")
        assert len(joins) == len(links) == 2
        hand = Hand(await browser.new_page(), BY_NUMBER, joins[1].game_id, 1, joins[1].token)
        assert hand.link == links[1]
        await hand.sit()
        await expect(hand.page.locator(".stands")).to_have_text("Not begun yet. Still to join: player 1. ")
        assert hand.token not in hand.page.url


def lines_of(hall: Hall, kind: str) -> list[str]:
    """Return the lines of the file of join strings that begin so, without their beginning."""
    found = re.findall(r"^(link |)(\S+)$", (hall.folder / "joins.txt").read_text(), re.MULTILINE)
    return [line for begins, line in found if begins == kind]
