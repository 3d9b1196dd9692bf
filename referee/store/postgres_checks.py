"""What a PostgreSQL server, or this machine, must be like for a referee. Each refusal is one line."""

from __future__ import annotations

from time import sleep, time

from referee.store.errors import StoreFailed
from referee.store.session import Session
from referee.store.store import Standbys

MOST_OFF_MS = 250
_AGAIN_S, _MOST_AGAIN_S = 0.001, 0.016
"""Until a standby is asked about first, and at most: every time twice as long."""
_AT_STANDBY = """WITH here AS MATERIALIZED (SELECT coalesce(?::text::pg_lsn, pg_current_wal_flush_lsn()) AS lsn)
    SELECT lsn::text, (SELECT max(flush_lsn) >= lsn FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND replay_lsn IS NOT NULL) FROM here"""
"""Whether a standby that commits wait for has all up to a place in the log, by default what the server has; NULL: there
is none. The function is what is behind ``pg_stat_replication``, at a third of its cost. What replays nothing is no
server but a copier, such as ``pg_basebackup``, for which commits wait as well if its name fits."""

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


def check_standby(session: Session, url: str) -> None:
    """Raise ``StoreFailed`` if commits wait for no standby, or this role cannot see what it has."""
    if not standby_names(session):
        what = "synchronous_standby_names is empty, so what is acknowledged can be lost with the primary"
        raise StoreFailed(f"{url}: {what}; expected a standby, or no --require-standby")
    if session.execute("SELECT pg_has_role('pg_read_all_stats', 'USAGE')").fetchone() != (True,):
        what = "this role may not see what a standby has"
        raise StoreFailed(f"{url}: {what}; expected GRANT pg_monitor TO it, or no --require-standby")


def await_standby(session: Session, url: str) -> None:
    """Return when a standby has whatever is committed by now. Raise ``StoreFailed`` if commits wait for none.

    That a commit returned does not show it: the server may have been told to wait for nobody, a moment ago or ever
    since, or to wait a moment ago, which it does as soon as its checkpointer has read that.
    """
    here: str | None = None
    pause_s = _AGAIN_S
    while True:
        here, is_there = session.execute(_AT_STANDBY, (here,)).fetchone()
        if is_there is None:
            what = "commits wait for no standby, so what is acknowledged can be lost with the primary"
            raise StoreFailed(f"{url}: {what}; expected one, or no --require-standby")
        if is_there:
            return
        sleep(pause_s)
        pause_s = min(2 * pause_s, _MOST_AGAIN_S)


def standbys(session: Session) -> Standbys:
    """Return what servers follow this one."""
    named, may_see, waited_for, others, lag = session.execute(_STANDBYS).fetchone()
    return (
        Standbys(named, waited_for, others, lag if lag is None else max(0, lag))
        if may_see
        else Standbys(named, None, None, None)
    )


def standby_names(session: Session) -> str:
    """Return whom commits wait for, as the server is told; empty: for nobody."""
    names: str = session.execute("SELECT current_setting('synchronous_standby_names')").fetchone()[0]
    return names
