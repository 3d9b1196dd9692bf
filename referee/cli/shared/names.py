"""Names of players in commands: as they are typed, in the file beside a game's, and as a referee tells them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.console import printable
from referee.games.game import InputError
from referee.log.names import people_of
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
