"""Certificates as the database has them, beside the entries that they are for. In the caller's transaction."""

from __future__ import annotations

import sqlite3

from referee.store.schema import State
from referee.store.store import Certificate, Proved


def begin(connection: sqlite3.Connection, game: int) -> None:
    """Certificates are to be made for the game, which is known by its number."""
    connection.execute("INSERT INTO unproved (game, seq) VALUES (?, 0)", (game,))


def keep(connection: sqlite3.Connection, game: int, proved: Proved) -> None:
    """Those that are there stay: a failure here would be one of everybody's acts in the same batch."""
    connection.executemany(
        "INSERT OR IGNORE INTO proofs (game, seq, part, data) VALUES (?, ?, ?, ?)",
        [(game, *certificate) for certificate in proved.certificates],
    )
    if proved.first is None:
        connection.execute("DELETE FROM unproved WHERE game = ?", (game,))
    else:
        connection.execute("UPDATE unproved SET seq = ? WHERE game = ?", (proved.first, game))


def of_entries(connection: sqlite3.Connection, game: int, first: int, end: int) -> list[Certificate]:
    """Those of entries from ``first`` up to before ``end``, in order."""
    query = "SELECT seq, part, data FROM proofs WHERE game = ? AND seq >= ? AND seq < ? ORDER BY seq, part"
    return [Certificate(*row) for row in connection.execute(query, (game, first, end))]


def unfinished(connection: sqlite3.Connection) -> list[tuple[bytes, int]]:
    """Ids of games that are not given up, and from which entry on certificates are to be made."""
    query = "SELECT id, seq FROM unproved JOIN games ON number = game WHERE state <> ? ORDER BY number"
    return connection.execute(query, (State.GIVEN_UP,)).fetchall()
