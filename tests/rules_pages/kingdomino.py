"""Kingdomino: the dominoes, and the options by the names that each door gives them."""

from __future__ import annotations

from referee.games.kingdomino.dominoes import DOMINOES

CITATIONS = """\
Citations name the section of the rule text CZ: Královská zahrada (Společenství duševních sportů, Praha). "Decided"
marks a question that the text leaves open or answers in two ways, "follows" one that other rules answer.
"""


def appendix() -> list[str]:
    """Lines of Markdown."""
    return [
        "## Dominoes",
        "",
        "A half is named `terrain` or `terrain:crowns`. The table is a declared part of a game; this is the default.",
        "",
        "| number | left | right |",
        "|---|---|---|",
        *(f"| {number} | {left} | {right} |" for number, left, right in DOMINOES),
        "",
        "## Options",
        "",
        "A game is opened with them (`referee new --options`, message `referee.kingdomino.v1.Options`); the defaults",
        "are the decisions above.",
        "",
        "| rule | option | values |",
        "|---|---|---|",
        "| KDO-16 | `frame` | `FRAME_RULE_RELATIVE`: any square of the size around what is laid; default fixed |",
        "| KDO-4 | `first_order` | `FIRST_ORDER_RULE_KINGS`: king by king; default a first seat, then clockwise |",
        "| KDO-4 | `declared_order` | the seats whose kings choose first, in order, instead of a draw |",
        "| KDO-27 | `central` | `CENTRAL_RULE_KINGDOM`, `CENTRAL_RULE_FRAME`: 10 points for a castle in the middle |",
        "| KDO-28 | `harmony` | 5 points for a kingdom without a discard |",
        "| KDO-29 | `mighty_duel` | two seats, all dominoes, 7 by 7 cells |",
        "| KDO-30 | `wider_offer` | two or three seats, a line of one domino more |",
        "| KDO-26 | `dynasty` | one of three games whose points are added |",
        "",
    ]
