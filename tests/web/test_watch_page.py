"""A game that is watched and replayed, in a real browser, from a real referee through a real gateway."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from referee.log.v1 import log_pb2
from referee.text.words.catalogue import languages, load
from referee.v1 import game_service_pb2 as pb
from tests.clients.referee_process import Referee
from tests.server.service.player import bearer, connected
from tests.sizes import sample_of
from tests.web.club import Club, pages
from tests.web.games_api import kingdomino
from tests.web.replay import positions_of_file
from tests.web.verify_page import FROZEN, KEY
from tests.web.words import wordy


async def test_a_page_follows_a_game(club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 4)
    await page.goto(club.address)
    await page.get_by_role("link", name=f"Kingdomino, game {play.id[:8]}").click()
    entries, status = page.locator(".entries li"), page.get_by_role("status")
    await expect(entries).to_have_count(play.record.size)
    await expect(status).to_have_text("Live.")
    await expect(page.get_by_role("grid")).to_have_count(2)
    await play.steps(4)
    await expect(entries).to_have_count(play.record.size)
    # A reader of an earlier entry stays there, and has a link to it.
    await page.get_by_role("button", name="One entry back").click()
    shown = play.record.size - 2
    await expect(page).to_have_url(f"{club.address}/g/{play.id}#e={shown}")
    await expect(status).to_have_text("You are looking at an earlier entry. The game is still being played.")
    await play.steps(2)
    await expect(entries).to_have_count(play.record.size)
    current = page.locator(".entries [aria-current]")
    assert await current.get_attribute("href") == f"#e={shown}"
    said = await current.inner_text()
    await page.reload()
    await expect(page.locator(".entries [aria-current]")).to_have_text(said)
    await page.get_by_role("button", name="First entry").press("Enter")
    await page.keyboard.press("ArrowRight")
    await expect(page).to_have_url(f"{club.address}/g/{play.id}#e=1")
    await page.get_by_role("button", name="Last entry").click()
    await expect(status).to_have_text("Live.")
    await expect(page).to_have_url(f"{club.address}/g/{play.id}")


async def altered(route: Route) -> None:
    """The last bit is another one."""
    response = await route.fetch()
    body = bytearray(await response.body())
    body[-1] ^= 1
    await route.fulfill(response=response, body=bytes(body))


async def nothing(route: Route) -> None:
    await route.fulfill(body=b"")


@pytest.mark.parametrize(
    ("path", "lie"),
    [
        ("**/positions?**", altered),
        pytest.param("**/positions?**", nothing, marks=pytest.mark.long),
        ("**/log", altered),
        pytest.param("**/log", nothing, marks=pytest.mark.long),
    ],
)
async def test_what_the_referee_did_not_sign_is_not_drawn(path: str, lie: Any, club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 4)
    await page.route(path, lie)
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.get_by_role("status")).to_have_text(
        "Stopped: the server sent something that the referee did not sign."
    )
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_role("grid")).to_have_count(0)


async def test_a_key_that_changes_stops_the_page_until_its_reader_decides(club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 2)
    await page.goto(f"{club.address}/about")
    await page.evaluate("(key) => localStorage.setItem('verifier-key', key)", KEY)
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.get_by_role("alert")).to_contain_text("another verifier key")
    await expect(page.get_by_role("alert")).to_contain_text(KEY)
    await expect(page.get_by_role("grid")).to_have_count(0)
    await page.get_by_role("button", name="Keep the new key").click()
    await expect(page.get_by_role("status")).to_have_text("Live.")


async def test_clocks_run_and_the_seat_on_turn_is_named(club: Club, page: Page) -> None:
    clock = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=3_600_000, increment_ms=1000))
    terms = log_pb2.Terms(clock=clock, table_rules=1)
    play = await kingdomino(club.client, 2, terms=terms, event_id=3, round=2, table=7)
    await page.goto(f"{club.address}/g/{play.id}")
    for _ in range(2):
        seat = play.seat_on_turn()
        turn = page.get_by_role("region", name=f"Player {seat + 1}")
        await expect(page.get_by_text(f"Player {seat + 1} is on turn: choose a domino.")).to_be_visible()
        await expect(turn).to_have_class("turn")
        running = turn.get_by_role("timer")
        await expect(running).to_have_text(re.compile(r"^(59:\d\d|1:00:0\d)$"))
        shown = await running.inner_text()
        await expect(running).not_to_have_text(shown)
        await play.step()
        while play.seat_on_turn() == seat:
            await play.step()
    # They are of now, and of nothing else.
    await page.keyboard.press("ArrowLeft")
    await expect(page.get_by_role("timer").first).to_have_text("")
    await expect(page.get_by_text("event 3, round 2, table 7")).to_be_visible()


@pytest.mark.parametrize(
    "rules", ["kingdomino", *(pytest.param(name, marks=pytest.mark.long) for name in ("alhambra", "rollwrite"))]
)
async def test_a_finished_game_has_its_result_and_its_file(rules: str, club: Club, page: Page) -> None:
    play = await club.client.play(3, rules_id=rules)
    await play.to_the_end()
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.get_by_role("status")).to_have_text("The game is over.")
    result = play.record.game.end
    assert result is not None
    first = result.winners
    who = (
        f"Player {first[0] + 1} wins."
        if len(first) == 1
        else f"{' and '.join(f'player {seat + 1}' for seat in first)} share"
    )
    await expect(page.locator(".result h2")).to_contain_text(who)
    await expect(page.locator(".result")).to_contain_text("The game was played to its end.")
    order = sorted(range(3), key=lambda seat: result.places[seat])
    rows = [f"{result.places[seat]}\tPlayer {seat + 1}\t{result.scores[seat]}" for seat in order]
    assert (await page.locator(".result tbody").inner_text()).splitlines() == rows
    # An earlier entry shows nothing of it.
    await page.get_by_role("button", name="One entry back").click()
    await page.get_by_role("button", name="One entry back").click()
    await expect(page.locator(".result")).to_be_empty()
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Save the game's file").click()
    saved = await (await download.value).path()
    assert Path(saved).read_bytes() == await club.client.log(play.id)  # noqa: ASYNC240


async def test_a_game_that_was_aborted_or_does_not_exist_says_so(club: Club, page: Page) -> None:
    created = await club.client.create()
    await club.client.games.AbortGame(
        pb.AbortGameRequest(game_id=created.game.id), metadata=bearer(club.client.organiser)
    )
    waiting = await club.client.create()
    await page.goto(f"{club.address}/g/{created.game.id}")
    await expect(page.locator(".result")).to_have_text("No result.The game was aborted. Play never began.")
    await page.goto(f"{club.address}/g/{waiting.game.id}")
    await expect(page.get_by_text("Not begun yet. Still to join: player 1 and player 2.")).to_be_visible()


@pytest.mark.cut_off
@pytest.mark.parametrize("unknown", ["0" * 32, "nonsense"])
async def test_an_unknown_game_has_a_way_back(unknown: str, club: Club, page: Page) -> None:
    await page.goto(f"{club.address}/g/{unknown}")
    await expect(page.get_by_role("status")).to_have_text("There is no such game here.")
    await page.get_by_role("link", name="All games").click()
    await expect(page.get_by_role("heading", name="Games in progress")).to_be_visible()


async def test_a_lie_in_a_live_game_freezes_the_board_and_can_be_saved(club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 4)
    size = play.record.size
    forged = {"game": play.id, "seq": size, "entries": ["AAAA"], "checkpoint": "AAAA", "positions": ["AAAA"]}
    await page.route(
        "**/live?**",
        lambda route: route.fulfill(
            body=f"event: commit\ndata: {json.dumps(forged)}\n\n", content_type="text/event-stream"
        ),
    )
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.get_by_role("status")).to_have_text(
        "Stopped: the server sent something that the referee did not sign."
    )
    await expect(page.get_by_role("alert")).to_contain_text("The position below is the last that was checked.")
    await expect(page.get_by_role("grid")).to_have_count(2)
    await expect(page.locator(".entries li")).to_have_count(size)
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator(".entries [aria-current]")).to_have_attribute("href", f"#e={size - 2}")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Save the evidence").press("Enter")
    evidence = json.loads(Path(await (await download.value).path()).read_text())  # noqa: ASYNC240
    assert (evidence["game"], evidence["entry"], evidence["verifier_key"]) == (play.id, size, play.created.verifier_key)
    assert evidence["entries"] == ["AAAA"]
    assert b64decode(evidence["before"]).startswith(f"referee.local/g/{play.id}\n{size}\n".encode())


@pytest.mark.cut_off
async def test_a_page_goes_on_after_its_connection_was_cut(club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 2)
    await page.route("**/live?**", lambda route: route.abort())
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.get_by_role("status")).to_contain_text("The connection broke.")
    await play.steps(2)
    await page.unroute("**/live?**")
    await expect(page.get_by_role("status")).to_have_text("Live.")
    await expect(page.locator(".entries li")).to_have_count(play.record.size)


async def test_on_a_phone_board_and_buttons_are_there_at_once_and_stay(club: Club, page: Page) -> None:
    play = await kingdomino(club.client, 6)
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.locator(".entries li")).to_have_count(play.record.size)
    await expect(page.get_by_role("grid").first).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await page.get_by_role("link", name="Save the game's file").scroll_into_view_if_needed()
    await page.mouse.wheel(0, 10_000)
    await expect(page.get_by_role("button", name="One entry back")).to_be_in_viewport(ratio=1)
    # At a desk boards lie beside one another, and the entries beside them.
    await page.set_viewport_size({"width": 1280, "height": 800})
    tops = await page.evaluate("[...document.querySelectorAll('.boards > section')].map((s) => s.offsetTop)")
    assert len(tops) == 2
    assert len(set(tops)) == 1


@pytest.mark.parametrize("rules_id", ["kingdomino", "rollwrite"])
async def test_four_boards_are_shown_whole_at_every_width(rules_id: str, club: Club, page: Page) -> None:
    play = await club.client.play(4, rules_id=rules_id)
    await play.until_play()
    await play.steps(24)  # kingdoms have grown by then
    await page.goto(f"{club.address}/g/{play.id}")
    await expect(page.locator(".entries li")).to_have_count(play.record.size)
    columns = {}
    for width in (390, 768, 900, 1280):
        await page.set_viewport_size({"width": width, "height": 800})
        cut = "[...document.querySelectorAll('.boards .scroll')].filter((s) => s.scrollWidth > s.clientWidth).length"
        assert await page.evaluate(cut) == 0, f"{width} px"
        lefts = await page.evaluate("[...document.querySelectorAll('.boards > section')].map((s) => s.offsetLeft)")
        columns[width] = len(set(lefts))
    assert columns == {390: 1, 768: 2, 900: 2, 1280: 2}


async def test_the_first_paint_is_light(club: Club, page: Page) -> None:
    await check_first_paint(club, page, club.address)


@pytest.mark.parametrize("language", sample_of([each for each in languages("web") if each != "en"][::-1], 1))
async def test_the_first_paint_in_another_language_is_light(language: str, club: Club, page: Page) -> None:
    """One language only is sent; its letters take more bytes than those of English, and the menu a program."""
    async with pages(club.referee, club.key, None, "--languages", ",".join(languages("web"))) as address:
        await check_first_paint(club, page, address, f"?lang={language}", load("web", language)("watch.is_live"))
        await page.goto("about:blank")  # it would complain that the gateway has gone


async def check_first_paint(club: Club, page: Page, address: str, asked: str = "", live: str = "Live.") -> None:
    """At most 13 requests in all, and one of the menu of languages; beside what was signed of the game 46,000 bytes,
    and 52,000 over plain HTTP, where browsers take gzip alone.
    """
    play = await club.client.play(2, rules_id="alhambra")
    await play.until_play()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await page.goto(f"{address}/g/{play.id}{asked}")
    await expect(page.get_by_role("status")).to_have_text(live)
    await expect(page.get_by_role("grid")).to_have_count(2)
    assert len(requests) <= 13 + bool(asked), requests
    entries = await page.evaluate(
        """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .map(({ name, encodedBodySize, transferSize }) => [name, encodedBodySize, transferSize])"""
    )
    sizes = {name: body for name, body, _ in entries if "/api/" not in name}
    assert all(sizes.values()), sizes
    assert sum(sizes.values()) <= 46_000, sizes
    async with httpx.AsyncClient(headers={"Accept-Encoding": "gzip"}) as plain:
        packed = {}
        for name in sizes:
            async with plain.stream("GET", name) as got:
                packed[name] = len(b"".join([part async for part in got.aiter_raw()]))
    assert sum(packed.values()) <= 52_000, packed


@pytest.mark.long
async def test_a_page_goes_on_when_the_referee_was_killed(tmp_path: Path, page: Page) -> None:
    referee = Referee(tmp_path / "data")
    await asyncio.to_thread(referee.start)
    try:
        async with connected(referee.address, referee.token) as client:
            key = (await client.create()).verifier_key
            play = await kingdomino(client, 3)
            async with pages(referee.address, key) as address:
                await page.goto(f"{address}/g/{play.id}")
                entries = page.locator(".entries li")
                await expect(entries).to_have_count(play.record.size)
                await asyncio.to_thread(referee.stop)
                await asyncio.to_thread(referee.start)
                play.stream = None
                async with connected(referee.address, referee.token) as play.client:
                    await play.steps(3)
                    await expect(entries).to_have_count(play.record.size)
                    await expect(page.get_by_role("status")).to_have_text("Live.")
                await page.goto("about:blank")  # an open page would complain of the missing server
    finally:
        await asyncio.to_thread(referee.stop)


READ = """async ([log, positions, key]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const [{ Feed }, { entryWords }, { GAMES }, { decodeBody }] = await Promise.all(
    ["feed", "entry_words", "verify/schema", "verify/wire"].map((name) => import(`/static/${name}.mjs`)));
  const feed = new Feed({ verifierKey: key });
  await feed.open(bytes(log), positions.map(bytes));
  const { rules_id: id, rules_version: version, tables, seats } = feed.gameOpen;
  const rules = GAMES[id][version];
  const module = await import(`/static/games/${id}.mjs`);
  const components = await (await fetch("/static/components.json")).json();
  const game = module[id](decodeBody(rules.tables, tables), components[id]);
  return feed.entries.map((entry, n) => {
    const position = feed.positionAt(n);
    const boards = seats.map((_, seat) => {
      const { cells, cell } = game.board(position, seat);
      const facts = game.ofSeat(position, seat).flat().join(" ");
      return cells.map((each) => cell(...each.split(",").map(Number)).label).join("; ") + facts;
    });
    const { who, what } = entryWords(entry, rules, game);
    return [who, what, ...boards, game.ofTable(position).flat().join(" ")];
  });
}"""


LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("alhambra", "rollwrite")]


@pytest.mark.parametrize("rules", ["kingdomino", *LONG])
async def test_every_entry_of_every_frozen_game_has_words_and_boards(rules: str, page: Page, gateway: str) -> None:
    await wordy(page, gateway)
    read = 0
    for path in sorted(FROZEN.glob(f"{rules}-*.gamelog")):
        with path.open("rb") as stream:
            positions = [b64encode(each).decode() for each in positions_of_file(stream)]
        if not positions:
            continue
        found = await page.evaluate(READ, [b64encode(path.read_bytes()).decode(), positions, KEY])
        assert len(found) == len(positions)
        for words in found:
            assert words[1], path.name
            for said in words:
                assert "undefined" not in said
                assert "NaN" not in said
                assert "{" not in said
        read += 1
    assert read > 5
