"""How games end: one row for each ending, with who brings it about and what it is worth. Versioned with the rules of
the table.

A seat that forfeits is behind every seat that does not; those that stayed longer are before those that left earlier.
Its tiles stay where they are and count against the others as they did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.games.forfeits import places_after, places_by, places_of_last
from referee.games.game import Over
from referee.log.v1 import log_pb2


class Worth(Enum):
    """What a game that ended so is worth."""

    SCORES = "scores and places"
    PLACES = "places, no scores"
    NOTHING = "no result"
    BY_LIMIT = "at the limit of turns scores and places, at that of entries no result; as a seat's, places"
    RULED = "places, and scores where the arbiter gives them; as a seat's, places"


@dataclass(frozen=True, slots=True)
class Consequence:
    """A row of the table."""

    by: str
    """Who enters it, on what grounds."""
    worth: Worth
    forfeits: bool = False
    """It is a seat's: the others play on until one is left."""


CONSEQUENCES: Final[Mapping[int, Consequence]] = {
    log_pb2.ENDING_RULES: Consequence("the rules of the game", Worth.SCORES),
    log_pb2.ENDING_STALLED: Consequence(
        "the limit of turns or entries, or an arbiter of a seat that holds the game up", Worth.BY_LIMIT, forfeits=True
    ),
    log_pb2.ENDING_RESIGNED: Consequence("the seat", Worth.PLACES, forfeits=True),
    log_pb2.ENDING_FLAG: Consequence("the referee: the seat's time ran out", Worth.PLACES, forfeits=True),
    log_pb2.ENDING_DISCONNECTED: Consequence(
        "the referee: the seat was awaited and not connected for longer than the terms allow",
        Worth.PLACES,
        forfeits=True,
    ),
    log_pb2.ENDING_CRASHED: Consequence(
        "an arbiter, or who runs the bots: the seat's program ended", Worth.PLACES, forfeits=True
    ),
    log_pb2.ENDING_ILLEGAL_MOVES: Consequence(
        "the referee: the seat reached the strikes of the terms", Worth.PLACES, forfeits=True
    ),
    log_pb2.ENDING_ADJUDICATED: Consequence(
        "an arbiter, who gives the result or puts a seat out", Worth.RULED, forfeits=True
    ),
    log_pb2.ENDING_ABORTED: Consequence("the organiser", Worth.NOTHING),
    log_pb2.ENDING_VOIDED: Consequence("an arbiter: the game does not count", Worth.NOTHING),
    log_pb2.ENDING_REFEREE_FAULT: Consequence("the referee: it cannot go on with the game", Worth.NOTHING),
}
"""Closed; the numbers are those of ``referee.log.v1.Ending``."""

OF_A_SEAT: Final = tuple(number for number, row in CONSEQUENCES.items() if row.forfeits)
"""How a seat can forfeit."""
AT_ANY_TIME: Final = (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT)
"""What ends a game that nothing else has ended, whatever is awaited."""


def of_rules(over: Over, out: Sequence[int], points_off: Sequence[int]) -> log_pb2.GameEnd:
    """The rules have ended the game. ``out``: seats that forfeited, in that order; ``points_off``: per seat."""
    ending = log_pb2.Ending.ValueType(over.ending.value)
    if not any(points_off) and not out:
        return log_pb2.GameEnd(ending=ending, scores=over.scores, places=over.places)
    scores = [score - points for score, points in zip(over.scores, points_off, strict=True)]
    places = places_after(places_by(over.scores, points_off, over.places), out)
    return log_pb2.GameEnd(ending=ending, scores=scores, places=places)


def of_forfeits(seats: int, out: Mapping[int, int]) -> log_pb2.GameEnd | None:
    """All seats but one have forfeited, or all: how they did, by seat, in that order. None: more are left."""
    if not out or seats - len(out) > 1:
        return None
    ending = log_pb2.Ending.ValueType(list(out.values())[-1])
    return log_pb2.GameEnd(ending=ending, places=places_of_last(seats, list(out)))
