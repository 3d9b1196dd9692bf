"""The entrants' names and salts, which the log does not have, and lists of names from outside."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from referee.games.game import InputError
from referee.log.entry import SALT_BYTES, player_hash
from referee.tournament.rules.round import Entrant

if TYPE_CHECKING:
    from _csv import Reader

MAX_NAME: Final = 80
_HEAD: Final = ("number", "name", "salt")
_SEPARATORS: Final = ",;\t|"


@dataclass(frozen=True)
class Person:
    """A name, and the salt with which the log's hash of it can be proved."""

    name: str
    salt: bytes

    @property
    def player(self) -> bytes:
        """The player's hash, as the log has it."""
        return player_hash(self.salt, self.name)


@dataclass(frozen=True)
class Names:
    """The names by entrant."""

    people: Mapping[int, Person]

    def __getitem__(self, number: int) -> str:
        """Return the name, or the number where it is not known."""
        person = self.people.get(number)
        return f"entrant {number}" if person is None else person.name

    def with_one(self, number: int, name: str) -> tuple[Names, Person]:
        """Return the names with one more. Raise ``InputError`` for a name that is there, or is none."""
        name = checked(name)
        for other, person in self.people.items():
            if person.name.casefold() == name.casefold():
                raise InputError("name", f"{name!r} is entrant {other}", "another name, or a letter more")
        person = Person(name, secrets.token_bytes(SALT_BYTES))
        return Names({**self.people, number: person}), person

    def of(self, entrants: Mapping[int, Entrant]) -> Names:
        """Return those whom the log knows: a crash may have left one whose entry was never made."""
        known = {
            number: person
            for number, person in self.people.items()
            if number in entrants and (not person.salt or person.player == entrants[number].player)
        }
        return Names(known)

    def with_unproved(self, number: int, name: str) -> Names:
        """Return the names with one whose salt is not known. Raise ``InputError``."""
        return Names({**self.people, number: Person(checked(name), b"")})

    def find(self, word: str) -> int:
        """Return the entrant of a number or a name. Raise ``InputError``."""
        if word.isascii() and word.isdecimal():
            return int(word)
        found = [number for number, person in self.people.items() if person.name.casefold() == word.casefold()]
        if len(found) != 1:
            raise InputError("entrant", f"{word!r}", "an entrant's number or whole name")
        return found[0]

    def fits(self, number: int, text: str) -> bool:
        """Return whether the text is the entrant's number, or begins the name or one of its words; empty: it does."""
        wanted = " ".join(text.split()).casefold()
        if not wanted or wanted.isdecimal():
            return not wanted or str(number) == wanted
        name = self[number].casefold()
        return number in self.people and (name.startswith(wanted) or f" {wanted}" in name)

    def csv(self) -> str:
        """Return a table of them."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_HEAD)
        writer.writerows((number, person.name, person.salt.hex()) for number, person in sorted(self.people.items()))
        return text.getvalue()

    @classmethod
    def read(cls, path: Path) -> Names:
        """Read what ``csv`` writes; nothing if there is no file."""
        if not path.exists():
            return cls({})
        _, *rows = csv.reader(StringIO(path.read_text(encoding="utf-8")))
        return cls({int(number): Person(name, bytes.fromhex(salt)) for number, name, salt in rows})


def checked(name: str) -> str:
    """Return a name with single spaces. Raise ``InputError``."""
    found = " ".join(name.split(" ")).strip()
    if not found or len(found) > MAX_NAME or not found.isprintable():
        raise InputError("name", f"{name[:MAX_NAME]!r}", f"1 to {MAX_NAME} characters on one line")
    return found


class Listed(NamedTuple):
    """An entrant of a list."""

    line: int
    name: str
    key: str
    """Public key, as text; empty if the list has none."""


def listed(data: bytes) -> list[Listed]:
    """Return the entrants of a list: a CSV with a column ``name``, and perhaps ``key``, or one name a line.

    Separators are commas, semicolons, tabs or bars; empty lines are passed over. Raise ``InputError`` with the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"line {line}", f"byte {error.start} is not UTF-8", "a file in UTF-8") from None
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(StringIO(text, newline=None), delimiter=separator)
    try:
        return _listed(reader)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}", str(error), "a name a line, or a CSV with a column name") from None


def _listed(reader: Reader) -> list[Listed]:
    """Raise ``InputError``, ``csv.Error``."""
    names: list[Listed] = []
    column: int | None = None
    key_column: int | None = None
    has_heads = False
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if column is None:
            heads = [cell.strip().casefold() for cell in row]
            column = heads.index("name") if "name" in heads else 0
            if "name" in heads:
                key_column = heads.index("key") if "key" in heads else None
                has_heads = True
                continue
        if not has_heads and len(row) > 1:
            raise InputError(
                f"line {reader.line_num}",
                f"{len(row)} columns",
                "one name, in quotation marks if it has a comma, or a first line with a column name",
            )
        if column >= len(row):
            raise InputError(f"line {reader.line_num}", "no name", f"{column + 1} columns")
        key = row[key_column].strip() if key_column is not None and key_column < len(row) else ""
        try:
            names.append(Listed(reader.line_num, checked(row[column].strip()), key))
        except InputError as error:
            raise InputError(f"line {reader.line_num}, name", error.what, error.expected) from None
    if not names:
        raise InputError("list", "no names", "a name a line, or a CSV with a column name")
    return names
