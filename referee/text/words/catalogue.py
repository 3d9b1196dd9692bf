"""Catalogues of texts: for each language and part, a JSON object of texts by key, in ``<language>/<part>.json``.

A text has ``{places}``. Where its wording depends on a number it is an object of forms: ``of`` names the place whose
number decides, the other keys are the plural categories of CLDR that the language has, such as ``one`` and ``other``.

The part ``notation`` is the one table of pieces and verbs: ``type.garden`` has the word, ``short.type.garden`` what
may be typed for it. The keys are those of the notation.

A text that is made in English, such as the reason for a refusal, is a ``Phrase``: its English text is the key.

People have names, or else count from 1. A text names them in its places ``player``, ``Player`` where a sentence begins,
and ``players``, whose values are seats, from 0, or names. A text is built so that a name stands in it as it is, in
every language: ``Winner: {player}``.

English is what the others are translated from, and it decides. A translation says in ``_state`` whether it is a
``draft`` or was ``read`` by a speaker of the language; missing texts are said in English. ``_again`` lists the keys
whose English has changed since they were translated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

ENGLISH: Final = "en"
Text = str | Mapping[str, str]

_FOLDER: Final = Path(__file__).parent
PLAYER: Final = "player {n}"
"""The phrase for a player without a name; ``n`` counts from 1."""
_PLAYER: Final = "player"
_PLAYERS: Final = "players"
_CATEGORIES: Final = ("zero", "one", "two", "few", "many", "other")
_STATE: Final = "_state"
_AGAIN: Final = "_again"
_READ: Final = "read"
_PHRASES: Final = "phrases"
_NOTATION: Final = "notation"
_PIECES: Final = {"report": ("type.", "terrain.", "side."), "web": ("type.", "terrain.", "side.", "currency.")}
"""The words of the notation that a part says, too, by the beginnings of their keys."""
_MOST_DEEP: Final = 8
"""The depth of phrases within phrases sent by others."""
_PLACE: Final = re.compile(r"\{(\w+)\}")
_QUALITY: Final = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


class UnknownLanguage(ValueError):
    """There are no words in this language; the message names those that there are."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text that is said later, in any language: its key, and the values of its places.

    The value of a place may be said later, too.
    """

    key: str
    places: Mapping[str, object] = field(default_factory=dict)

    def by(self, say: Words) -> str:
        """Return the text in a language."""
        return say(self.key, **{name: in_language(part, say) for name, part in self.places.items()})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text that is in English where it is made, and can be said in another language: as text, it is the English.

    ``text`` has the places, and is the key of its translations in the part ``phrases``. The value of a place may be a
    phrase, too.
    """

    text: str
    places: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take a seat, from 0, in the place ``player`` as the player there."""
        if isinstance(seat := self.places.get(_PLAYER), int):
            object.__setattr__(self, "places", {**self.places, _PLAYER: player_phrase(seat)})

    def __str__(self) -> str:
        return _filled(self.text, self.places)

    def by(self, language: str, names: Sequence[str] = ()) -> str:
        """Return the text in a language; in English, where that lacks it. ``names``: of the players by seat."""
        if self.text == PLAYER and (name := _at(names, int(str(self.places["n"])) - 1)):
            return name
        places = {
            name: part.by(language, names) if isinstance(part, Phrase) else part for name, part in self.places.items()
        }
        text = load(_PHRASES, language).texts.get(self.text) if language in languages(_PHRASES) else None
        return _filled(self.text if text is None else _in_form(text, language, places), places)

    def encoded(self) -> str:
        """Return it as JSON in ASCII, for ``decoded``: ``[text, {place: …}]``."""
        return json.dumps(self._parts(), separators=(",", ":"))

    def _parts(self) -> list[object]:
        # Places that no text names are of its other half, what was expected.
        used = {name: self.places[name] for name in _PLACE.findall(self.text)}
        return [self.text, {name: _encodable(part) for name, part in used.items()}]

    @classmethod
    def decoded(cls, text: str) -> Phrase | None:
        """Return what was encoded; None for anything else."""
        try:
            return cls._of(json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None

    @classmethod
    def _of(cls, parts: object, depth: int = 0) -> Phrase:
        """Raise ``TypeError`` and ``ValueError`` if it is no phrase."""
        if not isinstance(parts, list) or len(parts) != 2 or depth > _MOST_DEEP:
            raise TypeError
        text, places = parts
        if not isinstance(text, str) or not isinstance(places, dict) or set(_PLACE.findall(text)) != set(places):
            raise TypeError
        return cls(
            text, {name: cls._of(part, depth + 1) if isinstance(part, list) else part for name, part in places.items()}
        )


def phrase(text: str, /, **places: object) -> Phrase:
    """Return a phrase with its places filled."""
    return Phrase(text, places)


def player_phrase(seat: int) -> Phrase:
    """Return the player at a seat, from 0, as a part of a phrase."""
    return Phrase(PLAYER, {"n": seat + 1})


def _at(names: Sequence[str], seat: int) -> str:
    return names[seat] if 0 <= seat < len(names) else ""


def _encodable(part: object) -> object:
    match part:
        case Phrase():
            return part._parts()
        case int():
            return part
    return str(part)


def _filled(text: str, places: Mapping[str, object]) -> str:
    return _PLACE.sub(lambda place: str(places[place[1]]), text)


def _in_form(text: Text, language: str, places: Mapping[str, object]) -> str:
    """Return a text in the form that its number decides."""
    return text if isinstance(text, str) else text[category(language, places[text["of"]])]


@dataclass(frozen=True, slots=True)
class Words:
    """A part in one language. Called with a key and its places, it returns the text."""

    language: str
    texts: Mapping[str, Text]
    is_draft: bool
    """True if no speaker of the language has read it."""
    names: Sequence[str] = ()
    """The names of the players by seat, empty where there is none. They may be fewer than the seats."""

    def __call__(self, key: str, /, **places: object) -> str:
        """Return the text of a key, with its places filled. Raise ``KeyError``: no such key, or a place is missing.

        ``player``: a seat, from 0, or a name; ``players``: several.
        """
        text = _in_form(self.texts[key], self.language, places)
        if _PLAYER in places:
            who = places[_PLAYER]
            places |= {_PLAYER: self._called(who), _PLAYER.title(): self._called(who, is_first=True)}
        some = places.get(_PLAYERS)
        if isinstance(some, Sequence) and not isinstance(some, str):
            places |= {_PLAYERS: self.listed([self._called(who) for who in some])}
        return _filled(text, places)

    def naming(self, names: Sequence[str]) -> Words:
        """Return the same words for a game whose players have these names by seat; an empty one is none."""
        return replace(self, names=tuple(names))

    def listed(self, words: Sequence[str]) -> str:
        """Return ``Anna, player 2 and player 3``."""
        *some, last = words
        return f"{', '.join(some)}{self.texts['and']}{last}" if some else last

    def _called(self, who: object, *, is_first: bool = False) -> str:
        if not isinstance(who, int):
            return str(who)
        called = player(self, who)
        return called[:1].upper() + called[1:] if is_first and not _at(self.names, who) else called


def player(say: Words, seat: int, name: str | None = None) -> str:
    """Return the player at a seat as people say it: the name as it is, or ``player 1`` for seat 0.

    ``seat``: from 0. ``name``: None: the one that the words know, if any.
    """
    return (_at(say.names, seat) if name is None else name) or say("player", n=seat + 1)


def in_language(part: object, say: Words) -> object:
    """Return what is to be said in a language, and anything else as it is."""
    if isinstance(part, Phrase):
        return part.by(say.language, say.names)
    return part.by(say) if isinstance(part, Said) else part


@lru_cache(maxsize=64)
def load(part: str, language: str = ENGLISH) -> Words:
    """Return a part such as ``web`` in a language. Raise ``UnknownLanguage``."""
    if language not in languages(part):
        raise UnknownLanguage(f"language {language}: expected one of {', '.join(languages(part))}")
    own = _read(part, language)
    is_draft = language != ENGLISH and own.pop(_STATE, None) != _READ
    own.pop(_AGAIN, None)
    if language != ENGLISH and ENGLISH in languages(part):
        own = {key: _in_any_form(text) for key, text in _read(part, ENGLISH).items()} | own
    if starts := _PIECES.get(part):
        own |= {key: text for key, text in load_or_english(_NOTATION, language).texts.items() if key.startswith(starts)}
    return Words(language, MappingProxyType(own), is_draft)


def load_or_english(part: str, language: str) -> Words:
    """Return a part in a language; in English, if there is no translation."""
    return load(part, language if language in languages(part) else ENGLISH)


def _in_any_form(text: Text) -> Text:
    """Return an English text with a form for every category, also of those that English has not."""
    return text if isinstance(text, str) else {**dict.fromkeys(_CATEGORIES, text["other"]), **text}


@lru_cache(maxsize=64)
def languages(part: str) -> tuple[str, ...]:
    """Return the languages that have a part, English first."""
    found = (path.parent.name for path in _FOLDER.glob(f"*/{part}.json"))
    return tuple(sorted(found, key=lambda language: (language != ENGLISH, language)))


def category(language: str, number: object) -> str:
    """Return CLDR's plural category of a number in a language; ``other`` if it is no number."""
    try:
        value = Decimal(str(number))
    except InvalidOperation:
        return "other"
    if not value.is_finite():
        return "other"
    if language == ENGLISH:  # which needs nothing installed
        return "one" if value == 1 else "other"
    from babel import Locale  # noqa: PLC0415 - only who reads another language installs it

    return Locale.parse(language).plural_form(value)


