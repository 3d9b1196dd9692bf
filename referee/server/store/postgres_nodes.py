"""The referees that run on a PostgreSQL database, and the owners of its games.

A start is a node: a row in ``nodes``, and a lock that the session that writes holds as long as it lives. The node notes
twice a second that it lives. The database's clock alone decides whether it is dead: when its session is gone, or when
it has been silent for the lease. Marking it dead waits for a batch under way; its later batches find no row of theirs
that is not dead, and write nothing. Its games are shared among the others in the same transaction.

For a game that is not over, ``games`` has its owner; ``alive_ms``: until when seats could act, when it last changed
hands; and, as its owner notes it now and then, ``last_ms`` of its last entry, ``due_ms`` of what is due without an act,
and how lists show it. For a game that is over and waits for certificates the owner makes them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from time import monotonic, sleep
from typing import Final, NamedTuple

from referee.server.store.nodes import Node, Own, Shown
from referee.server.store.postgres_session import PostgresSession
from referee.server.store.session import Session, State
from referee.server.store.sql import keep_fact
from referee.server.store.store import StoreFailed

BEAT_S = 0.5
LOOK_S = 0.2
ORPHANS_S = 1.0
"""The interval at which a node asks for games without an owner."""
LEASE_S = 3.0
GONE_S = 0.75
"""The time after which a node without a session is dead, where several run: by then a node that lost its connection
is back, and so are all when the database was away."""
_WAIT_S = 0.05
_GONE_BY_S = 2.0
_END_MS = 5_000

IDLE_S = LEASE_S / 2
"""The time after which the server ends the session of a node that hangs within a transaction: its locks, the turn
above all, must be free before those who wait for them are taken for dead."""

IN_TURN: Final = "SELECT pg_advisory_xact_lock(7, 0)"
"""Start, end and burial take turns: 7 and 0; 7 and a node name the lock of that node."""
_PID: Final = """SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 7 AND objid::bigint = {0}
    AND objsubid = 2 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
ALIVE_LOCK: Final = _PID.format("id")
"""Finds the session of the node in the row at hand, if it is there."""
REVOKED: Final = "revoked"
"""Fact that is another one whenever a token is revoked."""
_LIVING: Final = f"""SELECT id, name, referee, address, draining, beat,
    extract(epoch FROM clock_timestamp() - greatest(beat, ?::timestamptz))::float8, ({ALIVE_LOCK}){{}}
    FROM nodes WHERE NOT dead ORDER BY id"""  # noqa: S608 - of our own
_SEEN: Final = _LIVING.format(f", (SELECT value FROM facts WHERE name = '{REVOKED}')")  # noqa: S608 - of our own
"""All that a look is for: one statement, as there are five a second."""
ALIVE: Final = "SELECT 1 FROM nodes WHERE id = ? AND NOT dead FOR SHARE"
"""Finds a row that is not taken over, and keeps all others from it until the transaction ends."""
END = "SELECT pg_terminate_backend(?, ?)"
"""Ends a session, and waits for that for this many milliseconds."""
_SHARE: Final = """UPDATE games SET owner = (?::integer[])[1 + games.number % ?], alive_ms = CASE
    WHEN alive_ms > coalesce(last_ms, 0) THEN alive_ms
    ELSE (SELECT (extract(epoch FROM beat) * 1000)::bigint FROM nodes WHERE nodes.id = owner) END
    FROM (SELECT number, owner AS former FROM games
    WHERE {} AND (owner IS NULL OR owner IN (SELECT id FROM nodes WHERE dead))) AS of_the_dead
    WHERE games.number = of_the_dead.number RETURNING games.id, former,
    (SELECT name FROM nodes WHERE nodes.id = former), owner, (SELECT name FROM nodes WHERE nodes.id = owner)"""
