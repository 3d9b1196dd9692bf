"""Attacks against a person at a seat: docs/security.md has the list."""

from __future__ import annotations

import asyncio
import re
import shutil
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from playwright.async_api import Page, Request, expect

from referee.log.events import Author, Role
from referee.log.file import entries
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey, open_checkpoint
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.v1 import access_service_pb2 as access
from referee_clients.rulings import Bench
from referee_clients.sdk.arbiter import Arbiter
from tests.cli.inside import referee as in_process
from tests.clients.referee_process import Referee
from tests.server.service.access import Office
from tests.server.service.arbiter import ARBITERS, RULE
from tests.server.service.player import Client, against_the_rules, connected, refusal
from tests.sizes import sample_of
from tests.waiting import MOST_S
from tests.web.club import Club, Pages, started
from tests.web.hand import ENTER, TAKE, Hand, acts, audited, bots
from tests.web.meddler import Meddler, meddling
from tests.web.threats import HOSTILE, WATCHED, nothing_happened
from tests.web.way import opened

pytestmark = pytest.mark.cut_off  # browsers complain of refusals on their own

STOPPED = "Stopped: the server sent something that the referee did not sign."
SET_BACK = "The referee's record of this game lacks what it had confirmed to you"


@pytest.fixture
async def meddler(club: Club) -> AsyncIterator[Meddler]:
    async with meddling(club.address) as made:
        yield made


async def stopped(hand: Hand, meddler: Meddler, reason: str) -> None:
    """The page has stopped for this reason; there is nothing with which more could be signed."""
    await expect(hand.state).to_have_text(STOPPED)
    await expect(hand.stopped).to_contain_text(reason)
    await expect(hand.stopped).to_be_in_viewport()
    await expect(hand.turn).to_have_count(0)
    await expect(hand.page.locator("details.beside")).to_have_count(0)
    sent = len(meddler.sent())
    await expect(hand.button(ENTER)).to_have_count(0)
    assert len(meddler.sent()) == sent


# --- a gateway that lies -------------------------------------------------------------------------------------------

FORGED = ["no checkpoint", "another key", "too old", "another game", "bytes", "no answer"]


async def forged(name: str, club: Club, before: bytes) -> Any:
    """Return the gateway's answer to an act that it kept for itself. ``before``: an earlier checkpoint of the game."""
    if name == "no answer":
        return {}
    size = open_checkpoint(before, VerifierKey.parse(club.key)).size + 2
    key = VerifierKey.parse(club.key)
    checkpoint = {
        "no checkpoint": b"",
        "another key": CheckpointSigner(key.name, PrivateKey.generate()).sign(bytes(16), size, bytes(32)),
        "too old": before,
        "another game": await of_another_game(club),
        "bytes": bytes(range(256)),
    }[name]
    return {
        "accepted": {"seq": size - 1, "size": size, "head": "00" * 32, "checkpoint": b64encode(checkpoint).decode()}
    }


async def of_another_game(club: Club) -> bytes:
    play = await club.client.play(rules_id="kingdomino")
    await play.until_play()
    await play.steps(4)
    return play.notes[play.record.size]


@pytest.mark.parametrize("name", sample_of(FORGED, 1))
async def test_an_answer_that_the_referee_did_not_sign(name: str, page: Page, club: Club, meddler: Meddler) -> None:
    """The act is not taken for entered: it is kept, and arrives by an honest gateway."""
    made, hand = await opened(club, page)
    hand.address = meddler.address
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        note = await page.evaluate(KEPT, f"{hand.game}/{hand.seat}")
        answer = await forged(name, club, b64decode(note["receipt"]))
        meddler.answers["acts"] = lambda _: answer
        await hand.choose()
        await hand.button(ENTER).click()
        await stopped(hand, meddler, "WRONG_GAME" if name == "another game" else "")
        assert len(await acts(club.client, hand)) == 2
        act = meddler.sent()[-1]
        del meddler.answers["acts"]
        await page.reload()
        await hand.on_turn()
        assert meddler.sent()[-1] == act
        assert len(await acts(club.client, hand)) == 3
        await hand.resign()
    await audited(club.client, made)


