"""A game's options as people write and read them, in texts, in JSON and in reports alike. Knows no game.

An option has one name, that of its field in the game's messages, and so has each of its choices: that of the value
there, without the prefix and in lower case. A game's ``Options`` and their enumerations bear the same names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

from referee.text.notation.questions import QueryError, shown
from referee.text.notation.violations import either

Plain = bool | int | str | list[int] | list[str]
"""A value as JSON has it."""

_MOST: Final = (1 << 32) - 1
"""The largest number: the messages have 32 bits for it."""
_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,9})\Z", re.ASCII)


class OptionError(ValueError):
    """A value that an option cannot have: ``expected`` says which it can."""

    def __init__(self, expected: str) -> None:
        super().__init__(f"expected {expected}")
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game: its name, and its possible values."""

    name: str
    default: Any
    type: Any
    """The type of the value or of each item of a list: ``bool``, ``int`` or an enumeration."""
    is_list: bool

    @property
    def choices(self) -> tuple[str, ...]:
        """The words from which one is chosen; none for numbers and lists."""
        return () if self.is_list else self._words

    @property
    def expected(self) -> str:
        """The possible values, such as ``fixed or relative``."""
        if self.is_list:
            return f"a list of {', '.join(self._words) or 'numbers'}"
        return either(self._words) if self._words else "a number"

    @property
    def _words(self) -> tuple[str, ...]:
        if self.type is bool:
            return "true", "false"
        return () if self.type is int else tuple(map(_word, self.type))

    def read(self, plain: Any) -> Any:
        """Return the value that JSON gives. Raise ``OptionError``."""
        if not self.is_list:
            return self._one(plain)
        if not isinstance(plain, list):
            raise OptionError(self.expected)
        return tuple(map(self._one, plain))

    def parse(self, text: str) -> Any:
        """Return the value that a text gives; in a list, blanks are between the words. Raise ``OptionError``."""
        if not self.is_list:
            return self._one(self._plain(text))
        try:
            return tuple(self._one(self._plain(word)) for word in text.split(" "))
        except OptionError as error:
            raise OptionError(f"{error.expected}, with blanks between them") from None

    def _plain(self, word: str) -> Any:
        """Return what JSON has for the word."""
        if self.type is bool:
            return {"false": False, "true": True}.get(word, word)
        return int(word) if self.type is int and _NUMBER.match(word) else word

    def _one(self, plain: Any) -> Any:
        if self.type in (bool, int):
            # bool is an int to Python, not to people.
            if type(plain) is self.type and 0 <= plain <= _MOST:
                return plain
        else:
            for member in self.type:
                if plain == _word(member):
                    return member
        raise OptionError(self.expected)


def options_of(kind: type[Any]) -> Mapping[str, Option]:
    """Return the options by name. ``kind``: the game's ``Options``."""
    hashable: Any = kind  # which mypy does not believe of a type
    return _options_of(hashable)


@cache
def _options_of(kind: Any) -> Mapping[str, Option]:
    hints, plain = get_type_hints(kind), kind()
    return {field.name: _option(field.name, getattr(plain, field.name), hints[field.name]) for field in fields(kind)}


def _option(name: str, default: Any, hint: Any) -> Option:
    """``hint``: a type, ``tuple`` of such, or one that may be None where nothing is chosen."""
    is_list = get_origin(hint) is tuple
    return Option(name, default, next((arg for arg in get_args(hint) if arg is not type(None)), hint), is_list)


def _word(member: Enum) -> str:
    return member.name.lower()


def plain(value: Any) -> Plain:
    """Return an option's value as JSON has it."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]  # type: ignore[return-value]
    return _word(value) if isinstance(value, Enum) else value


def written(value: Plain | None) -> str:
    """Return a value of JSON as a word, or words with blanks between them; empty for none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def chosen(options: Any) -> dict[str, Plain]:
    """Return the options, by name and as JSON has them, that are not as they are by default."""
    known = options_of(type(options)).values()
    values = {option.name: getattr(options, option.name) for option in known}
    return {option.name: plain(values[option.name]) for option in known if values[option.name] != option.default}


def words(values: Mapping[str, Plain]) -> str:
    """Return ``max_turns 40, loop_rule one_less``."""
    return ", ".join(f"{name} {written(value)}" for name, value in values.items()) or "none chosen"


_T = TypeVar("_T")


def options_of_question(kind: type[_T], given: dict[str, Any], known: Collection[str]) -> _T:
    """Return the game's options, of type ``kind``. Raise ``QueryError``.

    ``known``: the names of those that the answer depends on; a question has no others.
    """
    read: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise QueryError(f"options: unknown field {shown(name)}; expected {', '.join(sorted(known))}")
        try:
            read[name] = options_of(kind)[name].read(value)
        except OptionError as error:
            raise QueryError(f"options.{name}: {shown(value)}; expected {error.expected}") from None
    return kind(**read)
