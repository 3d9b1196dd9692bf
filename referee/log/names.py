"""Names of players, which no log has: what can be one, which look alike, what proves one, and the file of names.

A game's opening commits to a name by ``Seat.player``. The name and its salt stand beside the game, and whoever reads
them finds out from entry 0 whether they fit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from io import StringIO
from typing import Final, NamedTuple, TypeVar
from unicodedata import category, normalize

from referee.games.game import InputError
from referee.log.entry import SALT_BYTES, player_hash

_K = TypeVar("_K")

MAX_NAME: Final = 80
NAME_EXPECTED: Final = f"1 to {MAX_NAME} characters on one line, none of them invisible"
_SEAT = re.compile(r"[pP]([1-9][0-9]?)", re.ASCII)
_SALT = re.compile(rf"([0-9a-fA-F]{{{2 * SALT_BYTES}}})?", re.ASCII)
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that leave no trace, though Unicode counts them as letters, marks or symbols (Default_Ignorable)."""
_LIKE: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеіјорсухѕһԁԛԝѵΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ01|Iı\u2019\u02bc\u2018`\u2010\u2011\u2012\u2013\u2014",
    "ABESIJKMHOPCTXYaeijopcyxshdqwvABEZHIKMNOPTYXovpOllli''''-----",
)
"""Cyrillic and Greek letters, digits and signs that print as these (after Unicode's confusables.txt, UTS #39)."""


class Source(IntEnum):
    """The giver of a name, by the numbers of the API's ``NameSource``."""

    OPENING = 1
    PLAYER = 2
    ORGANISER = 3


@dataclass(frozen=True)
class Person:
    """A name, and the salt with which the log's hash of it can be proved."""

    name: str
    salt: bytes

    @property
    def player(self) -> bytes:
        """The player's hash, as the log has it."""
        return player_hash(self.salt, self.name)

    def fits(self, player: bytes) -> bool:
        """Return whether this is the name that ``player``, of an opening or an entrant, commits to."""
        return len(self.salt) == SALT_BYTES and self.player == player


class Shown(NamedTuple):
    """A name as a reader sees it."""

    name: str
    confirmed: bool
    """True if entry 0 commits to it."""
    source: Source | None = None
    """The giver, as the referee or a file tells it; None: that is not told."""


def checked(name: str) -> str:
    """Return a name in Unicode's form NFC, with single blanks. Raise ``InputError``."""
    blank = "".join(" " if category(letter) == "Zs" else letter for letter in name)
    found = " ".join(normalize("NFC", blank).split(" ")).strip()
    found = re.sub(" +", " ", found)
    if not found or len(found) > MAX_NAME or not found.isprintable() or _UNSEEN.search(found):
        raise InputError("name", f"{name[:MAX_NAME]!r}", NAME_EXPECTED)
    return found


def same(one: str, other: str) -> bool:
    """Return whether two names are one: small and capital letters, blanks and Unicode's forms make no difference."""
    return _plain(one) == _plain(other)


def alike(one: str, other: str) -> bool:
    """Return whether two names print alike, though their letters are of several alphabets, or digits."""
    return _outline(one) == _outline(other)


def _plain(name: str) -> str:
    return " ".join(normalize("NFKC", name).casefold().split())


def _outline(name: str) -> str:
    parts = normalize("NFD", " ".join(normalize("NFKC", name).split())).translate(_LIKE).casefold()
    return normalize("NFC", parts.replace("rn", "m"))


def check_unlike(name: str, others: Mapping[_K, str]) -> list[_K]:
    """Return those whose names look like this one. Raise ``InputError`` if one has the same name."""
    for other, known in others.items():
        if same(name, known):
            expected = "another name, such as with an initial or the place that the player comes from"
            raise InputError("name", f"{name!r} is {told_number(other)} already", expected)
    return [other for other, known in others.items() if alike(name, known)]


def people_of(names: Sequence[str]) -> tuple[dict[int, str], list[tuple[int, int]]]:
    """Return the names by seat, and the pairs of seats whose names look alike. Raise ``InputError``.

    ``names``: by seat, empty for none.
    """
    found: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    for seat, name in enumerate(names):
        if not name.strip():
            continue
        found[seat] = checked(name)
        others = {f"p{other + 1}": known for other, known in found.items() if other != seat}
        pairs += [(int(other[1:]) - 1, seat) for other in check_unlike(found[seat], others)]
    return found, pairs


def told_number(number: object) -> str:
    """Return what a refusal calls the bearer of a name."""
    return number if isinstance(number, str) else f"entrant {number}"


def shown(name: Person, player: bytes, source: Source | None = None) -> Shown:
    """Return the name as a reader of entry 0 sees it. ``player``: what that entry commits to."""
    return Shown(name.name, name.fits(player), source)


# --- which player is meant -----------------------------------------------------------------------------------------


class Meant(NamedTuple):
    """The seat that somebody typed."""

    seat: int
    by_number: bool
    """True if it was a bare number, which is notation and counts from 0: say whom it means."""


def seat_meant(text: str, names: Sequence[str]) -> Meant:
    """Return the seat of a name, of ``p1``, ``p2``, …, or of a bare number from 0. Raise ``InputError``.

    ``names``: by seat, empty for none. A name may be shortened to a beginning that no other name has.
    """
    word = text.strip()
    if (number := _SEAT.fullmatch(word)) is not None:
        seat, by_number = int(number[1]) - 1, False
    elif word.isascii() and word.isdecimal() and len(word) < 3:
        seat, by_number = int(word), True
    else:
        seat, by_number = _seat_of(word, names), False
    if not 0 <= seat < len(names):
        raise InputError("player", repr(word), f"a name, or p1 to p{len(names)}")
    return Meant(seat, by_number)


def _seat_of(word: str, names: Sequence[str]) -> int:
    if exact := [seat for seat, name in enumerate(names) if name and same(name, word)]:
        return exact[0]
    begun = [seat for seat, name in enumerate(names) if word and name and _plain(name).startswith(_plain(word))]
    if len(begun) == 1:
        return begun[0]
    told = ", ".join(f"p{seat + 1}" + (f" ({name})" if name else "") for seat, name in enumerate(names))
    what = "begins several names" if begun else "is no player's name"
    raise InputError("player", f"{word[:MAX_NAME]!r} {what}", f"one of {told}")


# --- the file of names ---------------------------------------------------------------------------------------------

_HEAD: Final = ("number", "name", "salt", "game")


class Row(NamedTuple):
    """A line of a file of names."""

    number: int
    """The entrant's, or the player's of the game: both count from 1."""
    person: Person
    game: str = ""
    """The game's id in hexadecimal; empty in a list of entrants."""


def names_text(rows: Iterable[Row]) -> str:
    """Return a file of names: CSV with a line for each, and a column ``game`` if any has one."""
    listed = list(rows)
    columns = len(_HEAD) if any(row.game for row in listed) else len(_HEAD) - 1
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD[:columns])
    for number, person, game in listed:
        writer.writerow((number, person.name, person.salt.hex(), game)[:columns])
    return text.getvalue()


def rows_of(text: str) -> list[Row]:
    """Return what ``names_text`` wrote. Raise ``InputError`` with the line."""
    lines = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=None))
    try:
        head = next(lines, [])
        if tuple(head) not in {_HEAD, _HEAD[:-1]}:
            raise InputError("line 1", f"{','.join(head)[:MAX_NAME]!r}", ",".join(_HEAD))
        found = [_row(cells, len(head), lines.line_num) for cells in lines if cells]
    except csv.Error as error:
        raise InputError(f"line {lines.line_num}", str(error), ",".join(_HEAD)) from None
    return found


def _row(cells: Sequence[str], columns: int, line: int) -> Row:
    number, name, salt, game = (*cells, "", "", "")[:4]
    is_numbered = number.isascii() and number.isdecimal() and int(number) > 0
    if len(cells) != columns or not is_numbered or not _SALT.fullmatch(salt):
        expected = f"a number from 1, a name, and a salt of {2 * SALT_BYTES} hexadecimal digits or none"
        raise InputError(f"line {line}", f"{','.join(cells)[:MAX_NAME]!r}", expected)
    # The name stays as it is, without the repairs of ``checked``: a commitment is to these very characters.
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InputError(f"line {line}, name", f"{name[:MAX_NAME]!r}", NAME_EXPECTED)
    return Row(int(number), Person(name, bytes.fromhex(salt)), game)


def names_in(rows: Iterable[Row], game: str, players: Sequence[bytes]) -> dict[int, Person]:
    """Return by seat the names that the file has for a game. ``players``: what its opening commits to, by seat.

    A line whose salt fits a commitment is that seat's, in a list of entrants, too. Any other is a player's of the game
    that it names.
    """
    found: dict[int, Person] = {}
    proven: dict[int, Person] = {}
    for number, person, of in rows:
        if fitting := [seat for seat, player in enumerate(players) if player and person.fits(player)]:
            proven |= dict.fromkeys(fitting, person)
        elif of == game and number <= len(players):
            found[number - 1] = person
    return found | proven
