"""Games in doubt in a PostgreSQL database: with several referees a doubt holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import time
from typing import Any

from referee.server.store import statements
from referee.server.store.postgres_opening import ClusterMark, Doubting, end_waiver
from referee.server.store.session import Session
from referee.server.store.sql import fact, keep_fact
from referee.server.store.sqlite_marks import SqliteMarks

_DOUBT = "doubt "


class SharedMarks(SqliteMarks):
    """The marks of one node. The database knows its doubts."""

    def __init__(self, change: Callable[..., Any], path: Path, busy_s: float) -> None:
        """``change`` is called with a function of a connection, and its arguments: it is durable when this returns."""
        super().__init__(path, busy_s=busy_s)
        self._change = change

    def _keep_doubts(self, games: Mapping[bytes, int]) -> None:
        self._change(keep_doubts, games)

    def _end_doubt(self, game_id: bytes) -> None:
        self._change(_end_doubt, game_id)


def doubts_of(session: Session) -> dict[bytes, int]:
    """Return the games in doubt, as ``Marks.doubts``."""
    found = session.execute("SELECT name, value FROM facts WHERE name LIKE ?", (f"{_DOUBT}%",))
    return {bytes.fromhex(name.removeprefix(_DOUBT)): int(value) for name, value in found.fetchall()}


def doubt_of(session: Session, game_id: bytes) -> int | None:
    """Return since when a game is in doubt, in milliseconds since 1970; None: it is not."""
    kept = fact(session, _name(game_id))
    return None if kept is None else int(kept)


def keep_doubts(session: Session, games: Mapping[bytes, int]) -> None:
    """Put these games in doubt; for each, when its copy was made."""
    for game_id, copied_ms in games.items():
        keep_fact(session, _name(game_id), str(copied_ms).encode())


def doubt_lost(session: Session, lost: Iterable[bytes]) -> None:
    """Put games in doubt that lack entries, since their last one."""
    last_ms = dict(statements.last_times(session))
    keep_doubts(session, {game_id: last_ms.get(game_id, round(time() * 1000)) for game_id in lost})


def doubt_all(session: Session, mark: ClusterMark | None) -> tuple[int, Mapping[bytes, int]]:
    """Put every game in doubt that is not over, unless that was done since ``mark``.

    Return when it was done before, in milliseconds since 1970, 0 if it was done now; and the games, if it was.
    """
    doubting = Doubting.of(session)
    if mark is not None and doubting.is_newer_than(mark.doubted):
        return doubting.at_ms, {}
    # A game that is in doubt since an older copy stays so.
    last_ms = dict(statements.last_times(session)) | doubts_of(session)
    keep_doubts(session, last_ms)
    doubting.begin(session, None if mark is None else mark.doubted)
    # The organiser waived a standby for what the database was then.
    end_waiver(session)
    return 0, last_ms


def _name(game_id: bytes) -> str:
    return _DOUBT + game_id.hex()


def _end_doubt(session: Session, game_id: bytes) -> None:
    session.execute("DELETE FROM facts WHERE name = ?", (_name(game_id),))
