"""The page of an event, in a real browser at a real referee: shown from signed acts, checked, and results entered."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from referee.event.v1 import event_pb2
from referee.tournament.file import EventFile
from referee.tournament.names import Names
from referee.tournament.rules.acts import Act, Award, Enter, EnterResult, OpenTable, Pair, Publish, Result
from referee.tournament.rules.scoring import standings
from referee.tournament.rules.terms import shown
from tests.cli import inside
from tests.server.service.arbiter import ARBITERS
from tests.server.service.event import CODEC, Desk, Events, event_until
from tests.web.club import Club
from tests.web.hand import key_of_browser


async def begun(club: Club, *more_keys: bytes, until: type[Act] | None = EnterResult) -> Desk:
    """An event of eight at the club's referee, up to the first act of that kind, without it; None: to its end."""
    return await event_until(club.client, until, *more_keys)


async def at(page: Page, club: Club, desk: Desk, more: str = "") -> Locator:
    """Go to the event's page. Return its main part."""
    await page.goto(f"{club.address}/event/{desk.id}{more}")
    await expect(page.get_by_role("status").first).to_have_text("Live.")
    return page.locator("#app")


async def test_pairings_results_and_standings_come_as_they_are_signed(page: Page, club: Club) -> None:
    desk = await begun(club, until=Pair)
    app = await at(page, club, desk)
    await expect(app).to_contain_text("Round 1 is paired next.")
    events = Events(club.client)
    proposed = await events.pairing(desk)
    pair = CODEC.decode_move(proposed.move, desk.state.terms)
    assert isinstance(pair, Pair)
    await desk.enter(pair)
    await expect(app).to_contain_text("Not published yet")
    await desk.enter(Publish(1))
    await expect(app.locator(".seated")).to_have_count(2)
    for number, table in enumerate(pair.tables, 1):
        rows = app.locator(".seated").nth(number - 1).locator("tbody th")
        assert await rows.all_inner_texts() == [f"No. {who}" for who in table]
    await expect(app).to_contain_text("Without a result: 2 of 2 tables (1, 2).")
    game = bytes(range(16))
    await desk.enter(OpenTable(1, 2, game))
    link = app.get_by_role("link", name="Watch game 00010203")
    assert await link.get_attribute("href") == f"/g/{game.hex()}"
    await desk.enter(EnterResult(1, 1, Result((2, 1, 3, 3), (40, 50, 3, 3))))
    await desk.enter(Award(1, pair.tables[1][0], 100, "a stolen tile"))
    await expect(app).to_contain_text("Without a result: 1 of 2 tables (2).")
    await expect(app.locator(".seated").nth(1)).to_contain_text("No result yet")
    # The standings are those of the engine, as people write them.
    placed = standings(desk.state)
    body = app.get_by_role("region", name="Standings").locator("tbody")
    await expect(body.locator("td:nth-child(3)")).to_have_text([shown(row.points) for row in placed])
    await expect(body.locator("td:nth-child(2)")).to_have_text([f"No. {row.number}" for row in placed])
    await expect(body.locator("th")).to_have_text([str(row.place) for row in placed])
    await app.locator("summary", has_text="All acts of the event").click()
    said = f"Round 1: No. {pair.tables[1][0]} is given 1 2/3 points. Reason: a stolen tile"
    await expect(app.locator(".acts li").first).to_contain_text(said)
    await app.locator("summary", has_text="Terms and rules").click()
    await page.get_by_role("link", name="The rules of events").click()
    await expect(page.locator("#EVT-P8")).to_be_attached()


