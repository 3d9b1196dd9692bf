"""A cluster, several referees on one PostgreSQL database, as its organiser sees it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from referee.server.store import grants, postgres_schema
from referee.server.store.cluster_mark import ClusterMark
from referee.server.store.errors import StoreFailed
from referee.server.store.postgres_checks import (
    MAY_SEE,
    is_waived,
    lacking,
    lost_since,
    standby_names,
    streams,
    waive_standby,
)
from referee.server.store.postgres_nodes import ALIVE_LOCK, REVOKED
from referee.server.store.postgres_session import PostgresSession, postgres_errors
from referee.server.store.session import Session
from referee.server.store.sql import MARKS_FILE, fact, keep_fact
from referee.server.store.sqlite_marks import marks_in
from referee.server.store.state import State
from referee.server.store.store import BUSY_S

ORGANISER: Final = "organiser"
"""The fact that makes a database a cluster's: the SHA-256 of the organiser's token."""
_NODES = f"""SELECT id, name, address, (1000 * extract(epoch FROM clock_timestamp() - beat))::bigint,
    (SELECT count(*) FROM games WHERE owner = nodes.id AND state = {State.OPEN}), draining,
    EXISTS ({ALIVE_LOCK}) FROM nodes WHERE NOT dead ORDER BY id"""  # noqa: S608 - of our own


class NodeState(NamedTuple):
    """A node that nobody has marked dead."""

    id: int
    name: str
    address: str
    """Empty: it does not serve yet."""
    silent_ms: int
    """Since its last sign of life."""
    games: int
    """Its games that are not over."""
    draining: bool
    is_connected: bool
    """Its session is there."""


class Standby(NamedTuple):
    """A server that follows the primary."""

    name: str
    state: str
    """As PostgreSQL has it, such as streaming; empty if the role may not see it."""
    sync: str
    """Such as sync, quorum or async; likewise."""


class ClusterState(NamedTuple):
    """How the cluster is."""

    verifier: str
    """Of the key that games are signed with."""
    is_cluster: bool
    nodes: Sequence[NodeState]
    games_without_node: int
    """Games that are not over and that no living node goes on with."""
    standby_names: str
    """Whom commits wait for, as the server is told; empty: for nobody."""
    standbys: Sequence[Standby]
    standby_waived: bool
    """Referees go on without a standby, as the organiser said, until one streams."""


def state(url: str) -> ClusterState:
    """Return how the cluster is. Raise ``StoreFailed``."""
    with _asking(url) as session:
        nodes = [NodeState(*row) for row in session.execute(_NODES)]
        orphans = """SELECT count(*) FROM games WHERE state = ?
            AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = owner AND NOT dead)"""
        (without,) = session.execute(orphans, (State.OPEN,)).fetchone()
        names = standby_names(session)
        following = """SELECT coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, '')
            FROM pg_stat_replication ORDER BY 1"""
        standbys = [Standby(*row) for row in session.execute(following)]
        verifier = (fact(session, "verifier") or b"").decode()
        is_cluster, waived = fact(session, ORGANISER) is not None, is_waived(session)
        return ClusterState(verifier, is_cluster, nodes, without, names, standbys, waived)


def drain(url: str, node: int) -> None:
    """Tell the node to hand its games over. Raise ``StoreFailed`` if it does not live, or is the only one."""
    with _asking(url) as session:
        told = "UPDATE nodes SET draining = true WHERE id = ? AND NOT dead"
        others = "SELECT 1 FROM nodes WHERE id <> ? AND NOT dead AND NOT draining AND address <> ''"
        if session.execute(others, (node,)).fetchone() is None:
            raise StoreFailed(f"no other node would take the games of node {node}; expected one that runs")
        if session.execute(told, (node,)).rowcount != 1:
            raise StoreFailed(f"no node {node} is running; see referee cluster status")
        session.heed()


def replace_organiser(url: str, verifier: str, digest: bytes) -> None:
    """Make the token with this SHA-256 the organiser's of the cluster, while referees run: they refuse the one before.

    ``verifier``: of the key that the directory has which asks for it. Raise ``StoreFailed``.
    """
    with _asking(url) as session:
        if fact(session, ORGANISER) is None:
            raise StoreFailed(f"{url}: one referee at a time runs there; to make its token anew, remove the file")
        if (there := (fact(session, "verifier") or b"").decode()) != verifier:
            raise StoreFailed(f"{url}: its games are signed by {there}, not by {verifier}; expected a copy of that key")
        session.execute("BEGIN")
        keep_organiser(session, digest)
        session.execute("COMMIT")
        session.heed()


def keep_organiser(session: Session, digest: bytes) -> None:
    """Make the token with this SHA-256 the organiser's, and have nodes ask about those in use. In a transaction."""
    grants.set_organiser(session, digest)
    keep_fact(session, ORGANISER, digest)
    keep_fact(session, REVOKED, secrets.token_bytes(8))


