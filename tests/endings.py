"""The table of endings: a row for each, with its cause and its worth. TBL-37 refers to it; the rules page prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.games.game import Ending


class Worth(Enum):
    """The worth of a game that ended this way."""

    SCORES = "scores and places"
    PLACES = "places, no scores"
    NOTHING = "no result"
    BY_LIMIT = "at the limit of turns scores and places, at that of entries no result; as a seat's, places"
    RULED = "places, and scores where the arbiter gives them; as a seat's, places"


@dataclass(frozen=True, slots=True)
class Consequence:
    """A row of the table."""

    by: str
    """The author of the ending, and the grounds."""
    worth: Worth


CONSEQUENCES: Final[Mapping[Ending, Consequence]] = {
    Ending.RULES: Consequence("the rules of the game", Worth.SCORES),
    Ending.STALLED: Consequence(
        "the limit of turns or entries, or an arbiter of a seat that holds the game up", Worth.BY_LIMIT
    ),
    Ending.RESIGNED: Consequence("the seat", Worth.PLACES),
    Ending.FLAG: Consequence("the referee: the seat's time ran out", Worth.PLACES),
    Ending.DISCONNECTED: Consequence(
        "the referee: the seat was awaited and not connected for longer than the terms allow",
        Worth.PLACES,
    ),
    Ending.CRASHED: Consequence(
        "an arbiter, or the program that runs the bots: the seat's program ended", Worth.PLACES
    ),
    Ending.ILLEGAL_MOVES: Consequence("the referee: the seat reached the strikes of the terms", Worth.PLACES),
    Ending.ADJUDICATED: Consequence("an arbiter, who gives the result or puts a seat out", Worth.RULED),
    Ending.ABORTED: Consequence("the organiser; or the referee, where no deck can be made (TBL-39)", Worth.NOTHING),
    Ending.VOIDED: Consequence("an arbiter: the game does not count", Worth.NOTHING),
    Ending.REFEREE_FAULT: Consequence("the referee: it cannot continue the game", Worth.NOTHING),
}
"""Closed."""
