"""Games of a series: each log names the one before it, by the hash of its last entry."""

from __future__ import annotations

import secrets
from typing import Any

from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation.violations import BadWord

_ID_BYTES = 16


def next_options(record: Record) -> bytes:
    """Return the options of the game that follows, encoded: as they were, unless the rules say how they go on."""
    if (rules := _rules(record)) is None:
        return record.opened.options
    found: bytes = record.game.position.codec.encode_options(rules.next_options(record.game.position.state))
    return found


def _rules(record: Record) -> Any:
    """Return what the game has of series, if it has any."""
    try:
        return registry.part("referee.games", record.opened.rules_id, "series")
    except UnknownRules:
        return None


def place(record: Record | None, *, first: bool) -> log_pb2.Series | None:
    """Return the place in its series of a game: after this one, or the first of a new series; None: it is of none.

    Raise ``BadWord`` for both, and where the rules end the series.
    """
    if record is None:
        return log_pb2.Series(id=secrets.token_bytes(_ID_BYTES), index=0) if first else None
    if first:
        raise BadWord("series", " and --series-of: expected only one of them")
    before = record.opened.series
    if (rules := _rules(record)) is not None and rules.is_last(record.game.position.state, before.index):
        raise BadWord("series-of", ": this game was the last of its series; expected an earlier one")
    return log_pb2.Series(id=before.id, index=before.index + 1, previous_head=record.head)