_OPEN: Final = "state = 0"
_UNPROVED: Final = "state <> 0 AND number IN (SELECT game FROM unproved)"
"""Games that need an owner, each as an index finds them."""
_ORPHAN: Final = (
    "EXISTS (SELECT 1 FROM games WHERE {} AND NOT EXISTS (SELECT 1 FROM nodes WHERE id = owner AND NOT dead))"
)
_ORPHANS: Final = f"SELECT {_ORPHAN.format(_OPEN)} OR {_ORPHAN.format(_UNPROVED)}"
_GIVEN: Final = "UPDATE nodes SET given = given + 1 WHERE id = ANY(?::integer[]) AND NOT dead"


class Looker(NamedTuple):
    """The limits of what a look for the dead could have seen, by the database's clock."""

    since: datetime
    """No node counts as silent for longer."""
    connected: datetime
    """The start of its connection, or of the server: a node that was not seen since may be connecting still."""
    lease_s: float
    """The silence after which a node is taken for dead, in seconds."""
    back_s: float
    """That silence for a node that may be connecting still."""


class Living(NamedTuple):
    """A node that is not marked dead."""

    id: int
    name: str
    referee: bytes
    address: str
    draining: bool
    beat: datetime
    silent_s: float
    """The seconds since its last beat, or since the looker can have seen one."""
    pid: int | None
    """The process of the session that has its lock; None: that is gone."""

    def may_live(self, looker: Looker) -> bool:
        if self.pid is not None:
            return self.silent_s < looker.lease_s
        return self.silent_s < (looker.back_s if self.beat < looker.connected else GONE_S)


class Moved(NamedTuple):
    """A game that is not over and whose owner is another node now."""

    game_id: bytes
    former: Node
    """Its owner before, which is dead."""
    owner: Node


class Beat(NamedTuple):
    """The facts about itself that a node learns when it notes that it lives."""

    beats: int
    """The number of its signs of life."""
    given: int
    """The number of times that games of others became its own."""
    draining: bool
    """True if it is to hand its games over."""


def up_since(session: Session) -> datetime:
    """Return the time since when the server has run: a node that was not seen since had no chance to be."""
    since: datetime = session.execute("SELECT pg_postmaster_start_time()").fetchone()[0]
    return since


def now(session: Session) -> datetime:
    """Return the database's time."""
    found: datetime = session.execute("SELECT clock_timestamp()").fetchone()[0]
    return found


def living(session: Session, since: datetime) -> list[Living]:
    """Return the nodes that are not marked dead. ``since``: none counts as silent for longer."""
    return [Living(*row) for row in session.execute(_LIVING.format(""), (since,))]


def seen(session: Session, since: datetime) -> tuple[list[Living], bytes | None]:
    """Return the nodes that are not marked dead, and the fact ``REVOKED``; of that nothing if there are none."""
    rows = session.execute(_SEEN, (since,)).fetchall()
    return [Living(*row[:-1]) for row in rows], rows[0][-1] if rows else None


def begin(
    session: PostgresSession, url: str, referee: bytes, looker: Looker, *, shares: bool, plays: bool = True
) -> tuple[int, list[Moved]]:
    """Begin a node, whose lock the session has, and take the games of the dead; return its number, and what moved.

    ``shares``: others may live. ``plays``: it takes games to play them. Raise ``StoreFailed``, also if another one
    lives that may not; ``psycopg.Error``.
    """
    session.execute("BEGIN")
    session.execute(IN_TURN)
    dead = (
        # A node with a session may only have waited for the database, as this one did: that is seen from now on.
        [each for each in living(session, looker.since) if each.pid is None and not each.may_live(looker)]
        if shares
        else _silent(session, url, referee, looker)
    )
    bury(session, dead)
    _be_alone(session, url, not shares)
    added = "INSERT INTO nodes (name, referee) VALUES (?, ?) RETURNING id"
    node: int = session.execute(added, (name(), referee)).fetchone()[0]
    moved: list[Moved] = []
    if shares:
        moved = share(session, node)
    elif plays:
        _take_all(session, node)
    session.execute("SELECT pg_advisory_lock(7, ?::integer)", (node,))
    _own(session, node)
    session.execute("COMMIT")
    session.heed()
    if session.execute(_PID.format("?::bigint"), (node,)).fetchone() != session.execute(_OWN_PID).fetchone():
        what = "something between here and the database changes sessions, such as PgBouncer"
        raise StoreFailed(f"{url}: {what}; expected the address of PostgreSQL itself")
    return node, moved


