"""The cost of watchers who verify in browsers: a gateway in a process of its own, and clients that only read."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from urllib.parse import urlsplit

import grpc
from playwright.async_api import async_playwright

from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import REFEREE, Stream, opened, rate, running
from tests.bench.crowd import OPTIONS, crowd, endless, memory, paced
from tests.bench.measure import Figure
from tests.web.conftest import BROWSERS
from tests.web.verify_page import FROZEN, INTACT, KEY
from tests.web.words import address_in

WATCHERS, EVENTS_S, EVENTS = 100, 10, 100
MANY = 1_000
ROUNDS = 3
FILE = FROZEN / "alhambra-1-dealt-2-attempts.gamelog"
"""317 entries."""
CHECKS = 10


@asynccontextmanager
async def served() -> AsyncIterator[tuple[str, str, int, str]]:
    """Yield a referee's address and its organiser's token; the pages' process and address."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        async with running(REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", str(data)) as server:
            words = ("--server", server.address, "--key", str(data / "referee.vkey"))
            # Each watcher comes from an address of its own, as its limits are for each address.
            gateway = await asyncio.create_subprocess_exec(
                *(REFEREE, "web", "--listen", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1", *words),
                stdout=subprocess.PIPE,
            )
            try:
                assert gateway.stdout is not None
                address = address_in((await gateway.stdout.readline()).decode())
                yield server.address, (data / "organiser.token").read_text().strip(), gateway.pid, address
            finally:
                gateway.terminate()
                await gateway.wait()


async def watch(address: str, game_id: str, watchers: str) -> None:
    """Watch in a process of its own: on the command to stop, print when which commit came to each of many watchers."""
    seen: list[tuple[int, float]] = []
    reading = 0
    all_read = asyncio.Event()

    async def one(number: int) -> None:
        nonlocal reading
        there = urlsplit(address)
        reader, writer = await asyncio.open_connection(there.hostname, there.port, limit=1 << 22)
        head = f"GET /api/v1/live?g={game_id}:-1 HTTP/1.1\r\nHost: {there.netloc}\r\n"
        writer.write(f"{head}X-Forwarded-For: 10.0.{number >> 8}.{number & 255}\r\n\r\n".encode())
        assert b" 200 " in await reader.readline()
        reading += 1
        if reading == int(watchers):
            all_read.set()
        while line := await reader.readline():
            if line.startswith(b"data: ") and (found := re.search(rb'"seq":(\d+),"entries"', line)):
                seen.append((int(found[1]), perf_counter()))

    os.nice(10)  # the acts' own client shares the processor
    tasks = [asyncio.create_task(one(number)) for number in range(int(watchers))]
    await all_read.wait()
    await asyncio.sleep(1)
    print("watching", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for task in tasks:
        task.cancel()
    print(json.dumps(seen))


async def watched(watchers: int = WATCHERS, events: int = EVENTS, many: int = MANY) -> list[Figure]:
    """How long a commit takes to each of many browsers, and what they cost the acts and the gateway."""
    delays, ratios = list[float](), list[float]()
    async with served() as (referee, token, gateway, address), grpc.aio.insecure_channel(referee) as channel:
        stub = pb_grpc.GameServiceStub(channel)
        desk = await opened(stub, token, endless(), options=OPTIONS)
        stream = Stream(stub, desk)
        await stream.begin()
        await rate([stream], 50)
        sent: dict[int, float] = {}
        for _ in range(ROUNDS):
            alone, seen = await paced(stream, sent, events, EVENTS_S), list[tuple[int, float]]()
            before = desk.place.seq
            async with crowd(seen, "tests.bench.web_watchers", address, desk.game_id, str(watchers)):
                ratios.append(await paced(stream, sent, events, EVENTS_S) / alone)
            delays += [at - sent[seq] for seq, at in seen if seq >= before]
        async with crowd([], "tests.bench.web_watchers", address, desk.game_id, str(many)):
            await paced(stream, sent, events, EVENTS_S)
            taken = memory(gateway)
    if len(delays) != ROUNDS * events * watchers:
        raise AssertionError(f"{len(delays)} deliveries")
    delays.sort()
    what = f"{watchers} browsers watch, {EVENTS_S} acts a second"
    return [
        Figure(f"{what}: p99 from an act to a browser, ms", 1000 * delays[len(delays) * 99 // 100], at_most=100),
        Figure(f"{what}: an act, against without", median(ratios), at_most=1.05),
        Figure(f"memory of the gateway with {many} watchers: MB", taken / 1e6, at_most=80),
    ]


_LONGEST = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask" });
}"""


async def verified(checks: int = CHECKS) -> list[Figure]:
    """Measure the verification of a game's file in a browser."""
    gateway = await asyncio.create_subprocess_exec(
        REFEREE, "web", "--listen", "127.0.0.1:0", stdout=asyncio.subprocess.PIPE
    )
    assert gateway.stdout is not None
    spent = list[float]()
    try:
        address = address_in((await gateway.stdout.readline()).decode())
        path = next(filter(None, map(shutil.which, BROWSERS)))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = await browser.new_page(viewport={"width": 360, "height": 740})
            processes = await browser.new_browser_cdp_session()

            async def processor_s() -> float:
                found = await processes.send("SystemInfo.getProcessInfo")
                return sum(float(each["cpuTime"]) for each in found["processInfo"] if each["type"] == "renderer")

            await page.goto(f"{address}/verify")
            await page.evaluate(f"({_LONGEST})()")
            await page.locator("#key").fill(KEY)
            for _ in range(checks + 1):
                before = await processor_s()
                await page.locator("#file").set_input_files([])
                await page.locator("#file").set_input_files(FILE)
                await page.locator("#report .judged", has_text=INTACT).wait_for()
                spent.append(await processor_s() - before)
                await page.evaluate('document.getElementById("report").replaceChildren()')
            longest = await page.evaluate("window.longest")
            await browser.close()
    finally:
        gateway.terminate()
        await gateway.wait()
    what = "a file of 317 entries is verified"
    return [
        Figure(f"{what}: ms of a processor", 1000 * median(spent[1:]), at_most=150),
        Figure(f"{what}: longest task of the page above 50 ms, or 0", longest, at_most=50),
    ]


def figures() -> Iterator[Figure]:
    """Yield all of them."""
    for part in (watched, verified):
        yield from asyncio.run(part())


if __name__ == "__main__":
    asyncio.run(watch(*sys.argv[1:]))
