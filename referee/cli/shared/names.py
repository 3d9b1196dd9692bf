"""Names of players in commands: as they are typed, in the file beside a game's, and as a referee tells them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.console import printable
from referee.games.game import InputError
from referee.log.names import Shown, Source, names_in, people_of, rows_of, seat_meant, shown
from referee.log.replay import Record
from referee.text.notation.headers import Setup
from referee.tournament.names import listed


def given_names(text: str) -> list[str]:
    """Return the names of ``--names`` by seat, empty for none. Raise ``Failure``."""
    try:
        if "," not in text and (path := Path(text)).is_file():
            found = [entrant.name for entrant in listed(path.read_bytes())]
        else:
            found = [name.strip() for name in text.split(",")]
        people, alike = people_of(found)
    except OSError as error:
        raise Failure(f"--names {text}: {error.strerror}", EXIT_USAGE) from None
    except InputError as error:
        raise Failure(f"--names: {error}", EXIT_USAGE) from None
    for one, other in alike:
        warn_alike(people[one], people[other])
    return [people.get(seat, "") for seat in range(len(found))]


def warn_alike(one: str, other: str) -> None:
    """Point out two names that people cannot tell apart."""
    print(
        f"warning: {printable(one)} and {printable(other)} look the same, and are spelled in different letters; "
        "if that is not what you want, name one of them anew",
        file=sys.stderr,
    )


def in_order(names: Mapping[int, str], seats: int) -> Sequence[str]:
    """Return the names by seat, empty for none."""
    return [names.get(seat, "") for seat in range(seats)]


# --- the file beside a game's ---------------------------------------------------------------------------------------

SUFFIX: Final = ".names.csv"


def beside(path: Path) -> Path:
    """Return the file of names that belongs to a game's file."""
    return path.with_suffix(SUFFIX)


def is_names(text: str) -> bool:
    """Return whether a text is a file of names."""
    return text.removeprefix("\ufeff").startswith("number,name,salt")


def names_of_file(path: Path, record: Record, given: Path | None = None) -> dict[int, Shown]:
    """Return the names of a game's players by seat, from ``given`` or from the file beside. Raise ``Failure``.

    ``path``: the game's file; ``record``: what is in it.
    """
    names = given or beside(path)
    try:
        text = names.read_text(encoding="utf-8")
    except FileNotFoundError:
        if given is None:
            return {}
        raise Failure(f"{names}: no such file", EXIT_USAGE) from None
    except OSError as error:
        raise Failure(f"{names}: {error.strerror}", EXIT_USAGE) from None
    except UnicodeDecodeError as error:
        raise Failure(f"{names}: byte {error.start} is not UTF-8", EXIT_USAGE) from None
    players = [seat.player for seat in record.opened.seats]
    try:
        found = names_in(rows_of(text), record.game_id.hex(), players)
    except InputError as error:
        raise Failure(f"{names}: {error}", EXIT_USAGE) from None
    return {seat: shown(person, players[seat]) for seat, person in found.items()}


def in_setup(setup: Setup, names: Mapping[int, Shown]) -> Setup:
    """Return the setup with the names, as headers can have them: without quotation marks."""
    if not names:
        return setup
    players = {seat: found.name.replace('"', "\u201d") for seat, found in names.items()}
    return replace(setup, players=tuple(in_order(players, setup.seats)))


def name_lines(names: Mapping[int, Shown]) -> list[str]:
    """Return a line for each player, with what is not proven."""
    return [f"p{seat + 1}: {marked(names[seat])}" for seat in sorted(names)]


def marked(found: Shown) -> str:
    """Return a name for a terminal, with who says it where the game does not prove it."""
    if found.confirmed:
        return printable(found.name)
    says = "as the player says" if found.source is Source.PLAYER else "as the organiser says"
    return f"{printable(found.name)} ({says})"


# --- who is meant, and shown before an act is sent -------------------------------------------------------------------


def seat_of(option: str, text: str, names: Mapping[int, Shown], seats: int) -> int:
    """Return the seat of a name, of p1, p2, … or of a number of the notation. Raise ``Failure``."""
    try:
        return seat_meant(text, in_order({seat: found.name for seat, found in names.items()}, seats)).seat
    except InputError as error:
        raise Failure(f"{option} {error.what}; expected {error.expected}", EXIT_USAGE) from None


def player_line(seat: int, names: Mapping[int, Shown]) -> str:
    """Return who has a seat, to be read before an act is confirmed."""
    who = marked(names[seat]) if seat in names else "no name"
    return f"player: p{seat + 1}, {who} (seat {seat} in notation)"


def place_lines(places: Sequence[int], names: Mapping[int, Shown]) -> list[str]:
    """Return who gets which place, to be read before a result is confirmed."""
    order = sorted(range(len(places)), key=lambda seat: places[seat] or len(places) + 1)
    return [
        f"place {places[seat] or '–'}: p{seat + 1}" + (f", {marked(names[seat])}" if seat in names else "")
        for seat in order
    ]
