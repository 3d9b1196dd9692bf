"""The game before, of a series, from its file."""

from __future__ import annotations

from pathlib import Path

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.telling.game_file import GameFile


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
