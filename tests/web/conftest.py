"""A gateway in a process of its own, and a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.server.service.player import connected
from tests.waiting import MOST_S
from tests.web import in_browser
from tests.web.club import Club, Started, started
from tests.web.words import address_in

expect.set_options(timeout=1000 * MOST_S)  # no deadlines: machines are as slow as they are

NEEDED = "REFEREE_TESTS_BROWSER"
"""In the environment of tests that may not be skipped: ``make test-web``."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def gateway() -> Iterator[str]:
    """Yield the address of `referee web`, without a slash at its end; with Pyodide, if that is here."""
    command = [sys.executable, "-c", "from referee.cli import main; main()", "web", "--listen", "127.0.0.1:0"]
    command += [] if in_browser.lacking() else ["--pyodide", str(in_browser.PYODIDE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield address_in(process.stdout.readline())
        process.terminate()
        assert process.wait(MOST_S) == 0


def tool(*names: str, package: str) -> str:
    """Return the path of the first of these programs that is there; without one the test is skipped, or fails."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        what = f"there is no {names[0]} here: apt-get install {package}"
        assert NEEDED not in os.environ, what
        pytest.skip(what)
    return path


def chromium_path() -> str:
    return tool(*BROWSERS, package="chromium")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Yield the system's Chromium."""
    path = chromium_path()
    async with async_playwright() as playwright:
        # Root, as which containers run tests, has no sandbox.
        launched = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=1000 * MOST_S)
        yield launched
        await launched.close()


@pytest.fixture(scope="session")
def club_started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Yield a referee with pages for all tests that only need games of their own."""
    with started(tmp_path_factory.mktemp("club")) as made:
        yield made


@pytest.fixture
async def club(club_started: Started) -> AsyncIterator[Club]:
    """Yield the same, with a client for one test."""
    async with connected(club_started.referee, club_started.token) as client:
        yield Club(client, club_started.address, club_started.key, club_started.referee)


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Page]:
    """Yield a page of a phone. Its complaints fail the test.

    With the marker ``cut_off`` it may complain of what it cannot load, as a browser does by default.
    """
    context = await browser.new_context(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    context.set_default_timeout(1000 * MOST_S)
    opened = await context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    await context.close()
    if request.node.get_closest_marker("cut_off"):
        complaints = [complaint for complaint in complaints if "Failed to load resource" not in complaint]
    assert complaints == []
