"""The texts of acts as the database has them, beside the entries that commit to them. In the caller's transaction."""

from __future__ import annotations

import sqlite3


def keep(connection: sqlite3.Connection, game: int, seq: int, data: bytes) -> None:
    """Keep the text of the entry, as it stands in the game's file; ``game`` is the game's number."""
    connection.execute("INSERT INTO remarks (game, seq, data) VALUES (?, ?, ?)", (game, seq, data))


def of_entries(connection: sqlite3.Connection, game: int, first: int, end: int) -> dict[int, bytes]:
    """Return by entry, in order, the texts of entries from ``first`` up to before ``end``."""
    query = "SELECT seq, data FROM remarks WHERE game = ? AND seq >= ? AND seq < ? ORDER BY seq"
    return dict(connection.execute(query, (game, first, end)).fetchall())


def erase(connection: sqlite3.Connection, game_id: bytes, seq: int) -> bool:
    """Overwrite the text in the database; return whether there was one."""
    connection.execute("PRAGMA secure_delete = ON")
    query = "DELETE FROM remarks WHERE game = (SELECT number FROM games WHERE id = ?) AND seq = ?"
    return connection.execute(query, (game_id, seq)).rowcount > 0
