"""Alhambra Roll & Write: the default sheet, its constraints, and the options."""

from __future__ import annotations

from referee.games.rollwrite.options import Options
from referee.games.rollwrite.scoring import place_points
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES, sheet
from tests.rules_pages import options_table

CITATIONS = """\
Citations name the headings of SK, the Slovak edition of the rules. "Decided" marks our answer to a question that it
leaves open, "follows" an answer that other rules imply.
"""

STAND_IN = """\
It gets coins, even if there are none to get, and keeps the lowest blue and the lowest yellow of the four dice that are
then rolled. It neither builds nor changes dice. If the seat has already built, it builds no second time.
"""
"""The stand-in's move (TBL-2)."""

_DRAWN = "The rule is about a roll, which is not a seat's move."

RULINGS = {
    "RNW-1": _DRAWN,
    "RNW-2": _DRAWN,
    "RNW-3": _DRAWN,
    "RNW-6": _DRAWN,
    "RNW-8": "The game waits for another event: it could not go on from there.",
    "RNW-9": "The rule also says that a die shows 1 to 6: without dice that could meet there is no building.",
    "RNW-10": "Nothing is built a second time, and the action is spent.",
    "RNW-11": _DRAWN,
    "RNW-17": "The kept dice were not rolled: there would be more dice than there are.",
    "RNW-19": "The rule also says that there are four dice of 1 to 6.",
    "RNW-20": "There is no first building, or there are no dice for a second.",
    "RNW-22": "The seat does not have the coins that it costs.",
    "RNW-23": _DRAWN,
    "RNW-25": _DRAWN,
}
"""For every constraint, why an arbiter may or may not let a move stand that breaks it (TBL-7)."""


OPTIONS = {
    "start_seat": ("RNW-1", "who starts, declared; without it the seat is drawn"),
    "virtual_players": ("RNW-6, RNW-43", "with one seat 2, 3 or 4; without it 2"),
    "solo": ("RNW-44", "with one seat: for points, or against the virtual players, who score and get a bonus"),
}


def appendix() -> list[str]:
    """Lines of Markdown."""
    default = sheet()
    rows = [default.grid[first : first + FACES] for first in range(0, CELLS, FACES)]
    return [
        "## Sheet",
        "",
        "The sheet is part of the game (message `referee.rollwrite.v1.Tables`). The default sheet,",
        f"`{default.name}`, is **not the printed one**: cells, boxes and coins of the printed sheet are only published",
        "as pictures. Supply your own sheet to play on it. Reports on the default sheet say that it is ours.",
        "",
        f"| {default.rows_are} | {' | '.join(f'yellow {value}' for value in range(1, FACES + 1))} |",
        f"|---|{'---|' * FACES}",
        *(f"| {blue} | {' | '.join(TYPES[type_] for type_ in row)} |" for blue, row in enumerate(rows, 1)),
        "",
        f"{default.coin_track} coins can be circled. Boxes and points of each type:",
        "",
        "| type | boxes | 1st | 2nd | 3rd |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {default.boxes[type_]} | {' | '.join(map(str, place_points(type_)))} |"
            for type_, name in enumerate(TYPES)
        ),
        "",
        "A sheet that breaks one of these constraints is refused, with the constraint's name:",
        "",
        "- `cells`: 36 cells, each of one of the six types.",
        "- `boxes`: as many boxes of a type as it has cells, at least 4 (RNW-5).",
        "- `arcades`: at least 5 boxes of arcades; in an example of SK a player has four and has not completed them.",
        "- `coin_track`: 7 to 255 coins; three are given at the start, and one action can bring four.",
        "",
        (
            "One more example of SK speaks of boxes and is not followed: Ani has completed the towers with eight "
            f"crosses, and the default sheet has {default.boxes[TYPES.index('tower')]} boxes for them. Crosses in the "
            "examples are off by one elsewhere, too: those of the table for two players do not give the points that "
            "are printed there."
        ),
        "",
        *options_table("rollwrite", Options, OPTIONS),
    ]
