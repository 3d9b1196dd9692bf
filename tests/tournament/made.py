"""Events that have come some way, made in memory."""

from __future__ import annotations

from typing import Any

from referee.tournament.log import EventLog
from referee.tournament.rules.acts import CheckIn, Enter
from tests.log.games import key
from tests.tournament.rules.stages import terms


def made(players: int, **others: Any) -> EventLog:
    """Return an event with this many players, entered and present. ``others``: terms."""
    log = EventLog.new(terms(**{"rounds": 9, **others}), key("organiser"))
    for number in range(1, players + 1):
        log.enter(Enter(number))
        log.enter(CheckIn(number))
    return log
