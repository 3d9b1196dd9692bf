"""Games of a series: each log names the one before it, by the hash of its last entry."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from referee.cli.failure import EXIT_USAGE, Failure
from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.transcript.game_file import GameFile

_ID_BYTES = 16


def game_before(file: Path) -> Record:
    """Return the game that another one is to follow, read from its file to the last entry. Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            game_file = GameFile.read(stream)
    except OSError as error:
        raise Failure(f"--series-of {file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"--series-of {file}: {error}", EXIT_USAGE) from None
    record = game_file.record
    if not game_file.ended or record.game.end is None:
        raise Failure(f"--series-of {file}: expected the file of a game that is over", EXIT_USAGE)
    if not record.opened.HasField("series"):
        raise Failure(
            f"--series-of {file}: this game is not part of a series; expected one opened with --series", EXIT_USAGE
        )
    return record


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

    Raise ``Failure`` for both, and where the rules end the series.
    """
    if record is None:
        return log_pb2.Series(id=secrets.token_bytes(_ID_BYTES), index=0) if first else None
    if first:
        raise Failure("--series and --series-of: expected only one of them", EXIT_USAGE)
    before = record.opened.series
    if (rules := _rules(record)) is not None and rules.is_last(record.game.position.state, before.index):
        raise Failure("--series-of: this game was the last of its series; expected an earlier one", EXIT_USAGE)
    return log_pb2.Series(id=before.id, index=before.index + 1, previous_head=record.head)
