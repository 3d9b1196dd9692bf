"""The documentation as a site: every link holds, its search finds, and no other host is asked."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.async_api import Page

import referee as program
from tests.docs.shell import ROOT
from tests.make_site import SITE, navigation, pages
from tests.sizes import GATE

VERSION = ".".join(program.__version__.split(".")[:2])


def test_the_navigation_names_every_page_once() -> None:
    assert sorted(navigation()) == pages()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Yield the address of the site, built as `make docs-site` does; a broken link ends that."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.make_site"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{VERSION}"
        server.shutdown()
        thread.join()


@GATE
async def test_pages_ask_no_other_host_and_search_finds(page: Page, site: str) -> None:
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    for name in ("index.html", "docs/reference/commands.html", "docs/reference/python.html"):
        await page.goto(f"{site}/{name}")
        await page.wait_for_load_state("networkidle")
    assert {url for url in asked if not url.startswith(site.rpartition("/")[0])} == set()
    assert json.loads((SITE / "versions.json").read_text())[0]["version"] == VERSION
    found = json.loads((SITE / VERSION / "search.json").read_text())
    assert any("rebuild-distance" in json.dumps(each) for each in found["items"])
