"""The documentation as a site: every link holds, its search finds, and no other host is asked."""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.async_api import Page

import referee as program
from tests.docs.shell import ROOT
from tests.make_site import SITE, bring_linked, copied, navigation, pages
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


def test_pages_have_the_lists_and_the_code_of_their_documents(site: str) -> None:
    tags = {"fence": "pre", "code_block": "pre", "list_item_open": "li", "ordered_list_open": "ol"}
    for name in pages():
        document = (ROOT / name).read_text(encoding="utf-8")
        if "\n:::" in document:  # made from docstrings
            continue
        tokens = MarkdownIt("commonmark").parse(document)
        page = (SITE / VERSION / name.replace("README.md", "index.md")).with_suffix(".html").read_text(encoding="utf-8")
        article = page[page.index("<article") : page.index("</article>")]
        for tag in set(tags.values()):
            written = sum(tags.get(token.type) == tag for token in tokens)
            assert len(re.findall(rf"<{tag}\b", article)) == written, (name, tag)


def test_the_button_of_an_example_copies_its_commands_alone(site: str) -> None:
    page = (SITE / VERSION / "docs" / "tutorials" / "first-event.html").read_text(encoding="utf-8")
    assert ' data-copy="referee event publish spring.eventlog">' in page
    assert ' data-copy="referee event result spring.eventlog 2 --scores 41,38,52&#10;referee event result' in page
    assert copied('<div class="highlight"><pre>$ a \\\n    --b\nanswer\n</pre>').startswith(
        '<div class="highlight" data-copy="a \\&#10;    --b"><pre>'
    )
    assert "data-copy" not in copied('<div class="highlight"><pre>referee serve</pre>')


def test_what_pages_link_to_is_there(site: str, tmp_path: Path) -> None:
    assert (SITE / VERSION / "docs" / "examples" / "final.txt").read_bytes() == (
        ROOT / "docs" / "examples" / "final.txt"
    ).read_bytes()
    assert (SITE / VERSION / "proto" / "referee" / "v1" / "game_service.proto").exists()
    (tmp_path / "page.html").write_text('<a href="docs/organising.md#top">1</a><a href="nowhere.txt">2</a>')
    assert bring_linked(tmp_path) == ["page.html: nowhere.txt"]


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
