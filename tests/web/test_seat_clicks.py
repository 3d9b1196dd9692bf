"""Games at a seat by the board alone: by taps on a phone, and by keys."""

from __future__ import annotations

import random

import pytest
from playwright.async_api import Locator, Page, expect

from tests.sizes import campaign
from tests.web.club import Club
from tests.web.hand import ENTER, Hand, audited, bots

MOST_STEPS = 60

pytestmark = pytest.mark.cut_off  # an act that comes second is refused, of which browsers complain


async def tapped(hand: Hand, rng: random.Random) -> None:
    """Tap what is marked legal until a move is chosen in full; sometimes change the mind."""
    for _ in range(MOST_STEPS):
        legal = hand.turn.locator(".choice.legal, .cell.legal")
        count = await legal.count()
        if await chosen(hand) and (rng.random() < 0.8 or count == 0):
            return
        await legal.nth(rng.randrange(count)).click()
        await expect(hand.turn.locator(".found [role=status]")).to_have_count(0)
    raise AssertionError("taps lead to no move")


async def keyed(hand: Hand, rng: random.Random) -> None:
    """Choose with Tab, Enter and the board's keys: N moves to the next legal cell."""
    for _ in range(MOST_STEPS):
        if await chosen(hand):
            return
        stops = hand.turn.locator(".choice.legal")
        count = await stops.count()
        on_board = await hand.turn.locator(".cell.legal").count() > 0
        if on_board and (rng.random() < 0.7 or count == 0):
            await focus(hand.page, hand.turn.locator("[role=gridcell][tabindex='0']"))
            if rng.random() < 0.2:
                await hand.page.keyboard.press(rng.choice(["r", "Escape", "Home", "End"]))
            for _ in range(rng.randint(1, 4)):
                await hand.page.keyboard.press("n")
        else:
            await focus(hand.page, stops.nth(rng.randrange(count)))
        await hand.page.keyboard.press("Enter")
        await expect(hand.turn.locator(".found [role=status]")).to_have_count(0)
    raise AssertionError("keys lead to no move")


async def chosen(hand: Hand) -> bool:
    return await hand.button(ENTER).count() > 0


async def focus(page: Page, wanted: Locator) -> None:
    """Go there with the tab key, from the head of the page."""
    await page.locator("#title").evaluate("element => { element.tabIndex = -1; element.focus(); }")
    place = await wanted.element_handle()
    for _ in range(200):
        await page.keyboard.press("Tab")
        if await page.evaluate("place => document.activeElement === place", place):
            return
    raise AssertionError("the tab key does not come there")


async def entered_by_key(hand: Hand) -> None:
    """Enter the move: its button has the focus already, unless more could be chosen where it was."""
    enter = hand.button(ENTER)
    hand.chosen.append(await hand.page.locator("#chosen-move").inner_text())
    if not await enter.evaluate("element => element === document.activeElement"):
        await focus(hand.page, enter)
    await hand.page.keyboard.press("Enter")
    await hand.is_sent()


async def played(hand: Hand, by: str, moves: int | None, rng: random.Random) -> None:
    """So many moves, or all to the end."""
    choose, enter = {"taps": (tapped, Hand.enter), "keys": (keyed, entered_by_key)}[by]
    while moves is None or len(hand.chosen) < moves:
        if not await hand.on_turn():
            assert moves is None, "the game has ended"
            return
        await choose(hand, rng)
        assert await hand.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        await enter(hand)


@pytest.mark.parametrize(
    ("rules", "seats", "by", "moves"),
    [
        ("alhambra", 2, "keys", 3),
        *(campaign(rules, 2, by, None) for rules in ("alhambra", "kingdomino", "rollwrite") for by in ("taps", "keys")),
        campaign("kingdomino", 4, "taps", None),
        campaign("rollwrite", 1, "taps", None),
    ],
)
async def test_a_game_is_played_on_the_board(
    rules: str, seats: int, by: str, moves: int | None, page: Page, club: Club
) -> None:
    made = await club.client.create(seats, rules_id=rules)
    async with bots(club.referee, made, *range(1, seats)):
        hand = Hand.of(page, club.address, made)
        await hand.sit()
        await played(hand, by, moves, random.Random(1))
        if moves is not None:
            await hand.resign()
        await expect(hand.result).to_be_visible()
    await audited(club.client, made)
    assert len(set(hand.chosen)) > 1


async def test_what_may_not_be_chosen_is_explained_and_taken_back(page: Page, club: Club) -> None:
    made = await club.client.create(2, rules_id="kingdomino")
    async with bots(club.referee, made, 1):
        hand, rng = Hand.of(page, club.address, made), random.Random(1)
        await hand.sit()
        await played(hand, "taps", 1, rng)
        line = hand.turn.locator(".choice.pictured")
        while await hand.on_turn() and await line.count() > 1:  # a domino is chosen, with a king on others
            taken = hand.turn.locator(".choice:not(.legal)")
            if await taken.count():
                await taken.first.click()
                await expect(hand.turn.get_by_role("alert")).to_contain_text("You cannot make this move")
                await expect(hand.turn.get_by_role("alert").get_by_role("link")).to_have_text("KDO-5")
                await taken.first.click()  # the same again takes it back
                await expect(hand.turn.get_by_role("alert")).to_have_count(0)
            await tapped(hand, rng)
            await hand.enter()

        halves = hand.turn.locator(".choice use")
        before = [await half.get_attribute("href") for half in await halves.all()]
        cells = [await cell.get_attribute("data-cell") or "" for cell in await hand.turn.locator(".cell.empty").all()]
        x, y = max((tuple(map(int, cell.split(","))) for cell in cells), key=lambda at: abs(at[0]) + abs(at[1]))
        corner = hand.turn.locator(f'[data-cell="{x},{y}"]')  # far from the castle
        await corner.click()
        beside = ", ".join(f'[data-cell="{x + dx},{y + dy}"].empty' for dx, dy in ((1, 0), (0, 1), (-1, 0)))
        await page.keyboard.press("r")
        assert [await half.get_attribute("href") for half in await halves.all()] == before[::-1]
        await hand.turn.locator(beside).first.click()
        await expect(hand.turn.get_by_role("alert").get_by_role("link")).not_to_have_count(0)
        await expect(hand.turn.locator(".cell.broken.chosen")).not_to_have_count(0)
        await corner.press("Escape")
        await expect(hand.turn.locator(".chosen, [role=alert]")).to_have_count(0)
        await expect(hand.button(ENTER)).to_have_count(0)
