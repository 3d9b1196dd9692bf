"""A table's result, from a sheet or from the log of its game."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import InputError
from referee.log.arbitration import Arbitration
from referee.log.replay import Record
from referee.tournament.rules.acts import GameLog, Result


def from_scores(scores: Sequence[int], forfeited: tuple[int, ...] = ()) -> Result:
    """Return the result that points of the game give: who forfeited is last."""
    keys = [(seat in forfeited, -score) for seat, score in enumerate(scores)]
    return Result(tuple(1 + sum(other < key for other in keys) for key in keys), tuple(scores), forfeited)


def of_record(record: Record, name: str) -> Result:
    """Return the result of a game that is over, with size and root of its log. Raise ``InputError``."""
    end = record.game.end
    if end is None or not end.places:
        raise InputError(name, "the game is not over, or has no result", "the log of a game with places")
    arbitration: Arbitration = record.game.arbitration
    log = GameLog(record.game_id, record.size, record.root())
    return Result(end.places, end.scores, tuple(sorted(arbitration.out)), log)
