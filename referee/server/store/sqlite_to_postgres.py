"""Copies the games of an SQLite file into PostgreSQL with everything that belongs to them: all of them or none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from referee.server.store import postgres_opening
from referee.server.store.postgres_session import PostgresSession, postgres_errors
from referee.server.store.sql import fact, keep_fact
from referee.server.store.sqlite_files import connect, store_errors
from referee.server.store.store import StoreFailed

_NUMBERS = (
    "SELECT setval(pg_get_serial_sequence('games', 'number'), coalesce(max(number), 0) + 1, false) FROM games",
    "SELECT setval(pg_get_serial_sequence('grants', 'number'), coalesce(max(number), 0) + 1, false) FROM grants",
    "SELECT setval(pg_get_serial_sequence('heads', 'place'), coalesce(max(place), 0) + 1, false) FROM heads",
)
"""Statements after which the database continues the numbers of rows that it gives."""


def copy_games(path: Path, url: str, verifier: str, busy_s: float) -> int:
    """Copy what is in the file, which no referee is using, into the database, and return how many games that are.

    Copying again what was copied before replaces it, as long as no referee has used the copy. ``verifier``: of the key
    that the games are signed with. Raise ``StoreFailed``, and leave the database as it was.
    """
    with (
        store_errors(path),
        closing(connect(path, busy_s)) as file,
        postgres_errors(url),
        closing(PostgresSession(url, busy_s)) as session,
    ):
        postgres_opening.make_tables(session, url, lambda: None)
        session.execute("BEGIN")
        session.execute("SELECT pg_advisory_xact_lock(7, 0)")
        marks = fact(file, "marks")
        if fact(session, "marks") not in {None, marks} or session.execute("SELECT 1 FROM nodes LIMIT 1").fetchone():
            raise StoreFailed(f"{url}: a referee has games there already; expected an empty database")
        session.execute(f"TRUNCATE {', '.join(postgres_opening.TABLES)}")
        counts = {table: _copy(file, session, table) for table in postgres_opening.TABLES}
        for statement in _NUMBERS:
            session.execute(statement)
        for name, value in (("marks", marks), ("verifier", verifier.encode())):
            keep_fact(session, name, value)
        for name in ("seal", "log"):
            if (value := fact(file, name)) is not None:
                keep_fact(session, name, value)
        session.execute("COMMIT")
        session.heed()
        return counts["games"]


def _copy(file: sqlite3.Connection, session: PostgresSession, table: str) -> int:
    """Copy the table; return how many rows it has."""
    query = "SELECT attname FROM pg_attribute WHERE attrelid = ?::text::regclass AND attnum > 0 ORDER BY attnum"
    kept = {name for (name,) in file.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    columns = ", ".join(name for (name,) in session.execute(query, (table,)) if name in kept)
    rows = file.execute(f"SELECT {columns} FROM {table}")  # noqa: S608 - names of our own
    return session.copy(f"COPY {table} ({columns}) FROM STDIN", rows)
