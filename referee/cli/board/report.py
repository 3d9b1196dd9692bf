"""``referee report``: a game file on paper, and what organisers add to a report: date, event, table, names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date as calendar_date
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import game_texts, output
from referee.cli.shared.arguments import Language, verifier_key, words_in
from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure
from referee.cli.shared.game_texts import write_new
from referee.cli.shared.names import beside, in_order, is_names, marked, names_of_file
from referee.console import printable
from referee.log.errors import LogError
from referee.log.file import MAGIC
from referee.log.verdict import Finding
from referee.telling import report as game_report
from referee.telling.game_file import GameFile
from referee.text.notation.headers import MAX_NAME, Setup
from referee.text.report.model import Heading, Seat, signatures
from referee.text.report.text import html, text
from referee.text.words.catalogue import ENGLISH

Date = Annotated[
    str, Parameter(name="--date", metavar="DATE", help="For the report: when the game was played, such as 2026-11-22.")
]
Event = Annotated[str, Parameter(name="--event", metavar="NAME", help="For the report: the name of the event.")]
Round = Annotated[
    int | None, Parameter(name="--round", metavar="N", help="The round, if the game has none.", validator=Number(gte=0))
]
Table = Annotated[
    int | None, Parameter(name="--table", metavar="N", help="The table, if the game has none.", validator=Number(gte=0))
]
Arbiter = Annotated[str, Parameter(name="--arbiter", metavar="NAME", help="For the report: the arbiter's name.")]
Names = Annotated[
    Path | None,
    Parameter(
        name="--names",
        metavar="FILE",
        help="A file of names, as referee fetch writes beside a game's and an event keeps; or a roster: a line for "
        "each player, such as 0: Blue; a seat or a key.",
    ),
]
_LINE = re.compile(r"(?P<who>[0-9]|[0-9a-fA-F]{64})[ \t]*:[ \t]*(?P<name>\S.*)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Roster:
    """Names of players."""

    path: Path | None = None
    by_seat: Mapping[int, str] = field(default_factory=dict)
    by_key: Mapping[str, str] = field(default_factory=dict)
    """The names by public keys, in lower case hexadecimal."""

    def name_of(self, seat: int, known: str = "", key: str = "") -> str:
        """Return the name; ``known``: the game's own. Raise ``Failure`` if they differ."""
        names = [name for name in (known, self.by_seat.get(seat, ""), self.by_key.get(key.lower(), "")) if name]
        if len({*names}) > 1:
            raise Failure(f"--names {self.path}: seat {seat} is {names[1]}; expected {names[0]}", EXIT_USAGE)
        return names[0] if names else ""


def heading(date: str, event: str, arbiter: str) -> Heading:
    """Return what the options say. Raise ``Failure``."""
    if date:
        try:
            date = calendar_date.fromisoformat(date).isoformat()
        except ValueError:
            raise Failure(f"--date {date}: expected a date such as 2026-11-22", EXIT_USAGE) from None
    for option, words in (("--event", event), ("--arbiter", arbiter)):
        if not words.isprintable() or len(words) > MAX_NAME:
            raise Failure(f"{option}: expected at most {MAX_NAME} characters that can be seen", EXIT_USAGE)
    return Heading(date, event.strip(), arbiter.strip())


def roster_of(path: Path | None) -> Roster:
    """Return the names of a file. Raise ``Failure``."""
    return Roster() if path is None else game_texts.read(path, lambda text: _roster(path, text))


def _roster(path: Path, text: str) -> Roster:
    by_seat: dict[int, str] = {}
    by_key: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith(";"):
            continue
        found = _LINE.match(words)
        if found is None:
            raise Failure(f"{path}: line {number}: expected a seat or a key and a name, such as 0: Blue", EXIT_USAGE)
        who, name = found["who"], found["name"]
        if not name.isprintable() or '"' in name or len(name) > MAX_NAME:
            expected = f"a name of at most {MAX_NAME} characters that can be seen, without quotation marks"
            raise Failure(f"{path}: line {number}: expected {expected}", EXIT_USAGE)
        names, at = (by_seat, int(who)) if len(who) == 1 else (by_key, who.lower())
        if at in names:
            raise Failure(f"{path}: line {number}: {who} again; expected each once", EXIT_USAGE)
        names[at] = name  # type: ignore[index]
    return Roster(path, by_seat, by_key)


