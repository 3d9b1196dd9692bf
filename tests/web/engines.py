"""Browsers of other kinds than Chromium, as Debian has them, by the protocols that they speak themselves.

WebDriver BiDi drives Firefox, WebKitGTK's own driver drives it over WebDriver. ``python -m tests.web.engines`` installs
what is missing, or says what that is.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.addresses import free_address
from tests.waiting import waiting_for

WIDTH, HEIGHT = 360, 780
NEEDED = {
    "chromium": "chromium",
    "firefox-esr": "firefox-esr",
    "WebKitWebDriver": "webkit2gtk-driver",
    "Xvfb": "xvfb",
    "certutil": "libnss3-tools",
}
"""Packages of Debian by the command that each brings."""


class Tab(Protocol):
    """One page of a browser."""

    async def goto(self, address: str) -> None:
        """Go there, and wait until everything is loaded."""

    async def run(self, script: str) -> Any:
        """Return what the body of an async function in the page returns, as JSON has it."""


async def seen(tab: Tab, script: str, expected: Any) -> None:
    """Wait until the script returns this."""
    found: Any = None
    try:
        async with waiting_for(script):
            while (found := await tab.run(script)) != expected:  # noqa: ASYNC110 - no signal
                await asyncio.sleep(0.1)
    except AssertionError as error:
        raise AssertionError(f"expected {expected!r}, and it is {found!r}") from error


class Firefox:
    """By WebDriver BiDi (W3C), which it speaks without a driver."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self._context = ""
        self.complaints: list[str] = []

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> AsyncIterator[Firefox]:
        """Start it, with a profile in the folder."""
        own = {"browser.download.folderList": 2, "browser.download.dir": str(folder)}  # not the user's folder
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in own.items()]
        await asyncio.to_thread((folder / "user.js").write_text, "".join(lines))
        words = ("--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0")
        async with _started("firefox-esr", *words, stderr=PIPE) as process:
            assert process.stderr is not None
            while not (found := re.search(rb"listening on (ws://\S+)", line := await process.stderr.readline())):
                assert line, "Firefox ended"
            async with connect(f"{found[1].decode()}/session", max_size=None) as connection:
                firefox = cls(connection)
                await firefox._ask("session.new", capabilities={})
                tree = await firefox._ask("browsingContext.getTree")
                firefox._context = tree["contexts"][0]["context"]
                await firefox._ask("session.subscribe", events=["log.entryAdded"])
                viewport = {"width": WIDTH, "height": HEIGHT}
                await firefox._ask("browsingContext.setViewport", context=firefox._context, viewport=viewport)
                yield firefox
                assert firefox.complaints == []

    async def goto(self, address: str) -> None:
        await self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    async def run(self, script: str) -> Any:
        expression = f"(async () => {{ {script} }})().then((value) => JSON.stringify(value ?? null))"
        target = {"context": self._context}
        found = await self._ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    async def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        await self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await self._connection.recv())
            if answer.get("id") == self._number:
                assert answer["type"] == "success", answer
                return answer["result"]
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.complaints.append(str(answer["params"]["text"]))


class WebKit:
    """WebKitGTK's own small browser, by its driver (W3C WebDriver), on a virtual screen."""

    def __init__(self, driver: httpx.AsyncClient) -> None:
        self._driver = driver

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> AsyncIterator[WebKit]:
        """Start it, at home in the folder."""
        async with AsyncExitStack() as stack:
            read, write = os.pipe()
            screen = ("-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-displayfd", str(write))
            await stack.enter_async_context(_started("Xvfb", *screen, pass_fds=(write,)))
            os.close(write)
            with os.fdopen(read) as said:
                display = f":{(await asyncio.to_thread(said.readline)).strip()}"
            home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
            # Where there is no processor for graphics, as in containers.
            home |= {"WEBKIT_DISABLE_COMPOSITING_MODE": "1", "WEBKIT_DISABLE_DMABUF_RENDERER": "1"}
            environment = os.environ | home | {"DISPLAY": display}
            port = free_address("127.0.0.1").rpartition(":")[2]
            words = ("--host=127.0.0.1", f"--port={port}")
            await stack.enter_async_context(_started("WebKitWebDriver", *words, env=environment, stderr=DEVNULL))
            driver = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120)
            await stack.enter_async_context(driver)
            await _up(driver)
            options = {"binary": str(_mini_browser()), "args": ["--automation"]}
            wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
            session = (await _value(driver.post("/session", json=wanted)))["sessionId"]
            driver.base_url = httpx.URL(f"http://127.0.0.1:{port}/session/{session}")
            await _value(driver.post("/timeouts", json={"script": 120_000}))
            await _value(driver.post("/window/rect", json={"width": WIDTH, "height": HEIGHT}))
            yield cls(driver)
            await driver.delete("")

    async def goto(self, address: str) -> None:
        await _value(self._driver.post("/url", json={"url": address}))

    async def run(self, script: str) -> Any:
        body = f"""const done = arguments[arguments.length - 1];
          const told = (value) => done(JSON.stringify([value ?? null]));
          (async () => {{ {script} }})().then(told, (error) => done(`${{error}}`));"""
        found = await _value(self._driver.post("/execute/async", json={"script": body, "args": []}))
        assert found.startswith("["), found
        return json.loads(found)[0]


ENGINES: dict[str, Callable[[Path], AbstractAsyncContextManager[Tab]]] = {
    "firefox": Firefox.opened,
    "webkit": WebKit.opened,
}


@asynccontextmanager
async def _started(*command: str, **more: Any) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, **({"stdout": DEVNULL, "stderr": DEVNULL} | more))
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _up(driver: httpx.AsyncClient) -> None:
    async with waiting_for("the driver"):
        while True:
            with suppress(httpx.TransportError):
                await driver.get("/status")
                return
            await asyncio.sleep(0.05)


async def _value(answer: Any) -> Any:
    response = await answer
    value = response.json()["value"]
    assert response.is_success, value
    return value


def _mini_browser() -> Path:
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    assert found, "no MiniBrowser: apt-get install libwebkit2gtk-4.1-0"
    return found[-1]


def main() -> int:
    """Install what is missing; say what could not be."""
    missing = [package for command, package in NEEDED.items() if shutil.which(command) is None]
    if not missing:
        return 0
    can = shutil.which("apt-get") is not None and os.geteuid() == 0
    if can:
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
            subprocess.run(["apt-get", *words], env=environment, check=False)
        missing = [package for command, package in NEEDED.items() if shutil.which(command) is None]
    if missing:
        print(f"The browsers are not all here: apt-get install {' '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