KEPT = """id => new Promise((done) => {
  indexedDB.open("tile-referee").onsuccess = ({ target: { result: database } }) => {
    database.transaction("seats").objectStore("seats").get(id).onsuccess = ({ target: { result } }) => {
      database.close();
      done({ receipt: btoa(String.fromCharCode(...result.receipts[0])), extractable: result.key.extractable });
    };
  };
})"""


async def test_a_position_that_was_not_signed(page: Page, club: Club, meddler: Meddler) -> None:
    """The page stops before anything can be chosen in it."""
    made, hand = await opened(club, page)
    hand.address = meddler.address

    def altered(commit: dict[str, Any]) -> dict[str, Any]:
        last = bytearray(b64decode(commit["positions"][-1]))
        last[-1] ^= 1
        return commit | {"positions": [*commit["positions"][:-1], b64encode(last).decode()]}

    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        await hand.choose()
        meddler.events["commit"] = altered
        await hand.button(ENTER).click()
        await stopped(hand, meddler, "DIGEST")
        meddler.events.clear()
        await page.reload()
        await hand.play(1)
        await hand.resign()
    await audited(club.client, made)


@pytest.mark.long
async def test_moves_that_are_none(page: Page, club: Club, meddler: Meddler) -> None:
    """A player signs only what the page showed in words; the referee refuses what breaks the rules."""
    made, hand = await opened(club, page)
    hand.address = meddler.address
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        play = await club.client.play(rules_id="kingdomino")
        illegal = against_the_rules(play)
        data = await club.client.log(hand.game)
        record = Record.replay(entries(BytesIO(data)))
        lie = {"seat": 0, "size": record.size, "head": record.head.hex(), "next_page": ""}
        meddler.answers["moves"] = lambda _: lie | {"moves": [b64encode(illegal).decode()]}
        await page.reload()
        await hand.on_turn()
        words = await hand.choose()
        assert "domino 1" in words
        await hand.button(ENTER).click()
        refused = hand.turn.locator(".refused")
        await expect(refused).to_contain_text("The server refused a move that it had called legal.")
        await expect(refused.get_by_role("link").first).to_have_text(re.compile("KDO-"))
        assert len(await acts(club.client, hand)) == 2
        del meddler.answers["moves"]
        await page.reload()
        await hand.play(2)
        await hand.resign()
    await audited(club.client, made)


