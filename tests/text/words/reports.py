"""Reports in every language, and the English that is left in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import Words
from tests.text.words.phrases import forms

FEWEST: Final = 10
"""Letters of a sentence, without its places, that could not be anything else."""


@dataclass(frozen=True)
class Sentence:
    """A pattern that finds a text in the output."""

    literal: str
    """The longest part between its places: where this is not, the text is not, and that is found out sooner."""
    pattern: re.Pattern[str]

    def is_in(self, said: str) -> bool:
        return self.literal in said and self.pattern.search(said) is not None


def sentences_of(say: Words) -> dict[str, Sentence]:
    """Return what finds each text that is long enough, by key and form."""
    found = {}
    for key, said in say.texts.items():
        for form in forms(said).values():
            literal = re.split(r"\{\w+\}", form)
            if sum(map(len, re.findall(r"\w+", " ".join(literal)))) >= FEWEST and " " in form.strip():
                pattern = re.compile(r"[^.;]{1,40}?".join(map(re.escape, literal)))
                found[f"{key}: {form}"] = Sentence(max(literal, key=len), pattern)
    return found


@cache
def _in_english() -> dict[str, Sentence]:
    """Return those of the English catalogue, but for kinds of moves: notation is the same in every language."""
    return {key: found for key, found in sentences_of(IN_ENGLISH).items() if not key.startswith("kind.")}


def in_english(said: str, say: Words) -> set[str]:
    """Return the texts of the English catalogue that are in what was said, but for those that are the same."""
    own = {form for each in say.texts.values() for form in forms(each).values()}
    return {key for key, found in _in_english().items() if found.is_in(said) and key.partition(": ")[2] not in own}
