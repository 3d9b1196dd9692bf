"""Best turns and proofs on the page for positions, with the reader's token, from a real referee's solver."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page, Route, expect

from referee.text.words.catalogue import languages
from referee.wire.certificates.alhambra.claims import Add, Remove, Reserve, Swap
from referee.wire.certificates.registry import provable
from referee_clients.sdk.channel import Security
from referee_clients.web.positions_api import _in_words
from referee_clients.web.upstream import Upstream
from tests.server.service.conftest import running
from tests.server.service.player import Client
from tests.web.club import pages
from tests.web.gateway import check_refusal
from tests.web.position_page import cell, link_of

TURN = {"game": "alhambra", "layout": {"0,-1": "pavilion-2-NEW"}, "reserve": ["garden-10-N"], "bought": ["tower-8-NES"]}
ILLEGAL = {
    "game": "alhambra",
    "layout": {"0,-1": "pavilion-2-NEW"},
    "action": {"place": "tower-12", "at": [1, -1]},
}


@asynccontextmanager
async def solver(page: Page, folder: Path, **config: Any) -> AsyncIterator[tuple[str, Client]]:
    """Yield the address of a gateway to a referee with a solver, and a caller with its organiser's token."""
    async with running(folder, **config) as (server, client):
        key = (await client.create()).verifier_key
        async with pages(server.address, key) as address:
            yield address, client


async def asked(address: str, where: str, question: Any, token: str | None, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=address, timeout=60) as browser:
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        sent = {"Origin": address, "Content-Type": "application/json"} | headers
        sent |= {} if token is None else {"Authorization": token}
        return await browser.post(f"/api/v1/{where}", content=body, headers=sent)


async def test_the_token_is_the_readers(page: Page, tmp_path: Path) -> None:
    async with solver(page, tmp_path / "data") as (address, client):
        bearer = f"Bearer {client.organiser}"
        found = (await asked(address, "best-turn", TURN, bearer)).json()
        assert (found["wall"], found["tiles"], found["proven"]) == (7, 3, True)
        assert found["words"] == ["add garden-10-N -1,0", "place tower-8-NES 1,0"]
        proof = (await asked(address, "prove", ILLEGAL, bearer)).json()
        assert (proof["verdict"], proof["rules"]) == ("illegal", ["ALH-A2", "ALH-A4"])
        game = provable("alhambra", 2)
        assert game is not None
        checked = game.check(b64decode(proof["certificate"]))
        assert sorted({each.rule_id for each in checked.violations}) == proof["rules"]
        for token in (None, "", "Basic abc", "Bearer", "Bearer a b", f"Bearer {'x' * 2000}"):
            check_refusal(await asked(address, "prove", ILLEGAL, token), 401, "UNAUTHENTICATED")
        check_refusal(await asked(address, "prove", ILLEGAL, "Bearer wrong"), 401, "UNAUTHENTICATED")
        for question in ({}, {"game": "rollwrite"}, {**TURN, "more": 1}, {**TURN, "layout": []}, b"{", b"\xff"):
            for where in ("best-turn", "prove"):
                check_refusal(await asked(address, where, question, bearer), 400, "INVALID_ARGUMENT")
        check_refusal(
            await asked(address, "prove", ILLEGAL, bearer, Origin="http://evil.example"), 403, "FOREIGN_ORIGIN"
        )
        check_refusal(
            await asked(address, "prove", ILLEGAL, bearer, **{"Content-Type": "text/plain"}), 415, "WRONG_TYPE"
        )


async def test_a_referee_without_a_solver_is_said_to_be_one(page: Page, tmp_path: Path) -> None:
    async with solver(page, tmp_path / "data", solver_workers=0) as (address, client):
        refused = await asked(address, "prove", ILLEGAL, f"Bearer {client.organiser}")
        check_refusal(refused, 501, "NO_SOLVER")


@pytest.mark.parametrize(
    ("address", "may"), [("127.0.0.1:1", True), ("grpcs://club.example:1", True), ("192.0.2.1:1", False)]
)
async def test_no_token_is_sent_where_others_can_read_it(address: str, may: bool) -> None:
    async with Upstream(address, security=Security()) as referee:
        assert referee.may_bear_tokens is may