@pytest.mark.parametrize("reason", ["STALE", pytest.param("FORK", marks=pytest.mark.long)])
async def test_a_history_that_forgets_what_was_entered(reason: str, page: Page, tmp_path: Path) -> None:
    """The referee's data are set back, marks and all. The browser's copy shows it. The game stops for all, and
    continues once the organiser has declared the loss; not if two histories are as long as each other.
    """
    referee = Referee(tmp_path / "data")
    await asyncio.to_thread(referee.start)
    async with connected(referee.address, referee.token) as client:
        made = await client.create(2, rules_id="kingdomino", arbiter_keys=[ARBITERS[0].public.raw])
    pages = Pages(referee.address, made.verifier_key)
    await pages.start()
    hand = Hand.of(page, pages.address, made)
    async with bots(referee.address, made, 1):
        await hand.sit()
        await hand.on_turn()
    await asyncio.to_thread(referee.stop)
    await asyncio.to_thread(shutil.copytree, referee.folder, tmp_path / "before")
    await asyncio.to_thread(referee.start)
    await hand.move()
    await page.goto("about:blank")
    await pages.stop()
    await asyncio.to_thread(referee.stop)
    await asyncio.to_thread(shutil.rmtree, referee.folder)
    await asyncio.to_thread((tmp_path / "before").rename, referee.folder)
    await asyncio.to_thread(referee.start)
    await pages.start()
    async with connected(referee.address, referee.token) as client:
        bench = Bench(Arbiter(client.channel, made.game.id, made.arbiter_token), Author(Role.ARBITER, 0), ARBITERS[0])
        warning = log_pb2.Rule(rule_id=RULE, penalty=log_pb2.Penalty(seat=1))
        for _ in range(3 if reason == "FORK" else 0):
            await bench.enter(await bench.look(), warning, "")
        await hand.come_back()
        await expect(hand.stopped).to_contain_text(SET_BACK)
        await expect(hand.stopped).to_contain_text(reason)
        await expect(page.locator(".seat")).to_have_count(0)
        await until_set_aside(client, made.game.id)
        await page.reload()
        await expect(hand.stopped).to_contain_text(SET_BACK)
        await expect(page.locator(".seat")).to_have_count(0)
    await asyncio.to_thread(referee.stop)
    if reason == "STALE":
        words = ("recover", made.game.id, "--continue", "--data", referee.folder)
        recovered = await asyncio.to_thread(in_process, *words)
        assert recovered.returncode == 0, recovered
        await asyncio.to_thread(referee.start)
        async with bots(referee.address, made, 1):
            await page.reload()
            await hand.move()
        await asyncio.to_thread(referee.stop)
    await pages.stop()


async def until_set_aside(client: Client, game_id: str) -> None:
    """Wait until the referee has seen what the page shows it."""
    async with asyncio.timeout(MOST_S):
        while not await is_set_aside(client, game_id):  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.05)


async def is_set_aside(client: Client, game_id: str) -> bool:
    try:
        await client.log(game_id)
    except grpc.aio.AioRpcError as error:
        return refusal(error).reason == "SET_ASIDE"
    return False


# --- texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE)
async def test_texts_of_answers_are_texts(text: str, page: Page, club: Club, meddler: Meddler) -> None:
    """Texts of refusals, of calls, of rules that are said to be broken: whatever a gateway sends."""
    made, hand = await opened(club, page, arbiter_keys=[ARBITERS[0].public.raw])
    hand.address = meddler.address
    await page.add_init_script(f"({WATCHED})()")
    violation = {"rule": text, "cells": [[0, 0]], "facts": {text: text}, "text": text}
    async with bots(club.referee, made, 1):
        await hand.sit()
        await hand.on_turn()
        meddler.answers["acts"] = lambda _: {"refused": {"violations": [violation], "recorded": None}}
        await hand.choose()
        await hand.button(ENTER).click()
        await expect(hand.turn.locator(".refused li")).to_have_count(1)
        await nothing_happened(page)
        del meddler.answers["acts"]
        # All seats see a person's words.
        await hand.beside("Call the arbiter")
        await page.get_by_label("The reason, in one line").fill(text[:200])
        await hand.button("Call").click()
        await nothing_happened(page)
        await hand.beside("Protest")
        await page.get_by_label("The rule that was broken").fill("KDO-14")
        await page.get_by_label("Your reason in words").fill(text[:4000])
        await page.get_by_role("group", name="Protest").get_by_role("button", name="Protest").click()
        await expect(page.locator(".beside > [role=status]")).not_to_be_empty()  # entered, or refused as no text at all
        await page.reload()
        await hand.on_turn()
        await nothing_happened(page)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360