def _be_alone(session: Session, url: str, is_alone: bool) -> None:
    """Make the session the only one of a referee or command, or one of several, as long as it lasts.

    No referee starts beside a command, which changes the games of all of them. One that ends may leave its session
    behind for a moment. Raise ``StoreFailed``.
    """
    until_s = monotonic() + _GONE_BY_S
    lock = "SELECT pg_try_advisory_lock(8, 0)" if is_alone else "SELECT pg_try_advisory_lock_shared(8, 0)"
    while not session.execute(lock).fetchone()[0]:
        if monotonic() > until_s:
            what = "another referee is running, or a command is at work" if is_alone else "a command is at work"
            raise StoreFailed(f"{url}: {what} on this database, such as referee recover; expected one at a time")
        sleep(_WAIT_S)


def name() -> str:
    """Return the name of this process among the nodes, for people."""
    return f"{socket.gethostname()}, process {os.getpid()}"


_OWN_PID: Final = "SELECT pg_backend_pid()"


def resume(session: PostgresSession, node: int) -> None:
    """Go on as the node on a new connection, when the old one can write no more. Raise ``psycopg.Error``.

    Its next batch, or beat, finds out whether it lives.
    """
    session.execute("BEGIN")
    for (pid,) in session.execute(_PID.format("?::bigint"), (node,)).fetchall():
        session.execute(END, (pid, _END_MS))
    with suppress(StoreFailed):
        session.heed()  # as in ``bury``
    session.execute("SELECT pg_advisory_lock(7, ?::integer)", (node,))
    _own(session, node)
    session.execute("COMMIT")


def _own(session: Session, node: int) -> None:
    """Give games that are opened in this session to the node: the column's default says so."""
    session.execute("SELECT set_config('referee.node', ?, false)", (str(node),))


def _silent(session: Session, url: str, referee: bytes, looker: Looker) -> list[Living]:
    """Return the nodes that are dead. Raise ``StoreFailed`` if one lives, which takes a beat to see.

    One that is gone may leave its session behind for a moment, and one that hangs for the lease: that is waited for.
    """
    seen: dict[int, datetime] = {}
    while True:
        nodes = living(session, looker.since)
        there = [each for each in nodes if each.pid is not None and each.referee != referee]
        others = [each for each in there if each.silent_s < looker.lease_s]
        for each in others:
            if seen.setdefault(each.id, each.beat) != each.beat:
                what = f"another referee ({each.name}) is running on this database"
                raise StoreFailed(f"{url}: {what}; stop it first, or see referee cluster init")
        if not others:
            return nodes
        sleep(_WAIT_S)


def bury(session: PostgresSession, dead: Sequence[Living]) -> None:
    """Mark them dead, when what they have under way is through. In a transaction."""
    for each in dead:
        if each.pid is not None:
            session.execute(END, (each.pid, _END_MS))
    with suppress(StoreFailed):
        session.heed()  # it warns of a session that has just ended alone; one that has not is waited for below
    ids = [each.id for each in dead]
    session.execute("UPDATE nodes SET dead = true WHERE id = ANY(?::integer[]) AND NOT dead", (ids,))


