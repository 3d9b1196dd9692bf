"""Alhambra Roll & Write: the default sheet, its constraints, and the options."""

from __future__ import annotations

from referee.games.rollwrite.options import Options
from referee.games.rollwrite.scoring import place_points
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES, sheet
from tests.rules_pages import options_table

CITATIONS = """\
Citations name the headings of SK, the Slovak edition of the rules. "Decided" marks a question that it leaves open,
"follows" one that other rules answer.
"""

STAND_IN = """\
It gets coins, even where there are none to get, and of the four dice that are rolled then it keeps the lowest blue and
the lowest yellow one. It neither builds nor turns dice; of a building that the seat has begun it makes no second one.
"""
"""What the stand-in does (TBL-2)."""

_DRAWN = "It is about a draw: what chance brings is no seat's move."

RULINGS = {
    "RNW-1": _DRAWN,
    "RNW-2": _DRAWN,
    "RNW-3": _DRAWN,
    "RNW-6": _DRAWN,
    "RNW-8": "The game waits for something else: it could not go on from there.",
    "RNW-9": "The rule also holds that a die shows 1 to 6 at all: where no dice could meet there is no building.",
    "RNW-10": "Nothing is built a second time, and the action is spent.",
    "RNW-11": _DRAWN,
    "RNW-17": "The dice that are kept were not rolled: there would be more of them than there are.",
    "RNW-19": "The rule also holds that there are four dice of 1 to 6.",
    "RNW-20": "There is no building, or there are no dice, to which it would be the second.",
    "RNW-22": "The coins that it costs are not there.",
    "RNW-23": _DRAWN,
    "RNW-25": _DRAWN,
}
"""Of every constraint, whether an arbiter may let a move stand that breaks it (TBL-7), and why."""


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
        "The sheet is part of the game (message `referee.rollwrite.v1.Tables`). Its default,",
        f"`{default.name}`, is **not the printed one**: which building stands where on the printed sheet, how many",
        "boxes a type has and how many coins there are is public in pictures only. Reports that use it say so.",
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
        "A sheet that breaks one of these is refused by its name:",
        "",
        "- `cells`: 36 cells, each of one of the six types.",
        "- `boxes`: as many boxes of a type as it has cells, at least 4 (RNW-5).",
        "- `arcades`: at least 5 boxes of arcades; a player in an example of SK has four and has not completed them.",
        "- `coin_track`: 7 to 255 coins; three are given and one action can bring four.",
        "",
        *options_table("rollwrite", Options, OPTIONS),
    ]