async def test_a_whole_event_is_looked_back_at_and_checked(page: Page, club: Club) -> None:
    """Found on the home page, and by the number that its games name."""
    desk = await begun(club, until=None)
    assert desk.state.phase.name == "OVER"
    await page.goto(club.address)
    line = page.locator(".games li", has_text=desk.id[:8])
    await expect(line).to_contain_text("Over. 2 rounds, at tables of 4, 3.")
    await line.get_by_role("link").click()
    app = page.locator("#app")
    await expect(app).to_contain_text("These are the final standings.")
    await page.goto(f"{club.address}/event/{desk.number}")
    await expect(app.get_by_role("heading", name="Round 2")).to_be_visible()
    await app.get_by_role("link", name="Round 1").click()
    await expect(app.get_by_role("heading", name="Round 1", exact=True)).to_be_visible()
    await expect(page).to_have_url(re.compile("#round=1$"))
    await expect(app.get_by_role("heading", name="Standings after round 1")).to_be_visible()
    after = await Events(club.client).standings(desk, 1)
    rows = app.get_by_role("region", name="Standings").locator("tbody tr")
    assert [await row.locator("td").first.inner_text() for row in await rows.all()] == [
        f"No. {row.number}" for row in after.standings
    ]
    await app.locator("summary", has_text="Cross table").click()
    cross = app.get_by_role("region", name="Cross table").locator("tbody tr")
    await expect(cross).to_have_count(len(after.standings))
    first = desk.state.rounds[0].seats[after.standings[0].number][0]
    await expect(cross.filter(has_text=f"No. {after.standings[0].number}").first).to_contain_text(f"{first} (1.) 5")
    await app.get_by_role("button", name="Check this event").click()
    headline = app.locator(".checked .judged")
    await expect(headline).to_have_text(
        "Record intact and signed, and the event keeps its rules, as far as this page checks them."
    )
    await expect(app.locator(".checked")).to_contain_text("not checked here: that no exchange of two players")


async def fill(page: Page, places: tuple[int, ...]) -> Locator:
    """Fill in a result of the table that is chosen, and have it shown."""
    form = page.locator("form.entry")
    for seat, place in enumerate(places):
        await form.get_by_label("Place").nth(seat).select_option(str(place))
    await form.get_by_role("button", name="Show the result to enter").click()
    return form.locator(".prepared")


async def test_a_result_is_signed_by_the_key_of_the_browser(page: Page, club: Club) -> None:
    await page.goto(f"{club.address}/desk")
    key = await key_of_browser(page)
    desk = await begun(club, key)
    await at(page, club, desk, f"?round=1&table=2#token={desk.token}")
    await expect(page).to_have_url(f"{club.address}/event/{desk.id}?round=1&table=2")
    form = page.locator("form.entry")
    await expect(form.get_by_label("Table")).to_have_value("2")
    seats = [f"No. {who}" for who in desk.state.rounds[0].tables[1]]
    assert await form.locator("legend").all_inner_texts() == seats
    # The page names forbidden acts before anything is signed.
    await form.get_by_role("button", name="Show the result to enter").click()
    await expect(form.locator(".problem")).to_contain_text("Choose a place for each player")
    await fill(page, (1, 1, 2, 4))
    await expect(form.locator(".problem")).to_contain_text("expected a place for each of 4 seats (EVT-G2)")
    shown = await fill(page, (2, 1, 3, 3))
    await expect(shown.locator(".judged")).to_have_text("Round 1, table 2")
    said = [f"{who}: place {place}" for who, place in zip(seats, (2, 1, 3, 3), strict=True)]
    assert await shown.locator(".line").all_inner_texts() == said
    size = desk.record.size
    await shown.get_by_role("button", name="Sign and enter").click()
    await expect(page.locator("#app")).to_contain_text(f"Entered as entry {size}.")
    await desk.catch_up(size + 1)
    assert desk.state.rounds[0].results[2] == Result((2, 1, 3, 3))
    await expect(page.locator("#app")).to_contain_text("Without a result: 1 of 2 tables (1).")
    # Another result for the table is an amendment, and needs a reason. By the points of the game.
    await form.get_by_label("Table").select_option("2")
    for seat, points in enumerate((50, 40, 30, 30)):
        await form.get_by_label("Game points").nth(seat).fill(str(points))
    await form.get_by_role("button", name="Show the result to enter").click()
    await expect(form.locator(".problem")).to_contain_text("expected a reason")
    await form.get_by_label("Why the result is changed").fill("the sheet was misread")
    await form.get_by_role("button", name="Show the result to enter").click()
    await form.get_by_role("button", name="Sign and enter").click()
    await expect(page.locator("#app")).to_contain_text(f"Entered as entry {size + 1}.")
    await desk.catch_up(size + 2)
    assert desk.state.rounds[0].results[2] == Result((1, 2, 3, 3), (50, 40, 30, 30))
    await page.locator("summary", has_text="All acts of the event").click()
    await expect(page.locator(".acts li").first).to_contain_text("Reason: the sheet was misread Signed by: Arbiter 1.")


