"""Take the pictures of the documentation, from the program itself: ``make pictures``.

No test takes them anew, as a picture differs with the machine's fonts. A test holds their names and their sizes.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright, expect
from rich.console import Console
from rich.text import Text
from textual.app import App

from referee.log.events import Role
from referee.text.notation.headers import Setup
from referee.tournament.file import EventFile
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.terminal.console.cases import Post
from referee_clients.terminal.console.screen import ConsoleApp
from referee_clients.terminal.event_desk.screen import EventDeskApp
from tests.cli.command import REFEREE
from tests.clients.desk.desk import running as running_desk
from tests.clients.event_desk.event_desk import Desk as EventDesk
from tests.clients.event_desk.event_desk import make as make_event
from tests.clients.referee_process import Referee
from tests.clients.seat.seat import beside, open_game
from tests.clients.seat.seat import running as running_seat
from tests.docs.shell import ROOT
from tests.server.service.arbiter import ARBITERS, Table
from tests.server.service.conftest import running as running_service
from tests.text.notation.setups import PLAIN
from tests.waiting import until
from tests.web.club import started
from tests.web.conftest import chromium_path
from tests.web.every_page import LOOKS, site
from tests.web.hand import SAVE, TAKE, Hand

IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 120_000
PAGES = {
    "home": "",
    "wall": "/wall",
    "event-over": "",
    "desk-game": "The chosen game",
    "about": "",
    "verify": "",
    "rules-kingdomino": "",
    "score-alhambra": "",
}
"""Pages as their tests see them, by the names of their looks: another address, or the label of a part to begin with."""
BROKEN = "#alhambra;0,-1:pavilion-2-NEW;1,0:garden-10-N;0,1:tower-12;-1,0:pavilion-8;1,-1:tower-9-NE"
"""Tiles on the page that judges positions; the last one breaks rules."""
CONSOLE = 104
"""Columns of a terminal."""


def run(*words: str, folder: Path) -> str:
    return subprocess.run([REFEREE, *words], cwd=folder, capture_output=True, text=True, check=False).stdout


@asynccontextmanager
async def page(browser: Browser, width: int, height: int) -> AsyncIterator[Page]:
    opened = await browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=2)
    yield opened
    await opened.context.close()


async def keep(page: Page, name: str, colours: int = 128) -> None:
    """Write the picture, with as few colours as it needs to be small."""
    file = IMAGES / f"{name}.png"
    await page.screenshot(path=file)
    Image.open(file).convert("RGB").quantize(colours).save(file, optimize=True)
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
        async with page(browser, 1280, 720) as watching:
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
    console = Console(record=True, width=CONSOLE, file=(folder / "terminal.txt").open("w"))
    for name in ("final", "changed"):
        words = ("audit", f"{name}.gamelog", "--key", "referee.vkey")
        console.print(Text(("" if name == "final" else "\n") + "$ referee " + " ".join(words), style="bold"))
        console.print(Text("\n".join(run(*words, folder=folder).splitlines()[: 9 if name == "final" else 4])))
    console.print()
    await drawn(browser, console.export_svg(title="tile-referee"), "audit")
    run("report", "final.gamelog", "--key", "referee.vkey", "--html", "--out", "report.html", folder=folder)
    await printed(browser, folder / "report.html", "report")
    sheet = folder / "cards.html"
    cards = ("--rules", "kingdomino", "--seats", "2", "--sheet", str(sheet), "--web", "https://club.example")
    run("new", "--data", str(data), *cards, folder=folder)
    await printed(browser, sheet, "cards", height=420)


async def printed(browser: Browser, file: Path, name: str, height: int = 900) -> None:
    """Take the beginning of a page that people print."""
    async with page(browser, 800, height) as opened:
        await opened.goto(file.as_uri())
        await keep(opened, name, 64)


# --- at a terminal ---------------------------------------------------------------------------------------------------


async def drawn(browser: Browser, svg: str, name: str) -> None:
    """Take a terminal, whose fonts come from this machine."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    async with page(browser, 1000, 720) as terminal:
        await terminal.set_content(f"<style>body {{ margin: 0 }} svg {{ width: 100% }}</style>{svg}")
        box = await terminal.locator("svg").first.bounding_box()
        assert box is not None
        await terminal.set_viewport_size({"width": 1000, "height": round(box["height"])})
        await keep(terminal, name, 64)


def screen(app: App[Any]) -> str:
    return app.export_screenshot(title="tile-referee")


