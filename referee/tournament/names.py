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
from referee.log.entry import SALT_BYTES
from referee.log.names import Person, Row, alike, check_unlike, checked, names_text, rows_of, same
from referee.tournament.rules.round import Entrant

if TYPE_CHECKING:
    from _csv import Reader

_SEPARATORS: Final = ",;\t|"


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
        check_unlike(name, {other: person.name for other, person in self.people.items()})
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
        found = [number for number, person in self.people.items() if same(person.name, word)]
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

    def alike(self, number: int) -> list[int]:
        """Return the entrants whose names look like this one's, though they are spelled in other letters."""
        name = self.people[number].name
        return [other for other, person in self.people.items() if other != number and alike(name, person.name)]

    def csv(self) -> str:
        """Return a file of them."""
        return names_text(Row(number, person) for number, person in sorted(self.people.items()))

    @classmethod
    def read(cls, path: Path) -> Names:
        """Read what ``csv`` writes; nothing if there is no file. Raise ``InputError``."""
        if not path.exists():
            return cls({})
        return cls({number: person for number, person, _ in rows_of(path.read_text(encoding="utf-8"))})


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
