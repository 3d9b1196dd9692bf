"""`referee serve --web`: the gateway as the referee's child, and `make demo-web`, as people start them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.cli.command import referee
from tests.clients.demo import Demo
from tests.server.service.certificates import Authority
from tests.server.service.player import connected
from tests.waiting import MOST_S, until
from tests.web.games_api import kingdomino
from tests.web.gateway import reached
from tests.web.serve_web import serving


def child_of(pid: int) -> int:
    """Return the gateway's process; 0 if there is none."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, after = path.read_text().rpartition(")")
            line = (path.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(after.split()[1]) == pid and "referee_clients.web.child" in line:
            return int(path.parent.name)
    return 0


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.cut_off
async def test_pages_come_back_when_their_process_is_killed_and_end_with_the_referee(
    tmp_path: Path, page: Page
) -> None:
    async with serving(tmp_path / "data") as (process, ready):
        token = (tmp_path / "data" / "organiser.token").read_text().strip()
        async with connected(ready["address"], token) as client:
            async with httpx.AsyncClient(base_url=ready["web"], timeout=MOST_S) as other:
                await reached(other)
            first = child_of(process.pid)
            assert os.getpriority(os.PRIO_PROCESS, first) > os.getpriority(os.PRIO_PROCESS, process.pid)
            play = await kingdomino(client, 3)
            await page.goto(f"{ready['web']}g/{play.id}")
            entries = page.locator(".entries li")
            await expect(entries).to_have_count(play.record.size)
            os.kill(first, signal.SIGKILL)
            # No request is refused meanwhile: the referee keeps the socket.
            async with httpx.AsyncClient(base_url=ready["web"], timeout=MOST_S) as other:
                assert (await other.get("/")).status_code == 200
            second = child_of(process.pid)
            assert second not in (0, first)
            await play.steps(3)
            await expect(entries).to_have_count(play.record.size)
            await expect(page.get_by_role("status").first).to_have_text("Live.")
            await page.goto("about:blank")
        assert '"event": "pages died"' in (tmp_path / "log").read_text()
        process.kill()
        await process.wait()
        await until(lambda: not is_running(second), "the pages end with the referee")


@pytest.mark.long
def test_an_address_that_pages_cannot_have_is_refused_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cases: list[tuple[tuple[str | Path, ...], int, str]] = [
            (("--web", f"127.0.0.1:{port}"), 1, f"--web 127.0.0.1:{port} cannot be listened on: Address already in"),
            (("--web", "8080"), 2, "--web '8080': expected HOST:PORT"),
            (("--web-origin", "https://club.example"), 2, "--web-origin belongs to --web"),
            (("--web", "127.0.0.1:0", "--web-origin", "club"), 2, "--web-origin 'club': expected http:// or https://"),
        ]
        for words, code, said in cases:
            done = referee("serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", *words)
            assert (done.returncode, done.stdout) == (code, "")
            assert said in done.stderr
            assert not (tmp_path / "data").exists()


@pytest.mark.long
async def test_pages_speak_tls_with_the_referee_and_read_a_new_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.issue("referee")
    trusting = ssl.create_default_context(cafile=authority.path)
    words = ("--tls-cert", pair.certificate, "--tls-key", pair.key)
    async with serving(tmp_path / "data", *words) as (process, ready):
        assert (ready["address"].startswith("grpcs://"), ready["web"].startswith("https://")) == (True, True)
        async with httpx.AsyncClient(base_url=ready["web"], verify=trusting, timeout=MOST_S) as other:
            await reached(other)
            assert (await other.get("/api/v1/games")).json()["games"] == []
        first = child_of(process.pid)
        authority.issue("referee")
        process.send_signal(signal.SIGHUP)
        await until(lambda: child_of(process.pid) not in (0, first), "another process for the pages")
        async with httpx.AsyncClient(base_url=ready["web"], verify=trusting, timeout=MOST_S) as other:
            await reached(other)


@pytest.mark.long
async def test_the_demo_plays_before_a_browser_until_it_is_stopped(tmp_path: Path, page: Page) -> None:
    """A browser is opened where there is a display; nothing is left."""
    demo, opened = Demo(tmp_path), tmp_path / "opened"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    script.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "referee_clients.terminal.demo.web", "--game", "kingdomino", "--pace", "100ms"),
        env=demo.environment | {"DISPLAY": ":0", "BROWSER": f"{script} %s"},
        stdout=PIPE,
    )
    try:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().removeprefix("Watch: ").strip()
        await page.goto(address)
        await expect(page.get_by_role("grid")).to_have_count(3)
        await expect(page.locator(".entries li").nth(20)).to_be_visible()
        await until(opened.exists, "a browser")
        assert opened.read_text().strip() == address
        await page.goto("about:blank")
    finally:
        process.send_signal(signal.SIGINT)
    told, _ = await process.communicate()
    assert (process.returncode, told.decode().splitlines()[-1]) == (0, "Stopped; nothing is left running.")
    demo.check_gone()