# --- tokens --------------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_the_token_is_nowhere_but_where_it_belongs(page: Page, tmp_path: Path) -> None:
    """Neither in an address, nor in the history, nor in a log, nor on the page; in one header alone."""
    with started(tmp_path) as site:
        asked: list[Request] = []
        said: list[str] = []
        page.on("request", lambda request: asked.insert(0, request))
        page.on("console", lambda message: said.append(message.text))
        async with connected(site.referee, site.token) as client:
            made = await client.create(2, rules_id="kingdomino")
            hand = Hand.of(page, site.address, made)
            async with bots(site.referee, made, 1):
                await hand.sit()
                await hand.play(2)
                await page.reload()
                await hand.on_turn()
                assert hand.token not in await page.evaluate(SEEN)
                await page.get_by_role("link", name="The whole game, entry by entry").click()
                await page.wait_for_url("**/g/*")
                assert await page.evaluate("document.referrer") == ""
                await page.go_back()
                await hand.on_turn()
                assert hand.token not in page.url
                await hand.resign()
            await audited(client, made)
        assert hand.token not in "".join(said)
        bearing = set()
        for request in asked:
            headers = await request.all_headers()
            if request.is_navigation_request() and request.url == hand.link:
                continue  # what the person opened; the part behind the # stays in the browser
            assert hand.token not in request.url
            assert "referer" not in headers or hand.token not in headers["referer"]
            bearing |= {name for name, value in headers.items() if hand.token in value}
        assert bearing == {"authorization"}
    assert hand.token not in (tmp_path / "log").read_text()


SEEN = """() => [
  location.href, document.documentElement.outerHTML, document.cookie, JSON.stringify(history.state),
  JSON.stringify(localStorage), JSON.stringify(sessionStorage), window.name,
].join(" ")"""


@pytest.mark.long
async def test_a_token_that_is_not_the_seats(page: Page, club: Club) -> None:
    """That of another seat, and one that is revoked while the seat plays: it says so, and nothing is lost."""
    made, hand = await opened(club, page)
    hand.token = made.seat_tokens[1]
    await hand.open()
    await hand.save_key()
    await hand.button(TAKE).click()
    await expect(page.locator(".told")).to_have_text(re.compile("^Nothing was entered: .*seat"))
    await expect(hand.button("Join now as player 1")).to_be_visible()
    hand.token = made.seat_tokens[0]
    await hand.open()
    await hand.button("Join now as player 1").click()
    async with bots(club.referee, made, 1):
        await hand.play(1)
        await hand.on_turn()
        office = Office(club.client)
        await office.stub.RevokeToken(
            access.RevokeTokenRequest(id=sha256(hand.token.encode()).hexdigest()[:16]), metadata=office.metadata
        )
        await hand.choose()
        await hand.button(ENTER).click()
        await expect(hand.turn.locator(".found [role=alert]")).to_contain_text("Nothing was entered: ")
        before = await acts(club.client, hand)
        issued = await office.issue("ani", access.SCOPE_PLAY, game_id=hand.game, seat=0)
        hand.token = issued.secret
        await hand.open()
        await hand.play(1)
        assert len(await acts(club.client, hand)) == len(before) + 1
        await hand.resign()
    await audited(club.client, made)


# --- a flood -------------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_a_flood_from_the_same_address_costs_a_seat_nothing(page: Page, club: Club) -> None:
    """A client that shares the address of a seat and asks without end is refused; the seat plays on."""
    made, hand = await opened(club, page)
    refused = 0
    waited: list[str] = []
    page.on("response", lambda response: waited.append(response.url) if response.status == 429 else None)

    async def flood() -> None:
        nonlocal refused
        async with httpx.AsyncClient(base_url=club.address, timeout=60) as browser:
            while True:
                refused += (await browser.get("/api/v1/games?state=nonsense")).status_code == 429

    async with bots(club.referee, made, 1):
        await hand.sit()
        flooding = [asyncio.create_task(flood()) for _ in range(4)]
        try:
            while refused < 100 or len(hand.chosen) < 3:
                await hand.play(1)
            assert waited == []
            await hand.resign()
        finally:
            for each in flooding:
                each.cancel()
            await asyncio.gather(*flooding, return_exceptions=True)
    entered = await acts(club.client, hand)
    assert len(entered) == len(hand.chosen) + 3
    await audited(club.client, made)
