"""Alhambra Roll & Write: the default sheet, its constraints, and the options by the names that each door gives them."""

from __future__ import annotations

from referee.games.rollwrite.scoring import place_points
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES, sheet

CITATIONS = """\
Citations name the headings of SK, the Slovak edition of the rules. "Decided" marks a question that it leaves open,
"follows" one that other rules answer.
"""


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
        "## Options",
        "",
        "A game is opened with them (`referee new --options`, message `referee.rollwrite.v1.Options`); the defaults",
        "are the decisions above.",
        "",
        "| rule | option | values |",
        "|---|---|---|",
        "| RNW-1 | `start_seat` | who starts; default: drawn |",
        "| RNW-6, RNW-43 | `virtual_players` | with one seat 2, 3 or 4; default 2 |",
        "| RNW-44 | `solo` | `SOLO_RULE_AGAINST`: with one seat, virtual players score and get a bonus |",
        "",
    ]