def waive(url: str, path: Path) -> str:
    """Have referees that require a standby go on without one. Return whom PostgreSQL itself waits for; empty: nobody.

    ``path``: of the mark that a referee of the cluster keeps, beside the marks of its games. Raise ``StoreFailed`` if a
    standby streams, if another server of the address takes writes as well, or if the database lacks something that was
    acknowledged.
    """
    newest = "expected the newest standby, or see referee recover --accept-rollback"
    with _asking(url) as session:
        if session.execute(MAY_SEE).fetchone() != (True,):
            raise StoreFailed(
                f"{url}: this role may not see whether a standby streams; expected GRANT pg_monitor TO it"
            )
        if streams(session):
            raise StoreFailed(f"{url}: a standby has whatever is acknowledged, so nothing has to be waived")
        if len(primaries := _primaries(url)) > 1:
            what = f"{' and '.join(primaries)} take writes, so there would be two histories"
            raise StoreFailed(f"{url}: {what}; stop the one that is not to go on")
        mark = ClusterMark.load(path)
        if mark is None and fact(session, "organiser") is not None:
            what = "whether this database has all that was acknowledged cannot be told"
            raise StoreFailed(f"{url}: {what}; expected --data with the directory of a referee that ran on it")
        if mark is not None and (lost := lost_since(session, mark)):
            raise StoreFailed(f"{url}: {lost}; {newest}")
        if (marks := path.with_name(MARKS_FILE)).exists() and (lost_games := _lacking(session, marks)):
            what = f"it lacks entries that {marks} knows, such as of game {lost_games[0].hex()}"
            raise StoreFailed(f"{url}: {what}; {newest}")
        waive_standby(session)
        session.heed()
        return standby_names(session)


def _primaries(url: str) -> list[str]:
    """Return the servers of the address that take writes."""
    found: dict[object, str] = {}
    parts = conninfo_to_dict(url)
    hosts, ports = str(parts.get("host") or "").split(","), str(parts.get("port") or "").split(",")
    for place, host in enumerate(hosts):
        port = ports[place] if len(ports) == len(hosts) else ports[0]
        with suppress(psycopg.Error, StoreFailed):  # a server that does not answer may be gone
            one = make_conninfo(url, host=host, port=port, target_session_attrs="any", connect_timeout=2)
            with closing(PostgresSession(one, BUSY_S)) as session:
                asked = "SELECT pg_is_in_recovery(), pg_postmaster_start_time()"
                is_standby, since = session.execute(asked).fetchone()
                if not is_standby:
                    found.setdefault(since, host or "the server here")  # one server may have two names
    return [*found.values()]


def _lacking(session: PostgresSession, marks: Path) -> list[bytes]:
    """Return the games of which the database lacks entries that the file of marks knows, which a referee may use."""
    return lacking(session, marks_in(marks))


@contextmanager
def _asking(url: str) -> Iterator[PostgresSession]:
    with postgres_errors(url), closing(PostgresSession(url, BUSY_S)) as session:
        if not session.execute("SELECT to_regclass('nodes') IS NOT NULL").fetchone()[0]:
            raise StoreFailed(f"{url}: no referee's games are there")
        postgres_schema.check_version(session, url)
        yield session
