"""Every word that a reader sees is in the catalogue, and the catalogue has no other."""

from __future__ import annotations

import posixpath
import re
from importlib import import_module

import pytest
from google.protobuf.message import Message

from referee.event.v1 import event_pb2
from referee.games import registry
from referee.games.alhambra.money import CURRENCIES
from referee.games.alhambra.tiles import TYPES
from referee.games.game import Ending
from referee.games.kingdomino.dominoes import TERRAINS
from referee.games.table_rules import ENDINGS
from referee.log.errors import Code
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from referee.text.words.catalogue import ENGLISH, languages, load
from referee.tournament.rules.acts import Origin
from referee.tournament.rules.terms import TieBreak
from referee.v1 import game_pb2
from referee.wire.enums import bare_name
from referee_clients.web import pages
from referee_clients.web.programs import SAID_BY_AUDITS, words_of
from tests.log.verify_js import FACTS

FILES = pages.static_files()
WORDS = pages.said_by_pages(ENGLISH)
CODE = {path: data.decode() for path, data in FILES.items() if path.endswith(".mjs") and not path.startswith("verify/")}
"""The code of the pages; the verifier's messages are those of the auditor."""
TEMPLATES = {path.name: path.read_text() for path in sorted((pages.FOLDER / "templates").iterdir())}


def members(name: str, kind: str) -> list[str]:
    """Return the members of a game's Move or Outcome."""
    message = getattr(import_module(f"referee.{name}.v1.{name}_pb2"), kind.capitalize())
    return [field.name for field in message.DESCRIPTOR.oneofs_by_name[kind].fields]


def of(message: type[Message], oneof: str) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields}


EVENTS, ACTS, RULINGS = of(log_pb2.Entry, "event"), of(log_pb2.Intent, "act"), of(log_pb2.Rule, "ruling")
VERDICTS = [each.name for each in Verdict if each is not Verdict.UNLOGGED]
"""No page asks the public log."""
STATES = [bare_name(game_pb2.GameState, number).lower() for number in game_pb2.GameState.values() if number]
BESIDE = ("agree", "call", "take_back", "protest", "appeal", "change_key", "resign")
EVENT_PAGE = {
    "event.origin": [origin.name.lower() for origin in Origin],
    "event.decides": [tie_break.name.lower() for tie_break in TieBreak],
    "event.act": sorted(of(event_pb2.Move, "act")),
}
MADE = {
    "game": (*registry.names(), "event"),
    "secure": ("http", "expired", "early", "names", "self", "authority", "apple_use", "apple_days"),
    "card": ("event", "round", "table"),
    "type": TYPES,
    "terrain": TERRAINS,
    "title": ("about", "desk", "event", "home", "missing", "position", "rules", "seat", "verify", "wall", "watch"),
    "nav": ("home", "position", "rules", "verify"),
    "verify.verdict": VERDICTS,
    "audit.verdict": (*VERDICTS, "PAIRING", "STANDINGS"),
    **EVENT_PAGE,
    "verify.event": ("COMPLETE", "PREFIX", "RULES", "PAIRING", "STANDINGS"),
    "finding": tuple(Code),
    "found": FACTS,
    "log": ("chance", "chance.deck"),
    "chance": ("dealt", "declared", "unknown"),
    "certificates": ("failed", "in_all"),
    "standing": tuple(key.partition(".")[2] for key in WORDS if key.startswith("standing.")),
    "entry": sorted(EVENTS - {"signed", "chance", "refused", "end", "stand_in"}),
    "entry.act": sorted(ACTS - {"move", "declare", "rule"}),
    "entry.ruling": sorted(RULINGS),
    "ending": [ending.name.lower() for ending in Ending],
    "left": [ending.name.lower() for ending in ENDINGS],
    "out": [ending.name.lower() for ending in ENDINGS],
    "home.state": STATES,
    "stands": ("joining", "revealing", "pause", "adjourn"),
    "about.proved": ("signed", "place", "board", "result", "file"),
    "about.not": ("rules", "clocks", "lists", "page", "people"),
    "alhambra.awaits": ("action", "place", "hand_out"),
    "kingdomino.awaits": ("castle", "choose", "place"),
    "rollwrite.awaits": ("action", "second", "keep"),
    "currency": CURRENCIES,
    **{f"{name}.{kind}": members(name, kind) for name in registry.names() for kind in ("move", "outcome")},
    "alhambra.beside": ("bought", "reserve"),
    "alhambra.walls": ("none", "one", "many"),
    "side": "NESW",
    "position.keys": ("arrows", "next", "enter", "turn", "escape", "undo"),
    "kingdomino.frame": ("5", "7"),
    "kingdomino.variant": ("harmony", "centre"),
    "rollwrite": ("blue", "yellow"),
    "rollwrite.choosing": ("blue", "yellow"),
    "solver.verdict": ("legal", "illegal", "holds", "fails", "undecided"),
    "solver.error": (
        "UNAUTHENTICATED",
        "PERMISSION_DENIED",
        "LIMIT",
        "SOLVER_FAILED",
        "DEADLINE",
        "UNAVAILABLE",
        "NO_SOLVER",
    ),
    "beside": (
        *(f"{act}{part}" for act in BESIDE for part in ("", ".ask", ".yes", ".done")),
        *("protest.entry", "appeal.entry", "take_back.entry", "take_back.none", "change_key.save"),
    ),
    "seat.key": ("insecure", "old", "file", "other", "broken"),
    "terms.clock": tuple(field.name for field in log_pb2.ClockTerms.DESCRIPTOR.oneofs_by_name["control"].fields),
    "rollwrite.action": ("build", "get_coins", "change_dice"),
    "ruling.kind": (*sorted(RULINGS), "change_key"),
    "docket.caller": ("seat", "scribe", "organiser"),
}
"""Keys that are put together, by what they begin with."""


