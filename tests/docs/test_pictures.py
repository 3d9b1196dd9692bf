"""Every page and every screen has a picture in the documentation; all of them together are small."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest
from PIL import Image

import referee_clients.terminal
from referee.log.note import VerifierKey
from referee_clients.terminal.widgets import TerminalApp
from referee_clients.web.pages import Site
from tests.docs.shell import ROOT
from tests.web.verify_page import KEY

RULES = ("alhambra", "kingdomino", "rollwrite")
IMAGES = ROOT / "docs" / "images"
WIDTHS = {
    "judge": 780,
    "seat": 1440,
    "watch": 2560,
    **dict.fromkeys(("audit", "desk", "play", "arbiter", "event-desk", "status"), 2000),
    **dict.fromkeys(("report", "cards", "slips", "why", "match"), 1600),
    **dict.fromkeys((f"page-{name}" for name in ("home", "wall", "event-over", "desk-game", "about", "verify")), 2000),
    "page-rules-kingdomino": 2000,
    "page-score-alhambra": 2000,
}
"""Pictures that `make pictures` takes, with their widths in pixels."""
OF_PAGES = {
    "/": "page-home",
    "/position": "judge",
    "/rules": "page-rules-kingdomino",
    **dict.fromkeys((f"/rules/{name}" for name in (*RULES, "event")), "page-rules-kingdomino"),
    "/verify": "page-verify",
    "/g/{id:str}": "watch",
    "/wall": "page-wall",
    "/event/{id:str}": "page-event-over",
    "/seat": "seat",
    "/desk": "page-desk-game",
    "/about": "page-about",
}
OF_SCREENS = {"DeskApp": "desk", "SeatApp": "play", "ConsoleApp": "arbiter", "EventDeskApp": "event-desk"}
MOST_BYTES = 120_000
MOST_IN_ALL = 3_000_000
PICTURE = re.compile(r"!\[([^\]]+)\]\((?:[^)\s]*/)?images/([^)]+)\)")


def shown() -> dict[str, str]:
    """Return the words beside each picture that a page shows, by the name of its file."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {name: alt for page in pages for alt, name in PICTURE.findall(page.read_text(encoding="utf-8"))}


def test_every_page_of_the_gateway_has_a_picture() -> None:
    routes = [route.path for route in Site(VerifierKey.parse(KEY)).routes()]
    assert {path for path in routes if not path.startswith(("/static/", "/verify.html"))} == OF_PAGES.keys()
    assert {*OF_PAGES.values()} <= WIDTHS.keys()


def test_every_screen_has_a_picture() -> None:
    for module in walk_packages(referee_clients.terminal.__path__, f"{referee_clients.terminal.__name__}."):
        if module.name.endswith((".app", ".screen")):
            import_module(module.name)
    assert {each.__name__ for each in TerminalApp.__subclasses__()} == OF_SCREENS.keys()
    assert {*OF_SCREENS.values()} <= WIDTHS.keys()


@pytest.mark.parametrize("name", WIDTHS)
def test_a_picture_is_shown_with_words_and_is_small(name: str) -> None:
    file = IMAGES / f"{name}.png"
    assert len(shown()[file.name].split()) >= 5
    assert file.stat().st_size < MOST_BYTES
    with Image.open(file) as picture:
        assert picture.width == WIDTHS[name]


def test_there_are_no_other_pictures_and_all_are_small() -> None:
    assert {file.stem for file in IMAGES.glob("*.png")} == WIDTHS.keys()
    assert sum(file.stat().st_size for file in IMAGES.iterdir()) < MOST_IN_ALL
