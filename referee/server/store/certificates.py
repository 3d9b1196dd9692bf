"""Certificates as the database has them, beside the entries that they are for. In the caller's transaction.

Its tables have names from when certificates were called proofs: another name would be another version of the database.
"""

from __future__ import annotations

from referee.server.store.session import Session
from referee.server.store.state import State
from referee.server.store.store import Certificate, NewCertificates


def begin(session: Session, game: int) -> None:
    """Note that certificates are to be made for the game of this number."""
    session.execute("INSERT INTO unproved (game, seq) VALUES (?, 0)", (game,))


def keep(session: Session, game: int, new: NewCertificates) -> None:
    """Keep what was made for the game of this number, and where to go on.

    What is there stays: a failure here would be one of everybody's acts in the same batch.
    """
    session.executemany(
        "INSERT INTO proofs (game, seq, part, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(game, *certificate) for certificate in new.made],
    )
    if new.next_seq is None:
        session.execute("DELETE FROM unproved WHERE game = ?", (game,))
    else:
        session.execute("UPDATE unproved SET seq = ? WHERE game = ?", (new.next_seq, game))


def of_entries(session: Session, game_id: bytes, first: int, end: int) -> list[Certificate]:
    """Return those of entries from ``first`` up to before ``end``, by entry and part."""
    query = """SELECT seq, part, data FROM proofs WHERE game = (SELECT number FROM games WHERE id = ?)
        AND seq >= ? AND seq < ? ORDER BY seq, part"""
    return [Certificate(*row) for row in session.execute(query, (game_id, first, end))]


def awaited(session: Session) -> list[tuple[bytes, int]]:
    """Return the ids of games that still await certificates and are not given up, and from which entry on."""
    query = "SELECT id, seq FROM unproved JOIN games ON number = game WHERE state <> ? ORDER BY number"
    return session.execute(query, (State.GIVEN_UP,)).fetchall()
