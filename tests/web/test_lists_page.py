"""The list of games, what is proved, and hashes to compare, in a real browser."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import httpx
from playwright.async_api import Page, expect

from referee.log.note import VerifierKey
from referee.v1 import game_service_pb2 as pb
from referee_clients.web.pages import KEY_WORDS, spoken
from tests.cli.command import referee
from tests.server.service.player import bearer, connected
from tests.waiting import MOST_S
from tests.web.club import Club, Started, started
from tests.web.games_api import kingdomino


async def test_games_are_listed_as_they_go_on_and_end(tmp_path: Path, page: Page) -> None:
    with started(tmp_path) as own:
        await listed(own, page)


async def listed(own: Started, page: Page) -> None:
    async with connected(own.referee, own.token) as client:
        club = Club(client, own.address, own.key, own.referee)
        await page.clock.install()
        await page.goto(club.address)
        await expect(page.get_by_text("There are no games yet.")).to_be_visible()
        play = await kingdomino(club.client, 2, event_id=4, round=1, table=9)
        waiting = await club.client.create()
        aborted = await club.client.create()
        request = pb.AbortGameRequest(game_id=aborted.game.id)
        await club.client.games.AbortGame(request, metadata=bearer(club.client.organiser))

        # The list renews itself.
        await page.clock.fast_forward(16_000)
        running, finished = (
            page.locator("h2:has-text('Games in progress') + ul li"),
            page.locator("h2:has-text('Finished games') + ul li"),
        )
        await expect(running).to_have_count(2)
        game = running.filter(has=page.locator(f"a[href='/g/{play.id}']"))
        await expect(game).to_contain_text(f"Being played. 2 players; on turn: player {play.seat_on_turn() + 1}.")
        await expect(game).to_contain_text("event 4, round 1, table 9")
        other = running.filter(has=page.locator(f"a[href='/g/{waiting.game.id}']"))
        await expect(other).to_contain_text("Waiting for players. 2 players.")
        await expect(finished).to_have_count(1)
        await expect(finished).to_contain_text("No result. The game was aborted.")

        await play.to_the_end()
        await page.clock.fast_forward(16_000)
        await expect(running).to_have_count(1)
        result = play.record.game.end
        assert result is not None
        order = sorted(range(2), key=lambda seat: result.places[seat])
        scores = ", ".join(f"Player {seat + 1} {result.scores[seat]}" for seat in order)
        await expect(finished.filter(has=game_link(page, play.id))).to_contain_text(f" {scores}.")
        # More than a page of them.
        for _ in range(50):
            await club.client.create()
        await page.reload()
        await expect(running.nth(49)).to_be_visible()
        await expect(finished).to_have_count(0)
        await page.get_by_role("button", name="More games").click()
        await expect(finished).to_have_count(2)
        await expect(page.get_by_role("button", name="More games")).to_have_count(0)
        await game_link(page, play.id).click()
        await expect(page.get_by_role("status")).to_have_text("The game is over.")
        await page.goto("about:blank")


def game_link(page: Page, game_id: str):  # type: ignore[no-untyped-def]
    return page.locator(f"a[href='/g/{game_id}']")


async def test_what_is_served_has_the_hashes_that_are_told(club: Club, page: Page, tmp_path: Path) -> None:
    await page.goto(f"{club.address}/about")
    lines = (await page.locator("pre").text_content() or "").split("\n")
    told = [line.split("  ") for line in lines if line]
    assert {"/", "/g/ID", "/event/ID", "/wall", "/static/joined/game.mjs", "/static/joined/verifier.mjs"} <= {
        path for _, path in told
    }
    async with httpx.AsyncClient(base_url=club.address, timeout=MOST_S) as browser:
        for digest, path in told:
            served = await browser.get(path.replace("/ID", "/" + "0" * 32))
            assert sha256(served.content).hexdigest() == digest, path
    # Nothing is loaded that has none.
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', await page.content()):
        assert path in {path for _, path in told}
    (tmp_path / "key").write_text(club.key)
    printed = referee("web", "--hashes", "--server", club.referee, "--key", tmp_path / "key")
    assert printed.stdout.splitlines() == ["  ".join(each) for each in told]
    total = sha256(printed.stdout.encode()).hexdigest()
    await expect(page.get_by_text(f"SHA-256 {total}")).to_be_visible()
    without = referee("web", "--hashes").stdout
    assert "  /wall\n" not in without


async def test_the_key_is_told_in_words(club: Club, page: Page) -> None:
    await page.goto(f"{club.address}/about")
    await expect(page.get_by_text(club.key, exact=True)).to_be_visible()
    words = spoken(VerifierKey.parse(club.key))
    assert await page.locator(".spoken li").all_inner_texts() == list(words)
    assert len(set(KEY_WORDS)) == 256
    assert all(word.isascii() and word.islower() for word in KEY_WORDS)
