"""Catalogues of texts: what they say, in which form, and which language a reader gets."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from babel import Locale

from referee.text.words import catalogue
from referee.text.words.catalogue import (
    ENGLISH,
    Phrase,
    Text,
    UnknownLanguage,
    Words,
    category,
    languages,
    load,
    own_name,
    phrase,
    player_phrase,
    preferred,
)
from tests.text.words.english import PARTS, english_of, places
from tests.text.words.phrases import forms

TRANSLATIONS = [(part, language) for part in PARTS for language in languages(part) if language != ENGLISH]


def said_in(language: str, **texts: Text) -> Words:
    return Words(language, texts, is_draft=False)


def test_places_are_filled() -> None:
    said = said_in(ENGLISH, greet="{who} of {n}: {who}")
    assert said("greet", who="{n}", n=3) == "{n} of 3: {n}"  # what is filled in is not read again
    for key, given in (("greet", {"who": "1"}), ("bye", {})):
        with pytest.raises(KeyError):
            said(key, **given)


def test_the_number_decides_the_form() -> None:
    forms = {"of": "n", "one": "{n} deska", "few": "{n} desky", "many": "{n} desky", "other": "{n} desek"}
    said = said_in("cs", tiles=forms)
    assert [said("tiles", n=n) for n in (1, 3, 5, 0)] == ["1 deska", "3 desky", "5 desek", "0 desek"]
    assert said("tiles", n="2.5") == "2.5 desky"


def test_english_needs_no_babel() -> None:
    """And says the same as it."""
    english = Locale.parse(ENGLISH)
    assert [category(ENGLISH, n) for n in range(201)] == [english.plural_form(n) for n in range(201)]
    assert category(ENGLISH, "1 2/3") == category("cs", Fraction(5, 3)) == "other"


def test_language_that_there_is_not() -> None:
    assert not load("web").is_draft
    with pytest.raises(UnknownLanguage, match="expected one of en, cs"):
        load("web", "../en")


def test_languages_have_their_own_names() -> None:
    assert [own_name(each) for each in ("en", "cs", "ru", "hu")] == ["English", "čeština", "русский", "magyar"]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("cs", "cs"),
        ("CS-cz, en;q=0.8", "cs"),
        ("en;q=0.5, ru;q=0.7", "ru"),
        ("de, fr;q=0.9", "en"),
        ("de, *;q=0.5", "en"),
        ("de, ru ; q=0.1", "ru"),
        ("cs;q=0, ru;q=0.2", "ru"),
        ("ru, cs", "ru"),
        ("cs;q=2, ru;q=0.001", "ru"),
        (",,;=, q", "en"),
    ],
)
def test_reader_gets_the_language_that_is_liked_best(accepted: str, language: str) -> None:
    assert preferred(accepted, ("en", "cs", "ru")) == language


@pytest.mark.parametrize("part", [part for part in PARTS if ENGLISH in languages(part)])
def test_english_forms_are_those_of_english(part: str) -> None:
    for key, text in load(part).texts.items():
        assert set(forms(text)) in ({""}, {"one", "other"}), key
        assert isinstance(text, str) or text["of"] in places(text["other"]), key


@pytest.mark.parametrize(("part", "language"), TRANSLATIONS)
def test_translation_is_whole(part: str, language: str) -> None:
    """Every key, every place, every form that the language has, and nothing else."""
    english, own = english_of(part), catalogue._read(part, language)
    assert own.pop("_state") in {"draft", "read"}
    assert set(own.pop("_again", ())) <= set(english)
    assert set(own) == set(english)
    needed = {*Locale.parse(language).plural_form.tags, "other"}
    form_of = Locale.parse(language).plural_form
    only_one = [n for n in range(201) if form_of(n) == "one"] == [1]
    for key, text in own.items():
        wanted = places(forms(english[key]).get("other") or forms(english[key])[""])
        counts = set() if isinstance(text, str) else {text["of"]}
        assert set(forms(text)) == (needed if counts else {""}), key
        assert counts <= wanted, key
        for name, form in forms(text).items():
            assert form.strip(), (key, name)
            # "one" may be a word where it means 1; in Russian it means 21, too.
            may_say = name == "one" and only_one
            assert places(form) in ((wanted, wanted - counts) if may_say else (wanted,)), (key, name)


def test_a_phrase_is_english_and_can_be_said_in_another_language() -> None:
    author = player_phrase(0)
    found = phrase("{what}; expected {expected}", what=phrase("{author} has no key", author=author), expected="0")
    assert str(found) == found.by(ENGLISH) == found.by("tlh") == "player 1 has no key; expected 0"
    assert found.by("cs") == "hráč 1 nemá klíč; očekává se: 0"
    assert phrase("nobody has said this").by("cs") == "nobody has said this"


def test_a_phrase_passes_as_text() -> None:
    """With the places that it names, and nothing of what it is made of but texts and numbers."""
    found = phrase("{what} ({rule})", what=phrase("{n} of {of}", n=1, of=Fraction(1, 2)), rule="TBL-1", unused=object())
    assert found.encoded() == '["{what} ({rule})",{"what":["{n} of {of}",{"n":1,"of":"1/2"}],"rule":"TBL-1"}]'
    again = Phrase.decoded(found.encoded())
    assert again is not None
    assert str(again) == "1 of 1/2 (TBL-1)"
    assert again.encoded() == found.encoded()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        '"text"',
        "[1,{}]",
        '["a"]',
        '["{a}",{}]',
        '["{a}",{"b":1}]',
        '["{a}",{"a":["b"]}]',
        "[" * 99_999,
    ],
)
def test_what_is_no_phrase_is_none(text: str) -> None:
    assert Phrase.decoded(text) is None


def test_what_a_translation_lacks_is_said_in_english_whatever_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, texts in (("en", {"n": {"of": "n", "one": "{n} point", "other": "{n} points"}}), ("cs", {})):
        (tmp_path / language).mkdir()
        (tmp_path / language / "some.json").write_text(json.dumps(texts))
    monkeypatch.setattr(catalogue, "_FOLDER", tmp_path)
    for cached in (catalogue.load, catalogue.languages):
        cached.cache_clear()
    try:
        words = catalogue.load("some", "cs")
        assert [words("n", n=n) for n in (1, 2, 5, "1.5")] == ["1 point", "2 points", "5 points", "1.5 points"]
    finally:
        for cached in (catalogue.load, catalogue.languages):
            cached.cache_clear()
