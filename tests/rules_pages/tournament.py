"""Events: what the page of their rules says beside the catalogue."""

from __future__ import annotations

from referee.tournament.rules.quality import Vector
from referee.tournament.rules.terms import TieBreak

CITATIONS = """\
"Decided" marks our answer to a question that no text of others answers for tables of two to six. C.04 and C.07 are
sections of the FIDE Handbook on Swiss systems and tie-breaks; WBC, Europe Masters and HIG are championships of board
games whose published rules have the same.
"""

_COMPONENTS = {
    "second_byes": "byes that the players with a bye had before",
    "bye_rank": "over the byes, places that the player stands above the lowest who may have it",
    "forbidden": "pairs at one table who should not meet",
    "repeats": "over the pairs at one table, the square of how often they met",
    "again": "pairs at one table who met in the round before",
    "second_shorts": "players at a short table who sat at one before",
    "spread": "over the tables, most points less least points, in 60ths",
    "float": "over the tables, players who stand between its best and its worst and sit elsewhere",
    "seats": "over players and seats, the square of how often the player will have sat there",
}


def appendix() -> list[str]:
    """Lines of Markdown."""
    assert tuple(_COMPONENTS) == Vector._fields
    return [
        "## The quality vector",
        "",
        "Integers, compared from the first to the last; less is better (EVT-P6). [events.md](../events.md) says how",
        "an event is run.",
        "",
        "| component | what it counts |",
        "|---|---|",
        *(f"| `{name}` | {words} |" for name, words in _COMPONENTS.items()),
        "",
        "## Tie-breaks",
        "",
        "In the terms of an event some of these stand in the order in which they count:",
        f"{', '.join(f'`{each.id}`' for each in TieBreak)}.",
        "All are fractions, and more is better. They are printed rounded and compared exactly.",
        "",
    ]
