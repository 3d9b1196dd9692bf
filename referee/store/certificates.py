"""Certificates as the database has them, beside the entries that they are for. In the caller's transaction.

Its tables have names from when certificates were called proofs: another name would be another version of the database.
"""

from __future__ import annotations

import sqlite3

from referee.store.schema import State
from referee.store.store import Certificate, NewCertificates


def begin(connection: sqlite3.Connection, game: int) -> None:
    """Note that certificates are to be made for the game of this number."""
    connection.execute("INSERT INTO unproved (game, seq) VALUES (?, 0)", (game,))


def keep(connection: sqlite3.Connection, game: int, new: NewCertificates) -> None:
    """Keep what was made for the game of this number, and where to go on.

    What is there stays: a failure here would be one of everybody's acts in the same batch.
    """
    connection.executemany(
        "INSERT OR IGNORE INTO proofs (game, seq, part, data) VALUES (?, ?, ?, ?)",
        [(game, *certificate) for certificate in new.made],
    )
    if new.next_seq is None:
        connection.execute("DELETE FROM unproved WHERE game = ?", (game,))
    else:
        connection.execute("UPDATE unproved SET seq = ? WHERE game = ?", (new.next_seq, game))


def of_entries(connection: sqlite3.Connection, game: int, first: int, end: int) -> list[Certificate]:
    """Return those of entries from ``first`` up to before ``end``, by entry and part."""
    query = "SELECT seq, part, data FROM proofs WHERE game = ? AND seq >= ? AND seq < ? ORDER BY seq, part"
    return [Certificate(*row) for row in connection.execute(query, (game, first, end))]


def awaited(connection: sqlite3.Connection) -> list[tuple[bytes, int]]:
    """Return the ids of games that still await certificates and are not given up, and from which entry on."""
    query = "SELECT id, seq FROM unproved JOIN games ON number = game WHERE state <> ? ORDER BY number"
    return connection.execute(query, (State.GIVEN_UP,)).fetchall()