def named() -> set[str]:
    """Return every key that pages name."""
    found = {"certificates", *(f"{start}.{end}" for start, ends in MADE.items() for end in ends)}
    for text in CODE.values():
        found |= set(re.findall(r'"([a-z_0-9]+(?:\.[a-z_0-9]+)+|verdict|cell|sheet|player|and)"', text))
    for text in TEMPLATES.values():
        found |= set(re.findall(r"""w\(["']([a-z_.0-9]+)["'][,)]""", text))
    found |= set(re.findall(r"\{([a-z]+\.[a-z]+)\}", (pages.FOLDER / "static" / "verify" / "page.html").read_text()))
    return found


def test_every_key_that_pages_name_has_words() -> None:
    assert named() - set(WORDS) == set()


@pytest.mark.parametrize("name", ["watch", "wall", "home", "position", "seat", "verify", "event"])
def test_a_page_holds_the_words_that_its_programs_say(name: str) -> None:
    """The words of all modules that it can load are there."""
    found, left = set[str](), [f"{name}.mjs"]
    while left:
        path = left.pop()
        if path in found or path.startswith("verify/"):
            continue
        found.add(path)
        folder = path.rpartition("/")[0]
        imported = re.findall(r'from "(\.[^"]+)"', CODE[path])
        left += [posixpath.normpath(posixpath.join(folder, each)) for each in imported]
        if path == "game.mjs":
            left += [f"games/{game}.mjs" for game in registry.names()]
    text = "".join(CODE[path] for path in found)
    starts = set(re.findall(r"w\(`([a-z.]+)\.\$\{", text))
    said = {f"{start}.{end}" for start in starts for end in MADE[start]}
    said |= set(re.findall(r'"([a-z_0-9]+(?:\.[a-z_0-9]+)+|cell|site)"', text))
    said &= set(WORDS)
    assert said
    assert said - set(words_of(name, WORDS, FILES)) == set()


def test_no_words_are_left_over() -> None:
    assert set(WORDS) - named() == set()


def test_keys_that_are_put_together_are_those_of_the_code() -> None:
    text = "".join([*CODE.values(), *TEMPLATES.values()])
    starts = set(re.findall(r"w\(`([a-z.]+)\.\$\{", text)) | set(re.findall(r'w\("([a-z.]+)\." \+', text))
    assert starts == {start for start in MADE if not f"{start}.".startswith(SAID_BY_AUDITS) and start != "log"}


@pytest.mark.parametrize("language", languages("web"))
def test_what_a_button_shows_is_in_what_it_is_called(language: str) -> None:
    """Whole words of it (WCAG 2.5.3), so that people who speak to a machine can say what they see."""
    said = load("web", language)
    pairs = ("clear", "clear.board"), ("copy", "copy.link"), ("score", "score_all")
    for shown, called in ((said(f"position.{shown}"), said(f"position.{called}")) for shown, called in pairs):
        assert re.search(rf"\b{re.escape(shown)}\b", called, re.IGNORECASE), (shown, called)


def test_programs_are_sent_without_comments_and_are_otherwise_as_they_are() -> None:
    for path in (path for path in FILES if path.endswith(".mjs")):
        sent = FILES[path].decode().split("\n")
        source = (pages.FOLDER / "static" / path).read_text(encoding="utf-8").split("\n")
        assert len(sent) == len(source)
        assert all(line in ("", own) for line, own in zip(sent, source, strict=True)), path
        left_out = [own.strip() for line, own in zip(sent, source, strict=True) if line != own]
        assert all(line.startswith(("//", "/**", "*")) for line in left_out), path
        assert not any(line.strip().startswith(("//", "/**")) for line in sent), path


@pytest.mark.parametrize("path", CODE)
def test_code_has_no_words_of_its_own(path: str) -> None:
    """A sentence in a program is one that no translator sees."""
    without_comments = re.sub(r"//.*", "", CODE[path])
    assert re.findall(r'"[A-Z][a-z]+ [a-z]+ [a-z]+', without_comments) == []
