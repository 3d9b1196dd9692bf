"""Keep translations when an English text changes: ``make words``.

Each translation stays, and its key is listed under ``_again``: to be read again by a speaker of the language.
``translated.json`` has the English texts that the translations were made of. A phrase is its own key: one that changes
takes its translation along if it has the same places and is like the old one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from referee.text.words.catalogue import ENGLISH, Text, languages
from tests.text.words.english import FOLDER, PARTS, english_of, places

KEPT: Final = Path(__file__).parent / "translated.json"
_LIKE: Final = 0.5
"""At least as similar is a phrase that replaces another one."""


@dataclass(slots=True)
class Part:
    """The result of the translation of a part."""

    texts: dict[str, Text]
    again: set[str] = field(default_factory=set)
    """Keys whose English is another one than the translation was made of."""


def kept(own: Mapping[str, Text], again: set[str], before: Mapping[str, Text], english: Mapping[str, Text]) -> Part:
    """Return a translation for today's English. ``before``: the English that it was made of."""
    made = Part({}, {key for key in again if key in english})
    renamed = renames(set(before) - set(english), set(english) - set(before))
    for old, text in own.items():
        key = renamed.get(old, old)
        if key not in english:
            continue
        made.texts[key] = text
        if old in before and before[old] != english[key]:
            made.again.add(key)
    return made


def renames(gone: set[str], new: set[str]) -> dict[str, str]:
    """Return the new key of each phrase that one replaces: the most alike first, each once."""
    pairs = [(old, key) for old in gone for key in new if places(old) == places(key)]
    alike = sorted(((SequenceMatcher(None, old, key).ratio(), old, key) for old, key in pairs), reverse=True)
    found: dict[str, str] = {}
    for ratio, old, key in alike:
        if ratio >= _LIKE and old not in found and key not in found.values():
            found[old] = key
    return found


def main() -> None:
    """Bring every translation up to date, and print what is to be read again or to be translated."""
    before: dict[str, dict[str, Text]] = json.loads(KEPT.read_text(encoding="utf-8"))
    for part in PARTS:
        english = english_of(part)
        for language in languages(part):
            if language == ENGLISH:
                continue
            path = FOLDER / language / f"{part}.json"
            own = json.loads(path.read_text(encoding="utf-8"))
            head = {"_state": own.pop("_state")}
            made = kept(own, set(own.pop("_again", ())), before.get(part, {}), english)
            if made.again:
                head["_again"] = sorted(made.again)
            text = json.dumps(head | made.texts, ensure_ascii=False, indent=2)
            path.write_text(text + "\n", encoding="utf-8")
            for what, keys in (("read again", made.again), ("translate", set(english) - set(made.texts))):
                for key in sorted(keys):
                    print(f"{language}/{part}: {what}: {key}")
    KEPT.write_text(snapshot(), encoding="utf-8")


def snapshot() -> str:
    """Return today's English texts of every part, as ``translated.json`` has them."""
    texts = {part: dict(sorted(english_of(part).items())) for part in PARTS if part != "refusals"}
    return json.dumps(texts | {"refusals": {}}, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    main()