@pytest.mark.cut_off
@pytest.mark.parametrize("arrives", [True, False])
async def test_an_amendment_without_an_answer_is_sent_again_as_it_was(page: Page, club: Club, arrives: bool) -> None:
    """It may have arrived or not; what others enter meanwhile does not take it away. It is entered once."""
    await page.goto(f"{club.address}/desk")
    key = await key_of_browser(page)
    desk = await begun(club, key)
    await desk.enter(EnterResult(1, 2, Result((2, 1, 3, 3))))
    await at(page, club, desk, f"?round=1&table=2#token={desk.token}")
    form = page.locator("form.entry")
    sent = list[bytes | None]()

    async def lose(route: Route) -> None:
        sent.append(route.request.post_data_buffer)
        if len(sent) > 1:
            return await route.continue_()
        if arrives:
            await route.fetch()
        return await route.abort()

    await page.route("**/acts", lose)
    await form.get_by_label("Why the result is changed").fill("the sheet was misread")
    shown = await fill(page, (1, 2, 3, 3))
    size = desk.record.size
    await shown.get_by_role("button", name="Sign and enter").click()
    problem = form.locator(".problem")
    await expect(problem).to_have_text(
        "No answer. The result may have been entered; press again: the same signed bytes are sent."
    )
    if arrives:
        await desk.catch_up(size + 1)
        await desk.enter(EnterResult(1, 1, Result((1, 2, 3, 4))))
        await expect(page.locator("#app")).to_contain_text("All results of round 1 are there.")
    await shown.get_by_role("button", name="Sign and enter").click()
    await expect(page.locator("#app")).to_contain_text(f"Entered as entry {size}.")
    await expect(problem).to_be_empty()
    await desk.catch_up(size + 1)
    assert desk.state.rounds[0].results[2] == Result((1, 2, 3, 3))
    assert sent[0]
    assert sent == [sent[0]] * 2
    assert desk.record.size == size + 1 + arrives


async def command(*words: object) -> tuple[int, str]:
    """Return the exit code of `referee event`, and all that it prints."""
    done = await asyncio.to_thread(inside.referee, "event", *words)
    return done.returncode, done.stdout + done.stderr


