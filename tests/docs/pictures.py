"""Take the pictures of README.md and of the tutorials, from the program itself: ``python -m tests.docs.pictures``.

They are not taken anew by any test, as a picture differs with the machine's fonts.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright, expect
from rich.console import Console
from rich.text import Text

from tests.cli.command import REFEREE
from tests.docs.shell import ROOT
from tests.web.club import started
from tests.web.conftest import chromium_path
from tests.web.hand import SAVE, TAKE, Hand

IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 120_000
BROKEN = "#alhambra;0,-1:pavilion-2-NEW;1,0:garden-10-N;0,1:tower-12;-1,0:pavilion-8;1,-1:tower-9-NE"
"""Tiles on the page that judges positions; the last one breaks rules."""


def run(*words: str, folder: Path) -> str:
    return subprocess.run([REFEREE, *words], cwd=folder, capture_output=True, text=True, check=False).stdout


@asynccontextmanager
async def page(browser: Browser, width: int, height: int) -> AsyncIterator[Page]:
    opened = await browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=2)
    yield opened
    await opened.context.close()


async def keep(page: Page, name: str) -> None:
    """Write the picture, with as few colours as it needs to be small."""
    file = IMAGES / f"{name}.png"
    await page.screenshot(path=file)
    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes")
    assert file.stat().st_size < MOST_BYTES


async def judged_on_a_phone(browser: Browser, address: str) -> None:
    async with page(browser, 390, 760) as phone:
        await phone.goto(f"{address}/position{BROKEN}")
        await expect(phone.locator(".broken-rules").first).to_be_visible()
        await keep(phone, "judge")


@contextmanager
def bots(folder: Path, *joins: str) -> Iterator[None]:
    """Let bots play these seats until the game is over, or the block fails."""
    words = [str(REFEREE), "bot", "greedy", "--pace", "400ms"]
    started = [
        subprocess.Popen([*words, "--join", join, "--key", f"{n}.pem"], cwd=folder) for n, join in enumerate(joins)
    ]
    try:
        yield
    except BaseException:
        for bot in started:
            bot.kill()
        raise
    finally:
        for bot in started:
            bot.wait()


def opened(data: Path, folder: Path) -> list[str]:
    """Return the lines of the join file of a new game of Kingdomino."""
    joins = folder / f"joins-{len(list(folder.glob('joins-*')))}.txt"
    run("new", "--data", str(data), "--rules", "kingdomino", "--seats", "2", "--out", str(joins), folder=folder)
    return joins.read_text().splitlines()


async def played(browser: Browser, data: Path, folder: Path) -> None:
    """A person at one seat, a bot at the other; the organiser ends the game when the picture is taken."""
    lines = opened(data, folder)
    async with page(browser, 720, 820) as seat:
        with bots(folder, lines[1]):
            await seat.goto(lines[2].removeprefix("link "))
            async with seat.expect_download():
                await seat.get_by_role("button", name=SAVE, exact=True).click()
            await seat.get_by_role("button", name=TAKE, exact=True).click()
            hand = Hand(seat, "", "", 0, "")
            for at in (12, *[-1] * 12):
                assert await hand.on_turn()
                await hand.move(at)
            assert await hand.on_turn()
            await seat.evaluate(
                "for (const each of document.querySelectorAll('details')) each.open = false; scrollTo(0, 0)"
            )
            await keep(seat, "seat")
            run("abort", lines[0].split("/")[1], "--data", str(data), "--yes", folder=folder)


async def watched_and_audited(browser: Browser, address: str, data: Path, folder: Path) -> None:
    lines = opened(data, folder)
    game = lines[0].split("/")[1]
    with bots(folder, *lines[:2]):
        async with page(browser, 1000, 720) as watching:
            await watching.goto(f"{address}/g/{game}")
            await expect(watching.get_by_text(re.compile(r"^4\d of \d+"))).to_be_visible()
            await keep(watching, "watch")
    run("fetch", game, "--data", str(data), folder=folder)
    file = folder / f"{game}.gamelog"
    (folder / "final.gamelog").write_bytes(file.read_bytes())
    changed = bytearray(file.read_bytes())
    changed[-4000] ^= 1
    (folder / "changed.gamelog").write_bytes(changed)
    (folder / "referee.vkey").write_text((data / "referee.vkey").read_text())
    console = Console(record=True, width=104, file=(folder / "terminal.txt").open("w"))
    for name in ("final", "changed"):
        words = ("audit", f"{name}.gamelog", "--key", "referee.vkey")
        console.print(Text(("" if name == "final" else "\n") + "$ referee " + " ".join(words), style="bold"))
        console.print(Text("\n".join(run(*words, folder=folder).splitlines()[: 9 if name == "final" else 4])))
    console.print()
    svg = folder / "terminal.svg"
    console.save_svg(str(svg), title="tile-referee")
    async with page(browser, 1000, 720) as terminal:
        await terminal.set_content(f"<style>body {{ margin: 0 }} svg {{ width: 100% }}</style>{svg.read_text()}")
        box = await terminal.locator("svg").first.bounding_box()
        assert box is not None
        await terminal.set_viewport_size({"width": 1000, "height": round(box["height"])})
        await keep(terminal, "audit")


async def main() -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        data = folder / "data"
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
            with started(folder) as club:
                await judged_on_a_phone(browser, club.address)
                await watched_and_audited(browser, club.address, data, folder)
                await played(browser, data, folder)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
