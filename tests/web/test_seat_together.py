"""Whole games of people: two browsers, six seats, and the words for a person who sees nothing."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

from referee.alhambra.v1 import alhambra_pb2
from referee.kingdomino.v1 import kingdomino_pb2
from referee.v1 import game_service_pb2 as pb
from tests.waiting import MOST_S
from tests.web.club import Club
from tests.web.hand import Hand, audited, bots

pytestmark = [pytest.mark.cut_off, pytest.mark.long]  # the second to act is refused, and a browser complains of it

RELATIVE = kingdomino_pb2.FRAME_RULE_RELATIVE
_LISTEN = """() => {
  window.heard = [];
  new MutationObserver(() => window.heard.push(document.querySelector(".told").textContent))
    .observe(document.querySelector(".told"), { childList: true, subtree: true, characterData: true });
}"""


async def test_two_browsers_play_each_other(page: Page, browser: Browser, club: Club) -> None:
    made = await club.client.create(2, rules_id="kingdomino")
    context = await browser.new_context()
    context.set_default_timeout(1000 * MOST_S)
    try:
        hands = [Hand.of(each, club.address, made, seat) for seat, each in enumerate((page, await context.new_page()))]
        for hand in hands:
            await hand.sit()
        await asyncio.gather(*(hand.play() for hand in hands))
        for hand in hands:
            await expect(hand.result).to_be_visible()
    finally:
        await context.close()
    await audited(club.client, made)


async def test_what_is_heard_is_what_was_entered(page: Page, club: Club) -> None:
    """Every entry once and in its order, in the words of the game's own page."""
    made = await club.client.create(1, rules_id="rollwrite")
    hand = Hand.of(page, club.address, made)
    await hand.sit()
    await hand.on_turn()
    first = await club.client.games.GetGame(pb.GetGameRequest(game_id=made.game.id))
    await page.evaluate(_LISTEN)
    await hand.play()
    heard = "\n".join(await page.evaluate("window.heard")).split("\n")
    await page.goto(f"{club.address}/g/{made.game.id}")
    entries = page.locator(".entries li")
    await expect(page.get_by_role("status")).to_have_text("The game is over.")
    told = (await entries.all_inner_texts())[first.game.size :]
    assert heard == told


@pytest.mark.parametrize(
    ("rules", "seats", "options"),
    [
        ("alhambra", 6, alhambra_pb2.Options(max_turns=60).SerializeToString()),
        ("rollwrite", 5, b""),
        ("kingdomino", 2, kingdomino_pb2.Options(mighty_duel=True, harmony=True).SerializeToString()),
        ("kingdomino", 3, kingdomino_pb2.Options(wider_offer=True, frame=RELATIVE).SerializeToString()),
    ],
)
async def test_many_seats_and_variants(rules: str, seats: int, options: bytes, page: Page, club: Club) -> None:
    made = await club.client.create(seats, rules_id=rules, options=options)
    hand = Hand.of(page, club.address, made)
    async with bots(club.referee, made, *range(1, seats)):
        await hand.sit()
        await hand.play()
    await audited(club.client, made)
