"""The referee tells readers behind one gateway apart, as it believes the gateway's token."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from referee.cli.operators.web import TOKEN_VARIABLE
from referee.v1 import access_service_pb2 as access
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.waiting import waiting_for
from tests.web.gateway import check_refusal, gateway, reached
from tests.web.serve_web import serving
from tests.web.words import address_in

FLOOD, OTHER = "198.51.100.7", "198.51.100.8"
RATE = 100.0
"""Requests a second of one caller of the referee; an address that a gateway names has 10 of them, a hundred at once."""


async def asked(browser: httpx.AsyncClient, address: str) -> httpx.Response:
    """By somebody there, as the proxy in front says."""
    return await browser.get("/api/v1/games", headers={"X-Forwarded-For": address})


async def flooded(browser: httpx.AsyncClient, address: str) -> httpx.Response:
    """Ask from this address until the gateway refuses; return the refusal."""
    async with waiting_for("the limit"):
        while (answer := await asked(browser, address)).status_code == 200:
            pass
    return answer


@pytest.mark.usefixtures("nothing_refills")
async def test_one_browser_floods_and_the_other_is_served(tmp_path: Path) -> None:
    async with (
        running(tmp_path / "data", requests_per_s=RATE) as (server, _),
        gateway(server.address, token=server.gateway_token()) as web,
    ):
        refused = await flooded(web.browser, FLOOD)
        assert check_refusal(refused, 429, "LIMIT") == {"limit": "requests"}
        assert (await asked(web.browser, OTHER)).status_code == 200


@pytest.mark.usefixtures("nothing_refills")
async def test_without_a_token_they_share_the_gateways_account(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=0.01) as (server, _), gateway(server.address) as web:
        for address in (FLOOD, OTHER):
            check_refusal(await flooded(web.browser, address), 429, "LIMIT")


async def test_a_gateway_whose_token_was_revoked_says_whose_trouble_it_is(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        office, game = Office(client), (await client.create()).game.id
        issued = await office.issue("web", access.SCOPE_GATEWAY)
        async with gateway(server.address, token=issued.secret) as web, web.live(f"{game}:-1") as events:
            await events.next("commit")
            assert (await asked(web.browser, OTHER)).status_code == 200
            await office.revoke(issued)
            check_refusal(await asked(web.browser, OTHER), 502, "NOT_ADMITTED")
            _, closing = await events.next("closing")
            assert closing["reason"] == "UNREADABLE"


@asynccontextmanager
async def started(*words: str, **environment: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a browser at `referee web`."""
    code = "from referee.cli import main; main()"
    command = (sys.executable, "-c", code, "web", "--listen", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1", *words)
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env={**os.environ, **environment})
    assert process.stdout is not None
    try:
        address = address_in((await process.stdout.readline()).decode())
        async with httpx.AsyncClient(base_url=address, timeout=120) as browser:
            await reached(browser)
            yield browser
    finally:
        process.terminate()
        assert await process.wait() == 0


@pytest.mark.parametrize("by", ["file", "environment"])
async def test_the_command_takes_the_token_from_a_file_or_its_environment(by: str, tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=0.001) as (server, client):
        token, key = server.gateway_token(), (await client.create()).verifier_key
        (tmp_path / "web.token").write_text(f"{token}\n")
        words: tuple[str, ...] = ("--server", server.address, "--key", key)
        if by == "file":
            words += ("--token-file", str(tmp_path / "web.token"))
        async with started(*words, **{TOKEN_VARIABLE: token if by == "environment" else ""}) as browser:
            # To be asked whether the referee is there has taken all that those have whom a gateway names.
            refused = await asked(browser, OTHER)
            assert check_refusal(refused, 429, "LIMIT") == {"limit": "requests by a gateway"}


async def test_the_referees_own_pages_have_one_by_themselves(tmp_path: Path) -> None:
    """Many who ask once each: to the referee they are many, and together they have a limit."""
    async with serving(tmp_path / "data", "--requests-per-s", "0.1") as (_, ready):
        async with httpx.AsyncClient(base_url=ready["web"], timeout=120) as browser:
            await reached(browser)
        limit = ""
        for number in range(2, 255):
            there = httpx.AsyncHTTPTransport(verify=False, local_address=f"127.0.0.{number}")
            async with httpx.AsyncClient(base_url=ready["web"], transport=there, timeout=120) as browser:
                answer = await browser.get("/api/v1/games")
            if answer.status_code != 200:
                limit = check_refusal(answer, 429, "LIMIT")["limit"]
                if limit != "requests":  # two addresses may have the same account
                    break
        assert limit == "requests by a gateway"