def share(session: Session, node: int | None) -> list[Moved]:
    """Share the games of the dead among those who serve; if none does, they are the node's. In a transaction.

    Return the games that have another owner now, but for those that no node has had.
    """
    serving = "SELECT id FROM nodes WHERE NOT dead AND NOT draining AND address <> '' ORDER BY id"
    takers = [taker for (taker,) in session.execute(serving)] or [each for each in (node,) if each is not None]
    if not takers:
        return []
    shared, proofs = (
        session.execute(_SHARE.format(kept), (takers, len(takers))).fetchall() for kept in (_OPEN, _UNPROVED)
    )
    if shared or proofs:
        session.execute(_GIVEN, (takers,))
    return [
        Moved(game_id, Node(former, former_name or "", ""), Node(owner, owner_name, ""))
        for game_id, former, former_name, owner, owner_name in shared
        if former is not None
    ]


def _take_all(session: Session, node: int) -> None:
    """Give all games to the node, which is alone, and itself knows when it was last there. In a transaction."""
    for kept in (_OPEN, _UNPROVED):
        session.execute(f"UPDATE games SET owner = ?, alive_ms = NULL WHERE {kept}", (node,))  # noqa: S608 - of our own


def has_orphans(session: Session) -> bool:
    """Return whether there are games without a living node: the last one that served ended when none did."""
    found: bool = session.execute(_ORPHANS).fetchone()[0]
    return found


def look(session: PostgresSession, node: int, looker: Looker) -> list[Moved]:
    """Bury those who are dead still, and share their games; return what moved. In a transaction, in turn."""
    dead = [each for each in living(session, looker.since) if each.id != node and not each.may_live(looker)]
    bury(session, dead)
    return share(session, node)


def beats_of(session: Session, referee: bytes) -> int | None:
    """Return how many signs of life the database has of the start that drew this number; None: it never saw it."""
    row = session.execute("SELECT beats FROM nodes WHERE referee = ?", (referee,)).fetchone()
    return row[0] if row else None


def beat(session: Session, node: int, address: str, *, declines: bool = False) -> Beat | None:
    """Note that the node lives, and is reached there; None: it does not any more, as others have its games.

    ``declines``: it takes no more games, whatever was noted of that before.
    """
    noted = """UPDATE nodes SET beat = clock_timestamp(), beats = beats + 1, address = ?, draining = draining OR ?
        WHERE id = ? AND NOT dead RETURNING beats, given, draining"""
    row = session.execute(noted, (address, declines, node)).fetchone()
    return Beat(*row) if row else None


def end(session: Session, node: int, *, plays: bool = True) -> list[Moved]:
    """Note that the node writes no more, by its own will, and share its games among the others; return what moved.

    A node that does not play leaves nothing behind: those that do show how long games were without a referee.
    """
    session.execute("BEGIN")
    session.execute(IN_TURN)
    moved: list[Moved] = []
    if plays:
        session.execute("UPDATE nodes SET dead = true, beat = clock_timestamp() WHERE id = ? AND NOT dead", (node,))
        moved = share(session, None)
    else:
        session.execute("DELETE FROM nodes WHERE id = ? AND NOT dead", (node,))
    session.execute("COMMIT")
    return moved


def silent_s(session: Session) -> float | None:
    """Return since when no referee has noted that it lives, in seconds; None: there has been none."""
    query = "SELECT extract(epoch FROM clock_timestamp() - max(beat))::float8 FROM nodes"
    silent: float | None = session.execute(query).fetchone()[0]
    return silent


def had_log(session: Session, node: int | None) -> bool:
    """Return whether it was this node that wrote the public log, when it was asked last."""
    query = "SELECT 1 FROM facts WHERE name = 'log writer' AND value = ?"
    return session.execute(query, (str(node).encode(),)).fetchone() is not None


def has_log(session: Session, node: int | None) -> bool:
    """Return whether this node, which lives, writes the public log: no node does, or the one that did is dead.

    In a transaction, until whose end no other one gets it.
    """
    session.execute(
        "INSERT INTO facts (name, value) VALUES ('log writer', ?) ON CONFLICT DO NOTHING", (str(node).encode(),)
    )
    (value,) = session.execute("SELECT value FROM facts WHERE name = 'log writer' FOR UPDATE").fetchone()
    writer = int(value)
    if writer == node:
        return True
    if session.execute("SELECT 1 FROM nodes WHERE id = ? AND NOT dead", (writer,)).fetchone() is not None:
        return False
    keep_fact(session, "log writer", str(node).encode())
    return True


