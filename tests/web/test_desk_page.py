"""The desk of organisers and arbiters, in a real browser at a real referee."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from referee.log.events import Author, Role
from referee.log.intent import Place, unsigned
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2 as table_pb
from referee_clients.rulings import Prepared
from tests.cli import inside
from tests.server.service.arbiter import ARBITERS, Table
from tests.server.service.player import Play, bearer
from tests.sizes import campaign
from tests.web.club import Club
from tests.web.hand import key_of_browser

EVENT = (1 << 63) + 1  # more than a number of JavaScript holds exactly
HOSTILE = "<img src=x onerror=alert(1)> ${7*7} {{7*7}}"
FIRST = Author(Role.ARBITER, 0)


async def at_desk(page: Page, club: Club, play: Play, token: str) -> Locator:
    """Go to the desk with a token and choose the game. Return what is shown of it."""
    await page.goto("about:blank")
    await page.goto(f"{club.address}/desk#{play.id}" + (f";token={token}" if token else ""))
    detail = page.locator(".detail")
    await expect(detail.locator("form.ruling")).to_be_visible()
    return detail


async def fill(detail: Locator, kind: str, **fields: str) -> None:
    """Fill in a ruling, and have it shown. ``fields``: by label, with _ for a blank."""
    await detail.get_by_role("combobox", name="Ruling", exact=True).select_option(kind)
    for label, value in fields.items():
        field = detail.get_by_label(label.replace("_", " "))
        tag = await field.evaluate("each => each.tagName")
        await (field.select_option(value) if tag == "SELECT" else field.fill(value))
    await detail.get_by_role("button", name="Show the ruling to sign").click()


async def test_calls_and_protests_with_a_token_that_nobody_sees(page: Page, club: Club) -> None:
    table = await Table.dealt(club.client, event_id=EVENT, round=2, table=1)
    await table.act(Author(Role.SEAT, 0), log_pb2.Protest(against_seq=2, rule_id="KDO-1"), HOSTILE)
    call = table_pb.CallArbiterRequest(game_id=table.play.id, text=HOSTILE)
    await table.calls.CallArbiter(call, metadata=bearer(table.token(Role.SEAT, 1)))
    sent: list[dict[str, str]] = []
    page.on("request", lambda request: sent.append({"url": request.url, **request.headers}))
    token = table.token(Role.ARBITER)
    detail = await at_desk(page, club, table.play, token)
    await expect(page).to_have_url(f"{club.address}/desk#{table.play.id}")
    await expect(detail.locator(".calls")).to_contain_text("Player 2 calls for an arbiter, since ")
    await expect(detail.locator(".calls")).to_contain_text(HOSTILE)
    await expect(detail).to_contain_text(f"player 1 protests against entry 2 (KDO-1). “{HOSTILE}” Open")
    assert await page.locator("main img").count() == 0
    line = page.locator(".choices li", has_text=table.play.id[:8])
    await expect(line).to_contain_text("Calls for an arbiter: 1. Protests to be ruled on: 1.")
    await detail.get_by_role("button", name="Answer").click()
    await expect(detail).to_contain_text("Answered. The call is no longer shown.")
    await expect(detail.locator(".calls")).to_have_count(0)
    await expect(line).not_to_contain_text("Calls for an arbiter")
    # The games of one occasion.
    await page.get_by_label("Event", exact=True).first.fill(str(EVENT + 1))
    await expect(line).to_have_count(0)
    await page.get_by_label("Event", exact=True).first.fill(str(EVENT))
    await expect(line).to_have_count(1)

    bearing = [each for each in sent if token in json.dumps(each)]
    assert {each["authorization"] for each in bearing} == {f"Bearer {token}"}
    paths = {each["url"].removeprefix(club.address).partition("?")[0] for each in bearing}
    assert paths == {"/api/v1/status", f"/api/v1/games/{table.play.id}/answer"}
    assert all(token not in each["url"] + each.get("referer", "") for each in sent)
    assert await page.evaluate("JSON.stringify(localStorage)") == json.dumps(
        {"verifier-key": club.key}, separators=(",", ":")
    )
    panel = page.locator("details", has_text="Token and key")
    await panel.locator("summary").click()
    await panel.get_by_role("button", name="Forget the token").click()
    assert await page.evaluate("sessionStorage.length") == 0
    await expect(detail.get_by_role("button", name="Answer")).to_have_count(0)


@pytest.mark.long
async def test_a_ruling_is_saved_here_and_signed_elsewhere(page: Page, club: Club, tmp_path: Path) -> None:
    table = await Table.dealt(club.client)
    token = tmp_path / "arbiter.token"
    token.write_text(table.token(Role.ARBITER))
    ARBITERS[0].save(tmp_path / "arbiter.pem")
    detail = await at_desk(page, club, table.play, "")
    await fill(detail, "penalty", Points_off="2", Time_off="30s", reason_in_words="late\nagain")
    shown = detail.locator(".prepared")
    for line in (
        f"Arbiter 0 rules on Kingdomino, game {table.play.id[:8]}, as entry {table.play.record.size}.",
        "Player 1: 0:30 (30 s) off the clock, points off: 2.",
        "It applies TBL-33.",
        "Reason: late",
    ):
        await expect(shown).to_contain_text(line)
    # No key of this browser is the arbiter's.
    await expect(shown.get_by_role("button", name="Sign and enter")).to_have_count(0)
    async with page.expect_download() as download:
        await shown.get_by_role("button", name="Save as a file").click()
    file = tmp_path / (await download.value).suggested_filename
    await (await download.value).save_as(file)
    prepared = Prepared.read(file.read_bytes())
    assert prepared.place == table.play.place
    words = ("rule", "--sign", file, "--key", tmp_path / "arbiter.pem", "--token-file", token, "--server", club.referee)
    done = await asyncio.to_thread(inside.referee, *words, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'player 1: 30s off the clock, 2 points off the score (TBL-33)\nreason: "late again"' in done.stdout
    await expect(detail).to_contain_text("arbiter 0 rules: a penalty (TBL-33). “late\nagain”")
    # A repeated ruling is another one, for the place that comes next; the old file is worth nothing.
    done = await asyncio.to_thread(inside.referee, *words, "--yes")
    assert (done.returncode, "is entry" in done.stderr) == (1, True)


async def test_the_browsers_own_key_signs_what_was_shown(page: Page, club: Club) -> None:
    await page.goto(f"{club.address}/desk")
    key = await key_of_browser(page)
    table = await Table.dealt(club.client, arbiter_keys=[ARBITERS[1].public.raw, key])
    play = table.play
    detail = await at_desk(page, club, play, table.token(Role.ARBITER))
    await fill(detail, "pause", reason_in_words="the fire alarm")
    shown = detail.locator(".prepared")
    await expect(shown.get_by_role("button", name="Save as a file")).to_be_visible()
    # Arbiter 0 has another key.
    await expect(shown.get_by_role("button", name="Sign and enter")).to_have_count(0)
    await fill(detail, "pause", You_are="1", reason_in_words="the fire alarm")
    await expect(shown).to_contain_text("The game is paused.")
    assert play.record.size == (await table.docket()).size, "nothing is entered before somebody confirms"
    await shown.get_by_role("button", name="Sign and enter").click()
    await expect(detail).to_contain_text(f"Entered as entry {play.record.size}.")
    await play.catch_up(play.record.size + 1)
    (ruling,) = (await table.docket()).rulings
    assert (ruling.arbiter, ruling.text) == (1, "the fire alarm")
    # The key signs, and cannot be read.
    read = """() => new Promise((done) => {
      const request = indexedDB.open("tile-referee");
      request.onsuccess = () => {
        const all = request.result.transaction("keys").objectStore("keys").getAll();
        all.onsuccess = () => crypto.subtle.exportKey("pkcs8", all.result[0].key)
          .then(() => done("read"), (error) => done(error.name));
      };
    })"""
    assert await page.evaluate(read) == "InvalidAccessError"
    # It stays for every later visit; and another one is never made instead.
    await page.reload()
    panel = page.locator("details", has_text="Token and key")
    await expect(panel.locator("code.key")).to_have_text(key.hex())
    await expect(panel.get_by_role("button", name="Make a key")).to_have_count(0)


def _file(body: bytes) -> dict[str, Any]:
    """Return an answer of a gateway that has only these bytes."""
    return {"intent": b64encode(body).decode()}


def _pause(place: Place, text: str = "") -> dict[str, Any]:
    return Prepared.of(place, FIRST, log_pb2.Rule(pause=log_pb2.Pause()), text).json()


def lies_about(place: Place) -> list[tuple[Any, str]]:
    """Return answers of a gateway that was asked to prepare a pause, and what the page says of each."""
    pause = log_pb2.Rule(pause=log_pb2.Pause())
    resign = unsigned(place, Author(Role.SEAT, 0), log_pb2.Resign())
    return [
        (_pause(place, "why") | {"words": _pause(place, "not")["words"]}, "has another reason"),
        (_pause(Place(place.game_id, place.seq, bytes(32))), "The game moved on meanwhile"),
        (_file(resign), "other than a ruling"),
        (_pause(Place(bytes(16), place.seq, place.prev)), "is for another game"),
        (_pause(Place(place.game_id, place.seq + 1, place.prev)), "The game moved on meanwhile"),
        ({"intent": _pause(place, "why")["intent"]}, "has another reason"),
        (_pause(place) | {"words": _pause(place, "not")["words"]}, "has another reason"),
        (_file(unsigned(place, FIRST, pause) + b"\x00"), "Nothing was signed"),
        ({"intent": "*"}, "is not complete"),
        ({}, "Nothing was signed"),
        ([], "Nothing was signed"),
    ]


@pytest.mark.parametrize("many", [3, campaign(None, id="all")])
async def test_a_gateway_that_prepares_something_else_gets_no_signature(
    many: int | None, page: Page, club: Club
) -> None:
    await page.goto(f"{club.address}/desk")
    key = await key_of_browser(page)
    table = await Table.dealt(club.client, arbiter_keys=[key])
    place = table.play.place
    answers: list[Any] = []
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/table") else None)

    async def lie(route: Route) -> None:
        await route.fulfill(json=answers[-1])

    await page.route("**/ruling", lie)
    detail = await at_desk(page, club, table.play, table.token(Role.ARBITER))
    problem, shown = detail.locator("form.ruling > .problem"), detail.locator(".prepared")
    for answer, told in lies_about(place)[:many]:
        answers.append(answer)
        await fill(detail, "pause")
        await expect(problem).to_contain_text(told)
        await expect(shown).to_have_count(0)
    # The page shows what the bytes say, not what was asked for.
    answers.append(_file(unsigned(place, FIRST, log_pb2.Rule(rule_id="TBL-36", void=log_pb2.Void()))))
    await fill(detail, "pause")
    await expect(shown).to_contain_text("The game does not count.")
    await expect(shown).not_to_contain_text("paused")
    assert sent == []


async def test_what_is_not_possible_is_said_and_a_game_that_went_on_is_looked_at_again(page: Page, club: Club) -> None:
    await page.goto(f"{club.address}/desk")
    key = await key_of_browser(page)
    table = await Table.dealt(club.client, arbiter_keys=[key])
    own = await page.context.new_page()  # not of the fixture: refused requests are what this is about
    detail = await at_desk(own, club, table.play, table.token(Role.ARBITER))
    problem, shown = detail.locator("form.ruling > .problem"), detail.locator(".prepared")
    for kind, fields, told in (
        ("resume", {}, "not allowed now"),
        ("set-clock", {"Time_left": "soon"}, "left 'soon': expected a time"),
        ("restore", {}, "to: missing"),
        ("adjudicate", {"The_place_of": "1"}, "not allowed now"),
        ("change-key", {"new_public_key": "zz"}, "64 hexadecimal digits"),
    ):
        await fill(detail, kind, **fields)
        await expect(problem).to_contain_text(told)
        await expect(shown).to_have_count(0)
    await fill(detail, "penalty")
    await expect(shown).to_contain_text("Player 1: a warning.")
    await table.play.step()
    await shown.get_by_role("button", name="Sign and enter").click()
    await expect(problem).to_contain_text("Nothing was signed.")
    assert not (await table.docket()).rulings
    await fill(detail, "penalty")
    await shown.get_by_role("button", name="Sign and enter").click()
    await expect(detail).to_contain_text("Entered as entry")
    await own.close()


async def test_a_game_is_opened_and_its_links_are_shown_once(page: Page, club: Club) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url + json.dumps(request.headers)))
    await page.goto(f"{club.address}/desk#token={club.client.organiser}")
    key = await key_of_browser(page)
    form = page.locator("form.opening")
    await page.locator("summary", has_text="Open a game").click()
    await form.get_by_role("combobox", name="Game", exact=True).select_option("kingdomino")
    await form.get_by_label("Players", exact=True).fill("3")
    await form.get_by_label("Clock").fill("5m+3s")
    await form.get_by_label("Event").fill(str(EVENT))
    await form.get_by_role("button", name="Add this browser's key").click()
    await form.locator("summary").click()
    await form.get_by_label("harmony").select_option("true")
    await form.get_by_role("button", name="Open the game").click()
    await expect(form.locator(".links li")).to_have_count(3)
    links = await form.locator(".links code").all_inner_texts()
    game = links[0].partition("#")[2].partition("/")[0]
    assert [link.rpartition("/")[0] for link in links] == [f"{club.address}/seat#{game}/{seat}" for seat in range(3)]
    await expect(form.locator(".links svg.code")).to_have_count(3)
    tokens = [link.rpartition("/")[2] for link in links]
    assert not [each for each in sent if any(token in each for token in tokens)], "they are sent nowhere again"
    assert not [each for each in sent if club.client.organiser in each.partition("{")[0]]
    await expect(page.locator(".choices li", has_text=game[:8])).to_contain_text(f"event {EVENT}")
    opened = await page.evaluate("id => fetch(`/api/v1/games/${id}`).then((answer) => answer.json())", game)
    assert (opened["rules_id"], len(opened["seats"]), opened["clocks"][0]["left_ms"]) == ("kingdomino", 3, 300_000)
    await form.get_by_role("button", name="Hide the links").click()
    await expect(form.locator(".links")).to_have_count(0)
    assert not [token for token in tokens if token in await page.content()]
    assert len(key) == 32
