"""Every page that the gateway has, in the states that a person sees it in: one list for all tests of every page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from referee.tournament.rules.acts import EnterResult
from tests.server.service.arbiter import ARBITERS
from tests.server.service.conftest import running
from tests.server.service.event import event_until
from tests.web.club import pages
from tests.web.games_api import kingdomino
from tests.web.hand import Hand, bots

WIDTHS = {360: 740, 1280: 900}
"""And the height that goes with it: a phone's, a laptop's."""
THEMES = ("light", "dark")
SEATS = {"alhambra": 2, "kingdomino": 2, "rollwrite": 1}
"""Games in which player 1 is played by hand, and their seats."""


@dataclass(frozen=True, slots=True)
class Look:
    """A page as somebody sees it."""

    name: str
    address: str
    """The address, with ``{game}`` for the id of a game that is played, ``{event}`` and ``{over}`` for those of events,
    ``{free}`` for a free seat with its token, and ``{alhambra}`` and the like for a seat of such a game that this
    browser has taken.
    """
    ready: str
    """The element that is there when the page is complete (CSS)."""

    @property
    def path(self) -> str:
        """Without what is only in the browser, or asked of its page."""
        return self.address.partition("#")[0].partition("?")[0]


_ALHAMBRA = "0,-1:pavilion-2-NEW;1,0:garden-10-N;0,1:tower-12;-1,0:pavilion-8"
_JUDGED = ".status .judged:not(:empty), .status .brief"
LOOKS = (
    Look("home", "/", "#games li"),
    Look("watch", "/g/{game}", ".entries li"),
    Look("watch-replay", "/g/{game}#e=7", ".entries li"),
    Look("watch-unknown", f"/g/{'0' * 32}", "#stopped p"),
    Look("wall", "/wall?g={game}", ".mini-board svg"),
    Look("seat", "/seat", "form"),
    Look("seat-free", "/seat#{free}", ".taking"),
    Look("seat-taken", "/seat#{game}/0/TOKEN", ".taking"),
    Look("seat-plain", "/seat#{game}/7/TOKEN", "#stopped p"),
    *(Look(f"seat-{name}", f"/seat#{{{name}}}", ".turn-panel.on .choice, .turn-panel.on .legal") for name in SEATS),
    Look("desk", "/desk", "form.opening"),
    Look("desk-game", "/desk#{game}", "form.ruling"),
    Look("event", "/event/{event}", ".seated"),
    Look("event-over", "/event/{over}#round=1", ".seated"),
    Look("event-unknown", f"/event/{'0' * 32}", "#stopped p"),
    Look("about", "/about", ".spoken li"),
    Look("missing", "/nothing", ".choices"),
    Look("position", "/position", _JUDGED),
    Look("position-alhambra", f"/position#alhambra;{_ALHAMBRA};+tower-8-NES", ".legal"),
    Look("position-broken", f"/position#alhambra;{_ALHAMBRA};1,-1:tower-9-NE", ".broken-rules"),
    Look("position-kingdomino", "/position#kingdomino;5;48:1,0,1,1;47:-1,0,-1,1;19:2,0,2,1;+44", ".legal"),
    Look("position-rollwrite", "/position#rollwrite;b1,2;y1,6;c3;1,1;2,5", ".legal"),
    Look("score-alhambra", "/position#alhambra;0,-1:pavilion-2-NEW|1,0:garden-10-N|5,5:tower-10-W;neutral", "tbody tr"),
    Look(
        "score-rollwrite",
        "/position#rollwrite;b1,1;y1,1;c3;v0,0,0,2,1,0;1,2;2,1;3,6;5,4;6,3|b1,1;y1,1;c0;1,2;2,1;3,6;5,4;6,3",
        "tbody tr",
    ),
    Look("verify", "/verify", "#report p"),
    Look("rules", "/rules", ".choices"),
    *(Look(f"rules-{name}", f"/rules/{name}", ".rules") for name in ("alhambra", "kingdomino", "rollwrite", "event")),
)


@dataclass(frozen=True, slots=True)
class Site:
    """A gateway with a referee and a game, and a page of a browser that is at it."""

    page: Page
    address: str
    places: dict[str, str]

    async def open(self, look: Look) -> None:
        """Go there, and wait until everything is there."""
        await self.page.goto("about:blank")
        await self.page.goto(self.address + look.address.format(**self.places))
        await expect(self.page.locator(look.ready).first).to_be_attached()
        # Folded parts are seen as well.
        await self.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    async def seen(self, theme: str, width: int) -> None:
        """Be looked at so from now on."""
        await self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        await self.page.set_viewport_size({"width": width, "height": WIDTHS[width]})


@asynccontextmanager
async def site(browser: Browser, folder: Path, words: Path | None = None, *options: str) -> AsyncIterator[Site]:
    """A gateway with a referee at which a game is played; ``words``, ``options``: other catalogues, more options."""
    page = await browser.new_page(viewport={"width": 360, "height": WIDTHS[360]}, has_touch=True)
    async with AsyncExitStack() as stack:
        server, client = await stack.enter_async_context(running(folder))
        free = await client.create()
        play = await kingdomino(client, 4, arbiter_keys=[ARBITERS[0].public.raw])
        await play.steps(12)
        address = await stack.enter_async_context(pages(server.address, free.verifier_key, words, *options))
        places = {"game": play.id, "free": f"{free.game.id}/0/{free.seat_tokens[0]}"}
        for name, seats in SEATS.items():
            made = await client.create(seats, rules_id=name)
            await stack.enter_async_context(bots(server.address, made, *range(1, seats)))
            hand = Hand.of(page, address, made)
            await hand.sit()
            assert await hand.on_turn()
            places[name] = f"{made.game.id}/0"
        for name, until in (("event", EnterResult), ("over", None)):
            places[name] = (await event_until(client, until)).id
        yield Site(page, address, places)
        await page.context.close()


def is_of(look: Look, route: str) -> bool:
    """Return whether the page is what the gateway has there; ``route``: as Starlette writes paths."""
    return re.fullmatch(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(route)), look.path) is not None


AXE = Path(__file__).parent / "axe" / "axe.min.js"


_AXE = """async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const found = await axe.run(document, {resultTypes: ["violations"], runOnly: {type: "tag", values: tags}});
    return found.violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 120))}`);
}"""


_SMALL = """() => {
    // A link in a sentence is as high as its line, and what a label encloses is as large as the label (WCAG 2.5.8).
    const targets = document.querySelectorAll(
        "button, select, summary, a[href], input:not(label input), label:has(input), [role=gridcell]");
    const inSentence = "p a, li:not(:has(> a:only-child)) a, dd a, .skip, .broken-rules a";
    return [...targets]
        .filter((each) => each.closest("nav") || !each.matches(inSentence))
        .map((each) => [each.getAttribute("aria-label") ?? each.textContent, each.getBoundingClientRect()])
        .filter(([, {width, height}]) => width && (width < 43.99 || height < 43.99))
        .map(([name, {width, height}]) => `${name.trim()}: ${width} by ${height}`);
}"""


async def problems(at: Site, look: Look, views: Iterable[tuple[str, int]]) -> list[str]:
    """Everything that is wrong with a page; one load serves all views."""
    page = at.page
    found: list[str] = []

    def add(where: str, all_of: Iterable[str]) -> None:
        found.extend(f"{look.name}, {where}: {each}" for each in all_of)

    await at.open(look)
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    for theme, width in views:
        await at.seen(theme, width)
        add(f"{theme}, {width} px", await page.evaluate(_AXE))
        add(f"{width} px", await page.evaluate(_SMALL))
        if (scrolls := await page.evaluate("document.documentElement.scrollWidth")) > width:
            add(f"{width} px", [f"{scrolls} px wide"])
    # Twice as large on a phone of 720 px is as wide as 360 px; WCAG asks for 320 CSS px (1.4.10).
    await page.set_viewport_size({"width": 320, "height": 256})
    if (scrolls := await page.evaluate("document.documentElement.scrollWidth")) > 320:
        add("320 px", [f"{scrolls} px wide"])
    assert (await page.title()).endswith("Tile Referee")
    assert await page.get_by_role("heading", level=1).count() == 1
    return found