def _named(path: Path, given: Path | None) -> tuple[Roster, dict[int, str]]:
    """Return a roster, and the names that entries can be told with. Raise ``Failure``."""
    if given is not None and not game_texts.read(given, is_names):
        return roster_of(given), {}
    try:
        with path.open("rb") as stream:
            record = GameFile.read(stream, 0).record
    except (OSError, LogError):
        return Roster(), {}  # whoever reads it as a whole says why
    players = {seat: marked(found) for seat, found in names_of_file(path, record, given).items()}
    return Roster(given or beside(path), players), players


def completed(setup: Setup, names: Roster, round_: int | None, table: int | None) -> Setup:
    """Return the setup with the facts that it lacks. Raise ``Failure`` if it contradicts them."""
    for option, given, said in (("--round", round_, setup.round), ("--table", table, setup.table)):
        if given is not None and said is not None and given != said:
            raise Failure(f"{option} {given}: the game says {said}; expected the same, or no option", EXIT_USAGE)
        if given is not None and given >= 1 << 32:
            raise Failure(f"{option} {given}: expected at most {(1 << 32) - 1}", EXIT_USAGE)
    _check_seats(names, setup.seats)
    known = setup.players or ("",) * setup.seats
    players = tuple(names.name_of(seat, name) for seat, name in enumerate(known))
    return replace(
        setup,
        round=setup.round if round_ is None else round_,
        table=setup.table if table is None else table,
        players=players if any(players) else (),
    )


def named(seats: Sequence[Seat], names: Roster) -> tuple[Seat, ...]:
    """Return the seats with their names, by seat or by key. Raise ``Failure``."""
    _check_seats(names, len(seats))
    return tuple(replace(seat, name=names.name_of(seat.number, seat.name, seat.key)) for seat in seats)


def _check_seats(names: Roster, seats: int) -> None:
    if beyond := [seat for seat in names.by_seat if seat >= seats]:
        raise Failure(f"--names {names.path}: the game has no seat {beyond[0]}", EXIT_USAGE)


def report(
    file: Annotated[Path, Parameter(name="FILE", help="A game file (.gamelog).")],
    /,
    *,
    key: Annotated[
        str | None,
        Parameter(metavar="VKEY", help="The referee's verifier key; without it the signature is not checked."),
    ] = None,
    as_html: Annotated[
        bool, Parameter(name="--html", negative="--text", help="Write a page with pictures, or plain text.")
    ] = False,
    out: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="Write to this new file; by default to standard output."),
    ] = None,
    date: Date = "",
    event: Event = "",
    round_: Round = None,
    table: Table = None,
    arbiter: Arbiter = "",
    names: Names = None,
    language: Language = ENGLISH,
) -> None:
    """Write the report of a game: the audit's verdict, then rules, seats, score sheet, refused attempts, entries and
    hashes.

    The report is one file without scripts or links to other files, to print, send or keep. The game file is audited
    first, as by `referee audit`; if it is damaged or wrong, the report covers what comes before the damage.

    Exit codes: those of `referee audit`; 2 wrong usage; 1 the report cannot be written.

    Examples: `referee report game.gamelog --key referee.vkey`, `referee report game.gamelog --key referee.vkey --html
    --out game.html`
    """
    say = words_in(language)
    head = heading(date, event, arbiter)
    roster, players = _named(file, names)
    say = say.naming(in_order(players, max(players, default=-1) + 1))
    verifier = None if key is None else verifier_key("--key", key)
    try:
        with file.open("rb") as stream:
            if not stream.read(len(MAGIC)).startswith(MAGIC[:4]):
                raise Failure(
                    f"{file}: not a game file; expected one, or referee adjudicate for the record of a game", EXIT_USAGE
                )
            stream.seek(0)
            audit, made = game_report.report(
                stream,
                verifier,
                head,
                lambda setup: completed(setup, Roster(), round_, table),
                named=lambda seats: named(seats, roster),
                say=say,
            )
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{file}: {error}", int(Finding.of(error).verdict)) from None
    if head:
        made = replace(made, signatures=signatures(made.seats, head, made.say))
    written = html(made) if as_html else text(made)
    if out is None:
        output.write(written)
    else:
        write_new("--out", out, written.encode())
        print(f"wrote {printable(str(out))}: {audit.headline}")
    raise Exit(audit.exit_code)
