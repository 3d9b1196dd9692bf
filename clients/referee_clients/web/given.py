"""Fields of a question in JSON, each read as what it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from referee.text.notation.questions import shown
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import Phrase, phrase
from referee_clients.sdk.opening import milliseconds

_MOST: Final = (1 << 32) - 1
_KEY_BYTES: Final = 32


class Given:
    """The fields that were sent. Each method raises ``BadWord``; what is not sent is None, or empty."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._read = set[str]()

    def _of(self, name: str, kind: type, expected: Phrase) -> Any:
        self._read.add(name)
        value = self._fields.get(name)
        if value is not None and type(value) is not kind:  # a bool is an int, too
            raise BadWord(name, phrase(": {found}; expected {expected}", found=shown(value), expected=expected))
        return value

    def check_all_read(self) -> None:
        """Raise ``BadWord`` for a field that nobody has asked for."""
        for name in self._fields:
            if name not in self._read:
                raise BadWord(
                    name[:40].encode("ascii", "backslashreplace").decode(),
                    phrase(": unknown here; expected some of {names}", names=", ".join(sorted(self._read))),
                )

    def number(self, name: str, most: int = _MOST) -> int | None:
        expected = phrase("a number from 0 to {most}", most=most)
        value: int | None = self._of(name, int, expected)
        if value is not None and not 0 <= value <= most:
            raise BadWord(name, phrase(": {found}; expected {expected}", found=shown(value), expected=expected))
        return value

    def large(self, name: str, most: int) -> int | None:
        """Return a number that may come as its digits: in browsers numbers beyond 2^53 are not exact."""
        value = self._fields.get(name)
        if not isinstance(value, str) or not (value.isascii() and value.isdigit() and len(value) <= len(str(most))):
            return self.number(name, most)
        self._read.add(name)
        return Given({name: int(value)}).number(name, most)

    def needed(self, name: str) -> int:
        """Return a number that has to be there."""
        value = self.number(name)
        if value is None:
            raise BadWord(name, phrase(": missing; expected a number"))
        return value

    def text(self, name: str) -> str:
        value: str = self._of(name, str, phrase("a text")) or ""
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise BadWord(name, phrase(": half of a surrogate pair; expected characters"))
        return value

    def truth(self, name: str) -> bool:
        return bool(self._of(name, bool, phrase("true or false")))

    def ms(self, name: str) -> int:
        """Return a time, such as 5m, in milliseconds."""
        return milliseconds(name, self.text(name))

    def object(self, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._of(name, dict, phrase("an object"))
        return found

    def texts(self, name: str) -> list[str]:
        found = self._of(name, list, phrase("an array of texts")) or []
        return [Given({name: each}).text(name) for each in found]

    def numbers(self, name: str, least: int = 0) -> list[int]:
        found = self._of(name, list, phrase("an array of numbers")) or []
        for each in found:
            if type(each) is not int or not least <= each < 1 << 31:
                what = phrase(": {found}; expected numbers from {least} on", found=shown(each), least=least)
                raise BadWord(name, what)
        return list(found)

    def keys(self, name: str) -> list[bytes]:
        """Return public keys, which are given as hexadecimal digits."""
        return [key_of(name, each) for each in self.texts(name)]


def key_of(word: str, text: str) -> bytes:
    """Return a public key. Raise ``BadWord``."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != _KEY_BYTES or found.hex() != text.lower():
        raise BadWord(word, phrase(": not a key; expected 64 hexadecimal digits"))
    return found