def altered(saved: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return files that are not what the page saved, and what the command says of each."""
    return [
        ({**saved, "event": "0" * 32}, "event: another event's, expected"),
        ({}, "RESULT: file: event is missing, expected a result as the page"),
        ({**saved, "act": "AAAA"}, "act: no act of an event"),
        ({**saved, "act": "IgA="}, "act: an act that is no result"),
        ({**saved, "players": saved["players"][::-1]}, "players: others than sit there now at round 1, table 1"),
        ({**saved, "act": _with_a_log(saved["act"])}, "act: a result with the log of a game"),
    ]


async def test_without_a_key_a_result_is_saved_and_entered_by_the_organiser(
    page: Page, club: Club, tmp_path: Path
) -> None:
    """By the commands, at an event that the referee keeps."""
    event, token = tmp_path / "spring.eventlog", tmp_path / "token"
    token.write_text(club.client.organiser)

    at_referee = ("--server", club.referee, "--token-file", token, "--arbiter", ARBITERS[0].public.raw.hex())
    assert (await command("new", event, "--rules", "kingdomino", *at_referee))[0] == 0
    for words in (("enter", event, *"ABCDEFGH"), ("checkin", event, "--all"), ("pair", event), ("publish", event)):
        assert (await command(*words))[0] == 0
    log = EventFile.read_only(event).log
    assert log.record.opened.scribe_keys[1] == ARBITERS[0].public.raw
    identity = log.record.game_id.hex()
    await page.goto(f"{club.address}/event/{log.event_id}?round=1&table=1")
    shown = await fill(page, (1, 2, 3, 4))
    await expect(shown.get_by_role("button", name="Sign and enter")).to_have_count(0)
    async with page.expect_download() as download:
        await shown.get_by_role("button", name="Save as a file").click()
    file = tmp_path / (await download.value).suggested_filename
    await (await download.value).save_as(file)
    saved = json.loads(file.read_text())
    assert saved["event"] == identity
    for wrong, told in altered(saved):
        file.write_text(json.dumps(wrong))
        code, said = await command("sign", event, file, "--yes")
        assert (code, told in said) == (2, True), said
    file.write_text(json.dumps(saved))
    code, said = await command("sign", event, file, "--yes")
    shown_lines = [
        f"player {seat + 1}: {who} {'ABCDEFGH'[who - 1]}: place {seat + 1}" for seat, who in enumerate(saved["players"])
    ]
    assert (code, said.splitlines()) == (0, ["round 1, table 1", *shown_lines, "entered: round 1, table 1"])
    await expect(page.locator("#app")).to_contain_text("Without a result: 1 of 2 tables (2).")
    code, said = await command("sign", event, file, "--yes")
    assert (code, "EVT-G3" in said) == (8, True)
    code, said = await command("new", tmp_path / "other.eventlog", "--rules", "kingdomino", "--arbiter", "00")
    assert code == 2


def _with_a_log(act: str) -> str:
    move = event_pb2.Move.FromString(b64decode(act))
    move.enter_result.result.log.CopyFrom(event_pb2.GameLog(game_id=bytes(range(16)), size=1, root=bytes(32)))
    return b64encode(move.SerializeToString(deterministic=True)).decode()


@pytest.mark.long
async def test_a_slip_of_another_round_says_so(page: Page, club: Club) -> None:
    desk = await begun(club)
    await at(page, club, desk, "?round=2&table=1")
    await expect(page.locator("#app")).to_contain_text("Your slip is for round 2, table 1. No result can be entered")


@pytest.mark.long
async def test_names_are_those_that_the_log_confirms(page: Page, club: Club, tmp_path: Path) -> None:
    """And they are sent nowhere."""
    names = Names({})
    names, person = names.with_one(1, 'Anna "Ace" <b>Ape</b>')
    other, _ = Names({}).with_one(2, "Nobody")
    own = await begun(club, until=Enter)
    await own.enter(Enter(1, person.player))
    await own.enter(Enter(2))
    app = await at(page, club, own)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    await app.locator("summary", has_text="Show names").click()
    for number, (content, said) in enumerate(
        (
            (
                names.csv() + other.csv().partition("\n")[2],
                "Names that the log confirms: 1 of 2. Others in the list: 1.",
            ),
            (other.csv(), "Nothing is shown: the log confirms no name of this list."),
            ("no list", "Nothing is shown: the log confirms no name of this list."),
        )
    ):
        lists = tmp_path / f"names-{number}.csv"
        lists.write_text(content)
        await app.get_by_label("The list of names").set_input_files(lists)
        await expect(app).to_contain_text(said)
        if "confirms: 1" in said:
            await app.locator("summary", has_text="All acts of the event").click()
            await expect(app.locator(".acts")).to_contain_text('Anna "Ace" <b>Ape</b> (1) enters.')
    await expect(app.locator(".acts")).to_contain_text("No. 1 enters.")
    assert sent == []


@pytest.mark.cut_off
async def test_an_event_that_was_tampered_with_is_not_shown(page: Page, club: Club) -> None:
    desk = await begun(club)

    async def altered(route: Route) -> None:
        response = await route.fetch()
        data = bytearray(await response.body())
        data[len(data) // 2] ^= 1
        await route.fulfill(body=bytes(data))

    await page.route("**/log", altered)
    await page.goto(f"{club.address}/event/{desk.id}")
    await expect(page.get_by_role("status").first).to_have_text(
        "Stopped: the server sent something that the referee did not sign."
    )
    await expect(page.locator("#app")).to_be_empty()
    await page.unroute("**/log")
    # An id of a game, or of nothing.
    game = await club.client.create()
    for name in (game.game.id, "0" * 32, "77", "no-event"):
        await page.goto(f"{club.address}/event/{name}")
        await expect(page.get_by_role("status").first).to_have_text("There is no such event here.")
    # And the page of games says where events are.
    await page.goto(f"{club.address}/g/{desk.id}")
    await expect(page.get_by_role("status").first).to_have_text("The game cannot be shown.")
    await expect(page.get_by_role("alert")).to_contain_text("An event has a page of its own")
