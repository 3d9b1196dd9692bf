"""A value of JSON that is asked for its parts: each error names the path of what is wrong, and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

from referee.games.game import InputError, SetupError

_T = TypeVar("_T")
_FRACTION = re.compile(r"(-?[0-9]{1,200})/([1-9][0-9]{0,199})\Z", re.ASCII)
_MOST = (1 << 32) - 1


@dataclass(frozen=True)
class Field:
    """A value, and where it stands in its document. Every method raises ``InputError`` for another kind of value."""

    path: str
    value: Any

    def at(self, name: str) -> Field:
        """Return a member, which must be there."""
        found = self.maybe(name)
        return found if found is not None else Field(self._below(name), _NOTHING)._refuse("this field")

    def maybe(self, name: str) -> Field | None:
        """Return a member, if it is there."""
        if not isinstance(self.value, dict):
            self._refuse("an object")
        return Field(self._below(name), self.value[name]) if name in self.value else None

    def each(self) -> Iterator[Field]:
        """Yield the elements of a list."""
        if not isinstance(self.value, list):
            self._refuse("a list")
        return (Field(f"{self.path}[{at}]", value) for at, value in enumerate(self.value))

    def expect(self, value: str | int) -> None:
        """Refuse another value."""
        if self.value != value or type(self.value) is not type(value):
            self._refuse(str(value))

    def text(self) -> str:
        """Return a string."""
        return self.value if isinstance(self.value, str) else self._refuse("text")

    def number(self) -> int:
        """Return an integer of 32 bits from 0 on."""
        if type(self.value) is not int or not 0 <= self.value <= _MOST:
            self._refuse("a number from 0 on")
        return self.value

    def numbers(self, count: int | None = None) -> tuple[int, ...]:
        """Return a list of integers, which can have a sign."""
        found = tuple(each.value for each in self.each())
        if not all(type(each) is int and abs(each) <= _MOST for each in found) or count not in (None, len(found)):
            self._refuse("a list of numbers" if count is None else f"a list of {count} numbers")
        return found

    def flag(self) -> bool:
        """Return true or false."""
        return self.value if isinstance(self.value, bool) else self._refuse("true or false")

    def data(self) -> bytes:
        """Return what hexadecimal digits say."""
        try:
            return bytes.fromhex(self.text())
        except ValueError:
            self._refuse("hexadecimal digits")

    def fraction(self) -> Fraction:
        """Return ``3/4``."""
        found = _FRACTION.match(self.text())
        return Fraction(int(found[1]), int(found[2])) if found else self._refuse("a fraction such as 3/4")

    def choice(self, choices: Mapping[str, _T]) -> _T:
        """Return what a word stands for."""
        if self.text() not in choices:
            self._refuse(f"one of {', '.join(choices)}")
        return choices[self.text()]

    @contextmanager
    def about(self) -> Iterator[None]:
        """Have errors of what is made of this value name it."""
        try:
            yield
        except SetupError as error:
            raise InputError(self._below(error.field), error.what, error.expected) from None

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _refuse(self, expected: str) -> NoReturn:
        shown = "nothing" if self.value is _NOTHING else repr(self.value)[:60]
        raise InputError(self.path or "the document", shown, expected)


_NOTHING = object()
"""What a member is that is not there."""