# --- whose a game is -------------------------------------------------------------------------------------------


def owner(session: Session, game_id: bytes) -> tuple[int, str, str] | None:
    """Return the number, name and address of the node that has the game; None: it is over, or not there.

    A dead one is named as well, until the game has another: no other node has the game.
    """
    query = "SELECT nodes.id, name, address FROM games JOIN nodes ON nodes.id = owner WHERE games.id = ? AND state = ?"
    row: tuple[int, str, str] | None = session.execute(query, (game_id, State.OPEN)).fetchone()
    return row


def owners(session: Session, game_ids: Sequence[bytes]) -> dict[bytes, Node]:
    """Return the same by id of those of these games that are not over."""
    query = """SELECT games.id, nodes.id, name, address, draining FROM games JOIN nodes ON nodes.id = owner
        WHERE games.id = ANY(?::bytea[]) AND state = ?"""
    return {row[0]: Node(*row[1:]) for row in session.execute(query, (list(game_ids), State.OPEN))}


def own(session: Session, node: int) -> list[Own]:
    """Return the node's own games: those that are due soonest first, then those with the newest entries."""
    query = """SELECT id, alive_ms FROM games WHERE owner = ? AND state = ?
        ORDER BY due_ms ASC NULLS LAST, last_ms DESC NULLS LAST, number DESC"""
    return [Own(*row) for row in session.execute(query, (node, State.OPEN))]


def alive_ms(session: Session, game_id: bytes) -> int | None:
    """Return the last time at which seats could act in the game, before it last changed hands."""
    row = session.execute("SELECT alive_ms FROM games WHERE id = ?", (game_id,)).fetchone()
    found: int | None = row[0] if row else None
    return found


def note_alive_ms(session: Session, alive_ms: int) -> None:
    """Note the last time at which seats could act in the games that no node has had. In a transaction."""
    session.execute("UPDATE games SET alive_ms = ? WHERE state = ? AND owner IS NULL", (alive_ms, State.OPEN))


def hand_over(session: Session, node: int, game_id: bytes, to: int) -> None:
    """Give the node's game to another node. In a transaction. Raise ``StoreFailed`` if that one is dead."""
    if session.execute(_GIVEN, ([to],)).rowcount != 1:
        raise StoreFailed(f"node {to} is gone")
    given = """UPDATE games SET owner = ?, alive_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        WHERE id = ? AND owner = ?"""
    session.execute(given, (to, game_id, node))


def show(session: Session, node: int, games: Sequence[Shown]) -> None:
    """Let the other nodes show the node's games in this state. In a transaction."""
    session.execute(
        """UPDATE games SET listed = new.listed, last_ms = new.last_ms, due_ms = new.due_ms
        FROM unnest(?::bytea[], ?::bytea[], ?::bigint[], ?::bigint[]) AS new (id, listed, last_ms, due_ms)
        WHERE games.id = new.id AND owner = ?""",
        (*map(list, zip(*games, strict=True)), node),
    )


def shown(session: Session, node: int, game_ids: Sequence[bytes]) -> dict[bytes, bytes | None]:
    """Return by id how lists show those of these games that other nodes have; None: not noted yet."""
    query = "SELECT id, listed FROM games WHERE id = ANY(?::bytea[]) AND owner <> ? AND state = ?"
    return dict(session.execute(query, (list(game_ids), node, State.OPEN)).fetchall())


def to_prove(session: Session, node: int) -> list[tuple[bytes, int]]:
    """Return what ``Store.awaiting_certificates`` does, of games whose certificates the node makes."""
    query = (
        """SELECT id, seq FROM unproved JOIN games ON number = game WHERE owner = ? AND state <> ? ORDER BY number"""
    )
    return session.execute(query, (node, State.GIVEN_UP)).fetchall()
