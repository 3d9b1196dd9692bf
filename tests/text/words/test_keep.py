"""A changed English text keeps its translations, which are to be read again."""

from __future__ import annotations

from tests.text.words.keep import KEPT, kept, renames, snapshot


def test_translations_were_made_of_todays_english() -> None:
    """Or it is known which were not."""
    assert KEPT.read_text(encoding="utf-8") == snapshot(), "run `make words`"


def test_a_text_that_changes_keeps_its_translation_to_be_read_again() -> None:
    made = kept({"a": "A", "b": "B"}, set(), {"a": "one", "b": "two"}, {"a": "one", "b": "2", "c": "three"})
    assert (made.texts, made.again) == ({"a": "A", "b": "B"}, {"b"})


def test_what_is_to_be_read_again_stays_so_until_somebody_has() -> None:
    made = kept({"a": "A", "b": "B"}, {"b", "gone"}, {"a": "1", "b": "2"}, {"a": "1", "b": "2"})
    assert made.again == {"b"}


def test_a_phrase_takes_its_translation_to_its_new_words() -> None:
    old, new = "{n} is not awaited here", "{n} is not expected here"
    made = kept({old: "{n} se nečeká"}, set(), {old: old, "other": "other"}, {new: new, "other": "other"})
    assert (made.texts, made.again) == ({new: "{n} se nečeká"}, {new})


def test_a_phrase_with_other_places_or_of_another_kind_is_a_new_one() -> None:
    assert renames({"{n} is late"}, {"{m} is late", "an entirely different thing", "{n} came too late"}) == {
        "{n} is late": "{n} came too late"
    }
    assert renames({"a tile is there", "a tile was there"}, {"a tile is here"}) == {"a tile is there": "a tile is here"}
