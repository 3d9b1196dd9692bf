"""A seat that is played by hand while everything breaks: nothing is lost, nothing is entered twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.clients.referee_process import Referee
from tests.server.service.player import connected
from tests.web.club import Club, Pages
from tests.web.hand import ENTER, SAVE, TAKE, Hand, acts, audited, bots
from tests.web.way import WAITING, Way, opened, saved_by

pytestmark = pytest.mark.cut_off  # browsers complain of refusals and of missing answers on their own

OTHER_TAB = "You play in another tab or window now. Reload this page to play here."


# --- whole games ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("moves", [2, None])
async def test_a_game_by_hand(moves: int | None, page: Page, club: Club) -> None:
    made, hand = await opened(club, page)
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.play(moves)
        if moves is not None:
            await hand.resign()
        await expect(hand.result).to_be_visible()
    await audited(club.client, made)


@pytest.mark.long
@pytest.mark.parametrize("seats", [3, 4])
async def test_all_reveal_at_once(seats: int, page: Page, club: Club) -> None:
    """Others are entered first, and the same is signed again behind them: once."""
    made = await club.client.create(seats, rules_id="kingdomino")
    hand = Hand.of(page, club.address, made)
    async with bots(club.referee, made, *range(1, seats)):
        await hand.sit()
        await hand.on_turn()
        assert len(await acts(club.client, hand)) == 2
        await hand.play()
    await audited(club.client, made)


# --- the page is loaded again --------------------------------------------------------------------------------------


@pytest.mark.long
async def test_a_page_that_is_loaded_again_at_every_point(page: Page, club: Club) -> None:
    made, hand = await opened(club, page)
    await hand.open()
    await page.reload()  # the tab still knows the link
    await expect(hand.button(SAVE)).to_be_visible()
    await page.evaluate("sessionStorage.clear()")
    await page.reload()
    await expect(hand.stopped).to_contain_text("Open the link that you got from the organiser")
    await hand.sit()
    await page.reload()
    await expect(page.locator(".stands")).to_have_text("Not begun yet. Still to join: player 2.")
    async with bots(club.referee, made, 1):
        await hand.on_turn()
        way = await Way.of(page)
        await page.reload()
        await hand.on_turn()
        await hand.choose()
        await page.reload()
        await hand.on_turn()
        assert not way.sent, "nothing is signed that nobody confirmed"
        for lost in ("request", "answer"):
            way.loses = lost
            before = await acts(club.client, hand)
            way.sent.clear()
            await hand.choose(1)
            await hand.button(ENTER).click()
            await way.tried(1)
            await page.reload()
            if lost == "request":
                await expect(hand.state).to_have_text(WAITING)
                await expect(hand.turn).to_have_count(0)
            way.loses = ""
            await hand.on_turn()
            assert len(set(way.sent)) == 1, "the same bytes, signature and all"
            assert [intent for intent in await acts(club.client, hand) if intent not in before] == [*way.intents]
        await hand.resign()
    await audited(club.client, made)


# --- the way breaks ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("lost", ["answer", "request"])
async def test_what_is_lost_on_the_way_is_sent_again_as_it_was(lost: str, page: Page, club: Club) -> None:
    """No stream says what became of it: only the answer does."""
    made, hand = await opened(club, page)
    way = await Way.of(page)
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        before = await acts(club.client, hand)
        async with way.silent():
            await hand.on_turn()
            way.sent.clear()
            way.loses = lost
            await hand.choose()
            await hand.button(ENTER).click()
            await way.tried(2)
            await expect(hand.state).to_have_text(WAITING)
            way.loses = ""
            await hand.is_sent()
            await expect(hand.turn).to_have_count(0)
        assert len(way.sent) > 2
        assert len(set(way.sent)) == 1
        await hand.on_turn()
        assert [*before, *way.intents] == await acts(club.client, hand)
        await hand.resign()
    await audited(club.client, made)


@pytest.mark.long
@pytest.mark.parametrize("lost", ["answer", "end"])
async def test_the_stream_tells_what_the_answer_did_not(lost: str, page: Page, club: Club) -> None:
    """The seat continues at once, even if its request hangs for ever."""
    made, hand = await opened(club, page)
    way = await Way.of(page)
    async with bots(club.referee, made, 1):
        await hand.sit()
        way.loses = lost
        await hand.play(2)
        await hand.resign()
    assert len(set(way.sent)) == len(way.intents)
    await audited(club.client, made)


@pytest.mark.long
async def test_a_phone_that_is_offline_for_a_while(page: Page, club: Club) -> None:
    made, hand = await opened(club, page)
    async with bots(club.referee, made, 1):
        await hand.sit()
        for at in range(3):
            await hand.on_turn()
            await page.context.set_offline(True)
            await hand.choose(at % 2)
            await hand.button(ENTER).click()
            await expect(hand.state).to_have_text(WAITING)
            await page.context.set_offline(False)
            await hand.is_sent()
        await hand.play()
    await audited(club.client, made)


@pytest.mark.long
async def test_taps_that_come_twice_count_once(page: Page, club: Club) -> None:
    made, hand = await opened(club, page)
    way = await Way.of(page)
    keys = await saved_by(page)
    async with bots(club.referee, made, 1):
        await hand.open()
        await hand.button(SAVE).dblclick()
        await hand.button(TAKE).dblclick()
        await hand.on_turn()
        await hand.choose()
        await hand.button(ENTER).dblclick()
        await hand.is_sent()
        await hand.on_turn()
        assert len(await acts(club.client, hand)) == 3
        assert len(way.intents) == len(set(way.sent))
        assert len(set(keys)) == 1
        await hand.resign()
    await audited(club.client, made)


# --- two tabs ------------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_a_seat_is_played_in_one_tab(page: Page, club: Club) -> None:
    """Another one says so, and takes it over on request, with what is on its way. The first one does nothing more."""
    made, hand = await opened(club, page)
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        way = await Way.of(page)
        await hand.choose()
        way.loses = "request"
        await hand.button(ENTER).click()
        await way.tried(1)
        other = Hand.of(await page.context.new_page(), club.address, made)
        await other.come_back()
        await expect(other.state).to_have_text("You play this game in another tab or window of this browser.")
        await expect(other.turn).to_have_count(0)
        await other.button("Play it here instead").click()
        await expect(hand.stopped).to_have_text(OTHER_TAB)
        await expect(hand.turn).to_have_count(0)
        await other.on_turn()
        assert len(await acts(club.client, hand)) == 3
        assert [*way.intents] == (await acts(club.client, hand))[2:]
        sent = len(way.sent)
        way.loses = ""
        await other.play(2)
        assert len(way.sent) == sent
        await page.reload()
        await expect(hand.state).to_have_text("You play this game in another tab or window of this browser.")
        await other.page.close()
        await page.reload()
        await hand.on_turn()
        await hand.resign()
    await audited(club.client, made)


# --- processes are killed ------------------------------------------------------------------------------------------


@pytest.fixture
async def killable(tmp_path: Path) -> AsyncIterator[tuple[Referee, Pages]]:
    """Yield a referee and its pages, each in a process of its own."""
    referee = Referee(tmp_path / "data")
    await asyncio.to_thread(referee.start)
    async with connected(referee.address, referee.token) as client:
        key = (await client.create()).verifier_key
    pages = Pages(referee.address, key)
    await pages.start()
    yield referee, pages
    await pages.stop()
    await asyncio.to_thread(referee.stop)


def stopping(referee: Referee) -> Callable[[], Awaitable[object]]:
    return lambda: asyncio.to_thread(referee.stop)


def starting(referee: Referee) -> Callable[[], Awaitable[object]]:
    return lambda: asyncio.to_thread(referee.start)


@pytest.mark.long
@pytest.mark.parametrize("what", ["gateway", "referee"])
async def test_what_is_killed_at_every_point_is_gone_on_with(
    what: str, page: Page, killable: tuple[Referee, Pages]
) -> None:
    referee, pages = killable
    kill, start = (pages.stop, pages.start) if what == "gateway" else (stopping(referee), starting(referee))
    async with connected(referee.address, referee.token) as client:
        made = await client.create(2, rules_id="kingdomino")
        hand = Hand.of(page, pages.address, made)
        # While the seat is taken.
        await hand.open()
        await hand.save_key()
        await kill()
        await hand.button(TAKE).click()
        await expect(hand.state).to_have_text(WAITING)
        await start()
        await expect(page.locator(".stands")).to_have_text("Not begun yet. Still to join: player 2.")
        # While the deck is made.
        await kill()
        async with bots(referee.address, made, 1):
            await start()
            await hand.on_turn()
            # On turn.
            await kill()
            await hand.choose()
            await start()
            await hand.enter()
            # While a move is on its way; and the page is loaded again, as soon as there is one.
            await hand.on_turn()
            await hand.choose()
            await kill()
            await hand.button(ENTER).click()
            await expect(hand.state).to_have_text(WAITING)
            await start()
            await page.reload()
            await hand.play()
        entered = await acts(client, hand)
        assert len(entered) == len(set(entered))
        await audited(client, made)
