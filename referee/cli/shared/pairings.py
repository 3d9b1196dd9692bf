"""The tables of a round, from a table of pairings: read as a whole, with faults named by row and column."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.console import printable
from referee.games.game import UnknownRules
from referee.log.engines import installed
from referee.log.errors import LogError
from referee.server.live.opening import rehearse
from referee.server.live.refusals import BadField
from referee.text.notation.violations import BadWord
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.opening import Wishes, bad_field

_NUMBER = re.compile(r"[0-9]{1,20}\Z", re.ASCII)
_OF_SEAT = re.compile(r"(seat|principal) ([0-9])\Z", re.ASCII)
_YES: Final = {"yes": True, "no": False}
_READERS: Final[Mapping[str, tuple[str, Callable[[str], Any], str]]] = {
    "event": ("event", int, "a number"),
    "round": ("round", int, "a number"),
    "table": ("table", int, "a number"),
    "seats": ("seats", int, "a number"),
    "rules": ("rules", str, ""),
    "options": ("options", str, ""),
    "age-order": ("age_order", str, ""),
    "clock": ("clock", str, ""),
    "lag": ("lag", str, ""),
    "illegal": ("illegal", str.split, ""),
    "absence": ("absence", str, ""),
    "take-backs": ("take_backs", _YES.__getitem__, "yes or no"),
    "protest-time": ("protest_time", str, ""),
    "grace": ("grace", str, ""),
}
"""The meaning of each column for the wishes, its reader, and the expected form where not every text can be read."""

Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Pairing:
    """One table of a round."""

    where: str
    """The row, for errors."""
    key: Key
    """Event, round and table."""
    names: tuple[str, ...]
    """Players by seat; a principal where there is no name, empty where there is neither."""
    request: pb.CreateGameRequest
    game: str = ""
    """The game that the event names for it now; empty: none."""
    named: Set[str] = frozenset()
    """Every game that the event has named in the round, also of pairings that were annulled."""
    of_event: bool = False
    """True if the seats commit to the names of an event's entrants, which are the same whenever it is asked."""

    @property
    def file_name(self) -> str:
        """The name of the file for its join strings."""
        event, round_, table = self.key
        return f"event-{event}-round-{round_}-table-{table}.txt"

    @property
    def told(self) -> dict[str, Any]:
        """Return what is said of it before there is a game."""
        event, round_, table = self.key
        return {
            "event": event,
            "round": round_,
            "table": table,
            "rules": self.request.rules_id,
            "players": [name or "-" for name in self.names],
        }


def read_pairings(path: Path, wishes: Wishes) -> list[Pairing]:
    """Return the tables of the file, every one in order. ``wishes``: what holds where a row says nothing.

    Raise ``Failure`` with the row, as a spreadsheet counts it, and the column.
    """
    for option, given in (
        ("--table", wishes.table is not None),
        ("--principal", bool(wishes.principals)),
        ("--series", wishes.series),
        ("--series-of", wishes.previous is not None),
    ):
        if given:
            raise Failure(f"{option} is for one game; expected none with --from", EXIT_USAGE)
    try:
        # Spreadsheets begin their files with a byte order mark.
        return _read(path, path.read_text(encoding="utf-8-sig"), wishes)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except UnicodeDecodeError as error:
        raise Failure(f"{path}: byte {error.start} is not UTF-8; save the table as CSV in UTF-8", EXIT_USAGE) from None


