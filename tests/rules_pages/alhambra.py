"""Alhambra: the tiles by type, and the options."""

from __future__ import annotations

from referee.games.alhambra.options import Options
from referee.games.alhambra.tiles import NAMES, TYPES
from tests.rules_pages import options_table

CITATIONS = """\
Citations name the rule texts by edition: CZ (Corfix/Queen 2003), RU (Russian edition), HU (Piatnik). BGA is the Board
Game Arena implementation (thoun/bga-alhambra, 2021-01). "Decided" marks a question that the texts leave open,
"follows" one that other rules answer.
"""

STAND_IN = """\
It takes one card of the row: that of the lowest value, of equal ones that of the first currency in the order denar,
dirham, ducat, guilder. Tiles in hand go to the reserve, in the order of the tile set. It neither buys nor
rebuilds, so its Alhambra stays as it is. Only where no money lies it makes the first of the legal moves in canonical
order: a purchase, or else a rebuild.
"""
"""What the stand-in does (TBL-2)."""

_DRAWN = "It is about a draw: what chance brings is no seat's move."
_NOT_THERE = "The tile, the card or the place that the move needs is not there."
_COURSE = "The game waits for something else: it could not go on from there."

RULINGS = {
    "ALH-A2": "The wall counts where it is an outer one, and passages are those without a wall on either side.",
    "ALH-A3": "A tile that touches nothing would have an outline of its own, and the longest wall no meaning.",
    "ALH-A4": "The tile counts. Later tiles have to be reached themselves.",
    "ALH-A5": "The outline goes around, and there is no wall along the hole. It may be filled later.",
    "ALH-A6": "Like ALH-A5; at the corner the outline stays outside.",
    "ALH-A8": _NOT_THERE,
    "ALH-A9": _NOT_THERE,
    "ALH-C1": "The rule also holds that the cards lie in the row. Too much money can be set right with points.",
    "ALH-C2": "The rule also holds that the cards are in the hand. A wrong payment can be set right with points.",
    "ALH-C4": "Nobody makes this move: only the referee enters a pass.",
    "ALH-C5": _COURSE,
    "ALH-C6": _NOT_THERE,
    "ALH-C7": _NOT_THERE,
    "ALH-C8": _NOT_THERE,
    "ALH-C9": _DRAWN,
    "ALH-C11": _DRAWN,
    "ALH-C14": _COURSE,
    "ALH-D1": _NOT_THERE,
    "ALH-D2": "The fountain is no tile: there is nothing to put in the reserve.",
    "ALH-F1": _DRAWN,
    "ALH-F3": _DRAWN,
    "ALH-F5": "With more than two seats there is no neutral player who could have the tile.",
    "ALH-F11": _COURSE,
    "ALH-F13": _DRAWN,
}
"""Of every constraint, whether an arbiter may let a move stand that breaks it (TBL-7), and why."""


OPTIONS = {
    "age_order": (
        "ALH-F1, ALH-F2",
        "seats from the youngest to the oldest; without it 0, 1, 2, …",
    ),
    "max_turns": ("ALH-C13", "turns of all seats together, then the game ends stalled; 1 to 10000"),
    "loop_rule": ("ALH-B6", "a wall that closes on itself counts its full length, or one less"),
    "end_rule": ("ALH-F6", "the game ends when the market cannot be filled, or when the bag is empty"),
    "slot_currencies": ("ALH-C9", "the currency of each slot of the market; each once"),
}


def appendix() -> list[str]:
    """Lines of Markdown."""
    tiles = [[name for name in NAMES if name.startswith(f"{type_}-")] for type_ in TYPES]
    return [
        "## Tiles",
        "",
        "A tile is named `type-cost-walls`, the walls in the order N E S W; a tile without walls is `type-cost`.",
        "",
        "| type | tiles |",
        "|---|---|",
        *(f"| {type_} | {', '.join(names)} |" for type_, names in zip(TYPES, tiles, strict=True)),
        "",
        *options_table("alhambra", Options, OPTIONS),
    ]
