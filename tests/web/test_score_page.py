"""A whole final scoring on the page where positions are judged: several boards, places, and tie-breaks."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Page, expect

from referee.text.report.model import score_value
from referee.text.report.sheet import read
from tests.web.gateway import Caller
from tests.web.position_page import cell, link_of

THREE = "#alhambra;0,-1:pavilion-2-NEW;before12|1,0:garden-10-N;before9|0,1:tower-10-W;before0"
TWO = "#alhambra;0,-1:pavilion-2-NEW|1,0:garden-10-N|5,5:tower-10-W;neutral"
SHEETS = (
    "#rollwrite;b1,1;y1,1;c3;v1,0,0,2,1,0;rpavilion,2,1,0;1,2;2,6;3,5;4,4;5,3;6,2|b1,1;y1,1;c0;1,6;2,6;3,5;4,4;5,3;6,2"
)
SOLO = "#rollwrite;b1,1;y1,1;c3;v1,0,0,2,1,0;v0,0,0,0,0,0;v5,0,0,0,0,0;against;1,2;2,6;3,5;4,4;5,3;6,2"
KINGDOMS = "#kingdomino;5;harmony;48:1,0,1,1|5;harmony;47:3,0,4,0"

TEXTS = {
    THREE: """[Game "alhambra"]
[Version "2"]
[Seats "3"]
[Boards "before 12 laid pavilion-2-NEW 0,-1 | before 9 laid garden-10-N 1,0 | before 0 laid tower-10-W 0,1"]
""",
    TWO: """[Game "alhambra"]
[Version "2"]
[Seats "2"]
[Boards "laid pavilion-2-NEW 0,-1 | laid garden-10-N 1,0 | neutral tower-10-W"]
""",
    SHEETS: """[Game "rollwrite"]
[Version "1"]
[Seats "2"]
[Boards "coins 3 built 1,2 2,6 3,5 4,4 5,3 6,2 | coins 0 built 1,6 2,6 3,5 4,4 5,3 6,2 \
| virtual 1 0 0 2 1 0 | award pavilion seats 1 | award pavilion seats 0"]
""",
    SOLO: """[Game "rollwrite"]
[Version "1"]
[Seats "1"]
[virtual_players "3"]
[solo "against"]
[Boards "coins 3 built 1,2 2,6 3,5 4,4 5,3 6,2 \
| virtual 1 0 0 2 1 0 | virtual 0 0 0 0 0 0 | virtual 5 0 0 0 0 0 | award pavilion seats 0 virtual 2"]
""",
    KINGDOMS: """[Game "kingdomino"]
