"""What a PostgreSQL server, or this machine, must be like for a referee. Each refusal is one line."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from time import sleep, time
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from referee.server.store.cluster_mark import ClusterMark
from referee.server.store.errors import Cause, StoreFailed
from referee.server.store.marks import Mark
from referee.server.store.postgres_arrays import Byteas, Integers
from referee.server.store.postgres_nodes import beats_of
from referee.server.store.postgres_session import PostgresSession
from referee.server.store.session import Session
from referee.server.store.sql import fact, keep_fact
from referee.server.store.store import Standbys

MOST_OFF_MS = 250
_AGAIN_S, _MOST_AGAIN_S = 0.001, 0.016
"""Until a standby is asked about first, and at most: every time twice as long."""
_AT_STANDBY = """WITH here AS MATERIALIZED (SELECT coalesce(?::text::pg_lsn, pg_current_wal_flush_lsn()) AS lsn)
    SELECT lsn::text, (SELECT max(flush_lsn) >= lsn FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND replay_lsn IS NOT NULL) FROM here"""
"""Whether a standby that commits wait for has all up to a place in the log, by default what the server has; NULL: there
is none. The function is what is behind ``pg_stat_replication``, at a third of its cost. What replays nothing is no
server but a copier, such as ``pg_basebackup``, for which commits wait as well if its name fits."""
_WAIVED: Final = "standby waived"
"""Fact that referees go on without a standby, and on what server and timeline: a server that is promoted later requires
one again, and so does one that has a copy."""
_HERE: Final = """SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))"""
_STREAMS: Final = """EXISTS (SELECT FROM pg_stat_get_wal_senders()
    WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum') AND replay_lsn IS NOT NULL
    AND (flush_lsn >= pg_current_wal_flush_lsn() OR reply_time > clock_timestamp() - interval '5 s'))"""
"""A standby that lost its power is listed for a minute: it says nothing any more, and lacks what was written since."""
MAY_SEE: Final = "SELECT pg_has_role('pg_read_all_stats', 'USAGE')"
"""Whether this role sees what standbys have."""
_LACKING: Final = """SELECT mark.game FROM unnest(?::bytea[], ?::integer[]) AS mark (game, size) WHERE NOT EXISTS (
    SELECT 1 FROM games JOIN entries ON entries.game = number WHERE id = mark.game AND seq = mark.size - 1)"""
_ASK_S: Final = 2
"""For how long a server may keep one waiting who asks what is wrong."""
WAY_OUT: Final = "expected a standby; to play on without one see referee cluster waive-standby"

_STANDBYS = """SELECT current_setting('synchronous_standby_names') <> '', pg_has_role('pg_read_all_stats', 'USAGE'),
    count(*) FILTER (WHERE waited), count(*) FILTER (WHERE NOT waited), (pg_current_wal_flush_lsn()
    - coalesce(max(flush_lsn) FILTER (WHERE waited), max(flush_lsn)))::bigint
    FROM (SELECT flush_lsn, sync_state IN ('sync', 'quorum') AS waited FROM pg_stat_get_wal_senders()
    WHERE state = 'streaming' AND replay_lsn IS NOT NULL) AS following"""


def check_clock(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if this machine's clock is off the database's: clocks of games go on at another node."""
    before_ms = time() * 1000
    (there_ms,) = session.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8").fetchone()
    off_ms = max(before_ms - there_ms, there_ms - time() * 1000)  # not counting the way there and back
    if off_ms > MOST_OFF_MS:
        what = f"this machine's clock is {off_ms / 1000:.1f} s off the database's"
        raise StoreFailed(f"{url}: {what}; expected at most {MOST_OFF_MS / 1000} s: set both by NTP")


def lost_since(session: Session, mark: ClusterMark) -> str:
    """Return in what way the database is not, or not any more, what the mark remembers; empty: it has all of that."""
    if mark.database != fact(session, "id"):
        return "this is another database than the one that this referee knows"
    beats = beats_of(session, mark.referee)
    if beats is not None and beats >= mark.beats:
        return ""
    lost = "all" if beats is None else f"the last {mark.beats - beats}"
    return f"the database went back: it lacks {lost} of {mark.beats} signs of life of this referee"


def lacking(session: Session, marks: Mapping[bytes, Mark]) -> list[bytes]:
    """Return the games of which the database lacks the last entry that a mark knows."""
    games, sizes = Byteas.of([*marks]), Integers.of([mark.size for mark in marks.values()])
    return [game_id for (game_id,) in session.execute(_LACKING, (games, sizes)).fetchall()]


