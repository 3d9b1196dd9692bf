"""Reports as a page and as text: one file, well formed, with nothing in it that a browser would run or fetch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import pytest

from referee.text.notation.game_text import write
from referee.text.notation.headers import Setup
from referee.text.report.adjudication import adjudicate
from referee.text.report.model import Report, Seat, of_adjudication
from referee.text.report.rulings import Policy
from referee.text.report.text import html, summary, text
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.text.report.adjudication import AWAY, OUTSIDE, START

HOSTILE = "<script>alert(1)</script>'><img src=x onerror=alert(1)>&amp;{{7*7}}"
VOID = {"meta", "rect", "path", "use", "circle", "ellipse", "line", "polygon", "stop"}


class Page(HTMLParser):
    """The page as a browser sees it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    def values(self, name: str) -> list[str]:
        return [value for _, found, value in self.attributes if found == name]


def report(setup: Setup, name: str = "") -> Report:
    """Return the report of a random whole game; seat 0 has a name."""
    named = replace(setup, players=(name, *[""] * (setup.seats - 1)) if name else ())
    found = adjudicate(write(text_of(named, play(named, seed=5))))
    return of_adjudication(
        found, [Seat(seat, name if seat == 0 else "") for seat in range(setup.seats)], (("game", "00"),)
    )


def ruled(policy: Policy) -> Report:
    found = adjudicate(f"{START}{AWAY}\n{OUTSIDE}\n0: choose 23\n", policy)
    return of_adjudication(found, [Seat(0), Seat(1)])


@pytest.mark.parametrize(
    "make",
    [*(partial(report, setup) for setup in PLAIN), *(partial(ruled, policy) for policy in Policy)],
    ids=[*map(name_of, PLAIN), *Policy],
)
def test_a_page_is_whole_and_fetches_nothing(make: Callable[[], Report]) -> None:
    made = make()
    document = html(made)
    page = Page(document)
    assert not page.open
    assert document.startswith("<!DOCTYPE html>\n")
    assert ("html", "lang", "en") in page.attributes
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & page.tags.keys()
    assert all(value.startswith("#") for value in page.values("href"))
    assert not page.values("src")
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert set(re.findall(r"https?://[^\s\"'<]*", document)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)", document)
    assert page.tags["svg"] == len(made.seats)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    used = {value[1:] for value in page.values("href")} | set(re.findall(r"url\(#([^)]*)\)", document))
    assert used <= set(ids)
    scoped = [tag for tag, name, _ in page.attributes if name == "scope"]
    assert len(scoped) == page.tags["th"] > 20


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_whatever_a_name_is_it_is_text(setup: Setup) -> None:
    plain, hostile = (Page(html(report(setup, name))) for name in ("Rot", HOSTILE))
    assert hostile.tags == plain.tags
    assert hostile.words.count(HOSTILE) == plain.words.count("Rot") >= 3
    assert [(tag, name) for tag, name, _ in hostile.attributes] == [(tag, name) for tag, name, _ in plain.attributes]
    assert HOSTILE in text(report(setup, HOSTILE))


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_page_and_text_say_the_same(setup: Setup) -> None:
    made = report(setup, "Rot")
    page, plain = Page(html(made)), text(made)
    said, told = (" ".join(re.sub(r"\s+", " ", words).split()) for words in (page.words, plain))
    assert made.sheet is not None
    wanted = [made.title, made.headline, *(row.words for row in made.rows), *(value for _, value in made.about)]
    wanted += [item.how for player in made.sheet.players for item in player.items]
    wanted += [f"{player.total} points" for player in made.sheet.players]
    wanted += [rule.text for rule in made.rules]
    for words in wanted:
        assert words in said
        assert words in told
    assert len(made.rows) == plain.partition("What happened\n")[2].partition("\n\n")[0].count("\n")


def test_what_is_illegal_is_told_with_its_rule_and_its_outcome() -> None:
    for policy, marks in (
        (Policy.STOP, []),
        (Policy.SKIP, ["refused (KDO-14)", "refused (KDO-14, KDO-16)", "stand-in"]),
    ):
        made = ruled(policy)
        page, plain = Page(html(made)), text(made)
        assert [row.mark for row in made.rows if row.mark] == marks
        for words in (page.words, re.sub(r"\s+", " ", plain), re.sub(r"\s+", " ", summary(made))):
            assert "A half touches the castle by a side, or a square of its own terrain." in words
            assert f"line {len(START.splitlines()) + 1}" in words
            assert AWAY in words
        assert ("class", "marked") in {(name, value) for _, name, value in page.attributes} or not marks
        assert page.words.count("stand-in") >= (2 if marks else 0)
    assert "Stopped at line 12" in text(ruled(Policy.STOP))
    assert "2 illegal moves" in text(ruled(Policy.SKIP))
    assert "1 of them rests on a ruling of the arbiter: 1 by the stand-in." in text(ruled(Policy.SKIP))


def test_the_summary_is_the_report_without_what_happened() -> None:
    made = report(PLAIN[1])
    assert "What happened" in text(made)
    assert "What happened" not in summary(made)
    assert made.rows[5].words not in summary(made)
    assert "Evidence in the log" in summary(made)