async def desk(referee: Referee, folder: Path) -> str:
    """A scribe at a real table has entered a round of Kingdomino, and types a move that the rules forbid."""
    kings: Setup = PLAIN[1]
    async with running_desk(referee, folder, size=(CONSOLE, 40)) as at:
        await at.has_game(kings, "Redwing, Bluebell")
        start = ["0: castle 2,2", "1: castle 1,1", "first order: 1 0 1 0", "line: 3 4 17 22"]
        await at.goes_on([*start, "1: choose 3", "0: choose 4", "1: choose 17", "0: choose 22", "line: 1 2 5 6"])
        await at.enter("1: place 3 0,0 1,0")
        return screen(at.app)


async def play(referee: Referee, folder: Path) -> str:
    """A player looks at what a move will do."""
    words = ("--rules", "kingdomino", "--seats", 2, "--options", '{"declared_order": [0, 1, 0, 1]}', "--clock", "15m")
    game = open_game(referee, *words)
    with beside(game.joins[1], folder / "other.pem"):
        async with running_seat(game.joins[0], folder / "own.pem", game.verifier) as at:
            await at.is_on_turn()
            await at.enter("0: castle 2,2")
            return screen(at.app)


async def console(client: Any, address: str) -> str:
    """An arbiter has two games, and a player of one calls."""
    tables = [await Table.dealt(client) for _ in range(2)]
    await Arbiter(client.channel, tables[0].play.id, tables[0].token(Role.SEAT, 1)).call("the line is another one")
    app = ConsoleApp(Post(address, [each.token(Role.ARBITER) for each in tables], ARBITERS[0]))
    async with app.run_test(size=(CONSOLE, 30)) as pilot:
        await until(lambda: "calls for an arbiter" in screen(app).replace("&#160;", " "), "the call")
        await pilot.pause()
        return screen(app)


async def event_desk(folder: Path) -> tuple[str, Path]:
    """A round is being played at the desk of an event. Return the event, too."""
    path = make_event(folder)
    with EventFile.opened(path) as event:
        app = EventDeskApp(event)
        async with app.run_test(size=(CONSOLE, 24)) as pilot:
            at = EventDesk(app, pilot)
            await at.enter("checkin all")
            for keys in (("f5",), ("enter",), ("f6", "enter"), ("f3",)):
                await at.keys(*keys)
                await at.answered()
            await at.enter("1 1,2,3,4")
            await at.typing("2 2,1,3")
            return screen(app), path


async def status(browser: Browser, referee: Referee, folder: Path) -> None:
    shown = run("status", "--once", "--server", referee.address, "--data", str(referee.folder), folder=folder)
    console = Console(record=True, width=CONSOLE, file=(folder / "status.txt").open("w"))
    console.print(Text("$ referee status --data club", style="bold"))
    console.print(Text.from_ansi(shown))
    await drawn(browser, console.export_svg(title="tile-referee"), "status")


async def at_terminals(browser: Browser, folder: Path) -> None:
    referee = Referee(folder / "referee")
    referee.start()
    try:
        await drawn(browser, await desk(referee, folder / "desk"), "desk")
        await drawn(browser, await play(referee, folder), "play")
        await status(browser, referee, folder)
    finally:
        referee.stop()
    async with running_service(folder / "service") as (server, client):
        await drawn(browser, await console(client, server.address), "arbiter")
    (folder / "event").mkdir()
    shown, event = await event_desk(folder / "event")
    await drawn(browser, shown, "event-desk")
    run("event", "export", str(event), "--html", "pages", "--web", "https://club.example", folder=folder)
    await printed(browser, folder / "pages" / "round-1-slips.html", "slips", height=700)
    await printed(browser, folder / "pages" / "round-1-why.html", "why", height=700)


async def matched(browser: Browser, folder: Path) -> None:
    words = ("--bots", "builder,greedy,random", "--game", "kingdomino", "--seats", "2", "--games", "30", "--seed", "7")
    run("match", "--out", "match", *words, folder=folder)
    await printed(browser, folder / "match" / "report.html", "match")


async def looked_at(browser: Browser, folder: Path) -> None:
    """Pages as their tests see them, with folded parts folded."""
    async with site(browser, folder) as at:
        for look in (each for each in LOOKS if each.name in PAGES):
            other = PAGES[look.name]
            address = other if other.startswith("/") else look.address.format(**at.places)
            async with page(browser, 1000, 720) as opened:
                await opened.goto(at.address + address)
                await expect(opened.locator(look.ready).first).to_be_attached()
                if other and address != other:
                    await opened.get_by_label(other).evaluate("(each) => each.scrollIntoView()")
                await keep(opened, f"page-{look.name}")


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
            await looked_at(browser, folder / "site")
            await at_terminals(browser, folder)
            await matched(browser, folder)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
