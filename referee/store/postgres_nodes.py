"""Who writes to a PostgreSQL database: incarnations of referees, of which one at a time is not dead.

A start, and every new connection, is an incarnation: a row in ``nodes``, and a lock that its session holds as long as
it lives. It notes that it lives twice a second. By the database's clock alone it is decided whether another may take
over: when its session is gone, or when it has been silent for the lease. Taking over marks it dead, which waits for a
batch under way; its later batches find no row of theirs that is not dead, and write nothing.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from time import sleep
from typing import Final, NamedTuple

from referee.store.errors import Occupied, StoreFailed
from referee.store.postgres_session import PostgresSession
from referee.store.session import Session

BEAT_S = 0.5
LEASE_S = 3.0
_LOOK_S = 0.05
_END_MS = 5_000

# 7 and the incarnation name its lock; 7 and 0 the one that those who start take in turn.
_LIVING: Final = """SELECT id, name, referee, beat, extract(epoch FROM clock_timestamp() - beat)::float8, (
        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 7 AND objid::bigint = id AND objsubid = 2
        AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) FROM nodes WHERE NOT dead"""
ALIVE: Final = "SELECT 1 FROM nodes WHERE id = ? AND NOT dead FOR SHARE"
"""Finds a row as long as nobody has taken over, and keeps everybody from it until the transaction ends."""
END = "SELECT pg_terminate_backend(?, ?)"
"""Ends a session, and waits for that for so many milliseconds."""


class _Living(NamedTuple):
    """An incarnation that nobody has marked dead."""

    id: int
    name: str
    referee: bytes
    beat: object
    silent_s: float
    pid: int | None
    """Of the session that has its lock; None: that is gone."""

    def may_live(self, lease_s: float) -> bool:
        return self.pid is not None and self.silent_s < lease_s


def begin(session: PostgresSession, url: str, referee: bytes, before: int | None, lease_s: float) -> int | None:
    """Take over from whoever does not live any more; return the incarnation, whose lock the session has.

    ``referee``: the same for all incarnations of one referee. ``before``: the one that it knows to have been; None is
    returned if another referee has taken over since. Raise ``Occupied`` if another one lives, ``StoreFailed``,
    ``psycopg.Error``.
    """
    session.execute("BEGIN")
    session.execute("SELECT pg_advisory_xact_lock(7, 0)")
    others = "SELECT 1 FROM nodes WHERE id > ? AND referee <> ? LIMIT 1"
    if before is not None and session.execute(others, (before, referee)).fetchone() is not None:
        session.execute("ROLLBACK")
        return None
    for each in _silent(session, url, referee, lease_s):
        if each.pid is not None:
            session.execute(END, (each.pid, _END_MS))
    with suppress(StoreFailed):
        session.heed()  # it warns of a session that has just ended by itself; one that has not is waited for below
    session.execute("UPDATE nodes SET dead = true WHERE NOT dead")
    added = "INSERT INTO nodes (name, referee) VALUES (?, ?) RETURNING id"
    name = f"{socket.gethostname()}, process {os.getpid()}"
    node: int = session.execute(added, (name, referee)).fetchone()[0]
    session.execute("SELECT pg_advisory_lock(7, ?::integer)", (node,))
    session.execute("COMMIT")
    session.heed()
    (own,) = session.execute("SELECT pg_backend_pid()").fetchone()
    if [each.pid for each in _living(session)] != [own]:
        what = "something between here and the database changes sessions, such as PgBouncer"
        raise StoreFailed(f"{url}: {what}; expected the address of PostgreSQL itself")
    return node


def _living(session: Session) -> list[_Living]:
    return [_Living(*row) for row in session.execute(_LIVING)]


def _silent(session: Session, url: str, referee: bytes, lease_s: float) -> list[_Living]:
    """Return the incarnations to take over from. Raise ``Occupied`` if one lives, which takes a beat to see.

    One that is gone may leave its session behind for a moment, and one that hangs for the lease: that is waited for.
    """
    seen: dict[int, object] = {}
    while True:
        living = _living(session)
        others = [each for each in living if each.referee != referee and each.may_live(lease_s)]
        for each in others:
            if seen.setdefault(each.id, each.beat) != each.beat:
                raise Occupied(f"{url}: another referee ({each.name}) is running on this database; stop it first")
        if not others:
            return living
        sleep(_LOOK_S)


def beat(session: Session, node: int) -> bool:
    """Note that the incarnation lives; return False if it does not any more, as another has taken over."""
    return session.execute("UPDATE nodes SET beat = clock_timestamp() WHERE id = ? AND NOT dead", (node,)).rowcount == 1


def silent_s(session: Session) -> float | None:
    """Return since when no referee has noted that it lives, in seconds; None: there has been none."""
    query = "SELECT extract(epoch FROM clock_timestamp() - max(beat))::float8 FROM nodes"
    silent: float | None = session.execute(query).fetchone()[0]
    return silent


def end(session: Session, node: int) -> None:
    """Note that the incarnation writes no more, by its own will."""
    session.execute("UPDATE nodes SET dead = true WHERE id = ?", (node,))
