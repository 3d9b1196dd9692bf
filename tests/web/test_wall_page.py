"""Games on a big screen, in a real browser: one stream for all of them, and every board from what is signed."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import Page, expect

from tests.server.service.player import Play
from tests.web.club import Club
from tests.web.games_api import kingdomino

PROJECTOR = {"width": 1920, "height": 1080}


def card(page: Page, play: Play):  # type: ignore[no-untyped-def]
    return page.get_by_role("article").filter(has=page.locator(f"a[href='/g/{play.id}']"))


async def test_twelve_games_are_followed_on_one_stream(club: Club, page: Page) -> None:
    plays = [await kingdomino(club.client, 2 * number) for number in range(12)]
    await page.set_viewport_size(PROJECTOR)  # type: ignore[arg-type]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(f"{club.address}/wall?g={','.join(play.id for play in plays)}")
    await expect(page.get_by_role("status")).to_have_text("Games: 12, of which 12 are in progress.")
    await expect(page.get_by_role("article")).to_have_count(12)
    await expect(page.get_by_role("img", name=re.compile("^Board: player [12]$"))).to_have_count(24)
    for play in (plays[0], plays[11]):
        turn = f"Player {play.seat_on_turn() + 1} is on turn:"
        await expect(card(page, play)).to_contain_text(turn)
        drawn = await card(page, play).locator("use").count()
        await play.steps(12)  # the first dominoes are placed
        await expect(card(page, play).locator("use")).not_to_have_count(drawn)
    await plays[5].to_the_end()
    result = plays[5].record.game.end
    assert result is not None
    first = result.winners
    who = (
        f"Player {first[0] + 1} wins."
        if len(first) == 1
        else f"{' and '.join(f'player {seat + 1}' for seat in first)} share the win."
    )
    await expect(card(page, plays[5])).to_contain_text(f"{who} The game was played to its end.")
    await expect(page.get_by_role("status")).to_have_text("Games: 12, of which 11 are in progress.")
    assert len([url for url in asked if "/live?" in url]) == 1
    # All of it is on the screen at once, with nothing to scroll.
    for at in (0, 11):
        await expect(page.get_by_role("article").nth(at)).to_be_in_viewport(ratio=1)


async def test_a_lie_stops_one_game_and_no_other(club: Club, page: Page) -> None:
    plays = [await kingdomino(club.client, 2) for _ in range(2)]
    forged = {"game": plays[0].id, "seq": plays[0].record.size, "checkpoint": "AAAA", "positions": ["AAAA"]}
    lie = f"event: commit\ndata: {json.dumps(forged | {'entries': ['AAAA']})}\n\n"
    await page.route("**/live?**", lambda route: route.fulfill(body=lie, content_type="text/event-stream"), times=1)
    await page.goto(f"{club.address}/wall?g={plays[0].id},{plays[1].id}")
    stopped = "Stopped: the server sent something that the referee did not sign."
    await expect(card(page, plays[0])).to_contain_text(stopped)
    await expect(card(page, plays[0]).get_by_role("img")).to_have_count(2)
    await expect(page.get_by_role("status")).to_have_text("Games: 2, of which 1 are in progress.")
    drawn = await card(page, plays[1]).locator("use").count()
    await plays[1].steps(12)
    await expect(card(page, plays[1]).locator("use")).not_to_have_count(drawn)
    assert await page.evaluate("document.documentElement.scrollWidth") == 360


async def test_without_a_choice_the_newest_games_in_play_are_shown(club: Club, page: Page) -> None:
    plays = [await kingdomino(club.client, 1) for _ in range(13)]
    await page.clock.install()
    await page.goto(club.address)
    await page.get_by_role("link", name="Big screen").click()
    await expect(page.get_by_role("article")).to_have_count(12)
    for play in plays[1:]:
        await expect(card(page, play)).to_be_visible()
    await expect(card(page, plays[0])).to_have_count(0)
    # Games that end make room for those that begin.
    await plays[1].to_the_end()
    await expect(card(page, plays[1])).to_contain_text("The game was played to its end.")
    new = await kingdomino(club.client, 1)
    await page.clock.fast_forward(31_000)
    await expect(card(page, new)).to_be_visible()
    await expect(card(page, plays[1])).to_have_count(0)
    await expect(page.get_by_role("article")).to_have_count(12)


@pytest.mark.cut_off
async def test_links_that_name_no_games_are_told_what_is_wrong(club: Club, page: Page) -> None:
    status = page.get_by_role("status")
    await page.goto(f"{club.address}/wall?g=nonsense")
    await expect(status).to_have_text("Correct the link: nonsense is not the number of a game.")
    await page.goto(f"{club.address}/wall?g={','.join(f'{number:032x}' for number in range(13))}")
    await expect(status).to_have_text("Correct the link: it names 13 games, and 1 to 12 can be shown.")
    await page.goto(f"{club.address}/wall?g={'0' * 32}")
    await expect(page.get_by_role("article")).to_contain_text("There is no such game here.")
