"""Kingdomino: the dominoes, and the options."""

from __future__ import annotations

from referee.games.kingdomino.dominoes import DOMINOES
from referee.games.kingdomino.options import Options
from tests.rules_pages import options_table

CITATIONS = """\
Citations name the section of the rule text CZ: Královská zahrada (Společenství duševních sportů, Praha). "Decided"
marks a question that the text leaves open or answers in two ways, "follows" one that other rules answer.
"""

STAND_IN = """\
It makes the first of the legal moves in canonical order: the castle in the north-west corner of the frame; the domino
with the lowest number on which no king stands; the first placement by the cell of the left half, then that of the right
half, by column from the west, then by row from the north. Where nothing fits it discards, as anybody has to.
"""
"""What the stand-in does (TBL-2)."""

_DRAWN = "It is about a draw: what chance brings is no seat's move."
_COURSE = "The game waits for something else: it could not go on from there."

RULINGS = {
    "KDO-3": _DRAWN,
    "KDO-4": _DRAWN,
    "KDO-5": "The domino is not in the line, or another king's: two would place it.",
    "KDO-6": "The domino is another king's, or not there.",
    "KDO-7": _COURSE,
    "KDO-9": _COURSE,
    "KDO-12": _DRAWN,
    "KDO-13": "The domino is out, and harmony is lost.",
    "KDO-14": "The domino lies in the frame on two empty cells. Areas are what hangs together.",
    "KDO-16": "The rule also keeps dominoes on the board that is recorded, which is not much larger than the frame.",
    "KDO-17": "Without a cell of the frame for the castle there is no frame for the dominoes.",
    "KDO-18": "Two squares cannot lie on one cell.",
    "KDO-19": "The halves of a domino cannot be parted, nor lie on one cell.",
}
"""Of every constraint, whether an arbiter may let a move stand that breaks it (TBL-7), and why."""


OPTIONS = {
    "frame": (
        "KDO-16",
        "fixed before the first line by the castle's place in it, or any square of its size",
    ),
    "first_order": ("KDO-4", "drawn is a first seat, the others follow clockwise; or king by king"),
    "declared_order": ("KDO-4", "the seats whose kings choose first, in order, instead of a draw"),
    "central": ("KDO-27", "10 points for a castle in the middle of the kingdom, or of the fixed frame"),
    "harmony": ("KDO-28", "5 points for a kingdom without a discard"),
    "mighty_duel": ("KDO-29", "two seats, all dominoes, 7 by 7 cells"),
    "wider_offer": ("KDO-30", "two or three seats, a line of one domino more"),
    "dynasty": ("KDO-26", "one of three games whose points are added"),
}


def appendix() -> list[str]:
    """Lines of Markdown."""
    return [
        "## Dominoes",
        "",
        "A half is named `terrain` or `terrain:crowns`. The set is a declared part of a game; this is the default.",
        "",
        "| number | left | right |",
        "|---|---|---|",
        *(f"| {number} | {left} | {right} |" for number, left, right in DOMINOES),
        "",
        *options_table("kingdomino", Options, OPTIONS),
    ]