def _read(path: Path, text: str, wishes: Wishes) -> list[Pairing]:
    rows = list(_rows(path, text))
    if not rows:
        raise Failure(f"{path}: no rows; expected a header row and a row for each table", EXIT_USAGE)
    (_, header), *tables = rows
    columns = _columns(path, header)
    found: dict[Key, Pairing] = {}
    for number, cells in tables:
        where = f"{path}: row {number}"
        if extra := cells[len(columns) :]:
            raise Failure(f"{where}: {printable(extra[0])!r} is beyond the last column, {columns[-1]}", EXIT_USAGE)
        pairing = _pairing(where, {name: cell for name, cell in zip(columns, cells, strict=False) if cell}, wishes)
        if (first := found.get(pairing.key)) is not None:
            raise Failure(f"{where}, column table: {pairing.key[2]} again, as in {first.where}", EXIT_USAGE)
        found[pairing.key] = pairing
    if not found:
        raise Failure(f"{path}: no tables; expected a row for each below the header row", EXIT_USAGE)
    return list(found.values())


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows that are not empty with their numbers. Spreadsheets of many countries write semicolons for commas."""
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=";" if ";" in first and "," not in first else ",", strict=True)
    number = 0
    try:
        for number, row in enumerate(reader, start=1):
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield number, cells
    except csv.Error as error:
        raise Failure(f"{path}: row {number + 1}: not CSV ({error})", EXIT_USAGE) from None


def _columns(path: Path, header: Sequence[str]) -> list[str]:
    names = [" ".join(name.lower().split()) for name in header]
    while names and not names[-1]:
        names.pop()
    for name, count in Counter(names).items():
        if name not in _READERS and not _OF_SEAT.match(name):
            known = ", ".join([*_READERS, "seat 0, seat 1, …", "principal 0, …"])
            raise Failure(f"{path}: row 1: no column {printable(name)!r}; expected some of {known}", EXIT_USAGE)
        if count > 1:
            raise Failure(f"{path}: row 1: column {name} twice", EXIT_USAGE)
    if "table" not in names:
        raise Failure(f"{path}: row 1: no column table; expected one", EXIT_USAGE)
    return names


def _pairing(where: str, cells: Mapping[str, str], wishes: Wishes) -> Pairing:
    given: dict[str, Any] = {}
    players: dict[str, dict[int, str]] = {"seat": {}, "principal": {}}
    for column, cell in cells.items():
        if (seat := _OF_SEAT.match(column)) is not None:
            if not cell.isprintable():
                raise Failure(f"{where}, column {column}: expected a name of characters that can be seen", EXIT_USAGE)
            players[seat[1]][int(seat[2])] = cell
            continue
        name, reader, expected = _READERS[column]
        if (reader is int and not _NUMBER.match(cell)) or (column == "take-backs" and cell.lower() not in _YES):
            raise Failure(f"{where}, column {column}: {printable(cell)!r}; expected {expected}", EXIT_USAGE)
        given[name] = reader(cell.lower() if column == "take-backs" else cell)
        # A table that is used for the next round, with its old column, would open nothing: those games are there.
        if name in ("event", "round") and getattr(wishes, name) not in (None, given[name]):
            what = f"{given[name]}; expected {getattr(wishes, name)}, as --{name} says, or no --{name}"
            raise Failure(f"{where}, column {column}: {what}", EXIT_USAGE)
    named = {**players["principal"], **players["seat"]}
    if named and "seats" not in given:
        given["seats"] = max(named) + 1
    asked = replace(wishes, **given)
    key = _key(where, asked)
    try:
        if players["principal"]:
            seats = max(asked.seats or 0, max(named) + 1)
            asked = replace(asked, principals=[players["principal"].get(seat, "-") for seat in range(seats)])
        _check(request := asked.request())
    except (BadWord, Failure, LogError, UnknownRules) as error:
        # It names the option, and so the column, which is called as the option is.
        raise Failure(f"{where}: {error}", EXIT_USAGE) from None
    if missing := [f"seat {seat}" for seat in range(len(request.seats)) if named and seat not in named]:
        raise Failure(f"{where}, column {missing[0]}: empty; expected a player for every seat", EXIT_USAGE)
    if (last := max(named, default=0)) >= len(request.seats):
        column = next(name for name in cells if name.endswith(f" {last}"))
        there = f"the game has seats 0 (player 1) to {len(request.seats) - 1}"
        raise Failure(f"{where}, column {column}: {named[last]!r}; {there}", EXIT_USAGE)
    try:
        names = [players["seat"].get(seat, "") for seat in range(len(request.seats))]
        request = replace(asked, names=names).request()
    except BadWord as error:
        raise Failure(f"{where}: {error}", EXIT_USAGE) from None
    return Pairing(where, key, tuple(named.get(seat, "") for seat in range(len(request.seats))), request)


def _check(request: pb.CreateGameRequest) -> None:
    """Raise for what a referee would refuse: ``BadWord``, ``LogError``, ``UnknownRules``."""
    try:
        rehearse(request, installed())
    except BadField as error:
        raise bad_field(error.field, error.what) from None


def _key(where: str, asked: Wishes) -> Key:
    numbers = {"event": asked.event, "round": asked.round, "table": asked.table}
    for name, number in numbers.items():
        if number is None:
            other = "" if name == "table" else f", or --{name} N"
            raise Failure(f"{where}, column {name}: empty; expected a number{other}", EXIT_USAGE)
    assert asked.event is not None and asked.round is not None and asked.table is not None  # noqa: S101, PT018
    return asked.event, asked.round, asked.table


def told(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tables of a round in lines."""
    lines = []
    for table in tables:
        players = ", ".join(printable(name) for name in table["players"])
        game = f" game {table['game']}" if "game" in table else f" {table['rules']}"
        lines.append(f"table {table['table']}: {table['is']},{game}; {players}")
        if "joins in" in table:
            lines.append(f"  join strings in {table['joins in']}")
        for seat, join in table.get("joins", {}).items():
            lines.append(f"  seat {seat}: {join}")
            if link := table["links"].get(seat):
                lines.append(f"          {link}")
        lines += [f"  {role}: {table[role]}" for role in ("scribe", "arbiter") if table.get(role)]
    return lines
