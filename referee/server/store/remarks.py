"""The texts of acts as the database has them, beside the entries that commit to them. In the caller's transaction."""

from __future__ import annotations

from referee.server.store.session import Session


def keep(session: Session, game: int, seq: int, data: bytes) -> None:
    """Keep the text of the entry, as it stands in the game's file; ``game`` is the game's number."""
    session.execute("INSERT INTO remarks (game, seq, data) VALUES (?, ?, ?)", (game, seq, data))


def of_entries(session: Session, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
    """Return by entry, in order, the texts of entries from ``first`` up to before ``end``."""
    query = """SELECT seq, data FROM remarks WHERE game = (SELECT number FROM games WHERE id = ?)
        AND seq >= ? AND seq < ? ORDER BY seq"""
    return dict(session.execute(query, (game_id, first, end)).fetchall())


def erase(session: Session, game_id: bytes, seq: int) -> bool:
    """Take the text out of the database; return whether there was one."""
    query = "DELETE FROM remarks WHERE game = (SELECT number FROM games WHERE id = ?) AND seq = ?"
    return session.execute(query, (game_id, seq)).rowcount > 0
