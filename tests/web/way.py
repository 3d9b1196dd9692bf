"""Obstacles between a page of a seat and its game: a way that breaks, a browser that forgets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import Browser, Download, Error, Page, Route

from referee.v1 import game_service_pb2 as pb
from tests.waiting import MOST_S, until
from tests.web.club import Club
from tests.web.hand import Hand

WAITING = re.compile("^Not answered yet: .*Your signed move is kept, and the page sends it again.$")


class Way:
    """From a page to the gateway: what is signed passes, and gets lost if a test wants that."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.loses = ""
        """``request``: it does not arrive; ``answer``: that does not come back; ``end``: it never comes, nor fails."""
        self.sent: list[bytes] = []
        self._hanging: list[Route] = []

    @classmethod
    async def of(cls, page: Page) -> Way:
        way = cls(page)
        await page.route(re.compile("/api/v1/games/[0-9a-f]+/(acts|table)$"), way._take)
        return way

    async def _take(self, route: Route) -> None:
        self.sent.append(route.request.post_data_buffer or b"")
        loses = self.loses
        if loses == "request":
            await route.abort()
            return
        response = await route.fetch()
        if loses == "answer":
            await route.abort()
        elif not loses:
            await route.fulfill(response=response)

    async def tried(self, times: int) -> None:
        """Wait until ``times`` bodies were sent in all."""
        await until(lambda: len(self.sent) >= times, "the same act again", every_s=0.01)

    @property
    def intents(self) -> set[bytes]:
        """The signed intents."""
        return {pb.SubmitIntentRequest.FromString(body).intent for body in self.sent}

    @asynccontextmanager
    async def silent(self) -> AsyncIterator[None]:
        """The page is loaded again, and gets no stream: it hangs, as on a phone between two networks."""

        async def hang(route: Route) -> None:
            self._hanging.append(route)

        await self._page.route("**/seat?after=*", hang)
        await self._page.reload()
        yield
        await self._page.unroute("**/seat?after=*")
        for route in self._hanging:
            with suppress(Error):  # of a page that is gone
                await route.abort()


async def saved_by(page: Page) -> list[bytes]:
    """Return a list of the files that the page saves from now on."""
    files: list[bytes] = []

    async def read(download: Download) -> None:
        files.append(await asyncio.to_thread((await download.path()).read_bytes))

    page.on("download", read)
    return files


@asynccontextmanager
async def elsewhere(browser: Browser) -> AsyncIterator[Page]:
    """Yield a page of a browser that knows nothing."""
    context = await browser.new_context(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    context.set_default_timeout(1000 * MOST_S)
    yield await context.new_page()
    await context.close()


async def opened(club: Club, page: Page, **fields: Any) -> tuple[pb.CreateGameResponse, Hand]:
    """Return a new game of two, and somebody with the link of player 1."""
    made = await club.client.create(2, rules_id="kingdomino", **fields)
    return made, Hand.of(page, club.address, made)
