"""A person at a seat, by hand in a real browser: takes it with its link, and chooses moves by their words.

Nothing here sleeps: each step ends when the page shows what it leads to.
"""

from __future__ import annotations

import asyncio
import re
from asyncio import Task
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from playwright.async_api import FilePayload, Locator, Page, expect

from referee.log import file
from referee.log.audit import audit
from referee.log.entry import decode_entry
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.v1 import game_service_pb2 as pb
from referee_clients import Join, format_link, play_async
from referee_clients.bots import load
from tests.server.service.player import Client

TAKE = "Join the game"
SAVE = "Save the key file"
OPEN = "Open your key file"
ENTER = "Confirm this move"


@dataclass
class Hand:
    """Somebody with a page, and the link of a seat."""

    page: Page
    address: str
    """The address of the pages, without a slash at its end."""
    game: str
    seat: int
    token: str
    key: str = ""
    """The text of the key file, once it is saved."""
    chosen: list[str] = field(default_factory=list)
    """The moves so far, in words."""

    @classmethod
    def of(cls, page: Page, address: str, made: pb.CreateGameResponse, seat: int = 0) -> Hand:
        """Return a player who got the link of a seat of this new game."""
        return cls(page, address, made.game.id, seat, made.seat_tokens[seat])

    @property
    def link(self) -> str:
        return format_link(self.address, self.game, self.seat, self.token)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def state(self) -> Locator:
        """How the page stands, in words."""
        return self.page.locator("#state")

    @property
    def stopped(self) -> Locator:
        """The reason why the page has stopped."""
        return self.page.locator("#stopped [role=alert]")

    @property
    def turn(self) -> Locator:
        """The part in which a move is chosen, while the seat is on turn and nothing is on its way."""
        return self.page.locator(".turn-panel.on")

    @property
    def result(self) -> Locator:
        return self.page.locator(".result:not(:empty)")

    # --- the seat ------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the link, as if it had been scanned: the page is loaded, whatever was there before."""
        await self.page.goto("about:blank")
        await self.page.goto(self.link)

    async def come_back(self) -> None:
        """Open the page of the seat as the browser remembers it: without the token."""
        await self.page.goto("about:blank")
        await self.page.goto(f"{self.address}/seat#{self.game}/{self.seat}")

    async def save_key(self, button: str = SAVE) -> None:
        async with self.page.expect_download() as saved:
            await self.button(button).click()
        self.key = _text(await (await saved.value).path())

    async def take(self) -> None:
        """Take the seat with the key that was saved; done when the referee has entered it."""
        await self.button(TAKE).click()
        await expect(self.page.locator(".seat")).to_be_visible()
        await self.is_seated()

    async def is_seated(self) -> None:
        """Its Join is entered."""
        missing = re.compile(rf"Still to join: [^.]*\bplayer {self.seat + 1}\b", re.IGNORECASE)
        await expect(self.page.locator(".stands")).not_to_have_text(missing)

    async def sit(self) -> None:
        """Come with the link, save the key, take the seat."""
        await self.open()
        await self.save_key()
        await self.take()

    async def show_key(self, key: str = "", field: str = OPEN) -> None:
        """Open a key file; by default the one that was saved."""
        file: FilePayload = {
            "name": "key.pem",
            "mimeType": "application/x-pem-file",
            "buffer": (key or self.key).encode(),
        }
        await self.page.get_by_label(field).set_input_files(file)

    # --- moves ---------------------------------------------------------------------------------------------------

    async def on_turn(self) -> bool:
        """Wait for the next turn; False if the game has ended instead."""
        await expect(self.turn.or_(self.result).first).to_be_visible()
        return await self.turn.count() > 0

    async def choose(self, at: int = 0) -> str:
        """Choose one of the listed moves, by its place; it is still to be entered. Return its words."""
        details = self.turn.locator("details").filter(has=self.page.locator(".all-moves"))
        if await details.get_attribute("open") is None:
            await details.locator("summary").click()
        listed = self.turn.locator(".all-moves button")
        await listed.nth(at).click()
        await expect(self.button(ENTER)).to_be_visible()
        return await self.page.locator("#chosen-move").inner_text()

    async def enter(self) -> None:
        """Enter the move that is chosen; done when it is an entry."""
        self.chosen.append(await self.page.locator("#chosen-move").inner_text())
        await self.button(ENTER).click()
        await self.is_sent()

    async def is_sent(self) -> None:
        """Nothing is on its way, and nothing was refused."""
        await expect(self.turn.locator(".found:not(:empty)")).to_have_text([])

    async def move(self, at: int = 0) -> None:
        await self.choose(at)
        await self.enter()

    async def play(self, moves: int | None = None) -> None:
        """So many moves, or all to the end."""
        while moves is None or moves > 0:
            if not await self.on_turn():
                assert moves is None, "the game has ended"
                return
            await self.move()
            moves = None if moves is None else moves - 1

    # --- beside the moves ----------------------------------------------------------------------------------------

    async def beside(self, name: str) -> None:
        """Open what the seat can do at the table, and begin with one of these things."""
        details = self.page.locator("details.beside")
        if await details.get_attribute("open") is None:
            await details.locator("> summary").click()
        await expect(details).to_have_attribute("open", "")
        await self.button(name).first.click()

    async def resign(self) -> None:
        """Leave the game for good."""
        await self.beside("Resign")
        asked = self.page.get_by_role("group", name="Resign")
        await asked.get_by_role("button", name="Resign").click()
        await expect(asked).to_have_count(0)


@asynccontextmanager
async def bots(referee: str, made: pb.CreateGameResponse, *seats: int) -> AsyncIterator[list[Task[object]]]:
    """Run programs on these seats, to the end or until the test does not need them any more."""
    rules = made.game.rules_id
    joins = [Join(referee, made.game.id, seat, made.seat_tokens[seat]) for seat in seats]
    tasks: list[Task[object]] = [asyncio.create_task(play_async(join, load("greedy", rules))) for join in joins]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def acts(client: Client, hand: Hand) -> list[bytes]:
    """Return the seat's signed acts in the log."""
    entries = map(decode_entry, file.entries(BytesIO(await client.log(hand.game))))
    signed = [entry.signed.intent or entry.refused.intent for entry in entries]
    read = [(intent, log_pb2.Intent.FromString(intent)) for intent in signed if intent]
    return [data for data, intent in read if intent.WhichOneof("author") == "seat" and intent.seat == hand.seat]


async def audited(client: Client, made: pb.CreateGameResponse, *receipts: bytes) -> None:
    """The game is over, and nothing is wrong with its file."""
    report = audit(
        BytesIO(await client.log(made.game.id)), Policy(VerifierKey.parse(made.verifier_key), receipts=receipts)
    )
    assert report.verdict is Verdict.COMPLETE, report.as_text()


def _text(path: Path) -> str:
    return path.read_text(encoding="ascii")


async def key_of_browser(page: Page) -> bytes:
    """Have the browser make a key; return the public one, as the page shows it."""
    panel = page.locator("details", has_text="Token and key")
    if await panel.get_attribute("open") is None:
        await panel.locator("summary").click()
    await panel.get_by_role("button", name="Make a key for this browser").click()
    return bytes.fromhex(await panel.locator("code.key").inner_text())