@pytest.mark.long
async def test_best_turn_and_proof_on_the_page(page: Page, tmp_path: Path) -> None:
    async with solver(page, tmp_path / "data") as (address, client):
        sent: list[dict[str, str]] = []
        page.on("request", lambda request: sent.append({"url": request.url, **request.headers}))
        position = "alhambra;0,-1:pavilion-2-NEW;reserve:garden-10-N;+tower-8-NES"
        await page.goto(f"{address}/position#{position};token={client.organiser}")
        # The token is nowhere that anybody sees.
        await expect(page.locator(".status")).to_contain_text("Legal")
        assert await link_of(page) == position
        assert await page.evaluate("history.length") <= 2
        panel = page.locator(".solver")
        await panel.locator("summary").click()
        found = panel.get_by_role("group", name="The solver's answer")
        await panel.get_by_role("button", name="Find the best turn").click()
        await expect(found).to_contain_text("Longest wall 7, tiles 3")
        await expect(found).to_contain_text("Proven: no legal turn is better.")
        # A proof of what would be laid, without laying it.
        await panel.get_by_role("button", name="Prove a step").click()
        await page.locator(cell(page, 1, -1)).click()
        await expect(found).to_contain_text("Proven: not legal")
        await expect(found).to_contain_text("ALH-A2")
        await expect(found).to_contain_text("Not checked here")
        assert await link_of(page) == position
        await panel.get_by_role("button", name="Prove that it fits nowhere").click()
        await expect(found).to_contain_text("Refuted: it fits somewhere")
        await panel.get_by_role("button", name="Find the best turn").click()
        await panel.get_by_role("button", name="Lay it on the board").click()
        await expect(page.locator(".status .brief")).to_have_text("Longest wall 7")
        assert await link_of(page) == "alhambra;0,-1:pavilion-2-NEW;-1,0:garden-10-N;1,0:tower-8-NES"
        await page.get_by_role("button", name="Undo").click()
        bearing = [each for each in sent if client.organiser in json.dumps(each)]
        assert {each["url"].rpartition("/")[2] for each in bearing} == {"best-turn", "prove"}
        assert all(client.organiser not in each["url"] + each.get("referer", "") for each in sent)
        await panel.get_by_role("button", name="Forget the token").click()
        assert await page.evaluate("sessionStorage.length + localStorage.length") == 0
        await panel.get_by_role("button", name="Find the best turn").click()
        await expect(found).to_contain_text("Nothing was asked: enter your token.")


TROUBLE = (
    (401, "UNAUTHENTICATED", "the referee does not know this token"),
    (429, "LIMIT", "you ask for more than the referee allows. Try again in 7 s."),
    (503, "SOLVER_FAILED", "the solver is busy or broke off. Try again in 7 s."),
    (504, "DEADLINE", "the solver took too long"),
    (501, "NO_SOLVER", "this referee has no solver"),
    (400, "INVALID_ARGUMENT", "Not answered: layout: it breaks ALH-A2."),
    (0, "", "the referee does not answer"),
)


async def test_what_goes_wrong_is_said_in_words(browser: Browser, page: Page, tmp_path: Path) -> None:
    async with solver(page, tmp_path / "data") as (address, _):
        own = await browser.new_page()  # not of the fixture: failed requests are what this is about

        told = TROUBLE[0]

        async def answers(route: Route) -> None:
            status, reason, _ = told
            if status:
                body = {"reason": reason, "message": "layout: it breaks ALH-A2.", "metadata": {}}
                await route.fulfill(status=status, json=body, headers={"Retry-After": "7"})
            else:
                await route.abort()

        await own.route("**/api/v1/best-turn", answers)
        await own.goto(f"{address}/position#token=abc")
        await own.locator(".solver summary").click()
        for told in TROUBLE:
            await own.get_by_role("button", name="Find the best turn").click()
            await expect(own.locator(".solver [role=alert]")).to_contain_text(told[2])
        await own.context.close()


@pytest.mark.parametrize("language", languages("web"))
def test_moves_of_a_best_turn_are_told_in_the_language(language: str) -> None:
    """Around tile and cell, which are notation; in English they are notation as a whole."""
    moves = (Add("tower-12", (1, -2)), Remove((1, -2)), Swap("tower-12", (1, -2)), Reserve("tower-12"))
    told = [_in_words(move, language) for move in moves]
    for move, words in zip(moves, told, strict=True):
        assert ("tower-12" in words, "1,-2" in words) == (hasattr(move, "tile"), hasattr(move, "at"))
    assert (told[0] == "add tower-12 1,-2") == (language == "en")
