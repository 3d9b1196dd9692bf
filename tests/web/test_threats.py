"""Attacks against the gateway, or through it against a browser; docs/security.md has the list."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from playwright.async_api import Browser, FilePayload, Page, Route, expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route as At

from referee.cli.operators.web import TOKEN_VARIABLE
from referee.log.note import VerifierKey
from referee.v1 import access_service_pb2 as access
from referee_clients.web.headers import HEADERS
from referee_clients.web.server import application
from referee_clients.web.upstream import Upstream
from tests.clients.referee_process import Referee
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.player import connected
from tests.sizes import Part, in_parts
from tests.waiting import MOST_S, until
from tests.web.games_api import kingdomino
from tests.web.gateway import reached, serving
from tests.web.threats import HOSTILE, WATCHED, nothing_happened
from tests.web.verify_page import FROZEN, KEY
from tests.web.words import address_in

ORIGIN = "http://club.example"
FRAMED = ("/", "/verify", "/seat", "/desk")


@dataclass
class Site:
    """The whole gateway, to a real referee with one game."""

    app: Starlette
    browser: httpx.AsyncClient
    game: str

    @property
    def address(self) -> str:
        return str(self.browser.base_url).rstrip("/")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    # A process of its own: a referee in this one is for one test.
    process = Referee(tmp_path_factory.mktemp("site") / "data")
    await asyncio.to_thread(process.start)
    try:
        async with connected(process.address, process.token) as client:
            play = await kingdomino(client, 4)
            token = (await Office(client).issue("web", access.SCOPE_GATEWAY)).secret
        verifier = VerifierKey.parse(play.created.verifier_key)
        async with Upstream(process.address, verifier=verifier, token=token) as referee:
            app = application(referee, origins=[ORIGIN], trusted=["127.0.0.1"])
            async with serving(app) as (_, port):
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as browser:
                    await reached(browser)
                    yield Site(app, browser, play.id)
                await referee.close()
    finally:
        await asyncio.to_thread(process.stop)


_next = iter(range(1 << 24))


def elsewhere() -> dict[str, str]:
    """Return the header of a new client."""
    number = next(_next)
    return {"X-Forwarded-For": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"}


def paths(site: Site) -> list[str]:
    """One address of every route that there is."""
    filled = {"id": site.game, "path": "style.css"}
    return [re.sub(r"\{(\w+)(:\w+)?\}", lambda found: filled[found[1]], route.path) for route in site.app.routes]  # type: ignore[attr-defined]


def check_refused(answer: httpx.Response) -> dict[str, Any]:
    """That it is refused as everything is that is refused. Return the body."""
    body: dict[str, Any] = answer.json()
    assert set(body) == {"reason", "message", "metadata"}, answer.url
    assert body["message"]
    assert re.fullmatch("[A-Z_]+", body["reason"])
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == "no-store"
    return body


# --- other pages, in the same browser ------------------------------------------------------------------------------


@in_parts(5)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
async def test_no_method_does_anything_for_another_page(method: str, part: Part, site: Site) -> None:
    """At no address: with the Origin of another page, an opaque one, none, or one that is only like ours."""
    near = ["http://127.0.0.1", f"{site.address}.evil.example", f"{site.address}@evil.example", "null", "", None]
    origins = (*near, "http://evil.example", ORIGIN)
    for path, origin in part.of(product(paths(site), origins)):
        sent = {} if origin is None else {"Origin": origin}
        answer = await site.browser.request(method, path, headers=elsewhere() | sent, content=b"{}")
        assert (answer.status_code, check_refused(answer)["reason"]) == (403, "FOREIGN_ORIGIN"), (path, origin)


async def test_no_other_page_may_read_an_answer(site: Site) -> None:
    for path in paths(site):
        async with site.browser.stream("GET", path, headers=elsewhere() | {"Origin": "http://evil.example"}) as answer:
            assert not [name for name in answer.headers if name.startswith("access-control-")], path
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"


async def test_a_name_that_leads_here_by_somebody_elses_doing_gets_nothing(site: Site) -> None:
    """DNS rebinding: at every address."""
    for path in paths(site):
        for host in ("evil.example", "club.example.evil.example", "club.example:81", "127.0.0.1.evil.example"):
            answer = await site.browser.get(path, headers=elsewhere() | {"Host": host})
            assert (answer.status_code, check_refused(answer)["reason"]) == (421, "UNKNOWN_HOST"), (path, host)
    assert (await site.browser.get("/", headers=elsewhere() | {"Host": "club.example"})).status_code == 200


async def test_no_page_can_be_framed(browser: Browser, site: Site) -> None:
    async def framing(_request: object) -> HTMLResponse:
        return HTMLResponse("".join(f'<iframe src="{site.address}{path}"></iframe>' for path in FRAMED))

    async with serving(Starlette(routes=[At("/", framing)])) as (_, port):
        page = await browser.new_page()
        await page.goto(f"http://127.0.0.1:{port}/", wait_until="load")
        refused = ["chrome-error://chromewebdata/"] * len(FRAMED)
        await until(lambda: [frame.url for frame in page.frames[1:]] == refused, "an error in each frame", every_s=0.02)
        await page.close()


# --- what is sent --------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["", "-1", "0", "1", "9" * 18, "9" * 19, "٣", "\x00", "a" * 3000, "%", "../..", "💥", "<script>", "alhambra", "NaN"]
)
METHODS = st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "OPTIONS"])
FIELDS = st.sampled_from(["g", "from", "state", "page", "version", "after", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["game", "text", "layout", "tile", "x"]), inner)
    ),
    max_leaves=12,
)
BODIES = st.none() | st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode())
SENT = st.dictionaries(
    st.sampled_from(
        ["Content-Type", "Accept", "Accept-Encoding", "If-None-Match", "Range", "Authorization", "X-Forwarded-For"]
    ),
    st.sampled_from(["application/json", "text/plain", "", "*", "gzip;q=0", "bytes=0-", "Bearer x", "::1", "\xff"]),
)


ANYHOW: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@given(data=st.data())
@settings(max_examples=80, phases=[Phase.generate], **ANYHOW)
async def test_whatever_is_asked_is_answered_or_refused(data: st.DataObject, site: Site) -> None:
    """At every address, in any way: never a fault, and every refusal says why."""
    await whatever(data, site)


@pytest.mark.long
@given(data=st.data())
@settings(max_examples=1000, **ANYHOW)
async def test_whatever_is_asked_for_long_is_answered_or_refused(data: st.DataObject, site: Site) -> None:
    await whatever(data, site)


async def whatever(data: st.DataObject, site: Site) -> None:
    template = data.draw(st.sampled_from([route.path for route in site.app.routes]))  # type: ignore[attr-defined]
    word = st.just(site.game) | WORDS | st.text(max_size=40)
    path = re.sub(r"\{\w+(:\w+)?\}", lambda _: quote(data.draw(word)), template)
    query = data.draw(st.lists(st.tuples(FIELDS, word | st.just(f"{site.game}:-1")), max_size=3))
    method = data.draw(METHODS)
    headers = {"Origin": site.address} | elsewhere() | data.draw(SENT)
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    async with site.browser.stream(
        method,
        path,
        params=httpx.QueryParams([*query]),
        headers=encoded,
        content=data.draw(BODIES),
        follow_redirects=False,
    ) as answer:
        if answer.status_code < 400:
            assert answer.status_code in {200, 304}
            return
        # 429: an address that was drawn is that of many. 401: a call that needs a token, which is never drawn. 409:
        # no ruling is prepared on a game that is over.
        assert answer.status_code in {400, 401, 404, 405, 409, 413, 415, 416, 429}, (method, answer.url)
        await answer.aread()
        if answer.status_code == 404 and answer.headers["content-type"].startswith("text/html"):
            assert not answer.url.path.startswith(("/api/", "/static/"))  # for people: a page with the way back
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        elif method != "HEAD":
            check_refused(answer)


# --- text that is made to be taken for something else --------------------------------------------------------------


def poisoned(value: Any, text: str) -> Any:
    """Return the value with every free text replaced."""
    match value:
        case dict():
            free = {"outcome", "event_id", "message", "next_page"}
            return {key: text if key in free else poisoned(inner, text) for key, inner in value.items()}
        case list():
            return [poisoned(inner, text) for inner in value]
    return value


@pytest.mark.parametrize("text", [HOSTILE[0], *(pytest.param(text, marks=pytest.mark.long) for text in HOSTILE[1:])])
async def test_texts_of_games_are_texts(text: str, page: Page, site: Site) -> None:
    """A lying gateway could send them, in all that is not signed."""

    async def poison(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(response=response, json=poisoned(await response.json(), text))

    await page.add_init_script(f"({WATCHED})()")
    await page.route("**/api/v1/games?**", poison)
    await page.route("**/api/v1/games", poison)
    await page.goto(site.address)
    await expect(page.get_by_role("link", name=site.game[:8])).to_be_visible()
    await nothing_happened(page)


@pytest.mark.parametrize("text", [HOSTILE[0], *(pytest.param(text, marks=pytest.mark.long) for text in HOSTILE[1:])])
async def test_names_and_contents_of_files_are_texts(text: str, page: Page, site: Site) -> None:
    await page.add_init_script(f"({WATCHED})()")
    await page.goto(f"{site.address}/verify")
    name = text[:200].replace("\x00", "").replace("/", "_")
    honest = (FROZEN / "alhambra-2-dealt-3.gamelog").read_bytes()
    at = honest.index(b"alhambra")
    for data, key, seats in (
        (text.encode(), KEY, ""),
        (honest[:at] + text.encode() + honest[at:], KEY, ""),
        (honest, text, ""),
        (honest, KEY, text),
    ):
        file: FilePayload = {"name": name, "mimeType": "text/html", "buffer": data}
        await page.get_by_label("The referee's verifier key").fill(key)
        await page.get_by_label("Keys of players").fill(seats)
        await page.get_by_label("The file of the game or event").set_input_files(file)
        await expect(page.locator("#report .judged")).not_to_have_text(re.compile("^Checking "))
    await nothing_happened(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360


async def test_a_position_in_a_link_is_a_text(page: Page, site: Site) -> None:
    await page.add_init_script(f"({WATCHED})()")
    for text in HOSTILE[:5]:
        await page.goto("about:blank")
        await page.goto(f"{site.address}/position#{text}")
        await expect(page.get_by_role("grid").first).to_be_visible()
        await nothing_happened(page)


# --- what is written down ------------------------------------------------------------------------------------------


async def test_no_token_and_no_question_is_written_down(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        token, own = server.gateway_token(), client.organiser
        key, game = str(server.data.signer.verifier), (await client.create()).game.id
        words = ("web", "--listen", "127.0.0.1:0", "--server", server.address, "--key", key)
        command = (sys.executable, "-c", "from referee.cli import main; main()", *words)
        process = await asyncio.create_subprocess_exec(
            *command, stdout=PIPE, stderr=PIPE, env=os.environ | {TOKEN_VARIABLE: token}
        )
        assert process.stdout is not None
        first = (await process.stdout.readline()).decode()
        async with httpx.AsyncClient(base_url=address_in(first), timeout=120) as browser:
            await reached(browser)
            headers = {"Authorization": f"Bearer {own}", "Origin": str(browser.base_url).rstrip("/")}
            for path in ("/", f"/g/{game}", f"/api/v1/games/{game}", "/api/v1/live", "/nothing"):
                for method in ("GET", "POST"):
                    await browser.request(method, f"{path}?secret-question={own}", headers=headers)
        process.terminate()
        out, err = await process.communicate()
        for secret in (token, own, "secret-question"):
            assert secret not in first + out.decode() + err.decode()


async def test_with_tls_browsers_are_told_to_stay_with_it() -> None:
    async with serving(application(tls=True)) as (_, port), httpx.AsyncClient(timeout=MOST_S) as browser:
        answer = await browser.get(f"http://127.0.0.1:{port}/")
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