def own_name(language: str) -> str:
    """Return what those who speak a language call it, such as ``čeština``."""
    from babel import Locale  # noqa: PLC0415 - only who offers languages installs it

    return Locale.parse(language).display_name or language


def preferred(accepted: str, offered: Iterable[str]) -> str:
    """Return the one of the languages offered that a reader likes best, or else the first.

    ``accepted``: the value of Accept-Language (RFC 9110, 12.5.4). A range such as ``cs-CZ`` takes ``cs``, too
    (RFC 4647, 3.4: lookup); ``*`` takes the first.
    """
    known = tuple(offered)
    ranges = [each.strip().lower().partition(";") for each in accepted.split(",")]
    liked = [(_quality(rest), name.strip().partition("-")[0]) for name, _, rest in ranges]
    # The order of ranges that are liked equally is the reader's.
    for quality, language in sorted(liked, key=lambda each: -each[0]):
        if quality and language == "*":
            break
        if quality and language in known:
            return language
    return known[0]


def _quality(parameter: str) -> float:
    if not parameter:
        return 1
    found = _QUALITY.fullmatch(parameter.strip().replace(" ", ""))
    return float(found[1]) if found else 0


def _read(part: str, language: str) -> dict[str, Text]:
    found: dict[str, Text] = json.loads((_FOLDER / language / f"{part}.json").read_text(encoding="utf-8"))
    return found
