"""The one table of pieces and verbs: all that the notation names has a word and a short form, and none means two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest

from referee.games.alhambra.money import CURRENCIES
from referee.games.alhambra.tiles import TYPES
from referee.games.kingdomino.dominoes import TERRAINS
from referee.text import notation
from referee.text.words.catalogue import ENGLISH, languages, load

SHORT = "short."
GRAMMARS = Path(notation.__file__).parent
PIECES = {
    "type": TYPES,
    "terrain": TERRAINS,
    "currency": CURRENCIES,
    "side": "NESW",
    "die": ("blue", "yellow"),
    "card": ("scoring",),
}


def beginnings_of(game: str, rule: str) -> list[str]:
    """Return the words with which the alternatives of a rule of a game's grammar begin, as the notation has them."""
    grammar = (GRAMMARS / game / "text.lark").read_text(encoding="utf-8")
    found = re.search(rf"^\?{rule}: (.+(?:\n    \|.+)*)", grammar, re.MULTILINE)
    assert found is not None
    beginnings = (re.match(r'"(\w+)"(?: "(\w+)")?', each.strip()) for each in re.split(r"\n    \|", found[1]))
    return ["_".join(filter(None, each.groups())) for each in beginnings if each]


def named(game: str, rule: str, kind: str) -> set[str]:
    """Return the keys of the table: ``verb.change_dice`` for ``change dice to …``."""
    return {f"{kind}.{word}" for word in beginnings_of(game, rule)}


GAMES = ("alhambra", "kingdomino", "rollwrite")
VERBS = {game: named(game, "move", "verb") | {"verb.pass"} for game in GAMES}
DRAWS = {game: named(game, "outcome", "draw") for game in GAMES}
GROUPS = [*VERBS.values(), *DRAWS.values(), *({f"{kind}.{name}" for name in names} for kind, names in PIECES.items())]
"""Keys of words that can stand at the same place of a line."""


def plain(word: str) -> str:
    """Return a word as one may type it: in small letters, without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(letter)
    )


def twice(words: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    return {word for word in words if word in seen or seen.add(word)}  # type: ignore[func-returns-value]


@pytest.mark.parametrize("language", languages("notation"))
def test_all_that_the_notation_names_has_a_word_and_a_short_form(language: str) -> None:
    texts = load("notation", language).texts
    keys = set().union(*GROUPS)
    assert set(texts) == keys | {SHORT + key for key in keys}
    assert all(isinstance(text, str) and text == text.strip() and text for text in texts.values())


@pytest.mark.parametrize("language", languages("notation"))
def test_no_word_and_no_short_form_means_two_things_at_one_place(language: str) -> None:
    say = load("notation", language)
    for keys in GROUPS:
        words = [{plain(say(key)), plain(say(SHORT + key))} for key in sorted(keys)]
        assert twice(word for each in words for word in each) == set(), keys
        assert all(len(say(SHORT + key)) <= len(say(key)) for key in keys)


def test_english_words_are_those_of_the_notation() -> None:
    say = load("notation", ENGLISH)
    for key in set().union(*GROUPS):
        assert say(key) == key.partition(".")[2].replace("_", " ")


@pytest.mark.parametrize("language", languages("notation"))
@pytest.mark.parametrize("part", ["report", "web"])
def test_other_parts_take_their_words_from_it(part: str, language: str) -> None:
    table = load("notation", language)
    assert load(part, language)("type.garden") == table("type.garden")
