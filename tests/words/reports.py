"""Reports in every language, and the English that is left in them."""

from __future__ import annotations

import re
from typing import Final

from referee.notation.outcomes import IN_ENGLISH
from referee.words.catalogue import Words
from tests.words.phrases import forms

FEWEST: Final = 10
"""Letters of a sentence, without its places, that could not be anything else."""


def sentences_of(say: Words) -> dict[str, re.Pattern[str]]:
    """Return what finds each text that is long enough, by key and form."""
    found = {}
    for key, said in say.texts.items():
        for form in forms(said).values():
            literal = re.split(r"\{\w+\}", form)
            if sum(map(len, re.findall(r"\w+", " ".join(literal)))) >= FEWEST and " " in form.strip():
                found[f"{key}: {form}"] = re.compile(r"[^.;]{1,40}?".join(map(re.escape, literal)))
    return found


def in_english(said: str, say: Words) -> set[str]:
    """Return the texts of the English catalogue that are in what was said, but for those that are the same.

    The notation, which is the same in every language, has the words for kinds of moves, too.
    """
    own = {form for each in say.texts.values() for form in forms(each).values()}
    english = [each for each in sentences_of(IN_ENGLISH).items() if not each[0].startswith("kind.")]
    return {key for key, pattern in english if pattern.search(said) and key.partition(": ")[2] not in own}
