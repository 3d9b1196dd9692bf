"""Every text that names a player: by name, or counted from 1, and never beside a word that means a rank."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from referee.text.words.catalogue import Phrase, Text, Words, languages, load, player, player_phrase
from tests.docs.shell import ROOT
from tests.text.words.english import places
from tests.text.words.phrases import forms

LANGUAGES = languages("report")
WHO = re.compile(r"\{([Pp]layers?)\}")
RANKS = {
    "en": r"place|rank|seat",
    "cs": r"[Mm]íst\w*|příčk\w*|pořadí",
    "sk": r"[Mm]iest\w*|priečk\w*|poradie|umiestneni\w*",
    "hu": r"[Ss]zék\w*|hely\w*|helyezés\w*|\d+\.",
    "ru": r"[Мм]ест\w*",
}
"""Words that mean a rank, or were once said of a seat; in Hungarian a number with a full stop is an ordinal, too."""
COUNTS = (1, 2, 5)


def texts_of(part: str, language: str) -> Iterator[tuple[str, Text]]:
    for key, text in load(part, language).texts.items():
        if any(WHO.search(form) for form in forms(text).values()):
            yield key, text


def said(say: Words, key: str, text: Text, who: object, count: int) -> str:
    """Return the text about this player, or this many, with any words in its other places."""
    others = dict.fromkeys(set().union(*map(places, forms(text).values())) - {"player", "players"}, "7:00")
    if not isinstance(text, str):
        others[text["of"]] = str(count)
    return say(key, **others, player=who, players=[who] * count)


def beside(language: str, who: str) -> re.Pattern[str]:
    """Return what finds a word of rank right before or after a player."""
    rank, name = rf"(?:{RANKS[language]})", re.escape(who)
    return re.compile(rf"\b{rank} {name}(?!\w)|(?<!\w){name} {rank}(?!\w)")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["report", "web"])
def test_a_player_stands_in_every_text_as_a_name_and_never_as_a_rank(part: str, language: str) -> None:
    say = load(part, language)
    found = list(texts_of(part, language))
    assert len(found) > 15
    for key, text in found:
        for count in COUNTS:
            named = said(say, key, text, "Žofie Kővári", count)
            assert "Žofie Kővári" in named, key
            assert not beside(language, "Žofie Kővári").search(named), named
            # Without a name as with one, and as the name of a game whose players are known.
            numbered = said(say, key, text, 0, count)
            called = player(say, 0)
            assert called.casefold() in numbered.casefold(), key
            assert not beside(language, called).search(numbered), numbered
            assert not re.search(r"\b[Ss]eats? \d", numbered), numbered
            assert said(say.naming(["Žofie Kővári"]), key, text, 0, count) == named


@pytest.mark.parametrize("language", LANGUAGES)
def test_players_count_from_one_and_each_is_called_otherwise(language: str) -> None:
    say = load("report", language)
    called = [player(say, seat) for seat in range(6)]
    assert [re.findall(r"\d", each) for each in called] == [[str(seat + 1)] for seat in range(6)]
    assert player(say.naming(["", "Béla"]), 1) == "Béla"
    assert player(say.naming(["", "Béla"]), 0) == player(say, 0)
    assert player(say.naming(["Anna"]), 0, "") == player(say, 0)


@pytest.mark.parametrize("language", languages("phrases"))
def test_phrases_name_players_too(language: str) -> None:
    texts = [text for text in load("phrases", language).texts if "{player}" in text]
    assert len(texts) > 15
    for text in texts:
        others = dict.fromkeys(places(text) - {"player"}, 5)
        found = Phrase(text, {**others, "player": 0})
        assert player_phrase(0).by(language) in found.by(language)
        assert "Anna" in found.by(language, ["Anna"])
        assert not beside(language, player_phrase(0).by(language)).search(found.by(language))


@pytest.mark.parametrize("part", ["report", "web", "phrases", "refusals"])
@pytest.mark.parametrize("language", ["cs", "sk", "hu"])
def test_no_number_is_beside_a_word_that_means_a_rank(part: str, language: str) -> None:
    """``místo {n}`` reads as the place that somebody took."""
    number = re.compile(rf"\b(?:{RANKS[language]}) \{{(?:n|seat|numbers|seats)\}}|\{{(?:n|seat)\}}\. szék", re.UNICODE)
    for key, text in load(part, language).texts.items():
        for form in forms(text).values():
            assert not number.search(form), key


def phrases() -> Iterator[tuple[str, str, set[str]]]:
    """Yield where a phrase is made of a text that stands there, the text, and the names of its arguments."""
    for folder in ("referee", "clients/referee_clients", "solver/referee_solver"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.stem.endswith(("_pb2", "_pb2_grpc")) or "phrase(" not in (source := path.read_text("utf-8")):
                continue
            for node in ast.walk(ast.parse(source)):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "phrase"):
                    continue
                given = {each.arg for each in node.keywords}
                text = node.args[0] if node.args else None
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and None not in given:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text.value, {str(name) for name in given}


def test_a_phrase_has_what_its_text_names() -> None:
    """A place without its argument is a KeyError where a refusal should be."""
    found = list(phrases())
    assert len(found) > 50
    for where, text, given in found:
        places = {name.lower() for name in re.findall(r"\{(\w+)", text)}
        assert places <= given, (where, text, given)