[Version "1"]
[Seats "2"]
[frame "relative"]
[harmony "true"]
[Boards "castle nowhere placed 48 1,0 1,1 | castle nowhere placed 47 3,0 4,0 against KDO-14"]
""",
}


@pytest.fixture
def ask(gateway: str) -> Caller:
    return Caller(gateway)


@pytest.mark.parametrize("link", TEXTS, ids=("three", "two", "sheets", "solo", "kingdoms"))
async def test_the_places_are_those_of_referee_score(link: str, page: Page, gateway: str) -> None:
    await page.goto(f"{gateway}/position{link}")
    sheet = page.get_by_role("region", name="Final scoring")
    told = read(TEXTS[link])
    value = score_value(told, told.sheet())
    expected = sorted((player["place"], player["name"], player["total"]) for player in value["players"])
    rows = sheet.locator("tbody tr")
    await expect(rows).to_have_count(len(expected))
    for row, (place, name, total) in zip(await rows.all(), expected, strict=True):
        words = name.replace("player", "Player").replace("virtual", "Virtual player")
        assert (await row.inner_text()).split("\t") == [str(place), words, str(total)]
    for remark in value["remarks"]:
        await expect(sheet).to_contain_text(remark)


async def test_seats_come_and_go(page: Page, gateway: str) -> None:
    await page.goto(f"{gateway}/position#alhambra;0,-1:pavilion-2-NEW")
    await page.get_by_role("button", name="Score a whole game").click()
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW||neutral"
    # A tile on one board cannot be taken for another.
    await expect(page.get_by_role("button", name="pavilion 2, walls N E W")).to_have_count(0)
    await page.get_by_role("button", name="pavilion 8, no wall").click()
    await page.locator(cell(page, 1, 0)).click()
    sheet = page.get_by_role("region", name="Final scoring")
    await expect(sheet.locator("tbody tr")).to_have_count(2)
    await page.get_by_role("button", name="One more player").click()
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW|1,0:pavilion-8|"
    await expect(sheet.locator("tbody tr")).to_have_count(3)
    await page.get_by_role("button", name="Player 1").click()
    await page.get_by_label("Points before the last scoring").fill("7")
    await page.get_by_label("Points before the last scoring").press("Enter")
    # Points of one seat alone are no track.
    await expect(sheet).to_contain_text("Not scored:")
    await page.get_by_role("button", name="Without player 3").click()
    await page.get_by_role("button", name="One board only").click()
    assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW;before7"
    await expect(sheet).to_have_count(0)


async def test_who_completed_a_type_first_is_asked(page: Page, gateway: str) -> None:
    """And so are the virtual players, where the rules have them."""
    complete = "1,2;2,1;3,6;5,4;6,3"  # five seraglios, of five
    await page.goto(f"{gateway}/position#rollwrite;b1,1;y1,1;c3;{complete}")
    await page.get_by_role("button", name="Score a whole game").click()
    for each in complete.split(";"):
        blue, yellow = map(int, each.split(","))
        await page.locator(cell(page, yellow - 1, blue - 1)).click()
    await page.get_by_label("Virtual player 1: garden").select_option("3")
    sheet = page.get_by_role("region", name="Final scoring")
    rows = sheet.locator("tbody tr")
    await expect(sheet).to_contain_text("Player 1 and player 2 have")
    await page.get_by_label("seraglio: Player 1").select_option("2")
    await expect(rows.first).to_contain_text("Player 2")
    await expect(rows.first.locator("td").first).to_have_text("1")
    await expect(rows.last.locator("td").first).to_have_text("2")
    await page.reload()
    await expect(rows.first).to_contain_text("Player 2")
    await page.get_by_role("button", name="Without player 2").click()
    await page.get_by_label("Virtual players", exact=True).select_option("4")
    await page.get_by_label("Played against them").check()
    await expect(rows).to_have_count(5)
    await page.get_by_role("button", name="One board only").click()
    assert await link_of(page) == f"rollwrite;b1,1;y1,1;c3;{complete}"


NO_GAME = (
    "#alhambra;0,-1:tower-8-NES|0,1:tower-8-NES|neutral",
    "#alhambra;0,-1:tower-8-NES|0,1:pavilion-8",
    "#alhambra;0,-1:tower-8-NES|neutral",
    "#alhambra;neutral",
    "#alhambra;|||neutral",
    "#alhambra;||||||",
    "#kingdomino;5|5|5|5|5",
    "#kingdomino;5;48:1,0,1,1|5;+48",
    "#rollwrite;b1,2;y1,6;c3|b1,2;y1,6;c3",
    "#rollwrite;b1,2;y1,6;c3;v1,0,0,0,0,0",
    "#rollwrite;b1,2;y1,6;c3;v6,0,0,0,0,0|b1,2;y1,6;c3",
    "#rollwrite;b1,2;y1,6;c3;against",
    "#rollwrite;b1,2;y1,6;c3;v0,0,0,0,0,0;rtower,1,1|b1,2;y1,6;c3",
    "#rollwrite;b1,2;y1,6;c3|b1,2;y1,6;c3|b1,2;y1,6;c3;against",
    "#%E0%A4%A",
)


async def test_boards_that_are_of_no_game_are_not_taken(page: Page, gateway: str) -> None:
    for link in NO_GAME:
        await page.goto("about:blank")
        await page.goto(f"{gateway}/position{link}")
        await expect(page.get_by_role("alert"), link).to_contain_text("The position in the link cannot be read")


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        ({}, "question: text is missing"),
        ({"text": 1}, "text: 1"),
        ({"text": ""}, "line 1, column 1: syntax: the text does not name its game"),
        ({"text": TEXTS[THREE], "game": "alhambra"}, 'unknown field "game"'),
        ({"text": '[Game "alhambra"]\n[Boards "' + "laid | " * 2_000 + '"]'}, "line"),
    ],
)
def test_what_cannot_be_scored_is_said_to_be_so(body: dict[str, object], begins: str, ask: Caller) -> None:
    got = ask("POST", "/api/v1/score", json.dumps(body).encode())
    assert got.status == 200
    found = json.loads(got.body)
    assert set(found) == {"error"}
    assert found["error"].startswith(begins)
