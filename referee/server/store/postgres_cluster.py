"""Several referees on one PostgreSQL database: what one of them knows of the others, and what their organiser sees."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import psycopg
import structlog
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from referee.server.store import postgres_nodes as nodes
from referee.server.store import postgres_opening, statements
from referee.server.store.nodes import Health, News, Node, Own, Shown
from referee.server.store.postgres_nodes import ALIVE_LOCK, REVOKED, Beat, Living
from referee.server.store.postgres_opening import (
    MAY_SEE,
    ClusterMark,
    is_waived,
    lacking,
    lost_since,
    standby_names,
    streams,
    waive_standby,
)
from referee.server.store.postgres_session import PostgresSession, postgres_errors
from referee.server.store.session import Session, State
from referee.server.store.sql import MARKS_FILE, fact, keep_fact
from referee.server.store.sqlite_marks import marks_in
from referee.server.store.store import BUSY_S, StoreFailed

ORGANISER: Final = "organiser"
"""The fact that makes a database a cluster's: the SHA-256 of the organiser's token."""
_NODES = f"""SELECT id, name, address, (1000 * extract(epoch FROM clock_timestamp() - beat))::bigint,
    (SELECT count(*) FROM games WHERE owner = nodes.id AND state = {State.OPEN}), draining,
    EXISTS ({ALIVE_LOCK}) FROM nodes WHERE NOT dead ORDER BY id"""  # noqa: S608 - of our own


class NodeState(NamedTuple):
    """A node that is not marked dead."""

    id: int
    name: str
    address: str
    """Empty: it does not serve yet."""
    silent_ms: int
    """The milliseconds since its last sign of life."""
    games: int
    """Its games that are not over."""
    draining: bool
    is_connected: bool
    """Its session is there."""


class Standby(NamedTuple):
    """A server that follows the primary."""

    name: str
    state: str
    """PostgreSQL's name for its state, such as streaming; empty if the role may not see it."""
    sync: str
    """PostgreSQL's name, such as sync, quorum or async; empty if the role may not see it."""


class ClusterState(NamedTuple):
    """The state of the cluster."""

    verifier: str
    """The verifier of the key that games are signed with."""
    is_cluster: bool
    nodes: Sequence[NodeState]
    games_without_node: int
    """Games that are not over and have no living node."""
    standby_names: str
    """The standbys that commits wait for, as the server is set; empty: none."""
    standbys: Sequence[Standby]
    standby_waived: bool
    """True if the organiser lets referees run without a standby, until one streams."""


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
    statements.set_organiser(session, digest)
    keep_fact(session, ORGANISER, digest)
    keep_fact(session, REVOKED, secrets.token_bytes(8))


def waive(url: str, path: Path) -> str:
    """Let referees that require a standby run without one. Return those that PostgreSQL itself waits for; empty: none.

    ``path``: the mark that a referee of the cluster keeps, beside the marks of its games. Raise ``StoreFailed`` if a
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
            raise StoreFailed(f"{url}: {what}; stop the one that you do not want to keep")
        mark = ClusterMark.load(path)
        if mark is None and fact(session, "organiser") is not None:
            what = "it is not known whether this database has all acknowledged entries"
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
        postgres_opening.check_version(session, url)
        yield session


_T = TypeVar("_T")
_KEPT = 10_000
_log = structlog.get_logger("referee.server.store")


class Asked(Protocol):
    """The store, as far as nodes ask it; ``PostgresStore`` says what its methods do."""

    async def ask(self, query: Callable[..., _T], *arguments: Any) -> _T: ...

    async def change(self, change: Callable[..., _T], *arguments: Any) -> _T: ...

    async def change_own(self, change: Callable[..., _T], *arguments: Any) -> _T: ...

    def beat_now(self) -> None: ...


class PostgresNodes:
    """The nodes in the database. ``seen`` and ``beaten`` are called in threads of the store, the rest on the loop."""

    shares = True

    def __init__(self, store: Asked, node: int) -> None:
        self._store = store
        self.node = node
        self.name = nodes.name()
        self.address = ""
        self.others: Sequence[Node] = ()
        self._owners: dict[bytes, int] = {}
        """Other nodes, by game."""
        self._given = 0
        self._draining = False
        self.declines = False
        """True if the next sign of life is to say that it takes no more games."""
        self._revoked: bytes | None = None
        self._reconnections, self._beaten_s = 0, monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: Callable[[News], None] | None = None

    # --- what the store finds out ----------------------------------------------------------------------------------

    def connected(self) -> None:
        """Take that there is another connection than before."""
        self._reconnections += 1

    def seen(self, living: Sequence[Living], revoked: bytes | None) -> None:
        """Take what a look found. ``revoked``: changes whenever a token is revoked."""
        known, self.others = (
            self.others,
            [Node(each.id, each.name, each.address, each.draining) for each in living if each.id != self.node],
        )
        if not {node.id for node in known} <= {node.id for node in self.others}:
            self._tell(News.GONE)
        before, self._revoked = self._revoked, revoked
        if before != revoked:
            self._tell(News.REVOKED)

    def beaten(self, beat: Beat, began_s: float) -> None:
        """Take what a beat found, and when it began: the database may have taken it then, and answered late."""
        self._beaten_s = began_s
        if beat.given != self._given:
            self._given = beat.given
            self._tell(News.GIVEN)
        if beat.draining and not self._draining:
            self._draining = True
            self._tell(News.DRAIN)

    def _tell(self, news: News) -> None:
        if self._told is not None and self._loop is not None:
            with suppress(RuntimeError):  # it has stopped in the meantime
                self._loop.call_soon_threadsafe(self._told, news)

    # --- ``Nodes`` -------------------------------------------------------------------------------------------------

    @property
    def this(self) -> Node:
        return Node(self.node, self.name, self.address, self._draining)

    @property
    def health(self) -> Health:
        return Health(monotonic() - self._beaten_s, self._reconnections)

    async def elsewhere(self, game_id: bytes) -> Node | None:
        known = self._owners.get(game_id)
        for node in self.others:
            if node.id == known:
                return node
        row = await self._store.ask(nodes.owner, game_id)
        if row is None or row[0] == self.node:
            self._owners.pop(game_id, None)
            return None
        if len(self._owners) >= _KEPT:
            self._owners.clear()
        node = Node(*row)
        self._owners[game_id] = node.id
        return node

    async def owners(self, game_ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._store.ask(nodes.owners, game_ids)

    def forget(self, game_id: bytes) -> None:
        self._owners.pop(game_id, None)

    def serve(self, address: str) -> None:
        self.address = address
        self._store.beat_now()

    def decline(self) -> None:
        self._draining = self.declines = True  # its own statement is no news
        self._store.beat_now()

    def when(self, told: Callable[[News], None]) -> None:
        self._loop, self._told = asyncio.get_running_loop(), told
        if self._draining:  # the order came before the listener
            self._tell(News.DRAIN)

    async def own(self) -> list[Own]:
        return await self._store.ask(nodes.own, self.node)

    async def alive_ms(self, game_id: bytes) -> int | None:
        return await self._store.ask(nodes.alive_ms, game_id)

    async def hand_over(self, game_id: bytes, to: Node) -> None:
        await self._store.change(nodes.hand_over, self.node, game_id, to.id)
        _log.info("game handed over", game=game_id.hex(), from_node=self.this.words, to_node=to.words)

    async def show(self, games: Sequence[Shown]) -> None:
        await self._store.change_own(nodes.show, self.node, games)

    async def shown(self, game_ids: Sequence[bytes]) -> dict[bytes, bytes | None]:
        return await self._store.ask(nodes.shown, self.node, game_ids)