def check_standby(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if commits wait for no standby, or this role cannot see what it has."""
    if not standby_names(session) and not is_waived(session):
        what = "synchronous_standby_names is empty, so what is acknowledged can be lost with the primary"
        raise StoreFailed(f"{url}: {what}; {WAY_OUT}")
    if session.execute(MAY_SEE).fetchone() != (True,):
        what = "this role may not see what a standby has"
        raise StoreFailed(f"{url}: {what}; expected GRANT pg_monitor TO it, or no --require-standby")


def await_standby(session: Session, url: str) -> None:
    """Return when a standby has whatever is committed by now. Raise ``StoreFailed`` if commits wait for none.

    Where that is waived it returns at once if commits wait for none.

    That a commit returned does not show it: the server may have been told to wait for nobody, a moment ago or ever
    since, or to wait a moment ago, which it does as soon as its checkpointer has read that.
    """
    here: str | None = None
    pause_s = _AGAIN_S
    while True:
        here, is_there = session.execute(_AT_STANDBY, (here,)).fetchone()
        if is_there is None:
            if is_waived(session):
                return
            what = "commits wait for no standby, so what is acknowledged can be lost with the primary"
            raise StoreFailed(f"{url}: {what}; {WAY_OUT}")
        if is_there:
            return
        sleep(pause_s)
        pause_s = min(2 * pause_s, _MOST_AGAIN_S)


def standbys(session: Session) -> Standbys:
    """Return what servers follow this one."""
    named, may_see, waited_for, others, lag = session.execute(_STANDBYS).fetchone()
    waived = is_waived(session)
    if not may_see:
        return Standbys(named, None, None, None, waived)
    return Standbys(named, waited_for, others, lag if lag is None else max(0, lag), waived)


def standby_names(session: Session) -> str:
    """Return whom commits wait for, as the server is told; empty: for nobody."""
    names: str = session.execute("SELECT current_setting('synchronous_standby_names')").fetchone()[0]
    return names


def cause_now(url: str, *, require_standby: bool) -> Cause:
    """Return why nothing can be written, found out on a connection of its own. May take as long as connecting does."""
    patient = make_conninfo(url, connect_timeout=_ASK_S)
    try:
        session = PostgresSession(patient, _ASK_S)
    except (psycopg.Error, StoreFailed):
        return Cause.NO_PRIMARY if _answers(patient) else Cause.DATABASE
    with closing(session), suppress(psycopg.Error):
        waits = standby_names(session) or (require_standby and not is_waived(session))
        if waits and session.execute(MAY_SEE).fetchone() == (True,) and not streams(session):
            return Cause.STANDBY
    return Cause.UNKNOWN


def _answers(url: str) -> bool:
    try:
        psycopg.connect(make_conninfo(url, target_session_attrs="any")).close()
    except psycopg.Error:
        return False
    return True


def streams(session: Session) -> bool:
    """Return whether a standby that commits wait for takes what is written as it is written."""
    found: bool = session.execute(f"SELECT {_STREAMS}").fetchone()[0]
    return found


def waive_standby(session: Session) -> None:
    """Have every referee go on without a standby on this server, until one streams or another server is promoted.

    The fact is in this database and nowhere else: a primary that was lost, and comes back, does not have it.
    """
    # Nothing is there that this commit could wait for.
    session.execute("SELECT set_config('synchronous_commit', 'local', false)")
    keep_fact(session, _WAIVED, _here(session))


def is_waived(session: Session) -> bool:
    """Return whether ``waive_standby`` holds here and now."""
    waived = fact(session, _WAIVED)
    return waived is not None and waived == _here(session)


def require_again(session: Session) -> bool:
    """End what ``waive_standby`` began, if a standby streams by now. Return whether it did."""
    ended = f"DELETE FROM facts WHERE name = ? AND {_STREAMS}"  # noqa: S608 - of our own
    return session.execute(ended, (_WAIVED,)).rowcount > 0


def end_waiver(session: Session) -> None:
    """Require a standby again."""
    session.execute("DELETE FROM facts WHERE name = ?", (_WAIVED,))


def _here(session: Session) -> bytes:
    here: str = session.execute(_HERE).fetchone()[0]
    return here.encode()
