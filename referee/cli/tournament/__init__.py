"""Commands of the panel "Tournaments"."""

from __future__ import annotations


def event() -> None:
    """Run a tournament at tables of two to six: enter, pair, publish, take results, standings.

    An event is one file, `NAME.eventlog`, a signed log of everything that the organiser did: anyone can check pairings
    and standings with `referee event check`. Keys, the seed and names lie beside it, in the folder `NAME.private`, for
    you alone. An event that was begun with `new --server` is kept by a referee; the file is a copy.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 8 the rules of events forbid it (docs/rules/event.md), and nothing was
    entered. `check` has further ones.
    """
